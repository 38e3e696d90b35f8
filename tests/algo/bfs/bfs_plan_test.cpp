// What `auto` chooses for breadth-first search on GPUs, by the shape of the graph. Needs no GPU.
#include <gtest/gtest.h>

#include "algo/bfs/engines.hpp"

namespace shoal {
namespace {

/// A graph of the given shape, without its arcs.
PlacedGraph shape(std::int64_t vertices, double mean_degree, arc_t max_degree, pe_t n_pes = 1, double cut = 0.001) {
  PlacedGraph graph;
  graph.num_vertices = vertices;
  graph.num_arcs = static_cast<arc_t>(mean_degree * static_cast<double>(vertices));
  graph.max_degree = max_degree;
  graph.partition.cut_arcs = n_pes > 1 ? static_cast<arc_t>(cut * static_cast<double>(graph.num_arcs)) : 0;
  graph.out.resize(n_pes);
  return graph;
}
BfsStrategy chosen(const PlacedGraph& graph) { return choose_bfs_on_gpus(graph).first; }

TEST(BfsPlan, SkewedOrDenseGraphsGoByLevels) {
  for (const pe_t n_pes : {1, 4}) {
    EXPECT_EQ(chosen(shape(1 << 22, 30.6, 160000, n_pes, 0.75)), BfsStrategy::levels);
    EXPECT_EQ(chosen(shape(1 << 20, 3, 100000, n_pes)), BfsStrategy::levels);
    EXPECT_EQ(chosen(shape(1 << 20, 13.5, 44, n_pes)), BfsStrategy::levels);
  }
}

TEST(BfsPlan, OnOneGpuOnlyLargeRoadsRunAsItemsCome) {
  EXPECT_EQ(chosen(shape(4096 * 4096, 3.6, 4)), BfsStrategy::levels);
  EXPECT_EQ(chosen(shape(13191LL * 13191, 2.4, 4)), BfsStrategy::async);
  EXPECT_EQ(chosen(shape(1 << 26, 2, 13)), BfsStrategy::levels) << "few levels, as uniform:26,degree=1 has";
}

TEST(BfsPlan, OnSeveralGpusARoadRunsAsItemsComeUnlessMostOfItCrosses) {
  EXPECT_EQ(chosen(shape(4096 * 4096, 3.6, 4, 4)), BfsStrategy::async);
  EXPECT_EQ(chosen(shape(4096 * 4096, 3.6, 4, 4, 0.75)), BfsStrategy::levels);
  PlacedGraph uncounted = shape(4096 * 4096, 3.6, 4, 4);
  uncounted.partition.cut_arcs = -1;
  EXPECT_EQ(chosen(uncounted), BfsStrategy::async);
}

TEST(BfsPlan, WindowsWhereAGpuHasMoreOfARoadThanItRunsInTime) {
  EXPECT_TRUE(bfs_runs_ahead_on_gpus(shape(13191LL * 13191, 2.4, 4, 4)));
  EXPECT_TRUE(bfs_runs_ahead_on_gpus(shape(8192 * 8192, 3.6, 4, 2)));
  EXPECT_FALSE(bfs_runs_ahead_on_gpus(shape(8192 * 8192, 3.6, 4, 4)));
  EXPECT_FALSE(bfs_runs_ahead_on_gpus(shape(13191LL * 13191, 2.4, 4, 1))) << "there is no other PE to run ahead of";
  EXPECT_FALSE(bfs_runs_ahead_on_gpus(shape(1 << 26, 31, 500000, 2, 0.5))) << "few levels";
}

TEST(BfsPlan, WarpsKeepItemsOfRoads) {
  const auto sampled = [](PlacedGraph graph, int levels) {
    graph.sample_levels = levels;
    return graph;
  };
  const PlacedGraph road = sampled(shape(2048 * 2048, 3.6, 4), 33);
  EXPECT_EQ(chosen(road), BfsStrategy::async);
  EXPECT_TRUE(bfs_keeps_items_on_gpus(road, {}));
  EXPECT_TRUE(bfs_keeps_items_on_gpus(sampled(shape(2048 * 2048, 3.6, 4, 2), 33), {}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(sampled(shape(1 << 22, 32, 70), 33), {})) << "long rows";
  EXPECT_FALSE(bfs_keeps_items_on_gpus(sampled(shape(1 << 20, 3, 100000), 33), {})) << "a few long rows, so blocks";
  const PlacedGraph large = sampled(shape(13191LL * 13191, 2.4, 4), 50);
  EXPECT_EQ(chosen(large), BfsStrategy::async);
  EXPECT_TRUE(bfs_keeps_items_on_gpus(large, {}));
  EXPECT_EQ(bfs_window_on_gpus(road), 1024);
  EXPECT_EQ(bfs_window_on_gpus(sampled(shape(8192 * 8192, 3.6, 4), 33)), 1024);
  EXPECT_EQ(bfs_window_on_gpus(large), 256) << "what is kept would run ahead";
  EXPECT_EQ(bfs_window_on_gpus(sampled(shape(13191LL * 13191, 2.4, 4, 4), 50)), 1024) << "a quarter of it on each";
  const PlacedGraph random = sampled(shape(1 << 22, 3, 14), 11);
  EXPECT_EQ(chosen(random), BfsStrategy::levels);
  EXPECT_FALSE(bfs_keeps_items_on_gpus(random, {}));
  EXPECT_TRUE(bfs_keeps_items_on_gpus(sampled(shape(4096 * 4096, 3.6, 4, 2), 33), {}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(sampled(shape(4096 * 4096, 3.6, 4, 2, 0.5), 33), {})) << "many arcs cross";
  EXPECT_TRUE(bfs_keeps_items_on_gpus(sampled(shape(256 * 256, 3.6, 4, 2), 33), {}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(sampled(shape(128 * 128, 3.6, 4, 2), 33), {})) << "not measured";
  EXPECT_EQ(bfs_window_on_gpus(sampled(shape(2048 * 2048, 3.6, 4, 2), 33)), 2048);
  EXPECT_EQ(bfs_window_on_gpus(sampled(shape(4096 * 4096, 3.6, 4, 2), 33)), 1024);
  EXPECT_TRUE(bfs_keeps_items_on_gpus(road, {.worker = WorkerKind::warp, .keep = 4}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(road, {.worker = WorkerKind::block}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(road, {.kernel = KernelKind::discrete}));
  EXPECT_FALSE(bfs_keeps_items_on_gpus(road, {.keep = 0})) << "then the order costs more than it saves";
}

TEST(BfsPlan, BatchesAreLongUnlessOneRowIsALargePartOfABlocksWork) {
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 23, 30.51, 91008)), 8u) << "community:23";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 23, 30.51, 91008, 2)), 4u) << "community:23, two PEs";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 22, 30.12, 54696)), 4u) << "community:22";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 22, 30.59, 163119)), 2u) << "kron:22";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 20, 29.95, 64271)), 2u) << "kron:20";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 18, 29.04, 25129)), 1u) << "kron:18";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 24, 32, 70)), 8u) << "uniform:24";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 22, 32, 70)), 4u) << "uniform:22";
  EXPECT_EQ(bfs_batches_on_gpus(shape(1 << 20, 32, 70)), 1u) << "uniform:20";
  EXPECT_EQ(bfs_batches_on_gpus(shape(4096 * 4096, 3.6, 4)), 1u) << "road:4096";
}

TEST(BfsPlan, OwnersJudgeWhereFewItemsAreSent) {
  EXPECT_TRUE(bfs_owners_judge_on_gpus(shape(1 << 22, 30.59, 163119, 2))) << "kron:22";
  EXPECT_FALSE(bfs_owners_judge_on_gpus(shape(1 << 24, 32, 70, 2))) << "uniform:24: 7.3 ms, and 6.6 if pushers judge";
  EXPECT_FALSE(bfs_owners_judge_on_gpus(shape(1 << 22, 30.59, 163119))) << "one PE has no other";
}

}  // namespace
}  // namespace shoal
