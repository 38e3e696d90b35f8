// The reference of shortest paths against distances worked out by hand, and the verifiers against wrong results.
#include "algo/sssp/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal {
namespace {

using Words = std::vector<std::uint64_t>;
constexpr std::uint64_t kNone = kUnreachedDistance<std::uint64_t>;

Span<const std::uint64_t> span(const Words& words) { return {words.data(), static_cast<std::int64_t>(words.size())}; }

/// 0 -2-> 1 -0-> 2 -0-> 1, 2 -3-> 3, 0 -9-> 3, 4 -1-> 0, 5 alone with a loop; directed.
Csr small() { return csr_from_arcs(6, {0, 1, 2, 2, 0, 4, 5}, {1, 2, 1, 3, 3, 0, 5}, {2, 0, 0, 3, 9, 1, 0}); }
const Words kSmall = {0, 2, 2, 5, kNone, kNone};

std::string wrong(const Csr& graph, const Words& words, vertex_t source = 0) {
  return verify_distances(transpose(graph), span(words), source);
}

TEST(SsspReference, FindsDistancesThatWereWorkedOutByHand) {
  EXPECT_EQ(sssp_reference(small(), 0), kSmall);
  EXPECT_EQ(sssp_reference(small(), 4), (Words{1, 3, 3, 6, 0, kNone}));
  EXPECT_EQ(sssp_reference(small(), 5), (Words{kNone, kNone, kNone, kNone, kNone, 0}));
  const Csr far = csr_from_arcs(4, {0, 1, 2}, {1, 2, 3}, {2147483647, 2147483647, 2147483647});
  EXPECT_EQ(sssp_reference(far, 0), (Words{0, 2147483647u, 4294967294u, 6442450941u}));
}

TEST(SsspReference, AddsRealWeightsFromTheSourceOn) {
  const Csr graph = csr_from_arcs(4, {0, 1, 2, 0}, {1, 2, 3, 3}, {}, {0.1, 0.2, 0.3, 0.7});
  const Words words = sssp_reference(graph, 0);
  EXPECT_EQ(std::bit_cast<double>(words[3]), (0.1 + 0.2) + 0.3);
  EXPECT_EQ(verify_distances(transpose(graph), span(words), 0), "");
}

TEST(SsspVerify, AcceptsWhatIsRight) {
  EXPECT_EQ(wrong(small(), kSmall), "");
  for (const char* text : {"kron:9", "road:30", "uniform:8,directed", "chain:1"}) {
    const Csr bare = generate(parse_generator(text));
    const Csr graph = with_weights(bare, WeightSource::hash255);
    EXPECT_EQ(wrong(graph, sssp_reference(graph, 0)), "") << text;
  }
}

TEST(SsspVerify, FindsEveryDistanceThatIsChanged) {
  for (vertex_t v = 0; v < 6; ++v) {
    for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{4},
                                      std::uint64_t{6}, std::uint64_t{9}, kNone - 1, kNone}) {
      Words words = kSmall;
      if (words[v] == value) continue;
      words[v] = value;
      EXPECT_NE(wrong(small(), words), "") << v << " " << value;
    }
  }
  const Csr bare = generate(parse_generator("kron:7"));
  const Csr graph = with_weights(bare, WeightSource::hash255);
  vertex_t source = 0;
  while (graph.degree(source) == 0) ++source;
  const Words right = sssp_reference(graph, source);
  for (vertex_t v = 0; v < graph.num_vertices(); ++v) {
    Words words = right;
    words[v] = words[v] == kNone ? 1000 : words[v] + 1;
    EXPECT_NE(wrong(graph, words, source), "") << v;
    words[v] = right[v] == kNone || right[v] == 0 ? 5 : right[v] - 1;
    EXPECT_NE(wrong(graph, words, source), "") << v;
  }
}

TEST(SsspVerify, SaysWhatIsWrong) {
  EXPECT_EQ(wrong(small(), {0, 2, 2, 6, kNone, kNone}), "vertex 3 has distance 6, but neighbour 2 offers 5");
  EXPECT_EQ(wrong(small(), {0, 2, 2, 4, kNone, kNone}),
            "vertex 3 has distance 4, but the best is neighbour 2 offers 5");
  EXPECT_EQ(wrong(small(), {0, 2, 2, kNone, kNone, kNone}), "vertex 3 is unreached, but neighbour 2 offers 5");
  EXPECT_EQ(wrong(small(), {0, 2, 2, 5, 7, kNone}), "vertex 4 has distance 7, but none of its neighbours is reached");
  EXPECT_EQ(wrong(small(), {1, 2, 2, 5, kNone, kNone}), "the source 0 has distance 1, not 0");
  EXPECT_EQ(wrong(small(), {0, 2, 2}), "there are 3 distances for 6 vertices");
  EXPECT_EQ(wrong(small(), kSmall, 6), "the source 6 is not one of the 6 vertices");
}

TEST(SsspVerify, IsNotTakenInByARingOfWeightZero) {
  // 1 and 2 justify each other's distance 1 through arcs of weight zero, so each vertex by itself looks right.
  const std::string ring = wrong(small(), {0, 1, 1, 4, kNone, kNone});
  EXPECT_NE(ring.find("only a ring of arcs of weight zero says so"), std::string::npos) << ring;
  // A separate component with a distance although it is not reached: 5 has a loop of weight zero.
  EXPECT_NE(wrong(small(), {0, 2, 2, 5, kNone, 8}), "");
  // With all weights zero, right results are accepted.
  Csr zeros = generate(parse_generator("kron:8"));
  zeros.weight_kind = WeightKind::int32;
  zeros.int_weights = HostArray<std::int32_t>(zeros.num_arcs(), 0);
  EXPECT_EQ(wrong(zeros, sssp_reference(zeros, 1), 1), "");
  // Real weights so small that adding them changes nothing form such a ring, too.
  const Csr tiny = csr_from_arcs(3, {0, 1, 2}, {1, 2, 1}, {}, {1.0, 1e-30, 1e-30});
  const auto word = [](double x) { return std::bit_cast<std::uint64_t>(x); };
  EXPECT_EQ(wrong(tiny, {0, word(1), word(1)}), "");
  EXPECT_NE(wrong(tiny, {0, word(0.5), word(0.5)}), "");
}

TEST(SsspVerify, ReadsTheArraysOfAnAnswer) {
  const std::vector<std::int64_t> whole = {0, 7, -1};
  const std::vector<double> real = {0, 0.5, INFINITY};
  const HostArray<std::uint64_t> a = sssp_words(Span<const std::int64_t>{whole.data(), 3});
  const HostArray<std::uint64_t> b = sssp_words(Span<const double>{real.data(), 3});
  EXPECT_EQ(a[1], 7u);
  EXPECT_EQ(a[2], kNone);
  EXPECT_EQ(b[1], std::bit_cast<std::uint64_t>(0.5));
  EXPECT_EQ(b[2], kNone);
}

std::vector<std::int32_t> tree(const Csr& graph, const Words& words, vertex_t source) {
  const HostArray<std::int32_t> found = sssp_predecessors(transpose(graph), span(words), source);
  return {found.begin(), found.end()};
}
std::string wrong_tree(const Csr& graph, const Words& words, const std::vector<std::int32_t>& tree, vertex_t source,
                       bool smallest = false) {
  return verify_predecessors(transpose(graph), span(words), {tree.data(), static_cast<std::int64_t>(tree.size())},
                             source, smallest);
}

TEST(SsspPredecessors, AreTheSmallestAndHaveNoRings) {
  EXPECT_EQ(tree(small(), kSmall, 0), (std::vector<std::int32_t>{0, 0, 1, 2, -1, -1}));
  // A complete graph with all weights zero: the source is the predecessor of all other vertices.
  Csr zeros = generate(parse_generator("complete:5"));
  zeros.weight_kind = WeightKind::int32;
  zeros.int_weights = HostArray<std::int32_t>(zeros.num_arcs(), 0);
  EXPECT_EQ(tree(zeros, sssp_reference(zeros, 3), 3), (std::vector<std::int32_t>{3, 3, 3, 3, 3}));
  // Graphs in which even weights are replaced by zero, among them a long path.
  for (const char* text : {"chain:200", "kron:9", "road:25", "uniform:8,directed"}) {
    const Csr bare = generate(parse_generator(text));
    Csr graph = with_weights(bare, WeightSource::hash255);
    for (arc_t a = 0; a < graph.num_arcs(); ++a) graph.int_weights[a] = graph.int_weights[a] % 2 * graph.int_weights[a];
    const Words words = sssp_reference(graph, 1);
    EXPECT_EQ(wrong(graph, words, 1), "") << text;
    EXPECT_EQ(wrong_tree(graph, words, tree(graph, words, 1), 1, true), "") << text;
  }
}

TEST(SsspPredecessors, ThatAreWrongAreFound) {
  const std::vector<std::int32_t> right = {0, 0, 1, 2, -1, -1};
  EXPECT_EQ(wrong_tree(small(), kSmall, right, 0, true), "");
  for (std::size_t v = 0; v < right.size(); ++v) {
    for (std::int32_t value = -2; value < 7; ++value) {
      std::vector<std::int32_t> changed = right;
      changed[v] = value;
      if (value != right[v]) EXPECT_NE(wrong_tree(small(), kSmall, changed, 0), "") << v << " " << value;
    }
  }
  const std::string ring = wrong_tree(small(), kSmall, {0, 2, 1, 2, -1, -1}, 0);
  EXPECT_NE(ring.find("is its own ancestor"), std::string::npos) << ring;
  // Two paths of the same length: both predecessors are right, but only one is the smallest.
  const Csr two = csr_from_arcs(4, {0, 0, 1, 2}, {1, 2, 3, 3}, {1, 1, 1, 1});
  EXPECT_EQ(wrong_tree(two, {0, 1, 1, 2}, {0, 0, 0, 2}, 0), "");
  EXPECT_NE(wrong_tree(two, {0, 1, 1, 2}, {0, 0, 0, 2}, 0, true), "");
  EXPECT_EQ(wrong_tree(two, {0, 1, 1, 2}, {0, 0, 0}, 0), "there are 3 predecessors for 4 vertices");
}

}  // namespace
}  // namespace shoal
