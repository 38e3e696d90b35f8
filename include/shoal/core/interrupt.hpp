// Work that is called off before its end: whoever calls gives a token, and long loops and waits below look at it.
#pragma once
#include <stdexcept>
#include <stop_token>

namespace shoal {

/// The work was called off. Not an Error: nothing was wrong with it.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("called off before its end") {}
};

/// While it lives, what its thread calls can be called off: soon after `stop` is requested, readers, generators and runs end
/// with Interrupted, as they end with any error. Other threads go on. Scopes nest; the innermost one counts.
class Interruptible {
 public:
  explicit Interruptible(std::stop_token stop);
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;
  ~Interruptible();

 private:
  std::stop_token outer_;
};

/// The token of this thread's innermost Interruptible; without one, a token that nobody can request to stop.
std::stop_token interrupt_token();

/// @throws Interrupted  if the work of this thread was called off
void throw_if_interrupted();

}  // namespace shoal
