// The exception that ends work which was called off, and the check for it (core/interrupt.hpp says how to call work off).
#pragma once
#include <stdexcept>

namespace shoal {

/// Thrown when the caller has called the work off. Not an Error, because nothing was wrong.
class Interrupted : public std::runtime_error {
 public:
  Interrupted() : std::runtime_error("called off before its end") {}
};

/// Long loops call this.
/// @throws Interrupted  if the work of this thread was called off
void throw_if_interrupted();

}  // namespace shoal
