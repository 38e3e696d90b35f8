// What a run that does not move looks like: counters of every PE, a one-line diagnosis, a JSON dump.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/queue/worklist.hpp"

namespace shoal {

/// The counters of one PE at one moment, as the host read them.
struct PeSnapshot {
  std::uint64_t state = 0, completed = 0, entered = 0;
  std::uint64_t ring_tail = 0, ring_head = 0;
  std::int64_t ring_room = 0;
  std::uint64_t spilled_chunks = 0;            ///< chunks of spill in use
  std::vector<std::uint64_t> sent;             ///< [n_pes] tickets given out towards each PE
  std::vector<std::int64_t> channel_room;      ///< [n_pes]
  std::vector<std::uint64_t> received;         ///< [n_pes] tickets drained from each PE

  std::uint64_t created() const;
};

PeSnapshot snapshot(const PeControl& control, pe_t n_pes, std::uint64_t spill_chunks);

/// Sum of created minus sum of completed: items that are somewhere. 0 means quiescent (if nothing runs any more).
std::uint64_t outstanding(const std::vector<PeSnapshot>& pes);
/// A number that changes whenever anything moves.
std::uint64_t progress(const std::vector<PeSnapshot>& pes);

/// One line: which PE, which queue, which counters. For instance "channel PE 0 -> PE 1: 1 of 6 items sent never arrived".
std::string diagnose(const std::vector<PeSnapshot>& pes);
/// Writes every counter as JSON to `shoal-stall-<process>.json` in the working directory; returns the name, empty on failure.
std::string dump(const std::vector<PeSnapshot>& pes, const std::string& diagnosis);

}  // namespace shoal
