// Tracks the calls of a library, by all threads, that have not returned yet. A call that sends to an unreachable host may never
// return, while other calls still do. So each call is tracked by itself.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/core/clock.hpp"

namespace shoal {

class CallsOut {
 public:
  /// Marks a call as pending while this object exists.
  class Call {
   public:
    explicit Call(CallsOut& calls) {
      for (Since& since : calls.since_) {
        std::uint64_t none = 0;
        if (since.load() != 0 || !since.compare_swap(none, std::max<std::uint64_t>(clock_us(), 1))) continue;
        since_ = &since;
        return;
      }
    }
    ~Call() {
      if (since_ != nullptr) since_->store(0);
    }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    Word<std::uint64_t, Scope::system>* since_ = nullptr;  ///< null: not tracked, as too many calls are pending
  };

  /// Seconds since the oldest pending call began; 0: none is pending.
  double longest() const {
    std::uint64_t first = 0;
    for (const Since& since : since_) {
      const std::uint64_t began = since.load();
      if (began != 0 && (first == 0 || began < first)) first = began;
    }
    const std::uint64_t now = clock_us();
    return first == 0 || now < first ? 0 : static_cast<double>(now - first) * 1e-6;
  }

 private:
  using Since = Word<std::uint64_t, Scope::system>;
  std::array<Since, 64> since_{};  ///< clock_us() when the call began; 0: free
};

}  // namespace shoal
