// Diagnosis of a run that makes no progress: the counters of every PE, a one-line explanation, and a JSON dump.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// The counters of one PE at one moment, as the host read them.
struct PeSnapshot {
  pe_t first = 0;           ///< the number of the first PE of this process; the others follow
  std::uint64_t cause = 0;  ///< the first reason that a worker of this PE gave for ending the run; 0: none
  std::uint64_t state = 0, completed = 0;
  std::uint64_t entered = 0;  ///< seeds, spilled items, workers that pushed in a sweep, and parts of phases (tokens)
  std::uint64_t phase = 0;    ///< the phase word (worklist/phase.hpp)
  std::int64_t tokens = 0, carried_out = 0;  ///< parts of phases, and those that were carried out
  /// Of a slot of parked items: the ring of full chunks that all workers share.
  struct FullChunks {
    lane_t slot = 0;
    std::uint64_t handed_over = 0, claimed = 0;
    std::int64_t free = 0;  ///< chunks that no worker is entitled to; for a moment, it may be too small
  };
  std::vector<FullChunks> full_chunks;  ///< of the slots that had any
  bool begun = false;                   ///< GPUs: the PE's kernel has started
  std::int64_t rounds = 0;              ///< GPUs: finished rounds of a discrete run
  std::uint64_t seeds_taken = 0;
  std::uint64_t beats = 0;  ///< its value changes while workers judge pushed items and run items (Out::beat)
  std::uint64_t ring_tail = 0, ring_head = 0;
  std::int64_t ring_credits = 0;
  std::uint64_t spilled_chunks = 0;  ///< chunks of spill in use
  std::uint64_t chunk_items = 0;     ///< items of such a chunk
  std::uint64_t segment_items = 0;   ///< items of a segment; 0: the run uses channels
  std::vector<std::uint64_t> sent;   ///< [n_pes] tickets given out for items to each PE
  /// [n_pes] the fewest credits that a channel to each PE has. With segments, the credits of segments that were given back but
  /// not turned into credits yet are included only if the slots were looked at.
  std::vector<std::int64_t> channel_credits;
  std::vector<std::uint64_t> received;  ///< [n_pes] tickets from each PE that workers have claimed
  std::vector<std::uint64_t> unread;    ///< [n_pes] those of them that are not read yet

  // Known only if the slots were looked at (WorklistParts::snapshots), from the slots themselves.
  bool looked = false;
  std::uint64_t ring_waiting = 0;   ///< filled slots of the ring
  std::uint64_t ring_unfilled = 0;  ///< tickets that were given to pushers and whose slots are empty
  ticket_t first_unfilled = 0;
  std::vector<std::uint64_t> missing;   ///< [n_pes] tickets given out at that PE whose items have not arrived here
  std::vector<ticket_t> first_missing;  ///< [n_pes] the first of them

  std::uint64_t created() const;
  /// Items that were taken from ring, channels, spill and seeds and are not completed. Items in spill count as well,
  /// because only the number of their chunks is known. Negative: more items were completed than taken, which is an error.
  std::int64_t in_hand() const;
};

PeSnapshot snapshot(const PeControl& control, pe_t n_pes, std::uint64_t spill_chunks);

/// How a run ended, and on which PE the cause was found.
struct RunEnd {
  RunState how = RunState::done;
  pe_t where = 0;
};
/// The worst of the first reasons that each PE gave for ending the run: one PE may have failed before it knew that another had. A
/// PE whose state still says that it runs, or that the host stopped it, has stalled (or was called off), unless a worse reason
/// explains it. To be called after all workers have left.
RunEnd end_of(const std::vector<PeSnapshot>& pes);

/// The sum of created minus the sum of completed of all the PEs in `pes`: items that are still somewhere. If `pes` are all PEs of
/// the run and nothing runs any more, 0 means quiescent.
std::uint64_t outstanding(const std::vector<PeSnapshot>& pes);
/// A number that changes whenever the run makes progress: an item leaves a ring or a channel, a seed is taken, a worker has
/// run an item of its batch or judged some hundreds of items. Items that go back and forth between spill and full channels do
/// not change it, and neither does idle().
std::uint64_t progress(const std::vector<PeSnapshot>& pes);

/// One line that explains why a run makes no progress, with the PE, the queue and its counters. For instance "channel PE 0 ->
/// PE 1: 1 of 6 items sent never arrived". It names causes before consequences: a lost put before the worker that waits for
/// it, a worker that does not return from its task before the items that wait for it. Most useful while nothing moves and no
/// worker has left.
std::string diagnose(const std::vector<PeSnapshot>& pes);
/// Writes every counter as JSON to `shoal-stall-<process>.json` in the working directory; returns the name, empty on
/// failure.
std::string dump(const std::vector<PeSnapshot>& pes, const std::string& diagnosis);
/// The message of a DeviceError: "no progress for 10 s: <diagnosis>; counters in <file>". Also writes the dump.
std::string stall_line(double timeout_seconds, const std::vector<PeSnapshot>& pes);

}  // namespace shoal
