// The counters of a run, in one list. Everything about counters is generated from it: what a lane counts, the words in
// which a PE sums over its lanes, the fields of Report, their names in JSON, the lines of --stats, and how the counters of
// two PEs, or of two runs, are merged.
//
// A new counter needs a line in the list, and code that counts it: in a lane (`tally` in worklist/changing.hpp) or on the
// host.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"

namespace shoal {

/// How two values of a counter are merged: by their sum, or by their maximum.
enum class Merge { sum, most };
/// When --stats shows a line for a counter.
enum class Shown { unless_zero, with_items };

// (name, merge, shown, label in --stats), each as
//   LANE  counted by the lanes of workers
//   HOST  written into the report by the host
//
// The counts of items satisfy pushed = withheld + combined + accepted + dropped, and accepted = run + stale. If enough()
// ended the run, the right sides may be smaller: the items that were left over are not in them.
//
// clang-format off
#define SHOAL_COUNTERS(LANE, HOST)                                                                                     \
  LANE(pushed,     sum,  with_items,  "items pushed")            /* made by tasks and seeds */                         \
  LANE(withheld,   sum,  unless_zero, "withheld")                /* for other PEs, and not worth sending */            \
  LANE(accepted,   sum,  with_items,  "accepted")                                                                      \
  LANE(dropped,    sum,  with_items,  "dropped")                 /* refused by accept(), or not promising */           \
  LANE(run,        sum,  with_items,  "run")                                                                           \
  LANE(stale,      sum,  unless_zero, "stale")                   /* accepted, and overtaken before they ran */         \
  HOST(left,       sum,  unless_zero, "left when it was enough") /* somewhere when enough() ended the run */           \
  LANE(combined,   sum,  unless_zero, "combined")                /* for other PEs, merged into one of their key */     \
  LANE(parked,     sum,  unless_zero, "parked")                  /* times one waited for the threshold */              \
  HOST(thresholds, sum,  unless_zero, "phases")                  /* threshold moves, and sweeps of idle() */           \
  LANE(idle_calls, sum,  unless_zero, "idle calls")              /* calls of the task's idle() */                      \
  LANE(spilled,    sum,  with_items,  "spilled")                 /* found no free slot: waited in spill */             \
  LANE(peak_ring,  most, with_items,  "peak ring")               /* most items waiting in one ring */                  \
  HOST(rounds,     sum,  unless_zero, "rounds")                  /* or levels, or kernels of a bulk strategy; persistent runs: 1 */
// clang-format on

#define SHOAL_NO_COUNTER(...)

/// The counters that lanes count. If T is a number, these are the counts of one lane. If T is an atomic word, these are the
/// counts of a PE, to which its workers add theirs.
template <class T>
struct LaneCounters {
#define SHOAL_FIELD(name, ...) T name;
  SHOAL_COUNTERS(SHOAL_FIELD, SHOAL_NO_COUNTER)
#undef SHOAL_FIELD
};

/// Calls f(merge, field...) for each counter that lanes count, with the field of that name of each of `all`.
template <class F, class... All>
SHOAL_FN void for_lane_counters(F f, All&... all) {
#define SHOAL_CALL(name, merge, ...) f(Merge::merge, all.name...);
  SHOAL_COUNTERS(SHOAL_CALL, SHOAL_NO_COUNTER)
#undef SHOAL_CALL
}

/// All counters of a run, or the totals of several runs.
struct Counters {
#define SHOAL_FIELD(name, ...) std::int64_t name = 0;
  SHOAL_COUNTERS(SHOAL_FIELD, SHOAL_FIELD)
#undef SHOAL_FIELD
};

/// One entry of the list, for use on the host.
struct Counter {
  const char* name;  ///< its name in JSON
  std::int64_t Counters::*field;
  Merge merge;
  Shown shown;
  const char* label;
};
inline constexpr Counter kCounters[] = {
#define SHOAL_ROW(name, merge, shown, label) {#name, &Counters::name, Merge::merge, Shown::shown, label},
    SHOAL_COUNTERS(SHOAL_ROW, SHOAL_ROW)
#undef SHOAL_ROW
};

#undef SHOAL_NO_COUNTER
#undef SHOAL_COUNTERS

}  // namespace shoal
