// A run of several processes ends at most two round trips after its last item has ended. The processes are threads behind walls
// here, and every put is in flight for a given time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/clock.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/worklist/worklist.hpp"
#include "walled_processes.hpp"

namespace shoal::contract {
namespace {

/// One item that visits the PEs one after another. At its last hop it is held for a while.
struct Relay {
  struct Item {
    std::uint32_t hop;
  };
  std::uint64_t* ended;  ///< the time at which the last item ended, in microseconds
  std::uint32_t last;    ///< the hop at which it ends
  std::uint64_t hold_us;
  pe_t n_pes;
  pe_t owner(Item item) const { return static_cast<pe_t>(item.hop % static_cast<std::uint32_t>(n_pes)); }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.hop < last) return out.push(w, Item{item.hop + 1});
    const std::uint64_t until = clock_us() + hold_us;
    spin_wait(out.state(), [until] { return clock_us() >= until; });
    *ended = clock_us();
  }
};

/// Processes of one PE each, with one worklist per process.
class Relays {
 public:
  Relays(int processes, KernelKind kernel, std::uint64_t delay_us)
      : walled_(std::vector<pe_t>(static_cast<std::size_t>(processes), 1), 1, {.delay_us = delay_us}),
        lists_(walled_.processes()) {
    walled_.on_each([&](std::size_t p) {
      lists_[p] = std::make_unique<Worklist<Relay>>(walled_.machine(p), segment_plan(kernel, 64));
    });
  }

  /// @return microseconds from the end of the last item to the end of the run in the process that returns last
  std::uint64_t run(std::uint32_t last, std::uint64_t hold_us) {
    std::uint64_t ended = 0;
    std::vector<std::uint64_t> over(walled_.processes());
    const Relay task{&ended, last, hold_us, static_cast<pe_t>(walled_.processes())};
    walled_.on_each([&](std::size_t p) {
      const Report report =
          lists_[p]->run({task}, {p == 0 ? std::vector<Relay::Item>{{0}} : std::vector<Relay::Item>{}});
      over[p] = clock_us();
      EXPECT_TRUE(report.whole);
    });
    return *std::max_element(over.begin(), over.end()) - ended;
  }

 private:
  Walled walled_;
  std::vector<std::unique_ptr<Worklist<Relay>>> lists_;
};

/// The number of runs of each case for a measurement. 0: only as many as it takes to find one that ends soon enough.
int runs_to_measure() {
  const char* const text = std::getenv("SHOAL_END_RUNS");
  return text == nullptr ? 0 : std::atoi(text);
}

/// How many rounds the two waves of quiescence detection need depends on the moment at which the last item ends, so the test
/// lets it end at several moments.
struct Moments {
  std::vector<double> all;  ///< round trips of all runs, sorted
  double slowest = 0;       ///< of all moments, each taken by its fastest run, as other work may use the cores
};
Moments at_all_moments(Relays& relays, std::uint64_t delay_us, double most) {
  constexpr int kTries = 5;
  Moments found;
  for (const std::uint32_t last : {1u, 2u}) {
    for (std::uint64_t halves = 0; halves < 4; ++halves) {
      double fastest = 1e9;
      const int runs = runs_to_measure();
      for (int i = 0; runs > 0 ? i < runs : i < kTries && fastest > most; ++i) {
        const auto us = static_cast<double>(relays.run(last, halves * delay_us / 2));
        found.all.push_back(us / (2 * static_cast<double>(delay_us)));
        fastest = std::min(fastest, found.all.back());
      }
      found.slowest = std::max(found.slowest, fastest);
    }
  }
  std::sort(found.all.begin(), found.all.end());
  return found;
}

TEST(WireEnd, WithinTwoRoundTripsOfTheLastItem) {
  std::printf(
      "round trips from the end of the last item to that of the run: median, most; the slowest moment, by its fastest "
      "run\n");
  for (const std::uint64_t delay_us : {100u, 1000u, 5000u, 10'000u}) {
    // A protocol with one more round of waves would take two and a half round trips. With shorter delays, most of the time is
    // spent by the threads themselves: these results are printed but not checked.
    const bool tells = delay_us >= 5000;
    const double most = tells ? 2 + std::max(0.25, 2000.0 / static_cast<double>(delay_us)) : 0;
    for (const int processes : {2, 3}) {
      for (const KernelKind kernel : kKernels) {
        Relays relays(processes, kernel, delay_us);
        const Moments found = at_all_moments(relays, delay_us, most);
        std::printf("%d processes, puts take %5.1f ms, %-10s  %6.2f %6.2f   %6.2f\n", processes,
                    static_cast<double>(delay_us) * 1e-3, name(kernel), found.all[found.all.size() / 2],
                    found.all.back(), found.slowest);
        if (tells) EXPECT_LE(found.slowest, most) << "round trips";
        EXPECT_GE(found.all[0], 0.5) << "no process can know it before a put arrives";
      }
    }
  }
}

}  // namespace
}  // namespace shoal::contract
