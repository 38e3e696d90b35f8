// The defaults that are chosen on CPU PEs, and which graphs run on one GPU; and a refused call changes nothing.
#include "algo/placed_run.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {
namespace {

/// "value: reason" of an option in a report; "" if the report does not mention the option.
std::string chosen(const Report& report, const std::string& option) {
  for (const Decision& decision : report.chosen) {
    if (decision.option == option) return to_text(decision);
  }
  return "";
}

template <class Options>
Options on_cpu(int threads = 0, pe_t pes = 0) {
  Options options;
  options.device = DeviceKind::cpu;
  options.threads = threads;
  options.pes = pes;
  return options;
}

TEST(Auto, RoadNetworksAreToldByTheirRows) {
  const auto roads = [](const char* spec) { return looks_like_roads(generate(parse_generator(spec))); };
  EXPECT_TRUE(roads("road:100"));
  EXPECT_TRUE(roads("road:100,deleted=0.4"));
  EXPECT_TRUE(roads("chain:100"));
  EXPECT_FALSE(roads("uniform:14,degree=2")) << "some rows are long";
  EXPECT_FALSE(roads("kron:10"));
  EXPECT_FALSE(roads("star:100"));
  EXPECT_TRUE(looks_like_roads(Csr())) << "it is small anyway";
}

TEST(Auto, OneGpuForSmallGraphsAndForRoadNetworks) {
  constexpr FewVertices kFew = {.than = 1 << 23, .roads_than = 1 << 27};
  const auto small = [](const char* spec, PartitionKind partition = PartitionKind::automatic) {
    Options options;
    options.partition = partition;
    return is_small(options, parse_generator(spec), kFew);
  };
  EXPECT_TRUE(small("kron:22,degree=4"));
  EXPECT_FALSE(small("kron:23,degree=4"));
  EXPECT_FALSE(small("kron:22,degree=64")) << "2^29 arcs may need the memory of several GPUs";
  EXPECT_TRUE(small("road:4096"));
  EXPECT_TRUE(small("road:8192"));
  EXPECT_FALSE(small("road:8193")) << "more than 2^28 arcs";
  EXPECT_FALSE(small("road:8192", PartitionKind::edges)) << "who asks for a partition wants several PEs";
  EXPECT_TRUE(is_small(Options(), generate(parse_generator("road:50")), {.than = 100, .roads_than = 10000}));
  EXPECT_FALSE(is_small(Options(), generate(parse_generator("kron:10")), {.than = 100, .roads_than = 10000}));
}

SsspOptions weighing(WeightSource weights, int threads = 0, pe_t pes = 0) {
  SsspOptions options = on_cpu<SsspOptions>(threads, pes);
  options.weights = weights;
  return options;
}

/// The number of threads with its reason from each algorithm's report, in the order bfs, sssp, components, pagerank.
std::vector<std::string> threads_of_all(const std::string& spec, int threads, pe_t pes = 0) {
  const GeneratorSpec graph = parse_generator(spec);
  return {chosen(BfsRunner(graph, on_cpu<BfsOptions>(threads, pes)).search(0), "threads"),
          chosen(SsspRunner(graph, weighing(WeightSource::hash255, threads, pes)).search(0), "threads"),
          chosen(ComponentsRunner(graph, on_cpu<ComponentsOptions>(threads, pes)).run(), "threads"),
          chosen(PageRankRunner(graph, on_cpu<PageRankOptions>(threads, pes)).rank(), "threads")};
}

TEST(Threads, OneForASmallGraph) {
  if (Machine(on_cpu<Options>()).threads_per_pe() < 2) GTEST_SKIP() << "one core: there is nothing to choose";
  for (const std::string spec : {"star:1000", "complete:100", "kron:10", "chain:3"}) {
    SCOPED_TRACE(spec);
    EXPECT_EQ(threads_of_all(spec, 0), std::vector<std::string>(4, "1: a small graph"));
  }
}

TEST(Threads, AsManyAsWereAskedFor) {
  EXPECT_EQ(threads_of_all("star:1000", 3), std::vector<std::string>(4, "3: asked for"));
  EXPECT_EQ(threads_of_all("star:1000", 2, 2), std::vector<std::string>(4, "2: asked for"));
}

TEST(Threads, AllForALargeGraph) {
  const int all = Machine(on_cpu<Options>()).threads_per_pe();
  if (all > 4) GTEST_SKIP() << all << " threads: this test has not enough work for so many";
  const std::string want = std::to_string(all) + ": the machine's threads, divided among the PEs";
  EXPECT_EQ(threads_of_all("kron:15", 0), std::vector<std::string>(4, want));
}

TEST(Threads, FewerOnlyBeforeTheyStart) {
  Options options = on_cpu<Options>();
  options.pes = 1;
  Machine machine(options);
  const int all = machine.threads_per_pe();
  machine.limit_threads(all + 7);
  EXPECT_EQ(machine.threads_per_pe(), all);
  machine.limit_threads(0);
  EXPECT_EQ(machine.threads_per_pe(), 1);
  EXPECT_EQ(machine.team().size(), 1);
  machine.limit_threads(1);

  Machine asked(on_cpu<Options>(5));
  asked.limit_threads(1);
  EXPECT_EQ(asked.threads_per_pe(), 5);

  Machine running(on_cpu<Options>());
  EXPECT_EQ(running.team().size(), all);
  running.limit_threads(1);
  EXPECT_EQ(running.threads_per_pe(), all);
}

double delta_of(const std::string& spec, int threads = 0) {
  const Report report = SsspRunner(parse_generator(spec), weighing(WeightSource::hash255, threads)).search(0);
  return std::strtod(chosen(report, "delta").c_str(), nullptr);
}

TEST(Delta, NarrowWhereDegreesAreSkewedOrLarge) {  // weights 1 to 255, mean 128
  EXPECT_EQ(delta_of("kron:13,degree=4", 1), 16);
  EXPECT_EQ(delta_of("kron:13,degree=4", 2), 16);
  EXPECT_EQ(delta_of("complete:300", 2), 16);  // even more arcs do not make it narrower
  EXPECT_NEAR(delta_of("uniform:12,degree=8", 2), 32, 2);
  EXPECT_EQ(delta_of("uniform:12,degree=3", 1), 16);  // a single thread waits for no other
}

TEST(Delta, WideWhereLittleIsReachedAgain) {
  EXPECT_GE(delta_of("uniform:12,degree=3", 2), 500);
  for (const int threads : {1, 2}) {
    EXPECT_GE(delta_of("road:64", threads), 500);
    EXPECT_GE(delta_of("uniform:12,degree=1", threads), 500);
    EXPECT_GE(delta_of("star:5000", threads), 500);  // a hub, but a tree
  }
}

TEST(Refused, LeavesTheAnswerBefore) {
  BfsRunner hops(parse_generator("chain:5"), on_cpu<BfsOptions>());
  EXPECT_THROW(hops.result(), UsageError);
  hops.search(1);
  EXPECT_THROW(hops.search(5), UsageError);
  EXPECT_EQ(hops.verify(), "");
  EXPECT_EQ(hops.result().levels[4], 3);

  SsspRunner paths(parse_generator("chain:5"), weighing(WeightSource::unit));
  paths.search(1);
  EXPECT_THROW(paths.search(99), UsageError);
  EXPECT_EQ(paths.verify(), "");
  EXPECT_EQ(paths.result().distances[4], 3);

  PageRankRunner ranks(parse_generator("star:5"), on_cpu<PageRankOptions>());
  ranks.rank();
  EXPECT_THROW(ranks.rank({{9, 1.0}}), UsageError);
  EXPECT_THROW(ranks.rank({{1, -1.0}}), UsageError);
  EXPECT_EQ(ranks.verify(), "");
  EXPECT_EQ(ranks.result().ranks.size(), 5);
}

}  // namespace
}  // namespace shoal
