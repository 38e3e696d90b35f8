// Distances of the GPU search against Dijkstra: small graphs of every shape, weights of all kinds, 1 to 4 devices, and every
// tuning that changes the path through the code.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "algo/gpu_bed.cuh"
#include "algo/sssp/delta_gpu.hpp"
#include "algo/sssp/reference.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {
namespace {

using Words = std::vector<std::uint64_t>;

/// The distances of the search as 64-bit values, in the input's numbering.
Words words_of(const SsspDeltaGpu& search, const PlacedGraph& graph) {
  const auto all = [&](auto none) {
    std::vector<const decltype(none)*> at;
    for (pe_t p = 0; p < graph.n_pes(); ++p) at.push_back(static_cast<const decltype(none)*>(search.words(p)));
    Words out;
    for (const auto word : test::fetch(graph, at.data())) {
      out.push_back(word == none ? kUnreachedDistance<std::uint64_t> : word);
    }
    return out;
  };
  return search.wide() ? all(kUnreachedDistance<std::uint64_t>) : all(kUnreachedDistance<std::uint32_t>);
}

std::vector<test::Way<SsspDeltaGpuTuning>> ways() {
  return test::patient<SsspDeltaGpuTuning>({
      {"defaults", {}},
      {"never sweeps, narrow window", {.delta = 3, .sweep_enter = 2, .narrow = false}},
      {"always sweeps", {.sweep_enter = 0, .sweep_leave = 0, .far_widths = 1}},
      {"sweeps and leaves often, wide window", {.delta = 1000, .sweep_enter = 0.05, .sweep_leave = 0.2}},
      {"small blocks, everything at once", {.delta = 1e9, .narrow = false, .block_threads = 96}},
      {"pulls early, once", {.pull_degree = 0, .pull_enter = 0, .pull_share = 0, .pulls = 1, .pull_width = 0.4}},
      {"pulls, then sweeps and leaves",
       {.sweep_enter = 0.03, .sweep_leave = 0.2, .pull_degree = 0, .pull_enter = 0.02, .pull_width = 1}},
      {"cluster at once, left early",
       {.sweep_enter = 2, .narrow_after = 1, .narrow_enter = 40, .narrow_leave = 90, .round_steps = 1}},
      {"cluster of two, never left but when it is full",
       {.sweep_enter = 2, .narrow_after = 1, .narrow_leave = 1 << 30, .cluster_blocks = 2, .round_steps = 1000}},
      {"pulls always",
       {.pull_degree = 0,
        .pull_enter = 0,
        .pull_share = 0,
        .pulls = 1000,
        .pull_width = 0.02,
        .pull_growth = 1.5,
        .range_windows = 5,
        .after_width = 0.1}},
      {"a range that is pushed in the end", {.pull_degree = 0, .pull_enter = 0, .pull_share = 2}},
  });
}

class SsspDeltaGpuTest : public test::OnGpus {
 protected:
  void check(const Csr& csr, const std::vector<vertex_t>& sources, PartitionKind kind = PartitionKind::block) {
    std::vector<Words> want;
    for (const vertex_t source : sources) want.push_back(sssp_reference(csr, source));
    for (pe_t pes = 1; pes <= most_; ++pes) {
      const PlacedGraph graph = test::place(csr, pes, kind, true);
      for (const bool wide : {false, true}) {
        for (const auto& [name, tuning] : ways()) {
          SsspDeltaGpu search(graph, wide, tuning);
          for (std::size_t i = 0; i < sources.size(); ++i) {
            Report report;
            search.search(graph.partition.placed(sources[i]), report);
            ASSERT_EQ(test::first_difference(words_of(search, graph), want[i]), "")
                << csr.name << ", source " << sources[i] << ", " << pes << " PEs, " << (wide ? "wide, " : "narrow, ")
                << name << ": " << to_text(report.chosen.back());
          }
        }
      }
    }
  }
  void check(const std::string& generator, const std::vector<vertex_t>& sources,
             PartitionKind kind = PartitionKind::block) {
    const Csr plain = generate(parse_generator(generator));
    check(with_weights(plain, WeightSource::hash255), sources, kind);
  }
};

/// A generated graph with integer weights from weigh(smaller end, larger end).
template <class Weigh>
Csr whole(const std::string& generator, Weigh weigh) {
  Csr csr = generate(parse_generator(generator));
  csr.weight_kind = WeightKind::int32;
  csr.int_weights = HostArray<std::int32_t>(csr.num_arcs());
  for (std::int64_t u = 0; u < csr.num_vertices(); ++u) {
    for (arc_t a = csr.offsets[u]; a < csr.offsets[u + 1]; ++a) {
      const auto v = static_cast<std::int64_t>(csr.targets[a]);
      csr.int_weights[a] = weigh(std::min(u, v), std::max(u, v));
    }
  }
  return csr;
}

TEST_F(SsspDeltaGpuTest, FewVertices) {
  check("chain:1", {0});
  check("chain:2", {0, 1});
  check("chain:33", {0, 16, 32});
  check("chain:3000", {0, 1500});
}

TEST_F(SsspDeltaGpuTest, StarsAndCompleteGraphs) {
  for (const int n : {33, 129, 257, 5000}) check("star:" + std::to_string(n), {0, static_cast<vertex_t>(n - 1)});
  check("star:200000", {0, 199999});
  for (const int n : {32, 130, 513}) check("complete:" + std::to_string(n), {0, static_cast<vertex_t>(n - 1)});
}

TEST_F(SsspDeltaGpuTest, SkewedGraphs) {
  check("kron:6", {0, 63});
  check("kron:12", {0, 77, 4095});
  check("kron:16,seed=5", {0, 77});
  check("kron:14", {3}, PartitionKind::edges);
  check("kron:14", {9}, PartitionKind::random);
}

TEST_F(SsspDeltaGpuTest, Roads) {
  check("road:17", {0, 144});
  check("road:150", {0, 11000}, PartitionKind::random);
  check("road:300", {45000});
}

TEST_F(SsspDeltaGpuTest, DirectedGraphs) { check("kron:12,directed=1", {0, 1, 4095}); }

TEST_F(SsspDeltaGpuTest, WeightsOfAllSizes) {
  check(whole("kron:10", [](auto, auto) { return 0; }), {0, 5});
  check(whole("kron:10", [](auto u, auto v) { return (u + v) % 3 == 0 ? 0 : static_cast<int>(u % 5); }), {0, 5});
  check(whole("road:60", [](auto u, auto v) { return static_cast<int>((u * 7 + v) % 4 == 0 ? 100000 : 1); }), {0});
  check(whole("road:12", [](auto u, auto v) { return static_cast<int>((u * 7 + v) % 9 == 0 ? 50000000 : 3); }), {0});
}

TEST_F(SsspDeltaGpuTest, RealWeights) {
  Csr csr = generate(parse_generator("road:120"));
  csr.weight_kind = WeightKind::float64;
  csr.real_weights = HostArray<double>(csr.num_arcs());
  for (std::int64_t u = 0; u < csr.num_vertices(); ++u) {
    for (arc_t a = csr.offsets[u]; a < csr.offsets[u + 1]; ++a) {
      csr.real_weights[a] = hash255(static_cast<vertex_t>(u), csr.targets[a]) / 1000.0;
    }
  }
  check(csr, {0, 7000});
}

TEST_F(SsspDeltaGpuTest, NarrowWordsSaturate) {
  const Csr csr = whole("chain:5", [](auto, auto) { return 0x7FFFFFFF; });
  const PlacedGraph graph = test::place(csr, 1, PartitionKind::block, true);
  SsspDeltaGpu search(graph, false);
  Report report;
  search.search(0, report);
  const Words got = words_of(search, graph);
  EXPECT_EQ(got[2], 0xFFFFFFFEu);
  EXPECT_EQ(got[4], kTooFar);
}

TEST_F(SsspDeltaGpuTest, ManySearchesWithOneObject) {
  const Csr plain = generate(parse_generator("kron:10"));
  const Csr csr = with_weights(plain, WeightSource::hash255);
  for (pe_t pes = 1; pes <= most_; ++pes) {
    const PlacedGraph graph = test::place(csr, pes, PartitionKind::block, true);
    SsspDeltaGpu search(graph, false);
    for (vertex_t source = 0; source < 1024; source += 13) {
      Report report;
      search.search(graph.partition.placed(source), report);
      ASSERT_EQ(test::first_difference(words_of(search, graph), sssp_reference(csr, source)), "")
          << source << ", " << pes;
      ASSERT_GT(report.seconds, 0);
    }
  }
}

TEST_F(SsspDeltaGpuTest, RefusesWhatItCannotDo) {
  const Csr plain = generate(parse_generator("kron:8"));
  const Csr csr = with_weights(plain, WeightSource::unit);
  const PlacedGraph graph = test::place(csr, 1, PartitionKind::block, true);
  SsspDeltaGpu search(graph, false);
  Report report;
  EXPECT_THROW(search.search(256, report), UsageError);
  for (const SsspDeltaGpuTuning& bad : {SsspDeltaGpuTuning{.delta = -1}, {.block_threads = 33}}) {
    EXPECT_THROW(SsspDeltaGpu(graph, false, bad), UsageError);
  }
  const PlacedGraph bare = test::place(plain, 1);
  EXPECT_THROW(SsspDeltaGpu(bare, false), UsageError);
  const PlacedGraph on_cpu = place_on_threads(csr, make_partition(csr, 1, PartitionKind::block));
  EXPECT_THROW(SsspDeltaGpu(on_cpu, false), UsageError);
}

TEST_F(SsspDeltaGpuTest, AFailedAllocationLeavesNothing) {
  const Csr plain = generate(parse_generator("kron:8"));
  const Csr csr = with_weights(plain, WeightSource::unit);
  const PlacedGraph graph = test::place(csr, 1, PartitionKind::block, true);
  const int failed = test::fail_each_allocation([&] { SsspDeltaGpu search(graph, false); });
  EXPECT_GT(failed, 5);
}

}  // namespace
}  // namespace shoal
