// Steps of a bulk-synchronous run on CPU PEs as tasks of a trace (core/trace.hpp): how long each PE computed in each step, and what
// data it produced for other PEs to read in the next one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/trace.hpp"
#include "shoal/core/types.hpp"

namespace shoal::lockstep {

class StepTrace {
 public:
  /// @param step      the name of a step: "level"
  /// @param first_pe  first PE of this process, which has n_pes
  StepTrace(const char* step, pe_t first_pe, pe_t n_pes, int threads_per_pe)
      : step_(step), first_pe_(first_pe), n_pes_(n_pes), threads_(threads_per_pe) {}

  /// Call before the threads begin.
  void begin_run();
  /// Whether tracing is on; if not, the functions below do nothing.
  bool on() const { return trace_ != nullptr; }

  /// Called by each thread: calls work(), and adds its time to that of the PE.
  template <class Work>
  void time(pe_t pe, int thread, Work&& work) {
    const std::int64_t began = on() ? trace_now() : 0;
    work();
    if (on()) busy_[static_cast<std::size_t>(pe * threads_ + thread)].ns += trace_now() - began;
  }

  // One thread calls these while the others wait.

  /// In this step PE `from` produces data that PE `to`, if it is another PE, reads in the next. @param from, to  counted among the
  /// PEs of this process
  void gives(pe_t from, pe_t to, const char* what, std::int64_t bytes);
  /// The step is over. @param kind  how it was done; null: there is only one way
  void step_ends(const char* kind);

 private:
  struct Gift {
    pe_t from, to;
    const char* what;
    std::int64_t bytes;
  };
  struct alignas(kCacheLine) Busy {
    std::int64_t ns = 0;
  };
  std::string task(std::int64_t step, pe_t pe) const;

  const char* const step_;
  const pe_t first_pe_, n_pes_;
  const int threads_;
  Trace* trace_ = nullptr;
  std::vector<Busy> busy_;  ///< [PEs x threads] in this step
  std::int64_t number_ = 0, began_ = 0;
  std::vector<Gift> given_, read_;   ///< in this step, and in the one before
  std::vector<std::int64_t> ended_;  ///< [PEs] when each had finished computing in the previous step
};

}  // namespace shoal::lockstep
