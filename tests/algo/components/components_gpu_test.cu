// Labels of components on GPUs, with every strategy and tuning and on 1 to 4 devices, against the serial reference; and the
// verifier on devices against wrong labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "algo/components/hook_gpu.hpp"
#include "algo/components/reference.hpp"
#include "algo/components/verify_gpu.hpp"
#include "algo/gpu_bed.cuh"
#include "shoal/algo/components_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

Csr random_graph(vertex_t n, std::int64_t arcs, bool undirected, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<vertex_t> sources, targets;
  for (std::int64_t i = 0; i < arcs; ++i) {
    const double x = std::uniform_real_distribution<>()(random);
    sources.push_back(static_cast<vertex_t>(x * x * x * n));  // low numbers become hubs
    targets.push_back(static_cast<vertex_t>(random() % n));
  }
  Csr graph = csr_from_arcs(n, std::move(sources), std::move(targets), {}, {}, undirected);
  graph.name = "random graph of " + std::to_string(n) + (undirected ? "" : ", directed");
  return graph;
}

std::vector<Csr> graphs() {
  std::vector<Csr> all;
  for (const char* text : {"kron:12", "kron:11,directed", "road:150", "road:90,deleted=.55", "uniform:12,degree=1",
                           "uniform:12,degree=1,directed", "chain:40000", "star:3000", "complete:200", "chain:1"}) {
    all.push_back(generate(parse_generator(text)));
  }
  for (vertex_t n : {2u, 31u, 32u, 33u, 511u, 512u, 513u, 2000u, 17000u}) {
    all.push_back(random_graph(n, n / 2, true, n));
    all.push_back(random_graph(n, 2 * n, false, n));
  }
  all.push_back(csr_from_arcs(70, {}, {}));
  all.back().name = "no arcs";
  return all;
}

using test::first_difference;

class ComponentsGpu : public test::OnGpus {};

/// The result of the check on devices for labels in placed order.
std::string verify(const PlacedGraph& placed, const std::vector<std::int32_t>& labels) {
  const test::Placed<vertex_t> at(placed, reinterpret_cast<const vertex_t*>(labels.data()));
  return verify_components_on_devices(placed, const_cast<const vertex_t* const*>(at.at()));
}

TEST_F(ComponentsGpu, HookEqualsTheReference) {
  const auto ways = test::patient<ComponentsHookGpuTuning>({
      {"defaults", {}},
      {"small tiles, hubs early", {.tile = 512, .hub_arcs = 64}},
      {"all arcs", {.giant = false}},
      {"large tiles", {.tile = 32768}},
      {"forests, hubs early", {.hub_arcs = 64, .exchange = ComponentsExchange::forests}},
      {"hooks", {.exchange = ComponentsExchange::hooks}},
  });
  for (const Csr& graph : graphs()) {
    const std::vector<std::int32_t> want = components_reference(graph);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      const PlacedGraph placed = test::place(graph, pes);
      for (const auto& [name, tuning] : ways) {
        ComponentsHookGpu hook(placed, tuning);
        for (int again = 0; again < 3; ++again) {
          Report report;
          hook.run(report);
          std::vector<const vertex_t*> labels;
          for (pe_t p = 0; p < pes; ++p) labels.push_back(hook.label(p));
          const std::vector<vertex_t> got = test::fetch(placed, labels.data());
          ASSERT_EQ(first_difference(std::vector<std::int32_t>(got.begin(), got.end()), want), "")
              << graph.name << ", " << pes << " PEs, " << name;
        }
      }
    }
  }
}

/// Whether the report says that the small graph was given to one GPU.
bool says_one(const Report& report) { return value_of(report.chosen, "partition") == "one"; }

TEST_F(ComponentsGpu, RunnerInEveryWay) {
  const std::vector<Csr> all = graphs();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Csr& graph = all[i];
    const std::vector<std::int32_t> want = components_reference(graph);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      for (const auto partition : {PartitionKind::edges, PartitionKind::random, PartitionKind::automatic}) {
        for (const auto strategy : {ComponentsStrategy::hook, ComponentsStrategy::async}) {
          // Worklists take long to allocate, so they get only a skewed, a local and a directed graph.
          if (strategy == ComponentsStrategy::async && i != 0 && i != 2 && i != 5) continue;
          ComponentsOptions options;
          options.device = DeviceKind::gpu;
          options.pes = pes;
          options.pes_per_gpu = test::pes_per_gpu(pes);
          options.partition = partition;
          options.strategy = strategy;
          ComponentsRunner runner(graph, options);
          for (int again = 0; again < 2; ++again) runner.run();
          const bool left_to_one = pes > 1 && strategy == ComponentsStrategy::hook;
          EXPECT_EQ(says_one(runner.run()), left_to_one && partition == PartitionKind::automatic) << graph.name;
          const ComponentsResult result = runner.result();
          const std::vector<std::int32_t> got(result.labels.begin(), result.labels.end());
          ASSERT_EQ(first_difference(got, want), "")
              << graph.name << ", " << pes << " PEs, " << name(strategy) << ", " << name(partition);
          ASSERT_EQ(runner.verify(), "") << graph.name;
        }
      }
    }
  }
}

TEST_F(ComponentsGpu, VerifierNamesEachKindOfMistake) {
  //  0 - 2 - 4      5 - 1 - 3      6      7 - 7      8 - 9
  const Csr graph = csr_from_arcs(10, {0, 2, 5, 3, 7, 8}, {2, 4, 1, 1, 7, 9}, {}, {}, true);
  const std::vector<std::int32_t> right = components_reference(graph);
  for (pe_t pes = 1; pes <= most_; ++pes) {
    const PlacedGraph placed = test::place(graph, pes);
    const auto wrong = [&](std::size_t v, std::int32_t label) {
      std::vector<std::int32_t> labels = right;
      labels[v] = label;
      return verify(placed, labels);
    };
    EXPECT_EQ(verify(placed, right), "");
    EXPECT_EQ(wrong(4, 1), "vertex 2 has label 0 but its neighbour 4 has label 1");
    EXPECT_EQ(wrong(6, 8), "vertex 6 has label 8, which is larger than the vertex itself");
    EXPECT_EQ(wrong(6, 5), "vertex 6 has label 5 but vertex 5 has label 1");
    EXPECT_NE(wrong(6, -1), "");
    EXPECT_NE(wrong(6, 10), "");
    EXPECT_EQ(wrong(6, 0), "vertex 6 has label 0 but no path leads there");
    std::vector<std::int32_t> merged = right;
    for (auto& label : merged) label = label == 1 ? 0 : label;
    EXPECT_EQ(verify(placed, merged), "vertex 1 has label 0 but no path leads there");
    std::vector<std::int32_t> split = right;
    split[9] = 9;
    EXPECT_EQ(verify(placed, split), "vertex 8 has label 8 but its neighbour 9 has label 9");
  }
}

TEST_F(ComponentsGpu, VerifierSeesTwoLargeComponentsMerged) {
  for (const char* text : {"road:90,deleted=.55", "uniform:12,degree=1", "uniform:12,degree=1,directed"}) {
    const Csr graph = generate(parse_generator(text));
    for (pe_t pes = 1; pes <= most_; ++pes) {
      const PlacedGraph placed = test::place(graph, pes);
      std::vector<std::int32_t> labels = components_reference(graph);
      for (int round = 0; round < 2; ++round) {
        const std::string said = verify(placed, labels);
        EXPECT_EQ(said.empty(), round == 0) << text << ", " << pes << " PEs: " << said;
        // Merges two components under one label: then the labels agree along every arc.
        const std::int32_t first = labels[0];
        const auto second = std::find_if(labels.begin(), labels.end(), [&](std::int32_t x) { return x != first; });
        ASSERT_NE(second, labels.end());
        const std::int32_t other = *second;
        for (auto& label : labels) label = label == other ? first : label;
      }
    }
  }
}

TEST_F(ComponentsGpu, ChoosesForestsWhereArcsLeadEverywhere) {
  const auto chosen = [&](const char* text) {
    const Csr graph = generate(parse_generator(text));
    const PlacedGraph placed = test::place(graph, most_);
    ComponentsHookGpu hook(placed);
    Report report;
    hook.run(report);
    return value_of(report.chosen, "exchange");
  };
  EXPECT_EQ(chosen("uniform:14,degree=1"), "forests");
  EXPECT_EQ(chosen("road:150"), "hooks");
  EXPECT_EQ(chosen("kron:12"), "hooks");
}

TEST_F(ComponentsGpu, RefusesWhatDoesNotFit) {
  const Csr graph = generate(parse_generator("chain:100"));
  const PlacedGraph placed = test::place(graph, 1);
  for (const ComponentsHookGpuTuning& bad : {ComponentsHookGpuTuning{.tile = 1000}, {.hub_arcs = 1}}) {
    EXPECT_THROW(ComponentsHookGpu(placed, bad), UsageError);
  }
  EXPECT_THROW(ComponentsHookGpu(place_on_threads(graph, make_partition(graph, 1, PartitionKind::block))), UsageError);
}

TEST_F(ComponentsGpu, FailedAllocationsLeaveNothing) {
  const Csr graph = generate(parse_generator("road:40"));
  const PlacedGraph placed = test::place(graph, most_);
  EXPECT_GT(test::fail_each_allocation([&] { ComponentsHookGpu hook(placed); }), 3);
}

}  // namespace
}  // namespace shoal
