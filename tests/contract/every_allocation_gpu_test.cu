// The k-th request for device memory fails, for every k, in every algorithm. Each failure gives an error that names what was
// wanted, and no memory is held afterwards. If the failure came in a run, the next run of the same runner is right.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/graph/generate.hpp"
#include "shoal/world/devices.hpp"

namespace shoal {
namespace {

struct Failures {
  int setting_up = 0, running = 0;
};

/// Fails request 0, then 1, and so on, until a runner is made and run without a failure. `make` returns a runner; `run` runs it
/// and returns what is wrong with its result ("" if nothing).
template <class Runner, class Make, class Run>
Failures fail_each(Make&& make, Run&& run) {
  Failures failures;
  const std::int64_t before = AllocationFault::held;
  for (int k = 0; k < 1000; ++k) {
    SCOPED_TRACE("request " + std::to_string(k) + " fails");
    bool failed = false;
    {
      AllocationFault::arm(k);
      std::optional<Runner> runner;
      const auto attempt = [&](auto&& step, int& count) {
        try {
          step();
        } catch (const CapacityError& error) {
          failed = true;
          ++count;
          EXPECT_NE(std::string(error.what()).find("bytes wanted"), std::string::npos) << error.what();
        }
      };
      attempt([&] { runner.emplace(make()); }, failures.setting_up);
      std::string wrong;
      if (!failed) attempt([&] { wrong = run(*runner); }, failures.running);
      AllocationFault::disarm();
      if (failed && runner) wrong = run(*runner);
      EXPECT_EQ(wrong, "");
    }
    EXPECT_EQ(AllocationFault::held, before) << "nothing is held when the runner is gone";
    if (!failed || ::testing::Test::HasFailure()) return failures;
  }
  ADD_FAILURE() << "there are more than a thousand requests";
  return failures;
}

/// Calls fail_each for every strategy, on one PE and on two.
template <class Runner, class AlgorithmOptions, class Run>
void fail_everywhere(const Csr& graph, AlgorithmOptions options, const std::vector<std::string>& strategies,
                     decltype(options.strategy) (*parse)(const std::string&), Run&& run) {
  std::string why;
  const auto gpus = static_cast<pe_t>(list_devices(&why).size());
  if (gpus == 0) GTEST_SKIP() << "no GPU: " << why;
  options.device = DeviceKind::gpu;
  options.capacity = 64;
  options.workers = 64;
  options.pes_per_gpu = gpus > 1 ? 1 : 2;
  for (pe_t pes = 1; pes <= 2; ++pes) {
    for (const std::string& strategy : strategies) {
      SCOPED_TRACE(strategy + " on " + std::to_string(pes) + " PEs");
      options.pes = pes;
      options.strategy = parse(strategy);
      const Failures failures = fail_each<Runner>([&] { return Runner(graph, options); }, run);
      // Rows, targets and the arrays of the algorithm. Fewer would mean that memory is allocated in a way that the fault does
      // not reach.
      EXPECT_GT(failures.setting_up, 3);
      std::printf("%s on %d PEs: %d requests failed while setting up, %d in a run\n", strategy.c_str(), pes,
                  failures.setting_up, failures.running);
    }
  }
}

TEST(EveryAllocation, OfBfs) {
  fail_everywhere<BfsRunner>(generate(parse_generator("road:16")), BfsOptions{}, {"async", "levels"},
                             parse_bfs_strategy, [](BfsRunner& runner) {
                               runner.search(0);
                               return runner.verify();
                             });
}

TEST(EveryAllocation, OfSssp) {
  SsspOptions options;
  options.weights = WeightSource::hash255;
  fail_everywhere<SsspRunner>(generate(parse_generator("road:16")), options, {"async", "delta"}, parse_sssp_strategy,
                              [](SsspRunner& runner) {
                                runner.search(0);
                                return runner.verify();
                              });
}

TEST(EveryAllocation, OfComponents) {
  fail_everywhere<ComponentsRunner>(generate(parse_generator("uniform:8,degree=2")), ComponentsOptions{},
                                    {"async", "hook"}, parse_components_strategy, [](ComponentsRunner& runner) {
                                      runner.run();
                                      return runner.verify();
                                    });
}

TEST(EveryAllocation, OfPageRank) {
  PageRankOptions options;
  options.tolerance = 0.01;
  fail_everywhere<PageRankRunner>(generate(parse_generator("kron:6")), options, {"async", "pull"},
                                  parse_pagerank_strategy, [](PageRankRunner& runner) {
                                    runner.rank();
                                    return runner.verify();
                                  });
}

}  // namespace
}  // namespace shoal
