#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "../../baselines/common/ranks.hpp"
#include "../../baselines/common/sweeps.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::baselines {
namespace {

const int kSizes[] = {1, 2, 3, 7};

TEST(Slices, EachVertexAndRowBelongsToOneRank) {
  for (const char* text : {"kron:7,directed", "chain:2", "star:40"}) {
    const Csr graph = generate(parse_generator(text));
    for (const int size : kSizes) {
      std::int64_t vertices = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Ranks ranks{rank, size};
        const Rows rows(graph, ranks);
        ASSERT_EQ(rows.count(), ranks.count(graph.num_vertices())) << text << " on " << size;
        vertices += rows.count();
      }
      EXPECT_EQ(vertices, graph.num_vertices()) << text << " on " << size;
      for (vertex_t v = 0; v < graph.num_vertices(); ++v) {
        const Ranks ranks{Ranks{0, size}.owner(v), size};
        const Rows rows(graph, ranks);
        const auto row = rows[ranks.local(v)], want = graph.neighbors(v);
        ASSERT_EQ(std::vector<vertex_t>(row.begin(), row.end()), std::vector<vertex_t>(want.begin(), want.end()))
            << text << ", vertex " << v << " of rank " << ranks.rank << " of " << size;
      }
    }
  }
}

// Each arc adds 1 to the word of its target. After the ranks have exchanged the words of other ranks' vertices, the sums must
// be the in-degrees.
TEST(Slices, WordsOfTargetsLeadToTheirVertices) {
  for (const char* text : {"kron:6,directed", "chain:2", "star:40"}) {
    const Csr graph = generate(parse_generator(text));
    const Csr reverse = transpose(graph);
    for (const int size : kSizes) {
      std::vector<std::int64_t> in_degrees(graph.num_vertices());
      for (int rank = 0; rank < size; ++rank) {
        const Ranks ranks{rank, size};
        Rows rows(graph, ranks);
        const TargetWords words(rows, ranks, graph.num_vertices());
        EXPECT_EQ(words.counts[rank], 0);
        std::vector<std::int64_t> sums(rows.count() + words.asked.size());
        for (const vertex_t word : rows.targets) ++sums.at(word);
        for (std::int64_t v = 0; v < rows.count(); ++v) in_degrees[v * size + rank] += sums[v];
        std::size_t word = 0;
        for (int r = 0; r < size; ++r) {
          for (std::int64_t i = 0; i < words.counts[r]; ++i, ++word) {
            EXPECT_GT(sums[rows.count() + word], 0) << "a word that no arc adds to";
            in_degrees.at(static_cast<std::size_t>(words.asked[word]) * size + r) += sums[rows.count() + word];
          }
        }
        EXPECT_EQ(word, words.asked.size());
      }
      for (vertex_t v = 0; v < graph.num_vertices(); ++v) {
        ASSERT_EQ(in_degrees[v], reverse.degree(v)) << text << ", vertex " << v << ", " << size << " ranks";
      }
    }
  }
}

TEST(Slices, ReachedVerticesAndTheirArcs) {
  Reached all;
  all.add({0, -1, 3}, {0, 2, 5, 9});
  all.add({-1}, {0, 4});
  EXPECT_EQ(all.vertices, 2);
  EXPECT_EQ(all.arcs, 6);
}

TEST(Sweeps, EndWithTheErrorThatWasAskedFor) {
  PageRankRules rules;
  rules.wide = true;
  rules.tolerance = 1e-3;
  Sweeps sweeps(100, rules);
  EXPECT_DOUBLE_EQ(sweeps.jump({0, 1, 0.5}), (0.15 + 0.85 * 0.5) / 100);
  ASSERT_TRUE(sweeps.go_on());
  sweeps.swept(1e-3);
  EXPECT_TRUE(sweeps.go_on()) << "the error may be 0.85 / 0.15 times the change";
  sweeps.swept(1e-3 * 0.15);
  EXPECT_FALSE(sweeps.go_on());
  EXPECT_LE(sweeps.error_bound(), 1e-3);
  EXPECT_FALSE(Sweeps(0, rules).go_on());

  Sweeps endless(100, rules);
  EXPECT_THROW(for (int i = 0; i < 10'000 && endless.go_on(); ++i) endless.swept(1), DeviceError);
}

}  // namespace
}  // namespace shoal::baselines
