// The serial reference against results of other libraries, and the verifier against wrong results.
#include "algo/pagerank/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "graph/make.hpp"
#include "pagerank_answers.hpp"
#include "real_ranks.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

using test::distance;
using test::span;

using test::make;

/// The ranks that NetworkX 3.6.1 gives the MultiDiGraph of test::multigraph(): parallel arcs count, loops are arcs.
TEST(PageRankReference, AgreesWithNetworkX) {
  const Csr graph = test::multigraph();
  const std::vector<double> uniform{0.226818856281657, 0.160259929012629, 0.427305138555528, 0.031729243786356,
                                    0.045214172395558, 0.031729243786356, 0.045214172395558, 0.031729243786356};
  EXPECT_LT(distance(pagerank_reference(graph), uniform), 1e-12);
  const std::vector<double> half{0.165, 0.135, 0.26, 0.08, 0.1, 0.08, 0.1, 0.08};
  EXPECT_LT(distance(pagerank_reference(graph, .5), half), 1e-12);
  const std::vector<double> to_three{0.175950043987511, 0.099705024926256, 0.341404822193311, 0.145190562613430,
                                     0.061705989110708, 0.072595281306715, 0.103448275862069, 0.0};
  EXPECT_LT(distance(pagerank_reference(graph, .85, {0, 0, 0, .5, 0, .25, .25, 0}), to_three), 1e-12);
  const std::vector<double> jumps{0, 0, 0, .5, 0, .25, .25, 0};
  EXPECT_EQ(distance(pagerank_reference(graph, 0, jumps), jumps), 0);  // with alpha 0 no rank follows arcs
}

TEST(PageRankReference, KnownShapes) {
  EXPECT_TRUE(pagerank_reference(csr_from_arcs(0, {}, {})).empty());
  EXPECT_LT(distance(pagerank_reference(csr_from_arcs(3, {}, {})), {1 / 3., 1 / 3., 1 / 3.}), 1e-15);
  EXPECT_LT(distance(pagerank_reference(make("complete:7")), std::vector<double>(7, 1 / 7.)), 1e-13);
  // Equal terms are rounded alike, so the sum of the centre's row drifts; the iteration must still end.
  EXPECT_EQ(
      verify_pagerank(make("star:6000"), make("star:6000"), span(pagerank_reference(make("star:6000"))), .85, 1e-10),
      "");
  // A star: x(centre) = (1 - a) / n + a (1 - x(centre)).
  const std::vector<double> star = pagerank_reference(make("star:11"));
  const double centre = (.15 / 11 + .85) / 1.85;
  EXPECT_NEAR(star[0], centre, 1e-13);
  EXPECT_NEAR(star[10], (1 - centre) / 10, 1e-13);
}

TEST(PageRankReference, RealGraphs) {
  const int graphs = test::for_each_real_graph(std::int64_t{1} << 20, [](const test::RealGraph& real) {
    const std::vector<double> ranks = pagerank_reference(real.graph);
    EXPECT_LT(distance(ranks, real.ranks), 1e-11) << real.name;
    EXPECT_EQ(verify_pagerank(real.graph, transpose(real.graph), span(real.ranks), .85, 1e-11), "") << real.name;
  });
  if (graphs == 0) GTEST_SKIP() << test::why_no_graphs();
}

TEST(VerifyPageRank, TakesWhatTheReferenceFound) {
  for (const char* text :
       {"kron:8", "kron:8,directed", "uniform:9,degree=1,directed", "road:30,deleted=.5", "chain:1"}) {
    const Csr graph = make(text);
    EXPECT_EQ(verify_pagerank(graph, transpose(graph), span(pagerank_reference(graph)), .85, 1e-11), "") << text;
  }
  const Csr none = csr_from_arcs(0, {}, {});
  EXPECT_EQ(verify_pagerank(none, none, {}, .85, 1e-11), "");
}

TEST(VerifyPageRank, BoundsTheError) {
  const Csr graph = make("kron:8,directed"), in = transpose(graph);
  const std::vector<double> exact = pagerank_reference(graph);
  for (const double amount : {1e-3, 1e-5, 1e-7, 1e-9}) {
    for (std::size_t v = 0; v < exact.size(); v += 13) {
      std::vector<double> wrong = exact;  // some rank is moved from one vertex to another
      wrong[v] += amount / 2;
      std::size_t other = (v + 100) % exact.size();
      while (wrong[other] < amount / 2) other = (other + 1) % exact.size();
      wrong[other] -= amount / 2;
      // The residual is between (1 - alpha) and (1 + alpha) times the error, so with this tolerance the error must be found ...
      EXPECT_NE(verify_pagerank(graph, in, span(wrong), .85, amount * .99), "") << v << " " << amount;
      // ... and with this one it must be accepted.
      EXPECT_EQ(verify_pagerank(graph, in, span(wrong), .85, amount * 1.86 / .15 + 1e-11), "") << v << " " << amount;
    }
  }
}

TEST(VerifyPageRank, NamesEachKindOfMistake) {
  const Csr graph = test::multigraph(), in = transpose(graph);
  const std::vector<double> right = pagerank_reference(graph);
  const auto complaint = [&](std::vector<double> ranks) { return verify_pagerank(graph, in, span(ranks), .85, 1e-6); };
  EXPECT_EQ(complaint(right), "");
  std::vector<double> wrong = right;
  wrong.pop_back();
  EXPECT_EQ(complaint(wrong), "there are 7 ranks for 8 vertices");
  wrong = right;
  wrong[3] = -wrong[3];
  EXPECT_EQ(complaint(wrong), "vertex 3 has rank -0.0317, which no walk can have");
  wrong[3] = std::nan("");
  EXPECT_NE(complaint(wrong).find("vertex 3 has rank"), std::string::npos);
  wrong = right;
  for (double& x : wrong) x *= 1.5;  // right except for a factor, which one step would also show
  EXPECT_EQ(complaint(wrong), "the ranks sum to 1.5, not to 1");
  wrong = right;
  std::swap(wrong[1], wrong[2]);
  EXPECT_NE(complaint(wrong).find("vertex 2 has 0.16, one step gives"), std::string::npos) << complaint(wrong);
  // Ranks for other parameters: another alpha, another personalisation, merged parallel arcs, dangling vertices whose rank
  // stays.
  EXPECT_NE(complaint(pagerank_reference(graph, .84)), "");
  EXPECT_NE(complaint(pagerank_reference(graph, .85, {1, 0, 0, 0, 0, 0, 0, 0})), "");
  EXPECT_NE(complaint(pagerank_reference(csr_from_arcs(8, {0, 0, 1, 2, 2, 3, 3, 5, 5}, {1, 2, 2, 0, 2, 2, 4, 0, 6}))),
            "");
  EXPECT_NE(complaint(pagerank_reference(
                csr_from_arcs(8, {0, 0, 0, 1, 2, 2, 3, 3, 5, 5, 4, 6, 7}, {1, 1, 2, 2, 0, 2, 2, 4, 0, 6, 4, 6, 7}))),
            "");
}

}  // namespace
}  // namespace shoal
