// The PageRank task without a worklist: the shares that it passes on, in float32 as on GPUs, and those that it gathers for
// other PEs.
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "shoal/algo/pagerank.hpp"

namespace shoal {
namespace {

/// The task of PE 0. Its vertex 0 has arcs to 1, 2 and 3 of PE 1, each of which has four arcs.
template <class ShareT>
struct TwoPes {
  using Task = PageRankOf<ShareT>;
  std::vector<arc_t> offsets{0, 3}, its_offsets{0, 4, 8, 12};
  std::vector<vertex_t> targets{1, 2, 3};
  std::vector<double> y{0}, residual{0}, its_residual{0, 0, 0}, owed{0, 0, 0, 0};
  std::vector<std::uint8_t> log_degrees{log_of_degree(3), 2, 2, 2};
  Task task{};

  TwoPes() {
    task.graph.first = 0;
    task.graph.count = 1;
    task.graph.offsets = offsets.data();
    task.graph.targets = targets.data();
    task.owners.begin[1] = 1, task.owners.begin[2] = 4;
    task.owners.n_pes = 2;
    task.y = y.data(), task.residual = residual.data();
    task.residuals.part[0] = residual.data(), task.residuals.part[1] = its_residual.data();
    task.arcs.part[0] = offsets.data(), task.arcs.part[1] = its_offsets.data();
    task.owed = owed.data();
    task.log_degrees = log_degrees.data();
    task.uniform = .25, task.alpha = .85, task.epsilon = .01;
  }
  /// Pushes a share for vertex 1 as a worklist with judging by the pusher does. @return whether the owner gets an item
  bool push(ShareT share) {
    const typename Task::Item item{1, share};
    const auto gathered = task.ask(true, item);
    return task.worth_sending(item, gathered) && task.accepts(item, task.ask_at(true, 1, item));
  }
};

template <class Bed>
void expect_nothing_is_lost(double taken) {
  Bed bed;
  bed.residual[0] = taken;
  const auto row = bed.task.range({0, 1});
  ASSERT_EQ(row.size(), 3);
  EXPECT_NEAR(bed.y[0] + bed.residual[0], taken, 1e-16 * std::abs(taken));
  EXPECT_NEAR(.85 * bed.y[0], 3.0 * static_cast<double>(row[0].share), 4e-16 * std::abs(taken));
  EXPECT_NEAR(bed.y[0], taken, 1e-7 * std::abs(taken));
}

TEST(PageRankTask, PassesOnWhatItTakes) {
  for (const double taken : {1.0 / 3, -1.0 / 7, .0401, 12345.678}) {
    expect_nothing_is_lost<TwoPes<float>>(taken);
    expect_nothing_is_lost<TwoPes<double>>(taken);
  }
}

TEST(PageRankTask, LeavesAloneWhatIsBelowItsLimit) {
  TwoPes<float> bed;  // three arcs count as four
  bed.residual[0] = .0399;
  EXPECT_EQ(bed.task.range({0, 1}).size(), 0);
  EXPECT_EQ(bed.residual[0], .0399);
  EXPECT_EQ(bed.y[0], 0);
}

TEST(PageRankTask, LimitsGoByPowersOfTwo) {
  const std::vector<int> logs = {0, 1, 2, 2, 2, 3, 3, 3, 3, 3, 4};
  for (std::size_t i = 0; i < logs.size(); ++i) EXPECT_EQ(log_of_degree(static_cast<arc_t>(i + 1)), logs[i]) << i + 1;
  EXPECT_EQ(log_of_degree((arc_t{1} << 31) - 1), 31);
  EXPECT_EQ(log_of_degree(0), kNoOutArcs);
  TwoPes<float> bed;
  for (const auto& [log, limit] : {std::pair{0, .01}, {1, .02}, {2, .04}, {10, 10.24}}) {
    bed.log_degrees[1] = static_cast<std::uint8_t>(log);
    bed.task.owed = nullptr;
    for (const double part : {.99, 1.01}) {
      bed.its_residual[0] = 0;
      EXPECT_EQ(bed.push(static_cast<float>(part * limit)), part > 1) << log;
    }
  }
  bed.log_degrees[1] = kNoOutArcs;
  EXPECT_FALSE(bed.push(1e6F)) << "a vertex without out-arcs never runs";
}

TEST(PageRankTask, GathersForOthersUntilItIsAPartOfTheirLimit) {
  TwoPes<float> bed;  // the limit of vertex 1 is .04, a fourth of it .01
  EXPECT_FALSE(bed.push(.006F));
  EXPECT_EQ(bed.its_residual[0], 0);
  EXPECT_FALSE(bed.push(.006F)) << "the owner has only a part of its limit, so it need not run";
  EXPECT_NEAR(bed.its_residual[0], .012, 1e-8);
  EXPECT_EQ(bed.owed[1], 0);
  EXPECT_TRUE(bed.push(.03F));
  EXPECT_NEAR(bed.its_residual[0], .042, 1e-8);
  EXPECT_FALSE(bed.push(.03F)) << "it is already waiting to be run";
  EXPECT_NEAR(bed.its_residual[0], .072, 1e-8);
}

TEST(PageRankTask, WithoutAPlaceToGatherEveryShareGoes) {
  TwoPes<double> bed;
  bed.task.owed = nullptr;
  const PageRankOf<double>::Item item{1, .001};
  EXPECT_TRUE(bed.task.worth_sending(item, bed.task.ask(true, item)));
  EXPECT_FALSE(bed.task.accepts(item, bed.task.ask_at(true, 1, item)));
  EXPECT_EQ(bed.its_residual[0], .001);
}

TEST(PageRankTask, SeedsLookAtOwnVertices) {
  using Task = PageRankOf<float>;
  TwoPes<float> bed;
  bed.task.shift = .4;
  const Task::Item seed{0, Task::kStretch};
  EXPECT_TRUE(bed.task.accepts(seed, bed.task.ask(true, seed)));
  const auto row = bed.task.range(seed);
  ASSERT_EQ(row.size(), 1);
  const Task::Item look = bed.task.make(seed, row[0]);
  EXPECT_TRUE(bed.task.accepts(look, bed.task.ask(true, look)));
  EXPECT_NEAR(bed.residual[0], .1, 1e-16);
}

}  // namespace
}  // namespace shoal
