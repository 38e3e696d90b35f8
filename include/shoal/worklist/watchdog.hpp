// The watchdog of a CPU run: a thread that checks regularly whether the run makes progress, and ends it if it does not. Also
// ends a run that its caller calls off.
#pragma once
#include <memory>

#include "shoal/data/stuck_process.hpp"
#include "shoal/worklist/parts.hpp"

namespace shoal {

/// Watches from construction to destruction. If there is no progress for the timeout, it makes the diagnosis and then tells
/// the workers to leave. They have two seconds for it. After that a task must be stuck in its own code, so the diagnosis is
/// printed and the process ends with kStuckExitCode. If the thread that constructed the watchdog is interrupted
/// (core/interrupt.hpp), it tells the workers to leave as well.
class Watchdog {
 public:
  /// @param timeout_seconds  after this time without progress, the run is ended once
  /// @param parts            of the run; its wires tell the progress of other processes
  Watchdog(double timeout_seconds, const WorklistParts& parts);
  ~Watchdog();

  /// To be called when all workers have left. @throws DeviceError if this watchdog stopped them for lack of progress
  void throw_if_stalled();
  double seconds() const;  ///< the time since it began to watch

 private:
  struct Watch;  // defined in the source file: it needs the headers of threads and clocks, which take long to compile
  const std::unique_ptr<Watch> watch_;
};

}  // namespace shoal
