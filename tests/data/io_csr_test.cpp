// csr_from_arcs, transpose and is_symmetric against simple serial code.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using Arc = std::tuple<vertex_t, vertex_t, double>;

std::vector<Arc> arcs_of(const Csr& graph) {
  std::vector<Arc> out;
  for (vertex_t v = 0; v < graph.num_vertices(); ++v)
    for (shoal::arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a)
      out.emplace_back(v, graph.targets[a],
                       graph.weight_kind == WeightKind::int32     ? graph.int_weights[a]
                       : graph.weight_kind == WeightKind::float64 ? graph.real_weights[a]
                                                                  : 0.0);
  return out;
}

void expect_valid(const Csr& graph) {
  ASSERT_EQ(graph.offsets[0], 0);
  ASSERT_EQ(graph.offsets[graph.num_vertices()], graph.targets.size());
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v) ASSERT_LE(graph.offsets[v], graph.offsets[v + 1]);
  for (const vertex_t t : graph.targets) ASSERT_LT(t, graph.num_vertices());
  ASSERT_EQ(graph.int_weights.size(), graph.weight_kind == WeightKind::int32 ? graph.num_arcs() : 0);
  ASSERT_EQ(graph.real_weights.size(), graph.weight_kind == WeightKind::float64 ? graph.num_arcs() : 0);
}

TEST(Csr, FromArcsEqualsSorting) {
  std::mt19937 random(11);
  for (const std::int64_t n : {1, 2, 31, 500, 30000}) {
    for (const std::int64_t m : {std::int64_t{0}, std::int64_t{1}, n, 10 * n}) {
      for (const auto& [undirected, dedup] : {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
        for (const WeightKind kind : {WeightKind::none, WeightKind::int32, WeightKind::float64}) {
          std::vector<vertex_t> s, t;
          std::vector<std::int32_t> whole;
          std::vector<double> real;
          std::vector<Arc> wanted;
          for (std::int64_t i = 0; i < m; ++i) {
            s.push_back(random() % n);
            t.push_back(random() % 3 == 0 ? 0 : random() % n);  // vertex 0 is a hub
            const int w = static_cast<int>(random() % 50) - 10;
            if (kind == WeightKind::int32) whole.push_back(w);
            if (kind == WeightKind::float64) real.push_back(w / 8.0);
            const double weight = kind == WeightKind::none ? 0 : kind == WeightKind::int32 ? w : w / 8.0;
            wanted.emplace_back(s.back(), t.back(), weight);
            if (undirected && s.back() != t.back()) wanted.emplace_back(t.back(), s.back(), weight);
          }
          std::sort(wanted.begin(), wanted.end());
          if (dedup)
            wanted.erase(std::unique(wanted.begin(), wanted.end(),
                                     [](const Arc& a, const Arc& b) {
                                       return std::get<0>(a) == std::get<0>(b) && std::get<1>(a) == std::get<1>(b);
                                     }),
                         wanted.end());
          const Csr graph = shoal::csr_from_arcs(n, s, t, whole, real, undirected, dedup);
          expect_valid(graph);
          ASSERT_TRUE(arcs_of(graph) == wanted) << "n " << n << " m " << m;
          EXPECT_EQ(graph.symmetric, undirected);

          const Csr reversed = shoal::transpose(graph);
          expect_valid(reversed);
          for (Arc& arc : wanted) std::swap(std::get<0>(arc), std::get<1>(arc));
          std::sort(wanted.begin(), wanted.end());
          ASSERT_TRUE(arcs_of(reversed) == wanted) << "n " << n << " m " << m;
          // A graph is symmetric if and only if reversing it changes nothing.
          EXPECT_EQ(shoal::is_symmetric(graph), arcs_of(graph) == wanted);
        }
      }
    }
  }
}

TEST(Csr, SymmetryIsLostWithOneArc) {
  Csr graph = random_graph(20000, 400000, WeightKind::int32, true, 2);  // more arcs than the part of one thread
  ASSERT_TRUE(shoal::is_symmetric(graph));
  for (const shoal::arc_t a : {shoal::arc_t{1}, graph.num_arcs() / 2, graph.num_arcs() - 1}) {
    const std::int32_t weight = graph.int_weights[a];
    const vertex_t target = graph.targets[a];
    vertex_t source = 0;
    while (graph.offsets[source + 1] <= a) ++source;
    if (source == target) continue;  // a loop is its own reverse
    graph.int_weights[a] = weight + 100000;
    EXPECT_FALSE(shoal::is_symmetric(graph)) << a;
    graph.int_weights[a] = weight;
    EXPECT_TRUE(shoal::is_symmetric(graph));
  }
}

TEST(Csr, UnsortedRowsAreSeenAsTheyAre) {
  Csr graph = shoal::csr_from_arcs(3, {0, 0, 1, 2}, {1, 2, 0, 0});
  std::swap(graph.targets[0], graph.targets[1]);
  EXPECT_TRUE(shoal::is_symmetric(graph));
  EXPECT_EQ(arcs_of(shoal::transpose(graph)), (std::vector<Arc>{{0, 1, 0}, {0, 2, 0}, {1, 0, 0}, {2, 0, 0}}));
  EXPECT_EQ(graph.targets[0], 2u) << "the graph itself is not changed";
  const Folder folder;
  EXPECT_NE(usage_error_of([&] { shoal::write_graph(graph, folder / "g.shoal"); }).find("not sorted"),
            std::string::npos);
}

TEST(Csr, EmptyGraphs) {
  EXPECT_TRUE(shoal::is_symmetric(Csr()));
  EXPECT_EQ(shoal::transpose(Csr()).num_vertices(), 0);
  const Csr none = shoal::csr_from_arcs(0, {}, {});
  EXPECT_EQ(none.offsets.size(), 1);
  EXPECT_TRUE(shoal::is_symmetric(none));
  EXPECT_EQ(shoal::transpose(shoal::csr_from_arcs(7, {}, {})).num_vertices(), 7);
}

TEST(Csr, WrongArgumentsAreNamed) {
  using V = std::vector<vertex_t>;
  EXPECT_EQ(usage_error_of([] {
              shoal::csr_from_arcs(2, V{0}, V{0, 1});
            }),
            "csr_from_arcs: 1 sources but 2 targets; give one target per source");
  EXPECT_EQ(usage_error_of([] {
              shoal::csr_from_arcs(2, V{0, 1}, V{1, 2});
            }),
            "csr_from_arcs: arc 1 is 1 -> 2, but there are only 2 vertices (numbered from 0)");
  EXPECT_EQ(usage_error_of([] { shoal::csr_from_arcs(-1, V{}, V{}); }),
            "csr_from_arcs: num_vertices is -1; it must be in [0, 2147483647]");
  EXPECT_EQ(usage_error_of([] {
              shoal::csr_from_arcs(2, V{0}, V{1}, {1, 2});
            }),
            "csr_from_arcs: 1 arcs but 2 weights; give one weight per arc, or none");
  EXPECT_EQ(usage_error_of([] { shoal::csr_from_arcs(2, V{0}, V{1}, {1}, {1.0}); }),
            "csr_from_arcs: integer and real weights are both given; give one of them");
  EXPECT_EQ(usage_error_of([] { shoal::csr_from_arcs(2, V{0}, V{1}, {}, {NAN}); }),
            "csr_from_arcs: the weight of arc 0 is not finite; weights must be numbers");
}

}  // namespace
}  // namespace shoal_test
