// Runs of several processes of which one fails, or is called off, before its workers begin: all processes learn why.
#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/worklist/worklist.hpp"
#include "walled_processes.hpp"

namespace shoal::contract {
namespace {

constexpr int kProcesses = 3;

/// One item that ends at once.
struct Ends {
  struct Item {
    std::uint32_t number;
  };
  pe_t owner(Item) const { return 0; }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W&, Item, Out&) const {}
};

class WireFailures : public ::testing::Test {
 protected:
  /// Calls body(process), which must throw an Error in every process. Returns the texts.
  template <class Error, class Body>
  std::vector<std::string> texts(Body body) {
    std::vector<std::string> all(kProcesses, "nothing was thrown");
    walled_.on_each([&](std::size_t p) {
      try {
        body(p);
      } catch (const Error& error) {
        all[p] = error.what();
      }
    });
    return all;
  }

  Walled walled_ = Walled(std::vector<pe_t>(kProcesses, 1), 1, {});
};

TEST_F(WireFailures, NoMemoryForTheQueuesOfOneProcess) {
  const std::vector<std::string> all = texts<CapacityError>([&](std::size_t p) {
    LaunchPlan plan = segment_plan(KernelKind::persistent, 64);
    if (p == 1) plan.spill = std::int64_t{1} << 48;
    const Worklist<Ends> list(walled_.machine(p), plan);
  });
  EXPECT_NE(all[1].find("spill"), std::string::npos) << all[1];
  for (const std::string& text : all) EXPECT_EQ(text, all[1]);
}

TEST_F(WireFailures, OneProcessIsCalledOffBeforeARun) {
  for (const KernelKind kernel : kKernels) {
    std::vector<std::unique_ptr<Worklist<Ends>>> lists(kProcesses);
    const std::vector<std::string> all = texts<Interrupted>([&](std::size_t p) {
      lists[p] = std::make_unique<Worklist<Ends>>(walled_.machine(p), segment_plan(kernel, 64));
      std::stop_source stop;
      if (p == 1) stop.request_stop();
      const Interruptible scope(stop.get_token());
      lists[p]->run({Ends()}, {{{7}}});
    });
    for (const std::string& text : all) EXPECT_EQ(text, all[1]);
    EXPECT_NE(all[1], "nothing was thrown");
    walled_.on_each([&](std::size_t p) {  // the next run is right
      EXPECT_EQ(lists[p]->run({Ends()}, {{{7}}}).run, p == 0 ? kProcesses : 0);
    });
    walled_.on_each([&](std::size_t p) { lists[p].reset(); });
  }
}

}  // namespace
}  // namespace shoal::contract
