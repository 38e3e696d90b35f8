// What happened: every run returns one.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/world/decision.hpp"

namespace shoal {

/// What one PE sent to another.
struct Traffic {
  pe_t from = 0, to = 0;
  std::int64_t items = 0;
  std::int64_t messages = 0;  ///< reservations: what one worker sent at once
  std::int64_t bytes = 0;
};

struct Report {
  // Items, summed over PEs. pushed = judged + withheld + combined; judged = accepted + dropped; accepted = run + stale;
  // of a run that enough() ended, `left` of them are missing on the right.
  std::int64_t pushed = 0;    ///< items made by tasks and seeds
  std::int64_t withheld = 0;  ///< items for other PEs that the pusher itself found not worth sending
  std::int64_t accepted = 0;
  std::int64_t dropped = 0;
  std::int64_t stale = 0;
  std::int64_t run = 0;
  std::int64_t left = 0;         ///< items that were somewhere when the task's enough() ended the run; else 0
  std::int64_t combined = 0;     ///< remote items that were merged into another one of the same key, and not sent
  std::int64_t parked = 0;       ///< times an accepted item was put aside because its priority was beyond the threshold
  std::int64_t thresholds = 0;   ///< phases: times the threshold moved, or idle() was asked of everyone
  std::int64_t idle_calls = 0;   ///< calls of the task's idle()
  std::int64_t spilled = 0;      ///< items that found no room in a ring and waited in spill
  std::int64_t peak_ring = 0;    ///< most items waiting in one ring
  std::int64_t peak_spill = 0;   ///< most items waiting in the spill of one PE
  std::int64_t rounds = 0;       ///< discrete: kernels launched; levels strategy: levels; persistent: 1
  std::vector<Traffic> traffic;  ///< pairs that exchanged anything
  std::int64_t cut_arcs = -1;    ///< arcs whose ends have different owners; -1: not counted
  double imbalance = 0;          ///< largest PE's arcs over the mean; 0: unknown
  double seconds = 0;            ///< from the first worker's start until quiescence was seen
  std::vector<std::pair<std::string, double>> phase_seconds;  ///< read, partition, place, run, verify ...
  Decisions chosen;                                           ///< what was decided, and why
};

/// One JSON object with every field; phase_seconds and chosen become objects, chosen of "value: reason" by option.
std::string to_json(const Report& report);

/// Lines for people: counters with thousands separated, traffic by pair, phases, what was chosen and why. Lines end in
/// a newline; fields that are zero in every run of their kind are left out.
std::string to_text(const Report& report);

}  // namespace shoal
