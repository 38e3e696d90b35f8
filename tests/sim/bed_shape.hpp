// The shape of a simulated run of a worklist: how many PEs and workers, and how small their queues are.
#pragma once
#include <string>

#include "lanes.hpp"
#include "machine.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal::sim {

inline constexpr pe_t kBedPes = 3;  ///< most PEs

/// The shape of a run. draw() chooses it at random; a scenario may change it before prepare().
struct BedShape {
  pe_t n_pes = 1;
  unsigned kind = 0;  ///< kind of worker: thread, ticket holder, two lanes, three lanes
  lane_t workers = 1, lanes = 1, fetch = 1, advance = 0;
  ticket_t capacity = 2, channel_capacity = 2;  ///< slots of the ring and of a channel
  lane_t log_channels = 0;                      ///< log2 of the number of channels from one PE to another
  std::uint32_t chunks = 0;                     ///< number of spill chunks; the scenario chooses it
  bool discrete = false, judge_remote = false, combine = false;
  bool looks = true, knows_empty = false;  ///< WorklistView::looks; whether SlotRing::empty_below is set
  lane_t keeps = 0;                        ///< WorklistView::keeps
  lane_t deals = 0;                        ///< WorklistView::deals
  lane_t overlap = 0;                      ///< WorklistView::overlap
  Buckets buckets;
  SegmentShape segments;

  void draw(Random& random) {
    n_pes = 1 + static_cast<pe_t>(random.below(kBedPes));
    kind = random.below(4);
    lanes = kind == 2 ? 2 : kind == 3 ? 3 : 1;
    workers = 1 + random.below(lanes == 1 ? 3 : 2);
    while (static_cast<lane_t>(n_pes) * workers * lanes > kMaxWorkers) --workers;
    fetch = 1 + random.below(kind == 0 ? SimThread::kMaxFetch : lanes);
    capacity = ticket_t{2} << random.below(3);
    channel_capacity = ticket_t{1} << random.below(3);
    log_channels = random.below(2);
    advance = random.below(3);
    discrete = random.below(4) == 0;
    looks = random.below(2) == 0;
    knows_empty = random.below(2) == 0;
    keeps = discrete ? 0 : random.below(lanes + 1);
    deals = random.below(lanes + 1);
    // Rings are so small that the first worker would have the only share.
    if (discrete && fetch > 3) fetch = 1 + fetch % 3;
    segments = {};
    segments.on = random.below(2) == 0;
    if (!segments.on) return;
    log_channels = 0;
    const auto log_capacity = static_cast<lane_t>(channel_capacity == 1 ? 0 : channel_capacity == 2 ? 1 : 2);
    segments.log_items = random.below(log_capacity + 1);
    segments.log_segments = log_capacity - segments.log_items;
    segments.wait = random.below(2) * random.below(3);
    if (segments.wait == 0) segments.wait_us = random.below(2) * random.below(100);
  }
  std::string text() const {
    static const char* const kinds[] = {"threads", "ticket holders", "two lanes", "three lanes"};
    return std::to_string(n_pes) + " PEs, each " + std::to_string(workers) + " workers (" + kinds[kind] + "), fetch " +
           std::to_string(fetch) + ", ring " + std::to_string(capacity) + ", " + std::to_string(1u << log_channels) +
           " channels of " + std::to_string(channel_capacity) +
           (segments.on ? " in segments of " + std::to_string(segments.items()) + ", wait " +
                              std::to_string(segments.wait) + " or " + std::to_string(segments.wait_us) + " steps"
                        : "") +
           ", keeps " + std::to_string(keeps) + ", deals " + std::to_string(deals) + ", overlap " +
           std::to_string(overlap) + ", spill chunks " + std::to_string(chunks) +
           (discrete ? ", discrete" : ", persistent");
  }
};

}  // namespace shoal::sim
