// Interrupting work: the caller provides a stop token, and the library's long loops and waits check it.
#pragma once
#include <stop_token>

#include "shoal/core/interrupted.hpp"

namespace shoal {

/// As long as this object exists, the library's calls in this thread can be interrupted: soon after a stop of `stop` is requested,
/// readers, generators and runs end with Interrupted, as they would with any error. Other threads are not affected. Objects nest;
/// the innermost one counts.
class Interruptible {
 public:
  explicit Interruptible(std::stop_token stop);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

 private:
  std::stop_token outer_;
};

/// The token of this thread's innermost Interruptible; without one, a token that never stops.
std::stop_token interrupt_token();

}  // namespace shoal
