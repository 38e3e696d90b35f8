// Counts of what a search found, which the PEs compute where the results are, against serial references.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "algo/algorithm.hpp"
#include "algo/bfs/reference.hpp"
#include "algo/sssp/reference.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/generate.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

struct Where {
  pe_t pes;
  int threads;
  PartitionKind partition;
};
constexpr Where kWhere[] = {{1, 1, PartitionKind::automatic}, {1, 3, PartitionKind::automatic},
                            {2, 2, PartitionKind::edges},     {3, 1, PartitionKind::random},
                            {4, 2, PartitionKind::one},       {3, 2, PartitionKind::modulo}};

template <class AlgorithmOptions>
AlgorithmOptions on_cpu(const Where& where) {
  AlgorithmOptions options;
  options.device = DeviceKind::cpu;
  options.pes = where.pes;
  options.threads = where.threads;
  options.partition = where.partition;
  return options;
}

/// Undirected graphs, some with several components; a directed graph; and a graph with fewer vertices than threads.
std::vector<Csr> graphs() {
  std::vector<Csr> all;
  for (const char* text : {"kron:12,degree=2", "uniform:12,degree=2,directed", "road:40", "chain:3"}) {
    if (test::kUnderTsan && std::string_view(text).starts_with("uniform")) continue;
    all.push_back(generate(parse_generator(text)));
  }
  return all;
}

struct Counts {
  std::int64_t vertices = 0, arcs = 0;
  std::uint64_t farthest = 0;
};

/// @param words  one for each vertex; all bits set: not reached
template <class Word>
Counts counts_of(const Csr& graph, const std::vector<Word>& words) {
  Counts counts;
  for (std::size_t v = 0; v < words.size(); ++v) {
    if (words[v] == static_cast<Word>(~Word{0})) continue;
    ++counts.vertices;
    counts.arcs += graph.degree(static_cast<vertex_t>(v));
    counts.farthest = std::max<std::uint64_t>(counts.farthest, words[v]);
  }
  return counts;
}

TEST(Reached, BreadthFirstSearchIsCountedInPlace) {
  for (const Csr& graph : graphs()) {
    const vertex_t last = static_cast<vertex_t>(graph.num_vertices() - 1);
    for (const Where& where : kWhere) {
      for (const BfsStrategy strategy : {BfsStrategy::levels, BfsStrategy::async}) {
        BfsOptions options = on_cpu<BfsOptions>(where);
        options.strategy = strategy;
        BfsRunner runner(graph, options);
        EXPECT_THROW(runner.found(), UsageError) << "before the first search";
        for (const vertex_t source : {vertex_t{0}, last}) {
          SCOPED_TRACE(graph.name + " from " + std::to_string(source) + " by " + name(strategy) + " on " +
                       std::to_string(where.pes) + " PEs, " + name(where.partition));
          runner.search(source);
          const Counts want = counts_of(graph, bfs_reference(graph, source));
          const BfsFound found = runner.found();
          EXPECT_EQ(found.reached, want.vertices);
          EXPECT_EQ(found.reached_arcs, want.arcs);
          EXPECT_EQ(found.depth, static_cast<std::int32_t>(want.farthest));
          const BfsResult result = runner.result();
          EXPECT_EQ(result.reached, want.vertices);
          EXPECT_EQ(result.depth, found.depth);
          EXPECT_EQ(std::count_if(result.levels.begin(), result.levels.end(), [](auto level) { return level >= 0; }),
                    want.vertices);
        }
      }
    }
  }
}

void distances_are_counted(const Csr& graph, WeightSource weights, bool real) {
  for (const Where& where : kWhere) {
    for (const SsspStrategy strategy : {SsspStrategy::delta, SsspStrategy::async}) {
      SCOPED_TRACE(graph.name + " by " + name(strategy) + " on " + std::to_string(where.pes) + " PEs, " +
                   name(where.partition));
      SsspOptions options = on_cpu<SsspOptions>(where);
      options.strategy = strategy;
      options.weights = weights;
      SsspRunner runner(graph, options);
      EXPECT_THROW(runner.found(), UsageError) << "before the first search";
      runner.search(0);
      const Counts want = counts_of(graph, sssp_reference(runner.graph(), 0));
      const SsspFound found = runner.found();
      EXPECT_EQ(found.reached, want.vertices);
      EXPECT_EQ(found.reached_arcs, want.arcs);
      EXPECT_EQ(found.real, real);
      EXPECT_EQ(found.farthest, real ? std::bit_cast<double>(want.farthest) : static_cast<double>(want.farthest));
    }
  }
}

TEST(Reached, ShortestPathsAreCountedInPlace) {
  for (const Csr& graph : graphs()) distances_are_counted(graph, WeightSource::hash255, false);
}

TEST(Reached, DistancesBeyond32BitsAndRealOnesAreCounted) {
  Csr graph = generate(parse_generator("chain:9"));
  graph.weight_kind = WeightKind::int32;
  graph.int_weights = HostArray<std::int32_t>(graph.num_arcs(), 2'000'000'000);
  distances_are_counted(graph, WeightSource::file, false);
  graph.int_weights = {};
  graph.weight_kind = WeightKind::float64;
  graph.real_weights = HostArray<double>(graph.num_arcs(), 0.3);
  distances_are_counted(graph, WeightSource::file, true);
}

// Commands print and write the same, whether the result was copied to the host or not.
TEST(Reached, EveryAlgorithmSaysTheSameWithoutFetching) {
  Options options;
  options.device = DeviceKind::cpu;
  options.pes = 2;
  options.threads = 1;
  const GeneratorSpec spec = parse_generator("kron:10");
  for (const AlgorithmInfo* info : algorithms()) {
    SCOPED_TRACE(info->name);
    const std::unique_ptr<Algorithm> algorithm = info->make();
    algorithm->read(options);
    const std::unique_ptr<Placed> placed = algorithm->place(spec);
    for (const vertex_t source : {vertex_t{0}, vertex_t{1000}}) {
      placed->run({source, {}});
      const Found counted = placed->count(), fetched = placed->fetch();
      EXPECT_TRUE(counted.facts == fetched.facts);
      EXPECT_EQ(counted.cells, fetched.cells);
      EXPECT_EQ(counted.cells.size(), info->columns.size());
      EXPECT_EQ(counted.arcs, fetched.arcs);
    }
  }
}

}  // namespace
}  // namespace shoal
