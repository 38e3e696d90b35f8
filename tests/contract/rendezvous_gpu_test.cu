// Two PEs share a GPU, and the kernel of one leaves no space for the kernel of the other: the run ends with an error that names
// the kernel that did not begin.
#define SHOAL_CODE_FOR CodeFor::gpu
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/worklist/worklist.hpp"
#include "shoal/world/devices.hpp"
#include "tasks.hpp"

namespace shoal::contract {
namespace {

TEST(RendezvousOnGpus, AKernelWithoutRoomIsNamed) {
  std::string why;
  if (list_devices(&why).empty()) GTEST_SKIP() << "no GPU: " << why;
  Options options;
  options.device = DeviceKind::gpu;
  options.pes = options.pes_per_gpu = 2;
  const Machine machine(options);
  LaunchPlan plan = small_plan(KernelKind::persistent, 1024);
  plan.worker = WorkerKind::block;
  plan.block_threads = 256;
  plan.stall_timeout_seconds = 0.5;

  std::vector<std::shared_ptr<void>> visits;
  std::vector<Chain> tasks(2);
  for (pe_t p = 0; p < 2; ++p) {
    visits.push_back(machine.allocate(p, sizeof(std::uint64_t), "visits"));
    tasks[p].visits = static_cast<std::uint64_t*>(visits[p].get());
    tasks[p].last = 100;
    tasks[p].n_pes = 2;
  }
  const std::vector<std::vector<Chain::Item>> seeds = {{{1}}, {}};  // PE 0 sends to PE 1, and waits

  using View = Worklist<Chain>::View;
  const int half = gpu::most_workers<View>(machine, plan), all = 2 * half;
  gpu::Streams streams(machine);
  const auto run_with = [&](int workers) {
    WorklistMemory<Chain, DirectTransport> memory(machine, plan, {}, workers);
    for (pe_t p = 0; p < 2; ++p) memory.begin(p, tasks[p], seeds[p]);
    Report report;
    gpu::launch(memory, streams, report);
    std::uint64_t seen[2] = {};
    for (pe_t p = 0; p < 2; ++p) machine.copy_out(p, &seen[p], visits[p].get(), sizeof(seen[p]));
    return seen[0] + seen[1];
  };
  EXPECT_EQ(run_with(half), 100u);
  try {
    run_with(all);
    ADD_FAILURE() << "a kernel with all workers left space for another of the same size";
  } catch (const DeviceError& error) {
    EXPECT_EQ(std::string(error.what()).find("kernels that had not begun after 0.5 s: PE 1 on GPU 0; "), 0u)
        << error.what();
  }
  for (pe_t p = 0; p < 2; ++p) machine.clear(p, visits[p].get(), sizeof(std::uint64_t));
  EXPECT_EQ(run_with(half), 100u) << "after the failure";
}

}  // namespace
}  // namespace shoal::contract
