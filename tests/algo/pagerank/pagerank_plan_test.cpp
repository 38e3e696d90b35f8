// What `auto` decides for PageRank.
#include <gtest/gtest.h>

#include "algo/pagerank/engines.hpp"

namespace shoal {
namespace {

lane_t fetch(arc_t arcs_per_vertex, WorkerKind worker, KernelKind kernel, int block_threads = kMostBlockThreads) {
  PlacedGraph graph;
  graph.num_vertices = 1 << 20;
  graph.num_arcs = arcs_per_vertex << 20;
  LaunchPlan launch;
  launch.worker = worker;
  launch.kernel = kernel;
  launch.block_threads = block_threads;
  return pagerank_fetch_on_gpus(graph, launch);
}

TEST(PageRankPlan, ABlockTakesAsManyItemsAsItHasLanes) {
  for (const arc_t degree : {3, 30}) {
    EXPECT_EQ(fetch(degree, WorkerKind::block, KernelKind::persistent), lane_t{kMostBlockThreads});
    EXPECT_EQ(fetch(degree, WorkerKind::block, KernelKind::persistent, 64), 64u);
    EXPECT_EQ(fetch(degree, WorkerKind::warp, KernelKind::persistent), 16u);
  }
}

TEST(PageRankPlan, ButFewerOfLongRowsInRounds) {
  EXPECT_EQ(fetch(30, WorkerKind::block, KernelKind::discrete), 96u);
  EXPECT_EQ(fetch(30, WorkerKind::block, KernelKind::discrete, 64), 64u);
  EXPECT_EQ(fetch(3, WorkerKind::block, KernelKind::discrete), lane_t{kMostBlockThreads});
}

}  // namespace
}  // namespace shoal
