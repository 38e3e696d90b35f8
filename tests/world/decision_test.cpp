#include "shoal/world/decision.hpp"

#include <gtest/gtest.h>

#include "shoal/world/report.hpp"

namespace shoal {
namespace {

TEST(Decision, ReadsAsValueAndReason) {
  EXPECT_EQ(to_text({"worker", "block", "all vertices begin at once"}), "block: all vertices begin at once");
  EXPECT_EQ(to_text({"distances", "64 bits", ""}), "64 bits");
}

TEST(Decision, TheLastOneHolds) {
  const Decisions made = {
      {"precision", "float32", "asked for"}, {"rows", "by length", ""}, {"precision", "float64", ""}};
  EXPECT_EQ(value_of(made, "precision"), "float64");
  EXPECT_EQ(value_of(made, "rows"), "by length");
  EXPECT_EQ(value_of(made, "row"), "");
}

TEST(Decision, IsMadeAgainInItsPlace) {
  Decisions made = {{"threads", "2", "the machine's"}, {"engine", "self", "one PE"}};
  decide_again(made, "threads", "1", "a small graph");
  decide_again(made, "fetch", "64", "was never decided");
  ASSERT_EQ(made.size(), 2u);
  EXPECT_EQ(to_text(made[0]), "1: a small graph");
  EXPECT_EQ(to_text(made[1]), "self: one PE");
}

TEST(Decision, HasOneFormInReports) {
  Report report;
  report.chosen = {{"partition", "one", "asked for: by hand"}};
  EXPECT_NE(to_json(report).find(R"("chosen":{"partition":"one: asked for: by hand"})"), std::string::npos);
  EXPECT_NE(to_text(report).find("partition       one: asked for: by hand\n"), std::string::npos);
}

}  // namespace
}  // namespace shoal
