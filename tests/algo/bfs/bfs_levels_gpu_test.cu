// Levels of the GPU search against the serial reference: small graphs of every shape, sizes around those of words and tiles, 1
// to 4 devices, and every tuning that changes the path through the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algo/bfs/levels_gpu.hpp"
#include "algo/bfs/reference.hpp"
#include "algo/gpu_bed.cuh"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

using test::first_difference;

/// A placed graph with arrays of levels that hold no valid values at first.
struct Bench {
  PlacedGraph graph;
  test::Placed<level_t> level;

  Bench(const Csr& csr, pe_t pes, PartitionKind kind = PartitionKind::block)
      : graph(test::place(csr, pes, kind)), level(graph) {}
  /// The levels in the input's numbering.
  std::vector<level_t> levels() const { return test::fetch(graph, level.at()); }
};

std::vector<test::Way<BfsLevelsGpuTuning>> ways() {
  return test::patient<BfsLevelsGpuTuning>({
      {"defaults", {}},
      {"top-down only", {.alpha = 0, .narrow = false}},
      {"bottom-up at once, and never back", {.alpha = 1e12, .beta = 0}},
      {"changes the side often", {.alpha = 1e12, .beta = 1}},
      {"cluster early, left early",
       {.alpha = 0, .narrow_after = 2, .narrow_enter = 64, .narrow_leave = 128, .narrow_check = 0}},
      {"small blocks, cluster of two", {.block_threads = 96, .narrow_after = 2, .cluster_blocks = 2}},
  });
}

class BfsLevelsGpuTest : public test::OnGpus {
 protected:
  void check(const Csr& csr, const std::vector<vertex_t>& sources, PartitionKind kind = PartitionKind::block) {
    for (pe_t pes = 1; pes <= most_; ++pes) {
      Bench bench(csr, pes, kind);
      for (const auto& [name, tuning] : ways()) {
        BfsLevelsGpu search(bench.graph, tuning);
        for (const vertex_t source : sources) {
          Report report;
          search.search(bench.graph.partition.placed(source), bench.level.at(), report);
          EXPECT_EQ(first_difference(bench.levels(), bfs_reference(csr, source)), "")
              << csr.name << ", source " << source << ", " << pes << " PEs, " << name << ": "
              << report.chosen.back().value;
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
  void check(const std::string& generator, const std::vector<vertex_t>& sources,
             PartitionKind kind = PartitionKind::block) {
    check(generate(parse_generator(generator)), sources, kind);
  }
};

TEST_F(BfsLevelsGpuTest, TheComparisonSeesAWrongLevel) {
  const Csr csr = generate(parse_generator("chain:100"));
  std::vector<level_t> want = bfs_reference(csr, 0), got = want;
  EXPECT_EQ(first_difference(got, want), "");
  got[99] = 98;
  EXPECT_NE(first_difference(got, want), "");
  got.pop_back();
  EXPECT_NE(first_difference(got, want), "");
}

TEST_F(BfsLevelsGpuTest, OneVertexAndNoArcs) {
  check(csr_from_arcs(1, {}, {}), {0});
  check(csr_from_arcs(3, {}, {}), {0, 2});
  check(csr_from_arcs(2000, {5}, {1999}, {}, {}, true), {5, 1999, 0});
}

TEST_F(BfsLevelsGpuTest, LoopsAndParallelArcs) {
  check(csr_from_arcs(4, {0, 0, 0, 1, 1, 3, 3}, {0, 1, 1, 1, 2, 3, 3}), {0, 1, 2, 3});
}

TEST_F(BfsLevelsGpuTest, Chains) {
  for (const int n : {2, 31, 32, 33, 63, 64, 65, 255, 256, 257, 1023, 1024, 1025, 3000}) {
    check("chain:" + std::to_string(n), {0, static_cast<vertex_t>(n / 2), static_cast<vertex_t>(n - 1)});
  }
}

TEST_F(BfsLevelsGpuTest, StarsAndCompleteGraphs) {
  for (const int n : {2, 33, 257, 5000, 200000})
    check("star:" + std::to_string(n), {0, 1, static_cast<vertex_t>(n - 1)});
  for (const int n : {2, 32, 100, 513}) check("complete:" + std::to_string(n), {0, static_cast<vertex_t>(n - 1)});
}

TEST_F(BfsLevelsGpuTest, SkewedGraphs) {
  check("kron:6", {0, 1, 63});
  check("kron:12", {0, 1, 77, 4095});
  check("kron:16,seed=5", {0, 1, 77, 65535});
  check("kron:14", {3, 9}, PartitionKind::edges);
  check("kron:14", {3, 9}, PartitionKind::random);
}

TEST_F(BfsLevelsGpuTest, EvenGraphs) {
  check("uniform:10,degree=2", {0, 500});
  check("uniform:16", {0, 12345});
}

TEST_F(BfsLevelsGpuTest, Roads) {
  check("road:17", {0, 144, 288});
  check("road:300", {0, 45000}, PartitionKind::random);
  check("road:700", {0, 245000});
}

TEST_F(BfsLevelsGpuTest, DirectedGraphs) {
  check("kron:12,directed=1", {0, 1, 77, 4095});
  check("uniform:14,degree=3,directed=1", {0, 1, 5});
  // A directed chain with an arc back from its end, and a vertex with only an arc into it.
  check(csr_from_arcs(6, {0, 1, 2, 3, 4, 5}, {1, 2, 3, 4, 1, 0}), {0, 4, 5});
}

TEST_F(BfsLevelsGpuTest, AFrontierThatOutgrowsTheCluster) {
  // A chain of 40 arcs that ends at the centre of a star of 300,000 vertices, each of which has its own leaf.
  std::vector<vertex_t> from, to;
  for (vertex_t v = 0; v < 40; ++v) {
    from.push_back(v);
    to.push_back(v + 1);
  }
  for (vertex_t v = 41; v < 300041; ++v) {
    from.push_back(40);
    to.push_back(v);
    from.push_back(v);
    to.push_back(v + 300000);
  }
  check(csr_from_arcs(600041, from, to, {}, {}, true), {0, 600040});
}

TEST_F(BfsLevelsGpuTest, ManySearchesWithOneObject) {
  const Csr csr = generate(parse_generator("kron:10"));
  for (pe_t pes = 1; pes <= most_; ++pes) {
    Bench bench(csr, pes);
    BfsLevelsGpu search(bench.graph);
    for (vertex_t source = 0; source < 1024; source += 7) {
      Report report;
      search.search(bench.graph.partition.placed(source), bench.level.at(), report);
      ASSERT_EQ(first_difference(bench.levels(), bfs_reference(csr, source)), "") << source << ", " << pes << " PEs";
      ASSERT_GT(report.seconds, 0);
    }
  }
}

TEST_F(BfsLevelsGpuTest, RefusesWhatItCannotDo) {
  const Csr csr = generate(parse_generator("kron:8"));
  Bench bench(csr, 1);
  BfsLevelsGpu search(bench.graph);
  Report report;
  EXPECT_THROW(search.search(256, bench.level.at(), report), UsageError);
  level_t* crooked[] = {bench.level.at()[0] + 1};
  EXPECT_THROW(search.search(0, crooked, report), UsageError);
  level_t* missing[] = {nullptr};
  EXPECT_THROW(search.search(0, missing, report), UsageError);
  for (const BfsLevelsGpuTuning& bad :
       {BfsLevelsGpuTuning{.block_threads = 33}, {.cluster_blocks = 3}, {.narrow_enter = 1000, .narrow_leave = 1000}}) {
    EXPECT_THROW(BfsLevelsGpu(bench.graph, bad), UsageError);
  }
  const PlacedGraph on_cpu = place_on_threads(csr, make_partition(csr, 1, PartitionKind::block));
  EXPECT_THROW(BfsLevelsGpu{on_cpu}, UsageError);
}

TEST_F(BfsLevelsGpuTest, AFailedAllocationLeavesNothing) {
  const Csr csr = generate(parse_generator("kron:8"));
  Bench bench(csr, 1);
  { BfsLevelsGpu loads_the_kernels(bench.graph); }
  const std::size_t before = free_device_bytes();
  EXPECT_GT(test::fail_each_allocation([&] { BfsLevelsGpu search(bench.graph); }), 5);
  EXPECT_EQ(free_device_bytes(), before);
}

TEST_F(BfsLevelsGpuTest, StepsTellWhatHappened) {
  const Csr csr = generate(parse_generator("kron:16"));
  vertex_t source = 0;
  while (csr.degree(source) == 0) ++source;
  Bench bench(csr, 1);
  BfsLevelsGpu search(bench.graph);
  Report report;
  search.search(source, bench.level.at(), report);
  const auto steps = search.steps();
  ASSERT_FALSE(steps.empty());
  EXPECT_EQ(steps.front().depth, 0u);
  EXPECT_EQ(steps.front().vertices, 1u);
  EXPECT_TRUE(std::any_of(steps.begin(), steps.end(), [](const BfsLevelStep& s) { return s.side == 'b'; }));
  const auto levels = bench.levels();
  const level_t deepest =
      *std::max_element(levels.begin(), levels.end(), [](level_t a, level_t b) { return a + 1 < b + 1; });
  EXPECT_GE(report.rounds, deepest);
  EXPECT_LE(report.rounds, deepest + 1);
}

}  // namespace
}  // namespace shoal
