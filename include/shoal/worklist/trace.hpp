// What a worklist's run writes into a trace (core/trace.hpp): queues over time, and what each CPU worker does; of GPUs, their
// kernels as the host sees them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/state_log.hpp"
#include "shoal/core/types.hpp"
#include "shoal/worklist/stall.hpp"

namespace shoal {

/// One run's. Without a trace it does nothing.
class RunTrace {
 public:
  using Look = std::function<std::vector<PeSnapshot>()>;
  /// A thread of its own looks at the counters every millisecond.
  /// @param first    the number of the first PE
  /// @param workers  of each; 0: they write no logs
  RunTrace(pe_t first, pe_t n_pes, int workers, Look look);
  /// The caller looks, where due() says so.
  RunTrace(pe_t first, pe_t n_pes);
  RunTrace(const RunTrace&) = delete;
  RunTrace& operator=(const RunTrace&) = delete;
  ~RunTrace();

  /// Of a worker, counted from 0 on, on PE number `pe` of this process; null: it need not write one.
  StateLog* log(pe_t pe, int worker);
  /// Whether a millisecond has gone since the last add().
  bool due() const;
  void add(const std::vector<PeSnapshot>& pes);
  /// Of all PEs' kernels. @param begin  trace_now() before they were launched
  void kernels(const std::string& name, std::int64_t begin);
  /// After all workers have left.
  void draw();

 private:
  struct Watch;
  std::unique_ptr<Watch> watch_;  ///< null: no trace
};

}  // namespace shoal
