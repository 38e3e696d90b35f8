#include "shoal/core/interrupt.hpp"

#include <utility>

namespace shoal {
namespace {

thread_local std::stop_token innermost;

}  // namespace

Interruptible::Interruptible(std::stop_token stop) : outer_(std::exchange(innermost, std::move(stop))) {}
Interruptible::~Interruptible() { innermost = std::move(outer_); }

std::stop_token interrupt_token() { return innermost; }

void throw_if_interrupted() {
  if (innermost.stop_requested()) throw Interrupted();
}

}  // namespace shoal
