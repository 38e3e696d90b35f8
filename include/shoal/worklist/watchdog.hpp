// The watchdog of a CPU run: a thread that checks regularly whether the run makes progress, and ends it if it does not. Also
// ends a run that its caller calls off.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/data/stuck_process.hpp"
#include "shoal/worklist/stall.hpp"

namespace shoal {

/// The counters of every PE of this process, read while a CPU run is in progress. The snapshots may be inconsistent, for
/// instance between the two ends of a channel.
/// @param closely  also inspects every slot, for a run that makes no progress
template <class View>
std::vector<PeSnapshot> snapshots(const std::vector<View>& views, std::uint64_t spill_chunks, bool closely = false) {
  std::vector<PeSnapshot> pes;
  for (const View& view : views) {
    pes.push_back(snapshot(view.here(), view.n_pes, spill_chunks));
    pes.back().first = view.first_near;
  }
  if (closely) {
    for (const View& view : views) look_at_slots(view, pes);
  }
  return pes;
}

/// Watches from construction to destruction. If there is no progress for the timeout, it makes the diagnosis and then tells
/// the workers to leave. They have two seconds for it. After that a task must be stuck in its own code, so the diagnosis is
/// printed and the process ends with kStuckExitCode. If the thread that constructed the watchdog is interrupted
/// (core/interrupt.hpp), it tells the workers to leave as well.
class Watchdog {
 public:
  /// How the watchdog communicates with the other processes of a run; both are empty if there are none.
  struct Others {
    /// Takes this process's progress number, and returns that of all processes together (Wires::moved).
    std::function<std::uint64_t(std::uint64_t)> moved;
    std::function<void(const std::string&)> leave;  ///< says that this process is about to end, and why
  };
  /// @param timeout_seconds  after this time without progress, `end` is called once
  /// @param look             returns snapshots of all PEs of this process; its argument says whether to inspect their slots
  /// @param end              ends the run on the PEs on which it has not ended; called from any thread
  Watchdog(double timeout_seconds, std::function<std::vector<PeSnapshot>(bool closely)> look,
           std::function<void(RunState why)> end, Others others = {});
  ~Watchdog();

  /// To be called when all workers have left. @throws DeviceError if this watchdog stopped them for lack of progress
  void throw_if_stalled();
  double seconds() const;  ///< the time since it began to watch

 private:
  struct Watch;  // defined in the source file: it needs the headers of threads and clocks, which take long to compile
  const std::unique_ptr<Watch> watch_;
};

}  // namespace shoal
