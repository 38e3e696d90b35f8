// Every failure ends the run on every PE with an error text and without a hang, and the same worklist works afterwards.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <vector>

#include "shapes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/worklist/worklist.hpp"
#include "tasks.hpp"

namespace shoal::contract {
namespace {

/// Trees on a machine: the tasks, the seeds, and a check of the ledger after a run.
class Growth {
 public:
  Growth(const Machine& machine, Shape shape, std::uint64_t roots) : ledger_(machine), roots_(roots) {
    const pe_t n = machine.n_pes();
    tasks.resize(n), seeds.resize(n);
    for (pe_t p = 0; p < n; ++p) {
      static_cast<Grower&>(tasks[p]) = {ledger_.view(p), shape, p, n, n};
      for (std::uint64_t i = p; i < roots; i += n) seeds[p].push_back(tasks[p].root(i, p));
    }
  }
  template <class List>
  Report run(List& list) {
    ledger_.clear();
    return list.run(tasks, seeds);
  }
  bool is_right() const { return ledger_.read() == grow(tasks[0], roots_).page; }

  std::vector<Tree> tasks;
  std::vector<std::vector<TreeItem>> seeds;

 private:
  Ledger ledger_;
  std::uint64_t roots_;
};

TEST(FailingTransport, EveryOperationMayFailAndTheWorklistGoesOn) {
  for (const pe_t pes : {2, 3}) {
    for (const KernelKind kernel : kKernels) {
      const Machine machine = cpu_machine(pes, 1 + pes % 2);
      FaultState state;
      LaunchPlan plan = small_plan(kernel, 8);
      plan.stall_timeout_seconds = 5;
      Worklist<Tree, FaultyTransport<>> list(machine, plan, FaultyTransport<>(&state));
      Growth growth(machine, {.root_children = 4, .most_children = 3, .depth = 3, .seed = 2}, 3);
      std::int64_t k = 0;
      for (bool failed = true; failed; ++k) {
        SCOPED_TRACE(describe(machine, plan) + ", operation " + std::to_string(k) + " fails");
        state.arm({.fail_at = k});
        std::string line;
        try {
          growth.run(list);
        } catch (const TransportError& error) {
          line = error.what();
        }
        failed = state.failed() > 0;
        EXPECT_EQ(failed, line.find("failed") != std::string::npos) << "the run said: '" << line << "'";
        if (!failed) {
          EXPECT_TRUE(growth.is_right());
        }
        state.arm({});
        growth.run(list);
        ASSERT_TRUE(growth.is_right()) << "the next run on the same worklist";
      }
      EXPECT_GT(k, 20) << "the tree is too small to say anything";
    }
  }
}

// The last operation of a run is the credit for its last item. If it fails, the item has been handled all the same, so the run
// is quiescent. A worker that detects quiescence before it reads the run's state must not hide the failure.
TEST(FailingTransport, QuiescenceDoesNotHideAFailure) {
  const Machine machine = cpu_machine(2, 1);
  FaultState state;
  LaunchPlan plan = small_plan(KernelKind::persistent, 8);
  plan.stall_timeout_seconds = 5;
  std::vector<std::uint64_t> table(2, 0);
  const std::vector<Gups> tasks = {{&table[0], 2}, {&table[1], 2}};
  Worklist<Gups, FaultyTransport<>> list(machine, plan, FaultyTransport<>(&state));
  int unseen = 0;
  for (int trial = 0; trial < 20; ++trial) {
    state.arm({.fail_at = 1, .get_pause_microseconds = 500});  // 0 is the put, 1 the credit
    EXPECT_THROW(
        {
          list.run(tasks, {{{1, 1}}, {}});
          ++unseen;
        },
        TransportError);
    ASSERT_EQ(state.failed(), 1);
  }
  EXPECT_EQ(unseen, 0) << "of 20 failures were not reported";
}

// If a PE cannot be notified of the end of the run, the watchdog stops it, and the run reports that the transport failed.
TEST(FailingTransport, APeThatCannotBeToldOfTheEnd) {
  for (const pe_t pes : {2, 3}) {
    for (pe_t deaf = 1; deaf < pes; ++deaf) {
      const Machine machine = cpu_machine(pes, 1);
      FaultState state;
      LaunchPlan plan = small_plan(KernelKind::persistent, 8);
      plan.stall_timeout_seconds = 0.25;
      Growth growth(machine, {.depth = 4}, 3);
      Worklist<Tree, FaultyTransport<>> list(machine, plan, FaultyTransport<>(&state));
      state.arm({.deaf = deaf});
      EXPECT_THROW(growth.run(list), TransportError) << "PE " << deaf << " of " << pes;
      state.arm({});
      growth.run(list);
      EXPECT_TRUE(growth.is_right()) << "the next run on the same worklist";
    }
  }
}

/// One item causes two failures on the last PE, in either order: an operation of the transport fails, and the spill is full.
struct FailsTwice {
  struct Item {
    pe_t at;
    std::uint32_t hops;
  };
  pe_t n_pes = 1;
  bool full_first = false;

  pe_t owner(Item item) const { return item.at; }
  bool accept(Item) const { return true; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.hops == 0) return;
    if (full_first) fill(w, item.at, out);
    out.push(w, {(item.at + 1) % n_pes, 0});
    if (!full_first) fill(w, item.at, out);
  }

 private:
  template <class W, class Out>
  static void fill(const W& w, pe_t here, Out& out) {
    for (int i = 0; i < 1000; ++i) out.push(w, {here, 0});
    out.flush(w);
  }
};

// The run reports the first failure of a PE. A failure that follows from it may be of a more severe kind.
TEST(TwoFailures, TheFirstOfAPeIsTold) {
  for (const pe_t pes : {2, 3}) {
    for (const KernelKind kernel : kKernels) {
      const Machine machine = cpu_machine(pes, 1);
      LaunchPlan plan = small_plan(kernel, 2);
      plan.spill = 0;
      plan.stall_timeout_seconds = 5;
      FaultState state;
      Worklist<FailsTwice, FaultyTransport<>> list(machine, plan, FaultyTransport<>(&state));
      for (const bool full_first : {true, false, true}) {
        SCOPED_TRACE(describe(machine, plan) + (full_first ? ", full first" : ", the transport fails first"));
        std::vector<std::vector<FailsTwice::Item>> seeds(pes);
        seeds[pes - 1] = {{pes - 1, 1}};
        state.arm({.fail_at = 0});
        const auto run = [&] { list.run(std::vector<FailsTwice>(pes, {pes, full_first}), seeds); };
        if (full_first) {
          EXPECT_THROW(run(), CapacityError);
        } else {
          EXPECT_THROW(run(), TransportError);
        }
        EXPECT_EQ(state.failed(), 1) << "nothing was planted";
      }
    }
  }
}

TEST(TwoFailures, TheWorstOfAllPesIsTold) {
  const auto end = [](std::vector<std::pair<RunState, RunState>> cause_and_state) {
    std::vector<PeSnapshot> pes;
    for (const auto& [cause, state] : cause_and_state) {
      pes.emplace_back();
      pes.back().cause = static_cast<std::uint64_t>(cause);
      pes.back().state = static_cast<std::uint64_t>(state);
    }
    const RunEnd how_and_where = end_of(pes);
    return std::pair(how_and_where.how, how_and_where.where);
  };
  using enum RunState;
  using End = std::pair<RunState, pe_t>;
  EXPECT_EQ(end({{done, done}, {running, done}}), End(done, 0));
  EXPECT_EQ(end({{running, done}, {running, done}}), End(done, 0)) << "the host ended it";
  EXPECT_EQ(end({{done, enough}, {enough, done}}), End(enough, 1));
  EXPECT_EQ(end({{running, worklist_full}, {worklist_full, worklist_full}}), End(worklist_full, 1));
  EXPECT_EQ(end({{running, enough}, {transport_failed, enough}, {enough, enough}}), End(transport_failed, 1));
  EXPECT_EQ(end({{worklist_full, stalled}, {transport_failed, stalled}}), End(transport_failed, 1));
  EXPECT_EQ(end({{running, stalled}, {running, stalled}}), End(stalled, 0)) << "the host ended it as stalled";
  EXPECT_EQ(end({{running, interrupted}, {worklist_full, interrupted}}), End(interrupted, 0)) << "it was cancelled";
  EXPECT_EQ(end({{done, done}, {running, running}}), End(stalled, 1)) << "nobody notified PE 1";
  EXPECT_EQ(end({{transport_failed, transport_failed}, {running, running}}), End(transport_failed, 0));
}

// An illegal call changes nothing: the worklist works afterwards.
TEST(Misuse, OneTaskAndOneListOfSeedsPerPe) {
  const Machine machine = cpu_machine(2, 1);
  Worklist<Tree> list(machine, small_plan(KernelKind::persistent, 8));
  Growth growth(machine, {.depth = 3}, 2);
  const std::vector<Tree> one_task(1, growth.tasks[0]);
  EXPECT_THROW(list.run(one_task, growth.seeds), UsageError);
  EXPECT_THROW(list.run(growth.tasks, {}), UsageError);
  EXPECT_THROW(list.run(growth.tasks, {{}, {}, {}}), UsageError);
  growth.run(list);
  EXPECT_TRUE(growth.is_right());
}

/// An item goes from PE to PE, `left` hops in all. Its last hop is to `goal`, which need not be a PE of the run.
struct Astray {
  struct Item {
    pe_t at;
    std::uint32_t left;
  };
  enum class Harm { none, throws, counts_wrongly };

  pe_t n_pes = 1;
  pe_t goal = 0;
  Harm harm = Harm::none;  ///< what the item does after its last hop

  pe_t owner(Item item) const { return item.at; }
  bool accept(Item) const { return true; }
  bool accept_at(pe_t pe, Item) const {
    EXPECT_TRUE(pe >= 0 && pe < n_pes) << "asked to judge for PE " << pe;
    return true;
  }
  std::uint64_t key(Item item) const { return item.left; }
  Item combine(Item a, Item) const { return a; }
  template <class W, class Out>
  void operator()(const W& w, Item item, Out& out) const {
    if (item.left > 0) {
      out.push(w, {item.left > 1 ? (item.at + 1) % n_pes : goal, item.left - 1});
    } else if (harm == Harm::throws) {
      throw std::runtime_error("the table has no row 7");
    } else if (harm == Harm::counts_wrongly) {
      out.view().here().counts.pushed.fetch_add(1);
    }
  }
};

/// Runs `task` on every PE from one seed. Returns the text of the Error that the run threw, or "" if it threw nothing.
template <class Error>
std::string line_of(Worklist<Astray>& list, Astray task, Astray::Item seed) {
  const auto n = static_cast<std::size_t>(task.n_pes);
  std::vector<std::vector<Astray::Item>> seeds(n);
  seeds[n - 1].push_back(seed);
  try {
    list.run(std::vector<Astray>(n, task), seeds);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// This holds for values that are sentinels or far beyond every table of PEs, and for items that are seeds, children, held back
// to be combined, or judged by their pusher.
TEST(Misuse, AnOwnerThatIsNoPeIsNamedAndTheWorklistGoesOn) {
  for (const pe_t pes : {2, 3}) {
    for (const KernelKind kernel : kKernels) {
      for (const int way : {0, 1, 2}) {
        const Machine machine = cpu_machine(pes, 2);
        LaunchPlan plan = small_plan(kernel, 8);
        plan.judge_remote = way == 1 && pes > 1;
        plan.combine = way == 2 && pes > 1;
        Worklist<Astray> list(machine, plan);
        for (const pe_t goal : {-1, -2, pes, 63, 64, 99, 0x7FFFFFFF}) {
          for (const std::uint32_t hops : {0u, 1u, 6u}) {
            SCOPED_TRACE(describe(machine, plan) + ", way " + std::to_string(way) + ", owner " + std::to_string(goal) +
                         " after " + std::to_string(hops));
            const Astray task{.n_pes = pes, .goal = goal};
            const std::string line = line_of<UsageError>(list, task, {hops == 0 ? goal : 0, hops});
            EXPECT_NE(line.find("owner() returned " + std::to_string(goal) + " for an item pushed on PE "),
                      std::string::npos)
                << line;
            EXPECT_NE(line.find("must be 0 to " + std::to_string(pes - 1)), std::string::npos) << line;
            EXPECT_EQ(line_of<Error>(list, {.n_pes = pes, .goal = pes - 1}, {0, 9}), "") << "the next run";
          }
        }
      }
    }
  }
}

// The other PEs do not wait for the items of the PE that threw until the stall timeout.
TEST(Misuse, WhatATaskThrowsEndsTheRunAtOnce) {
  for (const pe_t pes : {1, 3}) {
    for (const KernelKind kernel : kKernels) {
      const Machine machine = cpu_machine(pes, 2);
      const LaunchPlan plan = small_plan(kernel, 8);
      Worklist<Astray> list(machine, plan);
      const auto start = std::chrono::steady_clock::now();
      const Astray task{.n_pes = pes, .goal = pes - 1, .harm = Astray::Harm::throws};
      EXPECT_EQ(line_of<std::runtime_error>(list, task, {0, 5}), "the table has no row 7");
      EXPECT_LT(std::chrono::steady_clock::now() - start,
                std::chrono::duration<double>(plan.stall_timeout_seconds / 4));
      EXPECT_EQ(line_of<Error>(list, {.n_pes = pes, .goal = 0}, {0, 9}), "") << "the next run";
    }
  }
}

TEST(Misuse, CountsThatDoNotAddUpAreAnError) {
  const Machine machine = cpu_machine(2, 1);
  Worklist<Astray> list(machine, small_plan(KernelKind::persistent, 8));
  const Astray task{.n_pes = 2, .goal = 1, .harm = Astray::Harm::counts_wrongly};
  const std::string line = line_of<DeviceError>(list, task, {0, 3});
  EXPECT_NE(line.find("of 5 pushed items 0 were withheld, 0 combined, 4 accepted and 0 dropped"), std::string::npos)
      << line;
}

TEST(FullWorklist, SaysItsSizesAndWorksAfterwards) {
  for (const pe_t pes : {1, 2, 3}) {
    for (const int threads : {1, 2}) {
      for (const KernelKind kernel : kKernels) {
        const Machine machine = cpu_machine(pes, threads);
        LaunchPlan plan = small_plan(kernel, 2);
        plan.spill = 0;
        SCOPED_TRACE(describe(machine, plan));
        Worklist<Tree> list(machine, plan);
        Growth wide(machine, {.root_children = 1000, .most_children = 1, .depth = 2}, 1);
        Growth narrow(machine, {.root_children = 0}, 1);
        for (int again = 0; again < 2; ++again) {
          try {
            wide.run(list);
            ADD_FAILURE() << "1000 items fitted into 2 slots";
          } catch (const CapacityError& error) {
            const std::string line = error.what();
            EXPECT_NE(line.find("items wait, but a PE has a ring of 2 items and spill of 0,"), std::string::npos)
                << line;
            const std::string start = "worklist full: ";
            const long waiting = std::stol(line.substr(line.find(start) + start.size()));
            EXPECT_GT(waiting, 0) << line;
            EXPECT_LE(waiting, 2 * 1000 + 1) << line;  // at most all items of the tree
            EXPECT_NE(line.find("; 0 of 0 chunks were taken when it ended"), std::string::npos) << line;
            EXPECT_NE(line.find("; leave --spill out; "), std::string::npos) << line;
          }
          narrow.run(list);
          EXPECT_TRUE(narrow.is_right());
        }
      }
    }
  }
}

// A spill that was given and is too small need only be left out. Of a larger one it is not known whether it was given.
TEST(FullWorklist, SaysWhatWouldHelp) {
  LaunchPlan plan;
  plan.capacity = 1024;
  plan.chunk_items = 64;
  plan.spill = 600;
  EXPECT_EQ(full_line(plan, 3000, 640),
            "worklist full: 3000 items wait, but a PE has a ring of 1024 items and spill of 640, in chunks of 64, each "
            "of one worker; leave --spill out");
  EXPECT_NE(full_line(plan, 0, 640).find("full: an item finds no space, but"), std::string::npos);
  plan.spill = 200'000;
  EXPECT_NE(full_line(plan, 10, 200'000).find("; leave --spill out or, if it was not given, use --spill 1600000"),
            std::string::npos);
  EXPECT_NE(full_line(plan, 300'000, 200'000).find("use --spill 2400000"), std::string::npos);
  plan.spill = 0;
  plan.queue = QueueKind::priority;
  EXPECT_EQ(full_line(plan, 1, 0),
            "worklist full: 1 item waits, but a PE has a ring of 1024 items and spill of 0, in chunks of 64, each of "
            "one worker; items beyond the threshold wait only in spill: leave --spill out");
}

// With every size of spill from none to more than enough, a run gives either an error or the right result.
TEST(FullWorklist, IsRightOrAnErrorForEverySpill) {
  const Machine machine = cpu_machine(2, 2);
  Growth growth(machine, {.root_children = 600, .most_children = 2, .depth = 3}, 2);
  int errors = 0, successes = 0;
  for (std::int64_t spill = 0; spill <= 1024; spill += 64) {
    SCOPED_TRACE("spill " + std::to_string(spill));
    LaunchPlan plan = small_plan(KernelKind::persistent, 4);
    plan.spill = spill;
    Worklist<Tree> list(machine, plan);
    try {
      growth.run(list);
      ++successes;
      EXPECT_TRUE(growth.is_right());
    } catch (const CapacityError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 0);
  EXPECT_GT(successes, 0);
}

}  // namespace
}  // namespace shoal::contract
