// What `auto` chooses for shortest paths on GPUs, by the shape of the graph. Needs no GPU.
#include <gtest/gtest.h>

#include "algo/sssp/engines.hpp"

namespace shoal {
namespace {

/// A symmetric graph of the given shape, without its arcs.
PlacedGraph shape(std::int64_t vertices, arc_t arcs, arc_t max_degree, pe_t n_pes) {
  PlacedGraph graph;
  graph.symmetric = true;
  graph.num_vertices = vertices;
  graph.num_arcs = arcs;
  graph.max_degree = max_degree;
  graph.out.resize(n_pes);
  return graph;
}
SmallGraph kind(std::int64_t vertices, arc_t arcs, arc_t max_degree, pe_t n_pes) {
  return small_on_gpus(shape(vertices, arcs, max_degree, n_pes));
}

TEST(SsspPlan, SmallRoadsRunAsItemsComeOnAnyNumberOfGpus) {
  for (const pe_t n_pes : {1, 2, 4}) {
    EXPECT_EQ(kind(65536, 235200, 4, n_pes), SmallGraph::tree) << "road:256";
    EXPECT_EQ(kind(1048576, 3770882, 4, n_pes), SmallGraph::no) << "road:1024";
  }
}

TEST(SsspPlan, TheMoreGpusTheLargerTheyMayBe) {
  EXPECT_EQ(kind(122500, 439652, 4, 1), SmallGraph::no) << "road:350";
  EXPECT_EQ(kind(122500, 439652, 4, 2), SmallGraph::tree) << "road:350";
  EXPECT_EQ(kind(122500, 439652, 4, 4), SmallGraph::tree) << "road:350";
  EXPECT_EQ(kind(202500, 727224, 4, 2), SmallGraph::no) << "road:450";
  EXPECT_EQ(kind(202500, 727224, 4, 4), SmallGraph::tree) << "road:450";
  EXPECT_EQ(kind(262144, 942016, 4, 4), SmallGraph::no) << "road:512";
}

TEST(SsspPlan, GraphsInWhichAllIsNearDoSoOnOneGpuOnly) {
  EXPECT_EQ(kind(326186, 1615400, 238, 1), SmallGraph::near) << "dblp-2010";
  EXPECT_EQ(kind(156317, 2118662, 44, 1), SmallGraph::near) << "wave";
  EXPECT_EQ(kind(326186, 1615400, 238, 4), SmallGraph::no);
  EXPECT_EQ(kind(156317, 2118662, 44, 4), SmallGraph::no);
  EXPECT_EQ(kind(1 << 18, 7600000, 30000, 1), SmallGraph::no) << "kron:18";
}

TEST(SsspPlan, OfADirectedGraphOnlyAPartIsReached) {
  PlacedGraph graph = shape(325557, 3216152, 18236, 1);
  EXPECT_EQ(small_on_gpus(graph), SmallGraph::no);
  graph.symmetric = false;
  EXPECT_EQ(small_on_gpus(graph), SmallGraph::near) << "cnr-2000";
}

TEST(SsspPlan, BatchesAreLongerTheMoreItemsWait) {
  const auto batches = [](int scale, arc_t max_degree, QueueKind queue) {
    return sssp_batches_on_gpus(shape(std::int64_t{1} << scale, arc_t{30} << scale, max_degree, 1), queue);
  };
  EXPECT_EQ(batches(22, 163119, QueueKind::fifo), 8u) << "kron:22";
  EXPECT_EQ(batches(20, 64271, QueueKind::fifo), 4u) << "kron:20";
  EXPECT_EQ(batches(18, 25129, QueueKind::fifo), 2u) << "kron:18";
  EXPECT_EQ(batches(16, 10000, QueueKind::fifo), 1u) << "kron:16";
  EXPECT_EQ(batches(22, 163119, QueueKind::priority), 1u) << "a bucket of a skewed graph ends with few items";
  EXPECT_EQ(batches(22, 70, QueueKind::priority), 4u) << "uniform:22";
  EXPECT_EQ(sssp_batches_on_gpus(shape(1 << 22, 15 << 20, 4, 1), QueueKind::priority), 1u) << "road:2048";
}

TEST(SsspPlan, BucketsAreWiderTheLessAGpuHasToDo) {
  const auto wider = [](std::int64_t side, pe_t n_pes) {
    return wider_on_gpus(shape(side * side, side * side * 36 / 10, 4, n_pes));
  };
  EXPECT_EQ(wider(2048, 1), 8) << "road:2048";
  EXPECT_EQ(wider(2048, 2), 15) << "a bucket takes longer to end";
  EXPECT_NEAR(wider(1024, 1), 10, 0.01);
  EXPECT_EQ(wider(1024, 2), 20);
  EXPECT_NEAR(wider(1448, 2), 18.5, 0.01);
  EXPECT_EQ(wider(4096, 2), 8);
  EXPECT_EQ(wider(8192, 2), 8) << "not narrower";
  EXPECT_NEAR(wider(724, 1), 14, 0.01);
  EXPECT_EQ(wider(512, 1), 18);
  EXPECT_EQ(wider(128, 1), 20) << "not wider";
  EXPECT_EQ(wider(2, 4), 20) << "one vertex for each";
  EXPECT_EQ(wider_on_gpus(shape(1 << 22, arc_t{32} << 22, 70, 2)), 2) << "uniform:22";
  EXPECT_EQ(wider_on_gpus(shape(1 << 22, arc_t{30} << 22, 160000, 2)), 4) << "kron:22";
}

TEST(SsspPlan, BucketsOfMapsWithDeadEndsAreWider) {
  const auto wider = [](std::int64_t vertices, int levels, pe_t n_pes = 1) {
    PlacedGraph graph = shape(vertices, vertices * 12 / 5, 9, n_pes);
    graph.sample_levels = levels;
    return wider_on_gpus(graph);
  };
  EXPECT_NEAR(wider(24000000, 33), 24, 0.1) << "road_usa";
  EXPECT_NEAR(wider(6000000, 33), 32, 0.1);
  EXPECT_EQ(wider(1500000, 33), 32) << "not wider";
  EXPECT_EQ(wider(174000000, 33), 16) << "osm_eur: not narrower";
  EXPECT_NEAR(wider(24000000, 33, 2), 32, 0.5);
  EXPECT_NEAR(wider(1500000, 33, 2), 48, 0.5);
  EXPECT_EQ(wider(700000, 33, 2), 48) << "not wider";
  EXPECT_EQ(wider(1500000, 5), 16) << "paths are short";
  EXPECT_EQ(wider(1500000, 5, 2), 32);
}

TEST(SsspPlan, WithMoreWarpsBucketsAreWider) {
  const auto wider = [](std::int64_t side, int levels, pe_t n_pes = 1) {
    PlacedGraph graph = shape(side * side, side * side * 36 / 10, 4, n_pes);
    graph.sample_levels = levels;
    return wider_on_gpus(graph);
  };
  EXPECT_EQ(wider(2048, 33), 12);
  EXPECT_EQ(wider(2048, 33, 2), 15) << "as without, on several";
  EXPECT_EQ(wider(2048, 5), 8) << "paths are short";
  EXPECT_NEAR(wider(1448, 33), 8, 0.01) << "too small for more warps";
  EXPECT_EQ(wider(8192, 33), 6) << "not narrower";
}

TEST(SsspPlan, WarpsKeepItemsWherePathsAreLong) {
  const auto keeps = [](PlacedGraph graph, int levels, arc_t cut_arcs = 1000) {
    graph.sample_levels = levels;
    graph.partition.cut_arcs = cut_arcs;
    return sssp_keeps_items_on_gpus(graph);
  };
  EXPECT_TRUE(keeps(shape(1 << 22, 15 << 20, 4, 1), 32)) << "road:2048";
  EXPECT_TRUE(keeps(shape(1 << 22, 15 << 20, 4, 2), 32));
  EXPECT_FALSE(keeps(shape(1 << 22, 15 << 20, 4, 2), 32, 5 << 20)) << "many arcs cross";
  EXPECT_FALSE(keeps(shape(1 << 22, 12 << 20, 14, 1), 11)) << "uniform:22,degree=3";
  EXPECT_FALSE(keeps(shape(1 << 22, 15 << 20, 4, 1), 0)) << "not known, as of graphs on CPUs";
  EXPECT_FALSE(keeps(shape(1 << 22, arc_t{32} << 22, 70, 1), 32)) << "long rows";
}

TEST(SsspPlan, BucketsOverlapInEvenGraphsWithLongRows) {
  const auto overlaps = [](int scale, arc_t degree, pe_t n_pes, double max_weight = 255, arc_t max_degree = 80) {
    PlacedGraph graph = shape(std::int64_t{1} << scale, degree << scale, max_degree, n_pes);
    graph.max_weight = max_weight;
    return sssp_overlaps_on_gpus(graph);
  };
  for (const pe_t n_pes : {1, 2}) {
    EXPECT_TRUE(overlaps(20, 32, n_pes)) << "uniform:20";
    EXPECT_TRUE(overlaps(22, 16, n_pes)) << "uniform:22,degree=8";
    EXPECT_FALSE(overlaps(22, 8, n_pes)) << "uniform:22,degree=4";
    EXPECT_FALSE(overlaps(22, 32, n_pes, 1)) << "few distances";
    EXPECT_FALSE(overlaps(22, 30, n_pes, 255, 160000)) << "kron:22";
  }
  EXPECT_TRUE(overlaps(24, 32, 1)) << "uniform:24";
  EXPECT_FALSE(overlaps(24, 32, 2));
  EXPECT_FALSE(overlaps(25, 32, 1)) << "not measured";
  EXPECT_FALSE(overlaps(20, 32, 4)) << "not measured";
  EXPECT_FALSE(overlaps(16, 16, 1)) << "small";
  EXPECT_TRUE(overlaps(16, 16, 2));
  PlacedGraph real = shape(1 << 20, 32 << 20, 80, 1);
  real.max_weight = 255, real.weight_kind = WeightKind::float64;
  EXPECT_FALSE(sssp_overlaps_on_gpus(real)) << "not measured";
}

TEST(SsspPlan, OwnersJudgeWhereFewArcsLeadToOtherPes) {
  const auto judge = [](double crossing, pe_t pes = 2, arc_t max_degree = 160000, QueueKind queue = QueueKind::fifo) {
    PlacedGraph graph = shape(1 << 24, 517143648, max_degree, pes);
    graph.partition.cut_arcs = crossing < 0 ? -1 : static_cast<arc_t>(crossing * 517143648);
    return sssp_owners_judge_on_gpus(graph, queue);
  };
  EXPECT_TRUE(judge(0.1)) << "community:24";
  EXPECT_FALSE(judge(0.5)) << "kron:24";
  EXPECT_FALSE(judge(-1)) << "the arcs were not counted";
  EXPECT_FALSE(judge(0, 1)) << "one PE has no other";
  EXPECT_FALSE(judge(0.1, 2, 70)) << "not measured: rows of about equal length";
  EXPECT_FALSE(judge(0.1, 2, 160000, QueueKind::priority)) << "not measured";
}

}  // namespace
}  // namespace shoal
