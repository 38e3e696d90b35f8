// The check of `shoal bfs --verify` accepts right results and rejects each kind of wrong result.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "algo/bfs/check.hpp"
#include "algo/bfs/reference.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

constexpr vertex_t kSource = 0;

/// 0 -> {1, 2}, {1, 2} -> 3, 3 -> 4, 5 -> 4; directed, so 5 is unreached. 6 is alone.
Csr make_graph(bool symmetric) {
  Csr graph = csr_from_arcs(7, {0, 0, 1, 2, 3, 5}, {1, 2, 3, 3, 4, 4}, {}, {}, symmetric);
  graph.symmetric = symmetric;
  return graph;
}

BfsResult right_answer(const Csr& graph) {
  const Csr in = transpose(graph);
  const std::vector<level_t> level = bfs_reference(graph, kSource);
  const std::int64_t n = graph.num_vertices();
  BfsResult result;
  result.levels = HostArray<std::int32_t>(n);
  result.parents = HostArray<std::int32_t>(n, -1);
  for (std::int64_t v = 0; v < n; ++v) {
    result.levels[v] = static_cast<std::int32_t>(level[v]);
    if (level[v] == kUnreached) continue;
    ++result.reached;
    result.reached_arcs += graph.degree(static_cast<vertex_t>(v));
    result.depth = std::max(result.depth, result.levels[v]);
    if (v == kSource) result.parents[v] = kSource;
    for (const vertex_t u : in.neighbors(static_cast<vertex_t>(v))) {
      const bool valid = v != kSource && level[u] + 1 == level[v];
      if (valid && (result.parents[v] < 0 || static_cast<std::int32_t>(u) < result.parents[v])) {
        result.parents[v] = static_cast<std::int32_t>(u);
      }
    }
  }
  return result;
}

class BfsCheckTest : public testing::TestWithParam<bool> {
 protected:
  std::string after(const std::function<void(BfsResult&)>& change) {
    const Csr graph = make_graph(GetParam());
    BfsResult result = right_answer(graph);
    change(result);
    return BfsCheck(graph).find_wrong(kSource, result);
  }
};

TEST_P(BfsCheckTest, SaysYesToARightAnswer) {
  EXPECT_EQ(after([](BfsResult&) {}), "");
}

TEST_P(BfsCheckTest, SaysNoToEveryChangedLevel) {
  for (const std::int64_t v : {0, 1, 2, 3, 4, 6}) {
    for (const std::int32_t level : {-1, 0, 1, 2, 3, 4, 1000}) {
      const std::string wrong = after([&](BfsResult& r) { r.levels[v] = level; });
      const std::int32_t right[] = {0, 1, 1, 2, 3, 4, -1};
      EXPECT_EQ(wrong.empty(), level == right[v]) << "vertex " << v << ", level " << level << ": " << wrong;
    }
  }
}

TEST_P(BfsCheckTest, SaysNoToEveryChangedParent) {
  for (const std::int64_t v : {0, 1, 3, 4, 6}) {
    for (const std::int32_t parent : {-1, 0, 1, 2, 3, 6}) {
      const std::int32_t right[] = {0, 0, 0, 1, 3, 4, -1};
      const std::string wrong = after([&](BfsResult& r) { r.parents[v] = parent; });
      EXPECT_EQ(wrong.empty(), parent == right[v]) << "vertex " << v << ", parent " << parent << ": " << wrong;
    }
  }
}

TEST_P(BfsCheckTest, SaysNoToWrongCounts) {
  EXPECT_NE(after([](BfsResult& r) { ++r.reached; }).find("reached"), std::string::npos);
  EXPECT_NE(after([](BfsResult& r) { --r.reached_arcs; }).find("arcs"), std::string::npos);
  EXPECT_NE(after([](BfsResult& r) { ++r.depth; }).find("depth"), std::string::npos);
}

TEST_P(BfsCheckTest, SaysNoToAnAnswerOfAnotherLength) {
  EXPECT_NE(after([](BfsResult& r) { r.levels.shrink(3); }), "");
}

INSTANTIATE_TEST_SUITE_P(DirectedAndSymmetric, BfsCheckTest, testing::Bool());

}  // namespace
}  // namespace shoal
