// How the end of a run is judged by its counters.
#include "shoal/worklist/run_end.hpp"

#include <gtest/gtest.h>

#include <string>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// The error of a run on two PEs in which PE 1 refused an item, because its owner() had returned `owner`.
std::string error_of(pe_t owner) {
  RunCounts counts;
  std::vector<PeControl> counters(2);
  counts.after = counters;
  counts.all_pes = 2;
  counts.before = sent_before(counters, counts.all_pes);
  counts.seeds = {0, 0};
  counters[1].refused.store(RefusedOwner::pack(owner));
  Report report;
  try {
    end_run(LaunchPlan(), counts, report);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RunEnd, AnOwnerThatIsNoPeIsNamed) {
  EXPECT_NE(error_of(2).find("owner() returned 2 for an item pushed on PE 1; with 2 PEs it must be 0 to 1"),
            std::string::npos);
  EXPECT_NE(error_of(-7).find("owner() returned -7"), std::string::npos);
}

TEST(RunEnd, OwnsThatContradictsOwnerIsSaid) {
  EXPECT_EQ(error_of(1),
            "the task's owner() returned 1 for an item pushed on PE 1, but owns(1, item) was false; both must "
            "say the same");
}

}  // namespace
}  // namespace shoal
