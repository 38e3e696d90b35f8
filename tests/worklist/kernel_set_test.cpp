// Which kernels a program contains for GPUs: those that auto chooses and those that a task names; and the error for others.
// Needs no GPU.
#include "shoal/worklist/kernel_set.hpp"

#include <gtest/gtest.h>

#include "shoal/core/error.hpp"
#include "shoal/worklist/launch_plan.hpp"

namespace shoal {
namespace {

constexpr WorkerKind kWorkerKinds[] = {WorkerKind::thread, WorkerKind::warp, WorkerKind::block};
constexpr KernelKind kKernelKinds[] = {KernelKind::persistent, KernelKind::discrete};

struct Plain {};
struct Greedy {
  static constexpr KernelSet kKernels = kAllKernels;
};
struct Frugal {
  static constexpr KernelSet kKernels = KernelSet::of(WorkerKind::thread, KernelKind::discrete);
};

TEST(KernelSet, HoldsWhatItIsMadeOf) {
  for (const WorkerKind worker : kWorkerKinds) {
    for (const KernelKind kernel : kKernelKinds) {
      const KernelSet one = KernelSet::of(worker, kernel);
      for (const WorkerKind w : kWorkerKinds) {
        for (const KernelKind k : kKernelKinds) EXPECT_EQ(one.has(w, k), w == worker && k == kernel);
      }
      EXPECT_TRUE(kAllKernels.has(worker, kernel));
    }
  }
}

TEST(KernelSet, AProgramHasWhatAutoChooses) {
  int of_each[2] = {0, 0};
  for (const QueueKind queue : {QueueKind::automatic, QueueKind::priority}) {
    for (pe_t pes = 1; pes <= 8; ++pes) {
      for (double fan_out = .25; fan_out < 3000; fan_out *= 1.3) {
        for (std::int64_t items = 1; items < 1 << 28; items *= 8) {
          Options options;
          options.queue = queue;
          Decisions why;
          const LaunchPlan plan = plan_launch(options, /*on_gpu=*/true, pes, items, fan_out, why);
          EXPECT_TRUE(kernels_of<Plain>().has(plan.worker, plan.kernel))
              << name(plan.worker) << " " << name(plan.kernel);
          ++of_each[plan.worker == WorkerKind::block];
        }
      }
    }
  }
  // There are no kernels that auto never chooses.
  EXPECT_GT(of_each[0], 0);
  EXPECT_GT(of_each[1], 0);
  EXPECT_FALSE(kernels_of<Plain>().has(WorkerKind::thread, KernelKind::persistent));
  for (const WorkerKind worker : kWorkerKinds) EXPECT_FALSE(kernels_of<Plain>().has(worker, KernelKind::discrete));
}

TEST(KernelSet, ATaskNamesOthers) {
  EXPECT_TRUE(kernels_of<Greedy>().has(WorkerKind::thread, KernelKind::persistent));
  EXPECT_TRUE(kernels_of<Frugal>().has(WorkerKind::thread, KernelKind::discrete));
  EXPECT_FALSE(kernels_of<Frugal>().has(WorkerKind::warp, KernelKind::persistent));
}

TEST(KernelSet, TheErrorNamesWhatIsThereAndTheCure) {
  for (const WorkerKind worker : kWorkerKinds) {
    for (const KernelKind kernel : kKernelKinds) EXPECT_NO_THROW(check_compiled(kAllKernels, worker, kernel));
  }
  try {
    check_compiled(kAutoKernels, WorkerKind::thread, KernelKind::discrete);
    ADD_FAILURE() << "passed";
  } catch (const UsageError& error) {
    EXPECT_STREQ(
        error.what(),
        "this program has no kernel for worker thread and kernel discrete, only: warp persistent, block persistent. "
        "For all of them, give the task `static constexpr KernelSet kKernels = kAllKernels;`, or configure with "
        "-DSHOAL_PROGRAM_KERNELS=all");
  }
}

}  // namespace
}  // namespace shoal
