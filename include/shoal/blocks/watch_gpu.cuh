// What the host watches while GPUs run blocks: whether they make progress and finish, and whether the other processes are alive.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <vector>

#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/trace_gpu.cuh"
#include "shoal/blocks/units.hpp"
#include "shoal/blocks/wires.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/device/event.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Watches a run from begin() until wait() or abandon(). All waits of the host for GPUs are here.
class RunWatch {
 public:
  /// @param wires     null: there are no other processes
  /// @param words_of  the words of a PE
  /// @param work      [n_pes] the streams in which a run ends
  /// @param streams   the other streams of a run
  RunWatch(const Machine& machine, Wires* wires, std::function<PeWords*(pe_t)> words_of, const LaunchOptions& options,
           const std::vector<Stream>& work, const std::vector<Stream>& streams);

  /// Begins a run. Every process.
  void begin(const StepRange& range);
  /// How the host or a kernel has ended the run early; running: it has not been ended.
  RunState ended() const { return ended_; }
  /// How often the host waited for GPUs in this run. (Polls of kernels that run for long are not counted.)
  int waits() const { return waits_; }
  /// How long kernels wait for each other at most. It is longer than the host needs to find that a process is gone or stands
  /// still, since that error says more.
  double patience_seconds() const { return options_.stall_timeout_seconds + 5; }

  /// With several processes: keeps the host only some steps ahead of the GPUs. A launch blocks when a GPU's queue is full, and a
  /// host that blocks there does not notice that another process is gone.
  /// @param steps  steps that were launched since the last call
  /// @param p      PE of `stream`, in which they were launched
  /// @return whether the run goes on
  bool keep_pace(step_t steps, const Units& units, pe_t p, cudaStream_t stream);

  /// Waits until all PEs are done. Ends resident kernels that make no progress, or when the caller interrupts.
  void wait(RunTrace& trace);
  /// The error to throw if a kernel has ended the run because it waited too long for another GPU; else null.
  std::exception_ptr ended_on_gpu(const Units& units);
  /// With several processes: ends the run together with the others, after wait() or abandon(). @param mine  the result of the PEs
  /// of this process
  RunOfAll end_with_others(std::exception_ptr error, const RunOfAll& mine);
  /// Call it after an error: ends the run on all PEs, since kernels of other PEs would wait for ever. Ignores further errors.
  void abandon(const char* why) noexcept;

 private:
  /// Whether the run goes on. Every 50 ms, with several processes, ends it here if it has ended elsewhere or the caller
  /// interrupts.
  bool goes_on();
  /// Reads PeWords::next, in a stream of its own, while a kernel runs.
  std::uint64_t tiles_taken(pe_t p);
  /// Ends the run on all PEs: writes `why` into their RunState while kernels run.
  void end_as(RunState why);
  /// Waits until all kernels have left, 10 s at most; then ends the process.
  void drain(const char* why) noexcept;

  const Machine& machine_;
  Wires* const wires_;
  const std::function<PeWords*(pe_t)> words_of_;
  const LaunchOptions& options_;
  const std::vector<Stream>&work_, &streams_;
  std::vector<Stream> look_;    ///< [n_pes] for copies while kernels run
  std::vector<Event> paced_;    ///< [n_pes] recorded by keep_pace(), which waits for them
  step_t ahead_ = 0;            ///< steps launched since paced_ was recorded
  std::int64_t looked_at_ = 0;  ///< trace_now()
  int waits_ = 0;
  RunState ended_ = RunState::running;
};

}  // namespace shoal::blocks::gpu
