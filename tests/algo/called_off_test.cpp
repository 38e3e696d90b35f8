// Runs that are cancelled at any moment end with Interrupted, and the next run of the same runner is right.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

/// An algorithm on a placed graph, which the test runs and verifies many times.
struct Subject {
  std::function<void()> run;
  std::function<std::string()> verify;
};

template <class Runner, class RunnerOptions, class Run>
Subject subject(const char* graph, const RunnerOptions& options, Run run) {
  auto runner = std::make_shared<Runner>(parse_generator(graph), options);
  return {[=] { run(*runner); }, [=] { return runner->verify(); }};
}

template <class RunnerOptions>
RunnerOptions on_threads(pe_t pes, KernelKind kernel = KernelKind::automatic) {
  RunnerOptions options;
  options.device = DeviceKind::cpu;
  options.pes = pes;
  options.threads = 2;
  options.kernel = kernel;
  return options;
}

Subject bfs(const char* graph, BfsStrategy strategy, pe_t pes, KernelKind kernel = KernelKind::automatic) {
  auto options = on_threads<BfsOptions>(pes, kernel);
  options.strategy = strategy;
  return subject<BfsRunner>(graph, options, [](BfsRunner& runner) { runner.search(0); });
}

Subject sssp(const char* graph, SsspStrategy strategy, pe_t pes, QueueKind queue = QueueKind::automatic) {
  auto options = on_threads<SsspOptions>(pes);
  options.strategy = strategy;
  options.weights = WeightSource::hash255;
  options.queue = queue;
  return subject<SsspRunner>(graph, options, [](SsspRunner& runner) { runner.search(0); });
}

Subject pagerank(const char* graph, PageRankStrategy strategy, pe_t pes, double alpha = .85, double tolerance = 1e-6) {
  auto options = on_threads<PageRankOptions>(pes);
  options.strategy = strategy;
  options.alpha = alpha;
  options.tolerance = tolerance;
  return subject<PageRankRunner>(graph, options, [](PageRankRunner& runner) { runner.rank(); });
}

Subject components(const char* graph, ComponentsStrategy strategy, pe_t pes) {
  auto options = on_threads<ComponentsOptions>(pes);
  options.strategy = strategy;
  return subject<ComponentsRunner>(graph, options, [](ComponentsRunner& runner) { runner.run(); });
}

/// Runs it and cancels it after `delay`. @return whether the cancel came before the end of the run
bool run_and_call_off(const Subject& subject, Clock::duration delay) {
  std::stop_source stop;
  std::thread other([&] {
    std::this_thread::sleep_for(delay);
    stop.request_stop();
  });
  bool called_off = false;
  try {
    const Interruptible scope(stop.get_token());
    subject.run();
  } catch (const Interrupted&) {
    called_off = true;
  }
  other.join();
  return called_off;
}

void call_off_again_and_again(const char* what, const Subject& subject) {
  SCOPED_TRACE(what);
  constexpr int kMoments = test::kUnderTsan ? 3 : 8;
  const auto start = Clock::now();
  subject.run();
  const auto whole = Clock::now() - start;
  {
    std::stop_source stop;
    stop.request_stop();
    const Interruptible scope(stop.get_token());
    EXPECT_THROW(subject.run(), Interrupted);
    EXPECT_THROW(static_cast<void>(subject.verify()), UsageError) << "a cancelled run has no result";
  }
  for (int i = 0; i < kMoments; ++i) {
    run_and_call_off(subject, whole * i / kMoments);
    subject.run();
    EXPECT_EQ(subject.verify(), "") << "after moment " << i;
  }
}

TEST(CalledOff, SearchesRunAgain) {
  for (const pe_t pes : {1, 3}) {
    for (const char* graph : {"kron:13", "road:80"}) {
      SCOPED_TRACE(std::string(graph) + " on " + std::to_string(pes));
      call_off_again_and_again("persistent", bfs(graph, BfsStrategy::async, pes, KernelKind::persistent));
      call_off_again_and_again("discrete", bfs(graph, BfsStrategy::async, pes, KernelKind::discrete));
      call_off_again_and_again("levels", bfs(graph, BfsStrategy::levels, pes));
    }
  }
}

TEST(CalledOff, ShortestPathsRunAgain) {
  for (const pe_t pes : {1, 3}) {
    for (const char* graph : {"kron:12", "road:80"}) {
      SCOPED_TRACE(std::string(graph) + " on " + std::to_string(pes));
      call_off_again_and_again("fifo", sssp(graph, SsspStrategy::async, pes, QueueKind::fifo));
      call_off_again_and_again("priority", sssp(graph, SsspStrategy::async, pes, QueueKind::priority));
      call_off_again_and_again("delta", sssp(graph, SsspStrategy::delta, pes));
    }
  }
}

TEST(CalledOff, RanksAndLabelsAreMadeAgain) {
  for (const pe_t pes : {1, 3}) {
    if (pes == 1 && test::kUnderTsan) continue;
    for (const char* graph : {"kron:12", "road:80"}) {
      SCOPED_TRACE(std::string(graph) + " on " + std::to_string(pes));
      call_off_again_and_again("pagerank async", pagerank(graph, PageRankStrategy::async, pes));
      call_off_again_and_again("pagerank pull", pagerank(graph, PageRankStrategy::pull, pes));
      call_off_again_and_again("components async", components(graph, ComponentsStrategy::async, pes));
      call_off_again_and_again("components hook", components(graph, ComponentsStrategy::hook, pes));
    }
  }
}

/// Runs that would take minutes end soon after they are cancelled. (The limit leaves a margin for a busy machine.)
TEST(CalledOff, LongRunsEndSoon) {
  const std::vector<std::pair<const char*, Subject>> all = {
      {"pull", pagerank("road:600", PageRankStrategy::pull, 1, .9999, 1e-11)},
      {"async", pagerank("road:600", PageRankStrategy::async, 2, .9999, 1e-11)},
      {"one thread alone", bfs(test::kUnderTsan ? "chain:2000000" : "chain:20000000", BfsStrategy::levels, 1)},
  };
  for (const auto& [what, subject] : all) {
    SCOPED_TRACE(what);
    const auto start = Clock::now();
    EXPECT_TRUE(run_and_call_off(subject, std::chrono::milliseconds(50)));
    EXPECT_LT(Clock::now() - start, std::chrono::seconds(3));
  }
}

}  // namespace
}  // namespace shoal
