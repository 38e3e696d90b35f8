#include "algo/bfs/reference.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/make.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

using Numbers = std::vector<std::int32_t>;

using test::make;

Numbers levels_of(const Csr& graph, vertex_t source) {
  const std::vector<level_t> level = bfs_reference(graph, source);
  return Numbers(level.begin(), level.end());
}

Span<const std::int32_t> span(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::int64_t>(numbers.size())};
}

/// The smallest valid parents, computed from the definition.
Numbers parents_of(const Csr& graph, const Numbers& level, vertex_t source) {
  Numbers parent(level.size(), -1);
  for (std::int64_t u = graph.num_vertices() - 1; u >= 0; --u) {
    for (const vertex_t v : graph.neighbors(static_cast<vertex_t>(u))) {
      if (level[u] >= 0 && level[v] == level[u] + 1) parent[v] = static_cast<std::int32_t>(u);
    }
  }
  parent[source] = static_cast<std::int32_t>(source);
  return parent;
}

//  0 -> 1 -> 2 -> 3 -> 4      5 -> 6      7 (alone)
//  0 -> 8 -> 2, 8 -> 8, 3 -> 0, 6 -> 1
Csr small() { return csr_from_arcs(9, {0, 1, 2, 3, 5, 0, 8, 8, 3, 6}, {1, 2, 3, 4, 6, 8, 2, 8, 0, 1}); }

TEST(BfsReference, SmallDirectedGraph) {
  EXPECT_EQ(levels_of(small(), 0), (Numbers{0, 1, 2, 3, 4, -1, -1, -1, 1}));
  EXPECT_EQ(levels_of(small(), 5), (Numbers{5, 2, 3, 4, 5, 0, 1, -1, 6}));
  EXPECT_EQ(levels_of(small(), 7), (Numbers{-1, -1, -1, -1, -1, -1, -1, 0, -1}));
}

TEST(BfsReference, KnownShapes) {
  const Numbers chain = levels_of(make("chain:100"), 30);
  for (int v = 0; v < 100; ++v) EXPECT_EQ(chain[v], std::abs(v - 30));
  const Numbers star = levels_of(make("star:50"), 7);
  for (int v = 0; v < 50; ++v) EXPECT_EQ(star[v], v == 7 ? 0 : v == 0 ? 1 : 2);
  const Numbers complete = levels_of(make("complete:20"), 3);
  for (int v = 0; v < 20; ++v) EXPECT_EQ(complete[v], v != 3);
  const Numbers grid = levels_of(make("road:20,deleted=0"), 5 * 20 + 6);
  for (int v = 0; v < 400; ++v) EXPECT_EQ(grid[v], std::abs(v / 20 - 5) + std::abs(v % 20 - 6));
}

TEST(VerifyLevels, TakesWhatTheReferenceFound) {
  for (const char* text :
       {"kron:8", "kron:8,directed", "uniform:8,degree=1,directed", "road:15,deleted=.4", "chain:1"}) {
    const Csr graph = make(text), in = transpose(graph);
    for (vertex_t source = 0; source < std::min<std::int64_t>(graph.num_vertices(), 40); ++source) {
      const Numbers level = levels_of(graph, source), parent = parents_of(graph, level, source);
      EXPECT_EQ(verify_levels(in, span(level), source), "") << text << " from " << source;
      EXPECT_EQ(verify_parents(in, span(level), span(parent), source, true), "") << text << " from " << source;
    }
  }
}

TEST(VerifyLevels, NamesEachKindOfMistake) {
  const Csr in = transpose(small());
  const Numbers right{0, 1, 2, 3, 4, -1, -1, -1, 1};
  const auto say = [&](vertex_t v, std::int32_t level, vertex_t source = 0) {
    Numbers wrong = right;
    wrong[v] = level;
    return verify_levels(in, span(wrong), source);
  };
  EXPECT_EQ(say(0, 0), "");
  EXPECT_EQ(say(0, 1), "the source 0 has level 1, not 0");
  EXPECT_EQ(say(0, -1), "the source 0 is unreached, not 0");
  EXPECT_EQ(say(4, 5), "vertex 4 has level 5 but its neighbour 3 has level 3");
  EXPECT_EQ(say(4, -1), "vertex 4 is unreached but its neighbour 3 has level 3");
  EXPECT_EQ(say(4, 3),
            "vertex 4 has level 3 but no neighbour is one level below it (the lowest, neighbour 3 has level 3)");
  EXPECT_EQ(say(4, 0),
            "vertex 4 has level 0 but no neighbour is one level below it (the lowest, neighbour 3 has level 3)");
  EXPECT_EQ(say(4, 2147483647), "vertex 4 has level 2147483647 but its neighbour 3 has level 3");
  EXPECT_EQ(say(7, 1), "vertex 7 has level 1 but none of its neighbours is reached");
  EXPECT_EQ(say(6, 1), "vertex 6 has level 1 but none of its neighbours is reached");
  EXPECT_EQ(say(3, 3, 1),
            "vertex 0 has level 0 but no neighbour is one level below it (the lowest, neighbour 3 has level 3)");
  EXPECT_EQ(verify_levels(in, span({0, 1}), 0), "there are 2 levels for 9 vertices");
  EXPECT_EQ(verify_levels(in, span(right), 9), "the source 9 is not one of the 9 vertices");
  // 1 and 2 are neighbours of each other only, so no path from the source leads there, whatever their levels.
  const Csr loop_in = csr_from_arcs(3, {1, 2}, {2, 1});
  EXPECT_EQ(verify_levels(loop_in, span({0, 1, 2}), 0),
            "vertex 1 has level 1 but no neighbour is one level below it (the lowest, neighbour 2 has level 2)");
}

TEST(VerifyLevels, FindsEverySingleWrongLevel) {
  for (const char* text : {"kron:6", "kron:6,directed", "road:8,deleted=.3", "complete:12"}) {
    const Csr graph = make(text), in = transpose(graph);
    for (const vertex_t source : {0u, 5u}) {
      const Numbers right = levels_of(graph, source);
      for (std::size_t v = 0; v < right.size(); ++v) {
        for (const std::int32_t wrong : {-1, 0, 1, 2, 3, right[v] - 1, right[v] + 1, 1 << 30}) {
          if (wrong == right[v] || wrong < -1) continue;
          Numbers levels = right;
          levels[v] = wrong;
          EXPECT_NE(verify_levels(in, span(levels), source), "") << text << " " << v << " " << wrong;
        }
      }
    }
  }
}

TEST(VerifyLevels, FindsShiftedAndForeignLevels) {
  const Csr graph = make("road:30,deleted=.2");
  const Numbers right = levels_of(graph, 3);
  Numbers shifted = right;
  for (auto& level : shifted) level += level >= 10;  // from level 10 on, all levels are one too high
  EXPECT_NE(verify_levels(graph, span(shifted), 3), "");
  EXPECT_NE(verify_levels(graph, span(right), 4), "");
  EXPECT_NE(verify_levels(graph, span(levels_of(graph, 4)), 3), "");
  EXPECT_NE(verify_levels(graph, span(Numbers(900, -1)), 3), "");
  EXPECT_NE(verify_levels(graph, span(Numbers(900, 0)), 3), "");
  // Levels along arcs differ from levels against them.
  const Csr directed = make("kron:7,directed");
  vertex_t source = 0;
  while (directed.degree(source) == 0) ++source;
  EXPECT_NE(verify_levels(directed, span(levels_of(directed, source)), source), "");
}

TEST(VerifyLevels, ReportsTheFirstOfManyWrongVertices) {
  const Csr graph = make("chain:100000");  // many chunks
  Numbers levels = levels_of(graph, 0);
  for (const int v : {99999, 70001, 40000}) levels[v] = 7;
  EXPECT_EQ(verify_levels(graph, span(levels), 0), "vertex 39999 has level 39999 but its neighbour 40000 has level 7");
}

TEST(VerifyParents, NamesEachKindOfMistake) {
  const Csr in = transpose(small());
  const Numbers level{0, 1, 2, 3, 4, -1, -1, -1, 1}, right{0, 0, 1, 2, 3, -1, -1, -1, 0};
  const auto say = [&](vertex_t v, std::int32_t parent, bool smallest = false) {
    Numbers wrong = right;
    wrong[v] = parent;
    return verify_parents(in, span(level), span(wrong), 0, smallest);
  };
  EXPECT_EQ(say(0, 0, true), "");
  EXPECT_EQ(say(2, 8), "") << "another valid parent";
  EXPECT_EQ(say(2, 8, true), "vertex 2 has parent 8 but 1 is the smallest valid one");
  EXPECT_EQ(say(0, 3), "vertex 0 has parent 3 but is the source, its own parent");
  EXPECT_EQ(say(0, -1), "vertex 0 has parent -1 but is the source, its own parent");
  EXPECT_EQ(say(5, 6), "vertex 5 has parent 6 but is unreached, without one (-1)");
  EXPECT_EQ(say(6, 5), "vertex 6 has parent 5 but is unreached, without one (-1)");
  EXPECT_EQ(say(4, -1), "vertex 4 has parent -1, which is not a vertex");
  EXPECT_EQ(say(4, 9), "vertex 4 has parent 9, which is not a vertex");
  EXPECT_EQ(say(4, -5), "vertex 4 has parent -5, which is not a vertex");
  EXPECT_EQ(say(4, 2), "vertex 4 has parent 2 but no arc comes from there");
  EXPECT_EQ(say(4, 4), "vertex 4 has parent 4 but no arc comes from there");
  EXPECT_EQ(say(1, 6), "vertex 1 has parent 6 of level -1 but level 1 itself");
  EXPECT_EQ(say(8, 8), "vertex 8 has parent 8 of level 1 but level 1 itself");
  EXPECT_EQ(verify_parents(in, span(level), span({0}), 0), "there are 1 parents for 9 vertices");
  EXPECT_EQ(verify_parents(in, span({0}), span(right), 0), "there are 1 levels for 9 vertices");
}

TEST(VerifyParents, FindsEveryWrongParent) {
  const Csr graph = make("kron:6,directed"), in = transpose(graph);
  const Numbers level = levels_of(graph, 1), right = parents_of(graph, level, 1);
  const auto n = static_cast<std::int32_t>(right.size());
  for (std::int32_t v = 0; v < n; ++v) {
    for (std::int32_t p = -1; p < n; ++p) {
      Numbers parent = right;
      parent[v] = p;
      EXPECT_EQ(verify_parents(in, span(level), span(parent), 1, true).empty(), p == right[v]) << v << " " << p;
      // If the smallest parent is not required, any in-neighbour one level lower is valid.
      const auto row = in.neighbors(static_cast<vertex_t>(v));
      const bool valid = v == 1 ? p == 1
                         : level[v] == -1
                             ? p == -1
                             : p >= 0 && level[p] == level[v] - 1 && std::find(row.begin(), row.end(), p) != row.end();
      EXPECT_EQ(verify_parents(in, span(level), span(parent), 1).empty(), valid) << v << " " << p;
    }
  }
}

// Graphs with counts on which other libraries agreed; README.md and MANIFEST.json next to the graphs describe them.
TEST(BfsReference, RealGraphs) {
  const char* const named = std::getenv("SHOAL_DATA");
  const std::filesystem::path data = named != nullptr ? named : SHOAL_SOURCE_DIR "/../shared/data";
  if (!std::filesystem::exists(data / "MANIFEST.json")) {
    GTEST_SKIP() << "no graphs in " << data << "; set SHOAL_DATA to a folder with MANIFEST.json";
  }
  const auto manifest = nlohmann::json::parse(std::ifstream(data / "MANIFEST.json"));
  int checked = 0;
  for (const auto& item : manifest["items"]) {
    if (item["type"] != "graph" || !item.contains("bfs")) continue;
    const std::string name = item["name"];
    ReadOptions options;
    options.undirected = !item["directed"].get<bool>();
    const std::filesystem::path file =
        data / item["folder"].get<std::string>() / item["canonical"]["file"].get<std::string>();
    if (!std::filesystem::exists(file)) continue;
    if (std::getenv("SHOAL_TEST_SMALL") != nullptr && std::filesystem::file_size(file) > 2000000) continue;
    const Csr graph = read_graph(file.string(), options);
    const Csr in = transpose(graph);
    for (const auto& [which, answer] : item["bfs"].items()) {
      const vertex_t source = answer["source"];
      const Numbers level = levels_of(graph, source);
      std::int64_t reached = 0, sum = 0;
      std::vector<std::int64_t> histogram;
      for (const std::int32_t l : level) {
        if (l < 0) continue;
        ++reached;
        sum += l;
        if (static_cast<std::size_t>(l) >= histogram.size()) histogram.resize(l + 1, 0);
        ++histogram[l];
      }
      EXPECT_EQ(reached, answer["reached"]) << name << " " << which;
      EXPECT_EQ(sum, answer["sum_depths"]) << name << " " << which;
      EXPECT_EQ(static_cast<std::int64_t>(histogram.size()) - 1, answer["max_depth"]) << name << " " << which;
      const std::vector<std::int64_t> head = answer["depth_histogram_head"];
      ASSERT_LE(head.size(), histogram.size());
      EXPECT_TRUE(std::equal(head.begin(), head.end(), histogram.begin())) << name << " " << which;
      EXPECT_EQ(verify_levels(in, span(level), source), "") << name << " " << which;
      ++checked;
    }
  }
  std::cout << checked << " searches agree with the references in " << data << "\n";
  EXPECT_GT(checked, 0);
}

}  // namespace
}  // namespace shoal
