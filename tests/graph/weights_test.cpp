#include "shoal/graph/weights.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

std::string refusal(const Csr& graph, WeightSource source) {
  try {
    with_weights(graph, source);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Weights, Hash255IsTheWrittenFormula) {
  // 1 + (((2654435761 a) xor (40503 b)) mod 2^32) mod 255, computed separately with unbounded integers.
  EXPECT_EQ(hash255(0, 1), 214);
  EXPECT_EQ(hash255(3, 7), 79);
  EXPECT_EQ(hash255(7, 3), 79);
  EXPECT_EQ(hash255(123456789, 2147483646), 167);
  EXPECT_EQ(hash255(2147483646, 123456789), 167);
  EXPECT_EQ(hash255(5, 5), 12);
}

TEST(Weights, Hash255KnowsTheEndsAlone) {
  // The same edges as a directed and as an undirected graph: an edge has the same weight in both, in both directions.
  const std::vector<vertex_t> sources = {0, 3, 7, 2, 9}, targets = {1, 7, 3, 0, 5};
  const Csr directed = csr_from_arcs(10, sources, targets), both = csr_from_arcs(10, sources, targets, {}, {}, true);
  const Csr one_way = with_weights(directed, WeightSource::hash255),
            two_ways = with_weights(both, WeightSource::hash255);
  const auto weight = [](const Csr& graph, vertex_t from, vertex_t to) {
    for (arc_t a = graph.offsets[from]; a < graph.offsets[from + 1]; ++a)
      if (graph.targets[a] == to) return graph.int_weights[a];
    return 0;
  };
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const vertex_t u = sources[i], v = targets[i];
    EXPECT_EQ(weight(one_way, u, v), weight(two_ways, u, v)) << u << " -> " << v;
    EXPECT_EQ(weight(two_ways, v, u), weight(two_ways, u, v)) << u << " - " << v;
  }
}

TEST(Weights, AreGivenToEveryArc) {
  for (const char* text : {"kron:8", "kron:8,directed", "road:9", "chain:1"}) {
    const Csr graph = generate(parse_generator(text));
    const Csr hashed = with_weights(graph, WeightSource::hash255), units = with_weights(graph, WeightSource::unit);
    ASSERT_EQ(hashed.int_weights.size(), graph.num_arcs());
    ASSERT_EQ(units.int_weights.size(), graph.num_arcs());
    for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
      for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a) {
        ASSERT_EQ(hashed.int_weights[a], hash255(static_cast<vertex_t>(v), graph.targets[a]));
        ASSERT_EQ(units.int_weights[a], 1);
      }
    }
    EXPECT_TRUE(!graph.symmetric || is_symmetric(hashed)) << text;
  }
}

TEST(Weights, OfTheFileAreTakenAsTheyAre) {
  const Csr ints = csr_from_arcs(3, {0, 1, 2}, {1, 2, 0}, {0, 5, 2147483647});
  EXPECT_EQ(with_weights(ints, WeightSource::file).int_weights.data(), ints.int_weights.data());
  const Csr reals = csr_from_arcs(3, {0, 1, 2}, {1, 2, 0}, {}, {0.0, -0.0, 1e300});
  EXPECT_EQ(with_weights(reals, WeightSource::file).real_weights.data(), reals.real_weights.data());
  EXPECT_EQ(with_weights(reals, WeightSource::unit).weight_kind, WeightKind::int32);
}

TEST(Weights, ThatAreWrongAreRefusedWithTheirEdge) {
  Csr graph = csr_from_arcs(4, {0, 1, 3, 3}, {1, 2, 0, 2}, {4, 0, 7, -3});
  graph.name = "roads.gr";
  EXPECT_NE(refusal(graph, WeightSource::file)
                .find("roads.gr: the edge from vertex 3 to vertex 2 (numbered from 0) has "
                      "weight -3"),
            std::string::npos)
      << refusal(graph, WeightSource::file);
  EXPECT_EQ(refusal(graph, WeightSource::hash255), "");
  Csr real = csr_from_arcs(4, {0, 1, 3}, {1, 2, 0}, {}, {4.5, 1.0, 7.0});
  EXPECT_EQ(refusal(real, WeightSource::file), "");
  for (const double wrong : {-1e-9, static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    real.real_weights[1] = wrong;
    EXPECT_NE(refusal(real, WeightSource::file).find("from vertex 1 to vertex 2"), std::string::npos) << wrong;
  }
  const Csr bare = generate(parse_generator("chain:4"));
  EXPECT_NE(refusal(bare, WeightSource::file).find("use --weights hash255 or unit"), std::string::npos);
}

TEST(Weights, HaveNames) {
  for (const WeightSource source : {WeightSource::file, WeightSource::hash255, WeightSource::unit}) {
    EXPECT_EQ(parse_weights(name(source)), source);
  }
  EXPECT_THROW(parse_weights("hash"), UsageError);
}

}  // namespace
}  // namespace shoal
