// How many vertices an edge list has: as the caller or the file states, or by the largest vertex number.
#include <optional>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

shoal::ReadOptions vertices(std::optional<std::int64_t> n) {
  shoal::ReadOptions options;
  options.num_vertices = n;
  return options;
}

Csr read(const std::string& text, std::optional<std::int64_t> n = {}, Format format = Format::edge_list) {
  return read_graph_bytes(format, text, "FILE", vertices(n));
}

std::string refusal(const std::string& text, std::optional<std::int64_t> n, Format format = Format::edge_list) {
  return usage_error_of([&] { read(text, n, format); });
}

void expect_vertices(const std::string& text, std::int64_t n, const std::string& remark) {
  SCOPED_TRACE(text);
  const Csr graph = read(text);
  EXPECT_EQ(graph.num_vertices(), n);
  EXPECT_EQ(graph.vertices_remark, remark);
}

TEST(Vertices, TheCallersNumberIsExact) {
  EXPECT_EQ(text_of(read("0 1\n", 4)), "4 vertices, 1 arcs, weights 0\n0: 1\n1:\n2:\n3:\n");
  EXPECT_EQ(read("# Nodes: 9 Edges: 1\n0 1\n", 4).num_vertices(), 4);
  EXPECT_EQ(read("# Nodes: 9 Edges: 1\n0 1\n", 4).vertices_remark, "");
  EXPECT_EQ(read("# shoal vertices=9\n0 1\n", 2).num_vertices(), 2);
  EXPECT_EQ(read("source,target\n0,1\n", 4, Format::csv).num_vertices(), 4);
  EXPECT_EQ(refusal("# x\n0 1\n1 4\n2 5\n", 4),
            "FILE:3: vertex number '4' is outside 0..3; correct it, or raise --vertices");
  EXPECT_EQ(refusal("% sym unweighted\n1 2\n2 5\n", 4),
            "FILE:3: vertex number '5' is outside 1..4; correct it, or raise --vertices");
  EXPECT_EQ(refusal("0 1\n", 0),
            "FILE:1: vertex number '0' occurs, but there are no vertices; correct it, or raise --vertices");
  EXPECT_EQ(refusal("0 1\n", -1), "FILE: --vertices -1 is out of range; legal are 0 to 2147483647");
  EXPECT_EQ(refusal("0 1\n", std::int64_t{1} << 31),
            "FILE: --vertices 2147483648 is out of range; legal are 0 to 2147483647");
}

TEST(Vertices, OnlyEdgeListsNeedToBeTold) {
  const std::string matrix = "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2\n";
  EXPECT_EQ(read(matrix, 3, Format::matrix_market).num_vertices(), 3);
  EXPECT_EQ(refusal(matrix, 5, Format::matrix_market),
            "FILE: declares 3 vertices, but --vertices is 5; leave --vertices out");
  EXPECT_EQ(refusal("p sp 3 0\n", 2, Format::dimacs),
            "FILE: declares 3 vertices, but --vertices is 2; leave --vertices out");
}

TEST(Vertices, WithoutArcsAreVerticesStill) {
  EXPECT_EQ(text_of(read("# nothing\n", 2)), "2 vertices, 0 arcs, weights 0, symmetric\n0:\n1:\n");
  EXPECT_EQ(read("# Nodes: 3 Edges: 0\n").num_vertices(), 3);
  EXPECT_EQ(read("% sym unweighted\n% 0 3 3\n").num_vertices(), 3);
  EXPECT_EQ(refusal("\n", {}),
            "FILE:1: the edge list holds no edges, and nothing says how many vertices it has; give the number with "
            "--vertices");
}

TEST(Vertices, CommentsSayThem) {
  expect_vertices("# Nodes: 5 Edges: 1\n# FromNodeId\tToNodeId\n0\t2\n", 5,
                  "5 vertices, as line 1 says; the largest in an arc is 2");
  expect_vertices("# x\n#Nodes: 3  Edges: 1\n0 2\n", 3, "");
  expect_vertices("# graph n=5 m=1 directed=0\n0 2\n", 5, "5 vertices, as line 1 says; the largest in an arc is 2");
  expect_vertices("% asym unweighted\n% 1 5 5\n1 2\n", 5, "5 vertices, as line 2 says; the largest in an arc is 2");
  // Vertex numbers of a SNAP file may have gaps; then the largest number decides.
  expect_vertices("# Nodes: 2 Edges: 1\n0 7\n", 8, "8 vertices, because vertex 7 occurs; line 1 says 2");
  expect_vertices("% asym unweighted\n% 1 2 2\n1 7\n", 7, "7 vertices, because vertex 7 occurs; line 2 says 2");
}

TEST(Vertices, OtherCommentsSayNothing) {
  for (const char* comment : {"# Nodes: many Edges: 3", "# Nodes: 9", "# 9 3", "% 3 9 9", "# n=9", "# n=9 vertices m=x",
                              "# Nodes: -9 Edges: 3", "# Nodes: 9.5 Edges: 3", "# Nodes: 9 Edges: 3x",
                              "% symmetric unweighted", "# shoal vertices 9"}) {
    expect_vertices(std::string(comment) + "\n0 2\n", 3, "");
  }
  // Only comments before the first arc count.
  expect_vertices("0 2\n# Nodes: 9 Edges: 1\n", 3, "");
}

TEST(Vertices, ALineOfNumbersThatReadsLikeAHeaderIsRemarkedOn) {
  expect_vertices(
      "4 5\n0 1\n1 2\n2 3\n3 0\n0 2\n", 6,
      "line 1 (4 5) is taken as an arc, but looks like 'VERTICES EDGES': if it is, put # before it and give "
      "--vertices 4");
  expect_vertices("4 4\n0 1\n1 2\n2 3\n3 0\n0 2\n", 5, "");
  expect_vertices("5 4\n4 3\n3 2\n2 1\n1 0\n", 6, "");  // a path, listed from its end
}

TEST(Vertices, ACacheKnowsHowManyWereAskedFor) {
  const Folder folder;
  spill(folder / "g.el", "0 1\n");
  for (const std::optional<std::int64_t> n : {std::optional<std::int64_t>{}, {4}, {3}, {}}) {
    shoal::ReadOptions options = vertices(n);
    options.use_cache = true;
    for (int time = 0; time < 2; ++time)
      EXPECT_EQ(shoal::read_graph(folder / "g.el", options).num_vertices(), n.value_or(2));
  }
}

}  // namespace
}  // namespace shoal_test
