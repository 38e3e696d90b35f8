// The worklist's contract (wire_cases.hpp) on PEs of processes that oshrun starts. The same tests run in all processes. Each
// test has a deadline. The first test that fails in one process ends all processes.
//
//   oshrun -np N openshmem_contract PES_PER_PROCESS THREADS [GoogleTest's options]
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "shoal/world/openshmem.hpp"
#include "shoal/world/world.hpp"
#include "wire_cases.hpp"

namespace shoal::contract {
namespace {

constexpr unsigned kMostSeconds = 40;  ///< deadline of one test

/// The processes of this job.
struct Joined {
  World& world;
  Machine machine;  ///< of this process
  Machine all;      ///< PEs of all processes, for the data of tests; this process changes that of its own
};
Joined* joined = nullptr;

/// Has the members of Worklist that tests use.
template <class Task>
class JoinedWorklist {
 public:
  using Item = typename Task::Item;
  JoinedWorklist(Joined& processes, const LaunchPlan& plan) : world_(processes.world), list_(processes.machine, plan) {}

  /// @param task,seeds  of all PEs of all processes
  Report run(const std::vector<Task>& task, const std::vector<std::vector<Item>>& seeds) {
    Report report;
    std::exception_ptr error;
    try {
      report = list_.run(of_this_process(task), of_this_process(seeds));
    } catch (...) {
      error = std::current_exception();
    }
    return of_all_processes(world_, report, error);
  }

 private:
  template <class T>
  std::vector<T> of_this_process(const std::vector<T>& of_all) const {
    const auto first = of_all.begin() + world_.first_here();
    return std::vector<T>(first, first + world_.n_here());
  }
  World& world_;
  Worklist<Task> list_;
};

struct OverOpenShmem {
  using Processes = Joined;
  template <class Task>
  using List = JoinedWorklist<Task>;
  static constexpr std::uint64_t kSoakRuns = 100;

  template <class Body>
  static void for_each_world(Body body) {
    for (const KernelKind kernel : kKernels) {
      for (const ticket_t capacity : {ticket_t{2}, ticket_t{8}, ticket_t{1024}}) {
        const LaunchPlan plan = segment_plan(kernel, capacity);
        SCOPED_TRACE(describe(joined->all, plan));
        try {
          body(joined->all, *joined, plan);
        } catch (const std::exception& error) {
          ADD_FAILURE() << error.what();  // here SCOPED_TRACE still adds the shape
        }
        if (::testing::Test::HasFailure()) return;
      }
    }
  }
  template <class Draw, class Body>
  static void with_a_world(Draw, std::uint64_t, Body body) {
    body(joined->all, *joined);
  }
};
INSTANTIATE_TYPED_TEST_SUITE_P(OpenShmem, WireContract, OverOpenShmem);

/// Prints what fails in this process and then ends all processes. Ends this process if a test takes too long.
class EndsAll : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { ::alarm(kMostSeconds); }
  void OnTestPartResult(const ::testing::TestPartResult& part) override {
    if (joined->world.process() == 0 || !part.failed()) return;  // GoogleTest prints the failures of process 0 itself
    std::printf("process %d: %s:%d: %s\n", joined->world.process(), part.file_name(), part.line_number(),
                part.message());
  }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    ::alarm(0);
    if (!test.result()->Failed()) return;
    std::fflush(stdout);
    joined->world.end(std::string(test.name()) + " failed");
  }
};

void see_through_world(pe_t pe, void* values, std::size_t bytes) {
  World& world = joined->world;
  const int from = world.process_of(pe);
  const auto* const mine = static_cast<const std::byte*>(values);
  const auto given = world.exchange({"see"}, std::span(mine, from == world.process() ? bytes : 0));
  const std::vector<std::byte>& its = given.at(static_cast<std::size_t>(from));
  if (its.size() != bytes) throw UsageError("processes look at different data");
  std::memcpy(values, its.data(), bytes);
}

int run_all(pe_t pes, int threads) {
  World world(pes, 20, openshmem_boards(), "contract");
  Joined all{world, cpu_machine(pes, threads), cpu_machine(world.n_pes(), threads)};
  all.machine.join(world);
  joined = &all;
  see_from_its_process = see_through_world;
  auto& listeners = ::testing::UnitTest::GetInstance()->listeners();
  if (world.process() != 0) delete listeners.Release(listeners.default_result_printer());
  listeners.Append(new EndsAll);
  const int failed = RUN_ALL_TESTS();
  for (pe_t p = world.first_here(); failed == 0 && p < world.first_here() + pes; ++p) world.leave(p);
  return failed;
}

}  // namespace
}  // namespace shoal::contract

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc != 3) return 2;
  GTEST_FLAG_SET(fail_fast, true);
  try {
    return shoal::contract::run_all(std::atoi(argv[1]), std::atoi(argv[2]));
  } catch (const std::exception& error) {
    std::printf("%s\n", error.what());
    return 4;
  }
}
