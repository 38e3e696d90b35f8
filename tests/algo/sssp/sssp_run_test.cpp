// SsspRunner on CPU PEs: every strategy against the reference, widths of distances, and errors.
#include "shoal/algo/sssp_run.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "algo/sssp/reference.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

SsspOptions on_cpu(SsspStrategy strategy, pe_t pes, int threads, WeightSource weights) {
  SsspOptions options;
  options.device = DeviceKind::cpu;
  options.strategy = strategy;
  options.pes = pes;
  options.threads = threads;
  options.weights = weights;
  return options;
}

/// Runs one search from `source`, compares it with the reference and checks its properties.
void check(const Csr& graph, const SsspOptions& options, vertex_t source, const std::string& how) {
  SCOPED_TRACE(how);
  SsspRunner runner(graph, options);
  runner.search(source);
  EXPECT_EQ(runner.verify(), "");
  const SsspResult result = runner.result();
  const Csr& weighted = runner.graph();
  const std::vector<std::uint64_t> want = sssp_reference(weighted, source);
  const bool real = weighted.weight_kind == WeightKind::float64;
  const HostArray<std::uint64_t> have =
      real ? sssp_words(Span<const double>{result.real_distances.data(), result.real_distances.size()})
           : sssp_words(Span<const std::int64_t>{result.distances.data(), result.distances.size()});
  EXPECT_EQ(std::vector<std::uint64_t>(have.begin(), have.end()), want);
  std::int64_t reached = 0;
  for (const std::uint64_t word : want) reached += word != kUnreachedDistance<std::uint64_t>;
  EXPECT_EQ(result.reached, reached);
  if (!options.predecessors) return;
  const Csr in = weighted.symmetric ? with_weights(weighted, WeightSource::file) : transpose(weighted);
  EXPECT_EQ(verify_predecessors(in, {have.data(), have.size()}, result.predecessors.span(), source, true), "");
}

struct Shape {
  SsspStrategy strategy;
  pe_t pes;
  int threads;
};
class SsspRun : public ::testing::TestWithParam<Shape> {
 protected:
  SsspOptions options(WeightSource weights) const {
    return on_cpu(GetParam().strategy, GetParam().pes, GetParam().threads, weights);
  }
};

TEST_P(SsspRun, GivenGraphs) {
  using Texts = std::vector<const char*>;
  const Texts texts = test::kUnderTsan ? Texts{"kron:8,directed", "road:24", "star:200"}
                                       : Texts{"kron:9",    "kron:8,directed", "road:24",     "uniform:8",
                                               "chain:300", "star:200",        "complete:40", "chain:1"};
  for (const char* text : texts) {
    const Csr graph = generate(parse_generator(text));
    const auto last = static_cast<vertex_t>(graph.num_vertices() - 1);
    for (const WeightSource weights : {WeightSource::hash255, WeightSource::unit}) {
      for (const PartitionKind partition : {PartitionKind::edges, PartitionKind::random}) {
        SsspOptions o = options(weights);
        o.partition = partition;
        o.predecessors = true;
        check(graph, o, last / 2, std::string(text) + ", " + name(weights) + ", " + name(partition));
      }
    }
  }
}

TEST_P(SsspRun, BucketsOfAnyWidth) {
  if (GetParam().strategy != SsspStrategy::delta) GTEST_SKIP() << "only delta-stepping has a bucket width";
  const Csr kron = generate(parse_generator("kron:8")), road = generate(parse_generator("road:20"));
  const Csr skewed = generate(parse_generator("kron:10"));
  for (const double delta : {1.0, 2.0, 3.0, 4.0}) {  // weights reach beyond the buckets that have lists of their own
    SsspOptions o = options(WeightSource::hash255);
    o.delta = delta;
    for (const vertex_t source : {3, 7, 11}) check(skewed, o, source, "skewed, " + std::to_string(delta));
  }
  using Widths = std::vector<double>;
  const Widths widths = test::kUnderTsan ? Widths{1.0, 64.0, 1e6} : Widths{1.0, 2.0, 3.5, 7.0, 64.0, 255.0, 256.0, 1e6};
  for (const double delta : widths) {
    SsspOptions o = options(WeightSource::hash255);
    o.delta = delta;
    check(kron, o, 3, "kron, " + std::to_string(delta));
    check(road, o, 3, "road, " + std::to_string(delta));
  }
}

TEST_P(SsspRun, WeightsOfManyKinds) {
  const Csr bare = generate(parse_generator("uniform:7,degree=4"));
  Csr graph = with_weights(bare, WeightSource::hash255);
  // A third of the weights become zero. The graph stays symmetric, as only the weight decides which.
  for (arc_t a = 0; a < graph.num_arcs(); ++a)
    graph.int_weights[a] -= graph.int_weights[a] % 3 == 0 ? graph.int_weights[a] : 0;
  SsspOptions o = options(WeightSource::file);
  o.predecessors = true;
  check(graph, o, 5, "zeros");
  // Real weights over many orders of magnitude, and zero.
  graph.weight_kind = WeightKind::float64;
  graph.real_weights = HostArray<double>(graph.num_arcs());
  for (const double power : {0.0, 0.1, 0.5}) {
    for (arc_t a = 0; a < graph.num_arcs(); ++a) {
      const std::int32_t w = graph.int_weights[a];
      graph.real_weights[a] = w == 0 ? 0 : w * std::pow(10.0, power * (w % 64 - 32));
    }
    check(graph, o, 5, "real, " + std::to_string(power));
  }
}

TEST_P(SsspRun, DistancesBeyond32Bits) {
  // A chain whose far end has distance 99 * 2147483647: 32-bit distances saturate, and the search is repeated with 64-bit
  // distances.
  const Csr bare = generate(parse_generator("chain:100"));
  Csr graph = with_weights(bare, WeightSource::unit);
  for (arc_t a = 0; a < graph.num_arcs(); ++a) graph.int_weights[a] = 2147483647;
  const SsspOptions o = options(WeightSource::file);
  check(graph, o, 0, "far");
  check(graph, o, 99, "far, from the other end");
  SsspRunner runner(graph, o);
  runner.search(0);
  EXPECT_EQ(runner.result().distances[99], 99 * std::int64_t{2147483647});
  runner.search(50);
  EXPECT_EQ(runner.result().farthest, 50 * 2147483647.0);
  // At the limit of 32 bits: 4294967293 fits, 4294967294 does not.
  for (const std::int32_t last : {2147483646, 2147483647}) {
    Csr three = csr_from_arcs(3, {0, 1}, {1, 2}, {2147483647, last});
    check(three, o, 0, "at the edge");
  }
}

TEST_P(SsspRun, ManySearchesInARow) {
  const Csr graph = generate(parse_generator("kron:8"));
  SsspRunner runner(graph, options(WeightSource::hash255));
  for (vertex_t source = 0; source < 256; source += test::kUnderTsan ? 51 : 17) {
    runner.search(source);
    const SsspResult result = runner.result();
    const std::vector<std::uint64_t> want = sssp_reference(runner.graph(), source);
    for (std::size_t v = 0; v < want.size(); ++v) {
      ASSERT_EQ(static_cast<std::uint64_t>(result.distances[static_cast<std::int64_t>(v)]), want[v]) << source;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, SsspRun,
                         ::testing::Values(Shape{SsspStrategy::delta, 1, 1}, Shape{SsspStrategy::delta, 1, 2},
                                           Shape{SsspStrategy::delta, 2, 2}, Shape{SsspStrategy::delta, 3, 1},
                                           Shape{SsspStrategy::delta, 4, 2}, Shape{SsspStrategy::async, 1, 2},
                                           Shape{SsspStrategy::async, 3, 2}));

TEST(SsspDoor, GeneratesAndWeighs) {
  SsspOptions o = on_cpu(SsspStrategy::automatic, 2, 1, WeightSource::hash255);
  SsspRunner runner(parse_generator("road:16"), o);
  runner.search(0);
  EXPECT_EQ(runner.verify(), "");
  EXPECT_EQ(runner.num_vertices(), 256);
  EXPECT_EQ(runner.graph().int_weights.size(), runner.num_arcs());
  o.weights = WeightSource::file;
  EXPECT_THROW(SsspRunner(parse_generator("road:16"), o), UsageError);
}

TEST(SsspDoor, RefusesWhatDoesNotFit) {
  const Csr graph = generate(parse_generator("chain:5"));
  SsspOptions o = on_cpu(SsspStrategy::automatic, 1, 1, WeightSource::hash255);
  SsspRunner runner(graph, o);
  EXPECT_THROW(runner.result(), UsageError);
  EXPECT_THROW(runner.verify(), UsageError);
  EXPECT_THROW(runner.search(5), UsageError);
  for (const double delta : {-1.0, 0.5, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    o.delta = delta;
    EXPECT_THROW(SsspRunner(graph, o), UsageError) << delta;
  }
  o.delta = 2;
  o.strategy = SsspStrategy::async;
  EXPECT_THROW(SsspRunner(graph, o), UsageError);
  o.delta = 0;
  o.weights = WeightSource::file;
  EXPECT_THROW(SsspRunner(graph, o), UsageError);
  const Csr huge = csr_from_arcs(3, {0, 1}, {1, 2}, {}, {1e308, 1e308});
  EXPECT_THROW(SsspRunner(huge, o), UsageError);
  EXPECT_THROW(parse_sssp_strategy("levels"), UsageError);
  EXPECT_EQ(parse_sssp_strategy("delta"), SsspStrategy::delta);
}

}  // namespace
}  // namespace shoal
