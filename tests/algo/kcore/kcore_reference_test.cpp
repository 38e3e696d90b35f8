// The serial peeling against known results and against the definition, and the verifier against wrong results.
#include "algo/kcore/reference.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "shoal/algo/kcore.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

using Numbers = std::vector<std::int32_t>;

Csr make(const std::string& argument) { return simple_undirected(generate(parse_generator(argument))); }

Span<const std::int32_t> span(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::int64_t>(numbers.size())};
}

/// A triangle 0 1 2, with an edge from 2 to 3, a square 3 4 5 6 with both diagonals, 7 attached to 6, and 8 without neighbours.
/// Has loops, arcs in one or both directions, and some arcs twice.
Csr small() {
  return csr_from_arcs(9, {0, 1, 2, 0, 2, 3, 3, 3, 4, 5, 4, 6, 7, 3, 3, 8, 6},
                       {1, 2, 0, 2, 3, 4, 5, 6, 5, 6, 6, 4, 6, 3, 4, 8, 7});
}
const Numbers kSmall{2, 2, 2, 3, 3, 3, 3, 1, 0};

/// Computed from the definition: for every k, vertices with fewer than k neighbours are removed until there are none.
Numbers by_definition(const Csr& graph) {
  const std::int64_t n = graph.num_vertices();
  Numbers core(n, 0);
  std::vector<bool> in(n, true);
  for (std::int32_t k = 1; std::find(in.begin(), in.end(), true) != in.end(); ++k) {
    for (bool changed = true; changed;) {
      changed = false;
      for (vertex_t v = 0; v < n; ++v) {
        if (!in[v]) continue;
        std::int32_t degree = 0;
        for (const vertex_t u : graph.neighbors(v)) degree += in[u];
        if (degree < k) in[v] = false, changed = true;
      }
    }
    for (vertex_t v = 0; v < n; ++v) {
      if (in[v]) core[v] = k;
    }
  }
  return core;
}

TEST(SimpleUndirected, HasEveryEdgeInBothDirectionsOnce) {
  EXPECT_FALSE(is_simple_undirected(small()));
  const Csr graph = simple_undirected(small());
  EXPECT_TRUE(is_simple_undirected(graph));
  EXPECT_TRUE(is_symmetric(graph));
  EXPECT_EQ(graph.num_arcs(), 2 * (3 + 1 + 6 + 1));
  EXPECT_EQ(graph.degree(8), 0);
  EXPECT_EQ(simple_undirected(graph).num_arcs(), graph.num_arcs());
  EXPECT_TRUE(is_simple_undirected(simple_undirected(csr_from_arcs(0, {}, {}))));
  // Each fault by itself.
  Csr loop = csr_from_arcs(2, {0, 0, 1}, {0, 1, 0});
  loop.symmetric = true;
  EXPECT_FALSE(is_simple_undirected(loop));
  Csr twice = csr_from_arcs(2, {0, 0, 1, 1}, {1, 1, 0, 0});
  twice.symmetric = true;
  EXPECT_FALSE(is_simple_undirected(twice));
}

TEST(KCoreReference, KnownShapes) {
  EXPECT_EQ(kcore_reference(simple_undirected(small())), kSmall);
  EXPECT_EQ(kcore_reference(make("chain:50")), Numbers(50, 1));
  EXPECT_EQ(kcore_reference(make("star:50")), Numbers(50, 1));
  EXPECT_EQ(kcore_reference(make("complete:20")), Numbers(20, 19));
  EXPECT_EQ(kcore_reference(csr_from_arcs(3, {}, {})), Numbers(3, 0));
  EXPECT_EQ(kcore_reference(csr_from_arcs(0, {}, {})), Numbers{});
}

TEST(KCoreReference, IsTheDefinition) {
  for (const char* text : {"kron:8", "kron:7,directed", "uniform:8", "uniform:8,degree=3,directed", "road:15"}) {
    for (int seed = 1; seed < 5; ++seed) {
      const Csr graph = make(text + std::string(",seed=") + std::to_string(seed));
      const Numbers cores = kcore_reference(graph);
      EXPECT_EQ(cores, by_definition(graph)) << text;
      EXPECT_EQ(verify_kcore(graph, span(cores)), "") << text;
    }
  }
}

TEST(VerifyKCore, SaysNoToEveryChangedNumber) {
  for (const char* text : {"kron:7", "road:12", "complete:6", "uniform:6,degree=2"}) {
    const Csr graph = make(text);
    const Numbers right = kcore_reference(graph);
    for (std::size_t v = 0; v < right.size(); ++v) {
      for (const std::int32_t wrong : {right[v] - 1, right[v] + 1, 0, -1, 1 << 30}) {
        if (wrong == right[v]) continue;
        Numbers cores = right;
        cores[v] = wrong;
        EXPECT_NE(verify_kcore(graph, span(cores)), "") << text << " vertex " << v << ": " << wrong;
      }
    }
  }
}

TEST(VerifyKCore, SaysNoWhereAWholeCoreIsTooLowOrTooHigh) {
  const Csr graph = simple_undirected(small());
  Numbers low = kSmall;
  for (const int v : {3, 4, 5, 6}) low[v] = 2;  // every vertex still has enough neighbours
  EXPECT_NE(verify_kcore(graph, span(low)).find("too low"), std::string::npos);
  EXPECT_NE(verify_kcore(graph, span(Numbers(9, 0))), "");
  Numbers high = kSmall;
  for (const int v : {0, 1, 2}) high[v] = 3;
  EXPECT_EQ(verify_kcore(graph, span(high)),
            "vertex 0 has core number 3 but only 2 neighbours of that or a higher one");
  EXPECT_NE(verify_kcore(graph, span(Numbers(8, 1))), "");
}

TEST(InnermostCore, CountsTheLargest) {
  EXPECT_EQ(innermost_core(span(kSmall)).k, 3);
  EXPECT_EQ(innermost_core(span(kSmall)).vertices, 4);
  EXPECT_EQ(innermost_core({}).vertices, 0);
}

TEST(KCoreRunner, PeelsOftenAndKnowsTheUndirectedGraph) {
  const Csr graph = small();
  KCoreOptions options;
  options.device = DeviceKind::cpu;
  options.pes = 2;
  KCoreRunner runner(graph, options);
  EXPECT_THROW(runner.result(), UsageError);
  for (int i = 0; i < 3; ++i) {
    runner.run();
    EXPECT_EQ(runner.verify(), "");
    const KCoreResult result = runner.result();
    EXPECT_TRUE(std::equal(kSmall.begin(), kSmall.end(), result.cores.begin(), result.cores.end()));
    EXPECT_EQ(result.highest, 3);
    EXPECT_EQ(result.innermost, 4);
  }
  EXPECT_EQ(runner.num_arcs(), 22);
  EXPECT_EQ(value_of(runner.run().chosen, "graph"), "undirected");
}

TEST(KCoreStrategy, Names) {
  EXPECT_EQ(parse_kcore_strategy("async"), KCoreStrategy::async);
  EXPECT_STREQ(name(KCoreStrategy::automatic), "auto");
  EXPECT_THROW(parse_kcore_strategy("levels"), UsageError);
}

}  // namespace
}  // namespace shoal
