// When a run reports kernels that do not begin while the others run, and with which text.
#include "shoal/worklist/rendezvous.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace shoal {
namespace {

std::vector<PeSnapshot> pes(const std::vector<bool>& begun) {
  std::vector<PeSnapshot> all(begun.size());
  for (std::size_t p = 0; p < begun.size(); ++p) all[p].begun = begun[p];
  return all;
}

TEST(Rendezvous, NothingIsSaidBeforeTheDeadlineNorWhenAllHaveBegun) {
  EXPECT_EQ(missed_rendezvous(pes({true, false}), {0, 0}, 9.9, 10), "");
  EXPECT_EQ(missed_rendezvous(pes({true, true}), {0, 0}, 99, 10), "");
  EXPECT_EQ(missed_rendezvous(pes({true}), {3}, 99, 10), "");
}

TEST(Rendezvous, WhoIsMissingIsNamedWithTheCure) {
  EXPECT_EQ(
      missed_rendezvous(pes({true, true, false, false}), {0, 1, 0, 1}, 10.1, 10),
      "kernels that had not begun after 10 s: PE 2 on GPU 0, PE 3 on GPU 1; all kernels of a run must be on their "
      "GPUs at the same time; use fewer PEs per GPU (--pes-per-gpu) or fewer --workers, and see with nvidia-smi "
      "whether other programs hold the GPU");
  EXPECT_EQ(missed_rendezvous(pes({true, false, true}), {0, 1, 0}, 0.6, 0.5),
            "kernels that had not begun after 0.5 s: PE 1 on GPU 1; all kernels of a run must be on their GPUs at the "
            "same time; see with nvidia-smi whether other programs hold the GPU");
}

// A kernel that has not begun when the run ends leaves as soon as it begins, so it is not reported.
TEST(Rendezvous, ARunThatHasEndedNeedsNobody) {
  std::vector<PeSnapshot> two = pes({true, false});
  two[0].state = static_cast<std::uint64_t>(RunState::done);
  EXPECT_EQ(missed_rendezvous(two, {0, 0}, 99, 10), "");
}

TEST(Rendezvous, TheKernelsWordReachesTheSnapshot) {
  const auto control = std::make_unique<PeControl>();  // all zero
  EXPECT_FALSE(snapshot(*control, 1, 0).begun);
  control->begun.store(1);
  EXPECT_TRUE(snapshot(*control, 1, 0).begun);
}

}  // namespace
}  // namespace shoal
