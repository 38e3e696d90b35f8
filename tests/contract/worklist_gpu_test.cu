// The worklist's contract on GPUs: the tasks of the CPU suites for workers x kernels x capacities x PEs.
#define SHOAL_CODE_FOR CodeFor::gpu
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "gpu_shapes.hpp"
#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/worklist/worklist.hpp"
#include "shoal/world/devices.hpp"
#include "tasks.hpp"
#include "tree_runs.hpp"

namespace shoal::contract {
namespace {

class WorklistOnGpus : public OnGpusOfAShape {
 protected:
  Machine machine(pe_t pes) const { return Machine(options_of(pes, gpus_)); }
  static LaunchPlan plan(ticket_t capacity) {
    LaunchPlan plan = small_plan(std::get<1>(GetParam()), capacity);
    plan.worker = std::get<0>(GetParam());
    plan.block_threads = capacity == 8 ? 64 : 256;
    // Few workers with small rings, and otherwise all that can be resident together (0). Many workers at a few slots would only
    // move items in and out of spill.
    plan.workers = capacity == 8 ? 3 : capacity < 1024 ? 64 : 0;
    plan.spill = 1 << 20;  // another test covers full worklists
    return plan;
  }
  /// Calls body(machine, plan) for PEs 1 to 4 and all capacities.
  template <class Body>
  void for_each_plan(Body body) {
    for (pe_t pes = 1; pes <= 4; ++pes) {
      const Machine gpus = machine(pes);
      for (const ticket_t capacity : kCapacities) {
        SCOPED_TRACE(std::to_string(pes) + " PEs, worker " + name(std::get<0>(GetParam())) + ", " +
                     name(std::get<1>(GetParam())) + ", capacity " + std::to_string(capacity));
        body(gpus, plan(capacity));
        if (pes == 1) continue;
        LaunchPlan in_segments = plan(capacity);
        in_segments.batch_bytes = capacity < 1024 ? 64 : 1024;
        in_segments.batch_wait = capacity == 8 ? 3 : 0;
        SCOPED_TRACE("in segments");
        body(gpus, in_segments);
      }
    }
  }

  /// The factor by which the work is smaller with small rings: there, nearly every item goes through spill, and workers of one
  /// thread move items one by one.
  static std::uint64_t shrink(const LaunchPlan& plan) {
    return plan.capacity >= 1024 ? 1 : plan.worker == WorkerKind::thread ? 16 : 4;
  }
  /// Grows trees twice on one object, then with half of the PEs owning nothing, then without any work. Even the smallest tree
  /// has a thousand items, enough to wrap rings and channels and to spill.
  template <class Task>
  void grow_everywhere(Shape whole, std::uint64_t all_roots) {
    for_each_plan([&](const Machine& machine, const LaunchPlan& plan) {
      Shape shape = whole;
      const std::uint64_t roots = std::max<std::uint64_t>(1, all_roots / shrink(plan));
      if (shrink(plan) > 1 && shape.depth > 2) shape.depth -= 2;
      Worklist<Task> list(machine, plan);
      grow_and_compare<Task>(machine, list, shape, roots, machine.n_pes());
      shape.seed += 17;
      grow_and_compare<Task>(machine, list, shape, roots, machine.n_pes());
      grow_and_compare<Task>(machine, list, shape, roots, (machine.n_pes() + 1) / 2);
      grow_and_compare<Task>(machine, list, shape, 0, machine.n_pes());
    });
  }
  std::vector<Chain> chains(const Machine& machine, std::vector<std::shared_ptr<void>>& visits, Chain like) {
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      visits.push_back(machine.allocate(p, sizeof(std::uint64_t), "visits"));
      tasks.push_back(like);
      tasks[p].visits = static_cast<std::uint64_t*>(visits[p].get());
      tasks[p].n_pes = machine.n_pes();
    }
    return tasks;
  }

  /// Every PE seeds `updates` of a table that is spread over the PEs.
  /// @param index  (a random number, elements of the table) -> element
  template <class Index>
  void update_and_compare(const Machine& machine, const LaunchPlan& plan, std::uint64_t updates, Index index) {
    constexpr std::uint32_t kRows = 64;
    const pe_t n = machine.n_pes();
    std::vector<std::shared_ptr<void>> table;
    std::vector<std::uint64_t> expected(kRows * n, 0), rows(kRows);
    std::vector<Gups> tasks;
    std::vector<std::vector<Gups::Item>> seeds(n);
    for (pe_t p = 0; p < n; ++p) {
      table.push_back(machine.allocate(p, kRows * sizeof(std::uint64_t), "table"));
      tasks.push_back({static_cast<std::uint64_t*>(table[p].get()), n});
      for (std::uint64_t i = 0; i < updates; ++i) {
        const std::uint64_t h = mix(i * 64 + p);
        seeds[p].push_back(
            {index(h, static_cast<std::uint32_t>(expected.size())), static_cast<std::uint32_t>(h >> 40)});
        expected[seeds[p].back().index] += seeds[p].back().addend;
      }
    }
    Worklist<Gups> list(machine, plan);
    const Report report = list.run(tasks, seeds);
    for (pe_t p = 0; p < n; ++p) {
      machine.copy_out(p, rows.data(), table[p].get(), kRows * sizeof(std::uint64_t));
      for (std::uint32_t r = 0; r < kRows; ++r)
        ASSERT_EQ(rows[r], expected[r * n + p]) << "row " << r << " of PE " << p;
    }
    EXPECT_EQ(report.dropped, static_cast<std::int64_t>(updates) * n);
    EXPECT_EQ(report.run, 0);
  }
};

TEST_P(WorklistOnGpus, EveryItemOfATreeIsJudgedAndRunOnce) {
  grow_everywhere<Tree>({.root_children = 40, .most_children = 5, .depth = 7, .seed = 3}, 33);
}

TEST_P(WorklistOnGpus, DroppedStaleAndWithheldItemsAreNotRun) {
  grow_everywhere<Picky>({.root_children = 33, .most_children = 5, .depth = 7, .seed = 5}, 31);
}

TEST_P(WorklistOnGpus, WideFanOutSpills) {
  grow_everywhere<Tree>({.root_children = 1000, .most_children = 1, .depth = 2, .seed = 9}, 1);
}

TEST_P(WorklistOnGpus, OneItemTravelsRoundThePes) {
  for_each_plan([&](const Machine& machine, const LaunchPlan& plan) {
    const pe_t n = machine.n_pes();
    const std::uint32_t last = 300;
    std::vector<std::shared_ptr<void>> visits;
    const std::vector<Chain> tasks = chains(machine, visits, {.visits = nullptr, .last = last, .rest_spins = 500});
    std::vector<std::vector<Chain::Item>> seeds(n);
    seeds[n - 1].push_back({0});
    Worklist<Chain> list(machine, plan);
    EXPECT_EQ(list.run(tasks, seeds).run, last + 1);
    for (pe_t p = 0; p < n; ++p) {
      std::uint64_t count = 0;
      machine.copy_out(p, &count, visits[p].get(), sizeof(count));
      EXPECT_EQ(count, (last - static_cast<unsigned>(p)) / n + 1) << "PE " << p;
    }
  });
}

TEST_P(WorklistOnGpus, EnoughEndsARunWithItemsLeft) {
  constexpr std::uint32_t kChains = 70;
  for_each_plan([&](const Machine& machine, const LaunchPlan& plan) {
    const pe_t n = machine.n_pes();
    std::vector<std::shared_ptr<void>> visits;
    std::vector<std::vector<Chain::Item>> seeds(n);
    for (std::uint32_t i = 0; i < kChains; ++i) seeds[i % n].push_back({i});
    Worklist<Chain> list(machine, plan);
    const Chain endless{.visits = nullptr, .last = ~0u, .rest_spins = 4, .enough_at = 500};
    EXPECT_EQ(list.run(chains(machine, visits, endless), seeds).left, kChains);
    visits.clear();
    const Report whole = list.run(chains(machine, visits, {.visits = nullptr, .last = 100, .rest_spins = 4}), seeds);
    EXPECT_EQ(whole.left, 0);
    EXPECT_EQ(whole.run, kChains * 101 - kChains * (kChains - 1) / 2);
  });
}

TEST_P(WorklistOnGpus, AcceptAloneUpdatesATable) {
  for_each_plan([&](const Machine& machine, const LaunchPlan& plan) {
    update_and_compare(machine, plan, 5000 / shrink(plan), [](std::uint64_t h, std::uint32_t elements) {
      return static_cast<std::uint32_t>(h % elements);
    });
  });
}

// All workers of several PEs send through the one channel to the last PE, while the channels to other PEs have space. A worker
// that retried its reservation without first looking at the credits would hide the credits from all other workers for ever.
TEST_P(WorklistOnGpus, AllWorkersSendToOnePe) {
  for (pe_t pes = 2; pes <= 4; ++pes) {
    const Machine gpus = machine(pes);
    const auto n = static_cast<std::uint32_t>(pes);
    SCOPED_TRACE(std::to_string(pes) + " PEs");
    LaunchPlan one_channel = plan(1024);
    one_channel.channels = 1;
    update_and_compare(gpus, one_channel, 200000, [n](std::uint64_t h, std::uint32_t elements) {
      return static_cast<std::uint32_t>(h % (elements / n) * n + n - 1);
    });
  }
}

TEST_P(WorklistOnGpus, FullSaysItsSizesAndWorksAfterwards) {
  for (pe_t pes = 1; pes <= 2; ++pes) {
    const Machine gpus = machine(pes);
    LaunchPlan full = plan(2);
    full.spill = 0;
    Worklist<Tree> list(gpus, full);
    for (int again = 0; again < 2; ++again) {
      try {
        grow_and_compare<Tree>(gpus, list, {.root_children = 1000, .most_children = 1, .depth = 2}, 1, pes);
        ADD_FAILURE() << "1000 items fitted into 2 slots";
      } catch (const CapacityError& error) {
        EXPECT_NE(std::string(error.what()).find("a ring of 2 items and spill of 0,"), std::string::npos)
            << error.what();
      }
      grow_and_compare<Tree>(gpus, list, {.root_children = 0}, 1, pes);
    }
  }
}

// An item for a PE that does not exist: the error contains the value that owner() returned, and the next run is right.
TEST_P(WorklistOnGpus, AnOwnerThatIsNoPeIsNamed) {
  for (pe_t pes = 2; pes <= 3; ++pes) {
    const Machine gpus = machine(pes);
    Worklist<Chain> list(gpus, plan(8));
    std::vector<std::shared_ptr<void>> visits;
    for (const bool negative : {false, true}) {
      std::vector<Chain> tasks = chains(gpus, visits, {.visits = nullptr, .last = 100});
      for (Chain& task : tasks) task.n_pes = negative ? -1 : pes + 1;  // owner() takes the remainder by this number
      std::vector<std::vector<Chain::Item>> seeds(pes);
      seeds[0].push_back({negative ? 0xFFFFFFFEu : 0});
      try {
        list.run(tasks, seeds);
        ADD_FAILURE() << "the run ended as if nothing were wrong";
      } catch (const UsageError& error) {
        const std::string what = "owner() returned " + std::to_string(negative ? -2 : pes);
        EXPECT_NE(std::string(error.what()).find(what), std::string::npos) << error.what();
      }
      visits.clear();
    }
    std::vector<std::vector<Chain::Item>> seeds(pes);
    seeds[0].push_back({0});
    EXPECT_EQ(list.run(chains(gpus, visits, {.visits = nullptr, .last = 100}), seeds).run, 101);
  }
}

// A worker holds its item until the run ends: the error names its PE, and the next run is right.
TEST_P(WorklistOnGpus, AStallIsDiagnosedInTime) {
  for (pe_t pes = 1; pes <= 2; ++pes) {
    const Machine gpus = machine(pes);
    LaunchPlan watched = plan(1024);
    watched.stall_timeout_seconds = 0.5;
    Worklist<Chain> list(gpus, watched);
    std::vector<std::shared_ptr<void>> visits;
    std::vector<std::vector<Chain::Item>> seeds(pes);
    seeds[0].push_back({0});
    const auto start = std::chrono::steady_clock::now();
    try {
      list.run(chains(gpus, visits, {.visits = nullptr, .last = 100, .hangs_at = 51}), seeds);
      ADD_FAILURE() << "the run ended as if nothing were wrong";
    } catch (const DeviceError& error) {
      const std::string line = error.what(), where = "PE " + std::to_string(51 % pes) + ": ";
      EXPECT_NE(line.find(where), std::string::npos) << line;
      EXPECT_NE(line.find("taken and not completed"), std::string::npos) << line;
      const std::size_t file = line.find("shoal-stall-");
      if (file != std::string::npos) std::remove(line.substr(file).c_str());
    }
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2.0);
    visits.clear();
    EXPECT_EQ(list.run(chains(gpus, visits, {.visits = nullptr, .last = 100}), seeds).run, 101);
  }
}

// A chain that would take an hour: the run ends soon after the caller cancels it, and the next run is right.
TEST_P(WorklistOnGpus, ARunThatIsCalledOffEnds) {
  for (pe_t pes = 1; pes <= 2; ++pes) {
    const Machine gpus = machine(pes);
    Worklist<Chain> list(gpus, plan(1024));
    std::vector<std::shared_ptr<void>> visits;
    std::vector<std::vector<Chain::Item>> seeds(pes);
    seeds[0].push_back({0});
    std::stop_source stop;
    const auto start = std::chrono::steady_clock::now();
    {
      const std::jthread later([&stop] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stop.request_stop();
      });
      const Interruptible scope(stop.get_token());
      EXPECT_THROW(list.run(chains(gpus, visits, {.visits = nullptr, .last = ~0u, .rest_spins = 4}), seeds),
                   Interrupted);
    }
    EXPECT_LT(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(), 2.0);
    visits.clear();
    EXPECT_EQ(list.run(chains(gpus, visits, {.visits = nullptr, .last = 100}), seeds).run, 101);
  }
}

enum class Harm { no_memory, never_returns };

/// Runs in a process of its own. PE `at` counts its visits at an address without memory, or holds its item for half an hour.
/// Exits with status 4 after a DeviceError.
void run_with(Harm harm, pe_t pes, pe_t at, KernelKind kernel) {
  alarm(20);  // the end of the process must not wait for kernels of healthy PEs
  int status = 0;
  {
    Options options;
    options.device = DeviceKind::gpu;
    options.pes = pes;
    const Machine gpus(options);
    LaunchPlan plan = small_plan(kernel, 1024);
    plan.worker = WorkerKind::warp;
    plan.block_threads = 256;
    plan.workers = 64;
    plan.stall_timeout_seconds = 0.5;
    Worklist<Chain> list(gpus, plan);
    std::vector<std::shared_ptr<void>> visits;
    std::vector<Chain> tasks;
    for (pe_t p = 0; p < pes; ++p) {
      visits.push_back(gpus.allocate(p, sizeof(std::uint64_t), "visits"));
      tasks.push_back({.visits = static_cast<std::uint64_t*>(visits[p].get()), .last = 100, .n_pes = pes});
    }
    if (harm == Harm::no_memory) {
      tasks[at].visits = reinterpret_cast<std::uint64_t*>(std::uintptr_t{4096});
    } else {
      tasks[at].rest_every = 1;
      tasks[at].rest_spins = ~0u;
    }
    std::vector<std::vector<Chain::Item>> seeds(pes);
    seeds[0].push_back({0});
    try {
      list.run(tasks, seeds);
    } catch (const DeviceError& error) {
      std::fprintf(stderr, "%s\n", error.what());
      status = 4;
    }
  }
  std::exit(status);
}

class HarmOnGpus : public ::testing::TestWithParam<KernelKind> {
 protected:
  void SetUp() override {
    std::string why;
    gpus_ = static_cast<pe_t>(list_devices(&why).size());
    if (gpus_ == 0) GTEST_SKIP() << "no GPU: " << why;
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
  pe_t gpus_ = 0;
};

// A kernel that makes an illegal access invalidates the memory of its GPU. The run reports it, the healthy PEs are notified to
// leave, and the process can end.
TEST_P(HarmOnGpus, AnIllegalAddressIsAnErrorOnAllPes) {
  for (pe_t pes = 1; pes <= std::min<pe_t>(gpus_, 3); ++pes) {
    SCOPED_TRACE(std::to_string(pes) + " PEs");
    EXPECT_EXIT(run_with(Harm::no_memory, pes, pes - 1, GetParam()), ::testing::ExitedWithCode(4),
                "illegal memory access");
  }
}

// A running kernel cannot be stopped: the process names the PE whose task does not return, and ends. The diagnosis counts one
// or two items as taken, because a worker reports what it has completed (here the receipt of the item that it runs) only when
// it finds nothing to do.
TEST_P(HarmOnGpus, ATaskThatNeverReturnsEndsTheProcess) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "shoal_harm_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  const auto run = [&](pe_t pes) {
    std::filesystem::current_path(folder);  // the dump of the counters is written there
    run_with(Harm::never_returns, pes, pes - 1, GetParam());
  };
  for (pe_t pes = 1; pes <= std::min<pe_t>(gpus_, 2); ++pes) {
    SCOPED_TRACE(std::to_string(pes) + " PEs");
    EXPECT_EXIT(run(pes), ::testing::ExitedWithCode(kStuckExitCode),
                "a task does not return: no progress.*PE " + std::to_string(pes - 1) + ": (1 item|2 items) taken");
  }
  std::filesystem::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(Kernels, HarmOnGpus, ::testing::ValuesIn(kKernels),
                         [](const auto& kernel) { return std::string(name(kernel.param)); });
INSTANTIATE_TEST_SUITE_P(Shapes, WorklistOnGpus, every_gpu_shape(), describe_gpu_shape);

}  // namespace
}  // namespace shoal::contract
