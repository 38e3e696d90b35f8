// What a run of a worklist writes into a trace (core/trace.hpp): counts of the queues over time, and the states of each CPU
// worker; for GPUs, the times of their kernels as the host sees them.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/state_log.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worklist/parts.hpp"

namespace shoal {

/// Writes one run into the trace. Does nothing if there is no trace.
class RunTrace {
 public:
  /// For a run on CPU threads: starts a thread that reads the counters every millisecond.
  /// @param workers  workers of each PE
  RunTrace(const WorklistParts& parts, int workers);
  /// Starts no thread: the caller reads the counters and calls add() whenever due() is true.
  /// @param first  the number of the first PE of this process, which has `n_pes`
  RunTrace(pe_t first, pe_t n_pes);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace();

  /// The log of worker `worker` (from 0) on PE `pe` (from 0 in this process); null: the worker need not write one.
  StateLog* log(pe_t pe, int worker);
  /// Whether a millisecond has passed since the last add(). False if there is no trace.
  bool due() const;
  void add(const std::vector<PeSnapshot>& pes);
  /// Adds the time of the kernels of all PEs, from `begin` until now. @param begin  trace_now() before they were launched
  void kernels(const std::string& name, std::int64_t begin);
  /// Writes the logs of all workers into the trace. To be called after all workers have left.
  void draw();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;  ///< null: no trace
};

}  // namespace shoal
