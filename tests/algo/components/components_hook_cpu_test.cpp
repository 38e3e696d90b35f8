// Labels of the hook strategy on CPU threads, and of ComponentsRunner, against the serial reference, for different PEs,
// threads, partitions, sizes around those of words and tiles, directed graphs, and with and without a giant component.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "algo/components/hook.hpp"
#include "algo/components/reference.hpp"
#include "graph/make.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

using test::make;

/// A random graph with hubs at low numbers, many vertices without arcs, unsorted rows, loops and parallel arcs.
Csr random_graph(vertex_t n, std::int64_t arcs, bool undirected, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<vertex_t> sources, targets;
  for (std::int64_t i = 0; i < arcs; ++i) {
    const double x = std::uniform_real_distribution<>()(random);
    sources.push_back(static_cast<vertex_t>(x * x * x * n));
    targets.push_back(static_cast<vertex_t>(random() % n));
  }
  return csr_from_arcs(n, std::move(sources), std::move(targets), {}, {}, undirected);
}

std::vector<Csr> graphs() {
  std::vector<Csr> all;
  for (const char* text : {"kron:9", "road:40,deleted=.55", "uniform:9,degree=1,directed", "chain:700"}) {
    all.push_back(make(text));
  }
  std::vector<vertex_t> sizes{65u, 1000u};
  if (!test::kUnderTsan) {
    for (const char* text :
         {"kron:9,directed", "road:40", "uniform:9,degree=1", "star:300", "complete:70", "chain:1"}) {
      all.push_back(make(text));
    }
    sizes = {2u, 63u, 64u, 65u, 128u, 129u, 1000u};
  }
  for (const vertex_t n : sizes) {
    all.push_back(random_graph(n, n / 2, true, n));
    all.push_back(random_graph(n, 2 * n, false, n));
    all.back().name = all[all.size() - 2].name = "random graph of " + std::to_string(n);
  }
  all.push_back(csr_from_arcs(70, {}, {}));
  all.push_back(csr_from_arcs(0, {}, {}));
  return all;
}

std::vector<std::int32_t> labels_of(const ComponentsHookCpu& hook, const PlacedGraph& graph) {
  std::vector<std::int32_t> labels;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const Span<const vertex_t> mine = hook.label(p);
    labels.insert(labels.end(), mine.begin(), mine.end());
  }
  return labels;
}

TEST(ComponentsHookCpu, EqualsTheReference) {
  for (const Csr& graph : graphs()) {
    const std::vector<std::int32_t> want = components_reference(graph);
    for (pe_t pes = 1; pes <= 4; ++pes) {
      const PlacedGraph placed = place_on_threads(graph, make_partition(graph, pes, PartitionKind::block));
      for (int threads : {1, 2}) {
        ThreadTeam team(pes, threads);
        for (const ComponentsHookTuning& tuning :
             {ComponentsHookTuning{}, ComponentsHookTuning{64, 16}, ComponentsHookTuning{128, 0}}) {
          ComponentsHookCpu hook(placed, team, tuning);
          for (int again = 0; again < 2; ++again) {
            Report report;
            hook.run(report);
            ASSERT_EQ(labels_of(hook, placed), want)
                << graph.name << ", " << pes << " PEs, " << threads << " threads, tile " << tuning.tile;
          }
        }
      }
    }
  }
}

TEST(ComponentsHookCpu, RefusesWhatDoesNotFit) {
  const Csr graph = make("chain:10");
  const PlacedGraph placed = place_on_threads(graph, make_partition(graph, 2, PartitionKind::block));
  ThreadTeam one(1, 1), two(2, 1);
  EXPECT_THROW(ComponentsHookCpu(placed, one), UsageError);
  EXPECT_THROW(ComponentsHookCpu(placed, two, {0, 16}), UsageError);
  EXPECT_THROW(ComponentsHookCpu(placed, two, {64, -1}), UsageError);
}

ComponentsOptions cpu(pe_t pes, ComponentsStrategy strategy, PartitionKind partition) {
  ComponentsOptions options;
  options.device = DeviceKind::cpu;
  options.pes = pes;
  options.threads = 2;
  options.strategy = strategy;
  options.partition = partition;
  return options;
}

TEST(ComponentsRunner, EveryStrategyAndPartition) {
  for (const Csr& graph : graphs()) {
    if (graph.num_vertices() == 0) continue;
    const std::vector<std::int32_t> want = components_reference(graph);
    const ComponentSizes sizes = component_sizes({want.data(), graph.num_vertices()});
    for (pe_t pes : {1, 3}) {
      for (const auto strategy : {ComponentsStrategy::automatic, ComponentsStrategy::async, ComponentsStrategy::hook}) {
        for (const auto partition : {PartitionKind::block, PartitionKind::edges, PartitionKind::random}) {
          const std::string how =
              graph.name + ", " + std::to_string(pes) + " PEs, " + name(strategy) + ", " + name(partition);
          ComponentsRunner runner(graph, cpu(pes, strategy, partition));
          for (int again = 0; again < 2; ++again) runner.run();
          ASSERT_EQ(runner.verify(), "") << how;
          const ComponentsResult result = runner.result();
          ASSERT_EQ(std::vector<std::int32_t>(result.labels.begin(), result.labels.end()), want) << how;
          ASSERT_EQ(result.count, sizes.count) << how;
          ASSERT_EQ(result.largest, sizes.largest) << how;
        }
      }
    }
  }
}

TEST(ComponentsRunner, TinyWorklistsAndErrors) {
  const Csr graph = make("kron:8");
  ComponentsOptions options = cpu(3, ComponentsStrategy::automatic, PartitionKind::random);
  options.capacity = 2;
  ComponentsRunner runner(graph, options);
  EXPECT_THROW(runner.result(), UsageError);
  EXPECT_THROW(runner.verify(), UsageError);
  runner.run();
  EXPECT_EQ(runner.verify(), "");
  EXPECT_THROW(parse_components_strategy("levels"), UsageError);
  EXPECT_EQ(parse_components_strategy("hook"), ComponentsStrategy::hook);
}

TEST(ComponentsRunner, FewSeedsAndFewItems) {
  // Only the label of the smallest vertex is sent: once along every arc.
  const Csr graph = make("star:300");
  ComponentsRunner runner(graph, cpu(1, ComponentsStrategy::async, PartitionKind::block));
  const Report report = runner.run();
  EXPECT_EQ(report.pushed, 1 + 2 * 299);
  EXPECT_EQ(report.run, 300);
}

}  // namespace
}  // namespace shoal
