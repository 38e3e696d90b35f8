// Calls of a library that have not come back, of all threads: to a host that is cut off one may never. That others do come back says
// nothing of that one.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/core/clock.hpp"

namespace shoal {

class CallsOut {
 public:
  /// One call, as long as this object exists.
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
    Word<std::uint64_t, Scope::system>* since_ = nullptr;  ///< null: more calls are out than are looked at
  };

  /// For how many seconds that one is out which began first; 0: none is.
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
  std::array<Since, 64> since_{};  ///< clock_us() at the begin of a call; 0: free
};

}  // namespace shoal
