// The watchdog of a CPU run: a thread that checks regularly whether anything moves, and ends the run if nothing does. Also
// ends a run that is called off.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "shoal/worklist/stall.hpp"

namespace shoal {

/// The counters of every PE of a CPU run that is in this process, read while it runs. A snapshot may be inconsistent,
/// for instance between the two ends of a channel.
/// @param closely  also look at every slot, for a run that does not move
template <class View>
std::vector<PeSnapshot> snapshots(const std::vector<View>& views, std::uint64_t spill_chunks, bool closely = false) {
  std::vector<PeSnapshot> pes;
  for (const View& view : views) {
    pes.push_back(snapshot(view.here(), view.n_pes, spill_chunks));
    pes.back().first = view.first_near;
  }
  if (closely) {
    for (const View& view : views) look_at_slots(view, pes, view.ring.slots, view.inbox);
  }
  return pes;
}

/// Exit status of a process whose task did not return after the run was ended.
inline constexpr int kStuckExitCode = 75;
/// Ends the process with it, and with a line on stderr: a thread that does not return cannot be taken back. Outputs
/// that are not whole are removed.
[[noreturn]] void end_stuck_process(const std::string& program, const std::string& what);

/// Watches from construction to destruction. When nothing has moved for the timeout, it makes the diagnosis and then
/// tells the workers to leave. They have two seconds; after that a task must be stuck in code of its own, so the
/// diagnosis is printed and the process ends with kStuckExitCode. When the work of the thread that made it is called off
/// (core/interrupt.hpp), it tells the workers to leave as well.
class Watchdog {
 public:
  /// What goes to the other processes of a run, if there are any.
  struct Others {
    std::function<std::uint64_t(std::uint64_t)>
        moved;                                      ///< gives a number that changes when something moves; that of all
    std::function<void(const std::string&)> leave;  ///< this process is about to end, and why
  };
  /// @param timeout_seconds  after so long without progress, `end` is called once
  /// @param look             snapshots of all PEs; true: with their slots
  /// @param end              ends the run on the PEs on which it has not ended; from any thread
  Watchdog(double timeout_seconds, std::function<std::vector<PeSnapshot>(bool closely)> look,
           std::function<void(RunState why)> end, Others others = {});
  ~Watchdog();

  /// Call when all workers have left. @throws DeviceError if this watchdog stopped them
  void throw_if_stalled();
  double seconds() const;  ///< since it began to watch

 private:
  struct Watch;  // with the headers of threads and clocks, which take long to compile
  const std::unique_ptr<Watch> watch_;
};

}  // namespace shoal
