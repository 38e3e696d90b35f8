// A task that works for longer than the stall timeout, and moves no queue in that time.
#pragma once
#include <chrono>
#include <cstdint>
#include <thread>

#include "shoal/core/types.hpp"

namespace shoal::contract {

constexpr double kSlowTimeoutSeconds = 0.6;
constexpr auto kSlowPause = std::chrono::microseconds(100);  ///< of accept(), before it refuses an item
constexpr auto kLongPause = std::chrono::milliseconds(80);
constexpr std::uint32_t kManyPauses = 7500;
// How much longer than it says a pause takes depends on the system. The runs must be long enough even if it is nothing.
static_assert(kManyPauses * std::chrono::duration<double>(kSlowPause).count() > 1.2 * kSlowTimeoutSeconds &&
                  16 * std::chrono::duration<double>(kLongPause).count() > 1.2 * kSlowTimeoutSeconds,
              "many short pauses, or 16 long ones, must take longer than the timeout by a fifth");

/// Its items push others that accept() refuses, or only take long to run. PE 0 owns all items.
struct Slow {
  enum class Kind : std::uint32_t { refused, fans_out, pushes, takes_long };
  struct Item {
    Kind kind;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item item) const {
    if (item.kind == Kind::refused) std::this_thread::sleep_for(kSlowPause);
    return item.kind != Kind::refused;
  }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.kind == Kind::takes_long) std::this_thread::sleep_for(kLongPause);
    if (item.kind == Kind::fans_out)
      out.push_each(w, Numbers{kManyPauses}, [](std::uint32_t) { return Item{Kind::refused}; });
    for (std::uint32_t i = 0; item.kind == Kind::pushes && i < kManyPauses; ++i) out.push(w, {Kind::refused});
  }

 private:
  struct Numbers {
    std::uint32_t n;
    std::int64_t size() const { return n; }
    std::uint32_t operator[](std::int64_t i) const { return static_cast<std::uint32_t>(i); }
  };
};

}  // namespace shoal::contract
