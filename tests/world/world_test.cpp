// Worlds of several processes. What they give each other arrives complete; a process that makes a different call is named; and
// if a process is killed, stopped or never started, the others end in time. In most tests the processes are threads, which
// share only the boards.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <regex>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/world/boards.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"
#include "under_tsan.hpp"
#include "world/stillness.hpp"

namespace shoal {
namespace {

using Body = std::function<void(World&, pe_t)>;
using Clock = std::chrono::steady_clock;

/// Zeroed memory that forked processes share.
std::shared_ptr<void> shared_memory(int processes) {
  const std::size_t bytes = Boards::bytes_of(processes);
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return {memory, [bytes](void* m) { ::munmap(m, bytes); }};
}

/// How the body of each PE ended: "" if it returned, otherwise the kind and the text of its error.
using Ends = std::vector<std::string>;

template <class F>
std::string end_of(const F& f) {
  try {
    f();
    return "";
  } catch (const UsageError& error) {
    return std::string("usage: ") + error.what();
  } catch (const TransportError& error) {
    return std::string("transport: ") + error.what();
  } catch (const std::exception& error) {
    return std::string("other: ") + error.what();
  }
}

/// Runs one process: makes its world, and calls the body on a thread for each of its PEs.
Ends run_process(int process, int processes, pe_t pes, double patience, void* memory, const Body& body,
                 const std::string& options = "") {
  std::unique_ptr<World> world;
  const std::string begin = end_of([&] {
    world = std::make_unique<World>(pes, patience, std::make_unique<Boards>(process, processes, memory), options);
  });
  if (!begin.empty()) return {begin};
  Ends ends(static_cast<std::size_t>(pes));
  std::vector<std::thread> threads;
  for (pe_t i = 0; i < pes; ++i) {
    threads.emplace_back([&, i] {
      const pe_t me = world->first_here() + i;
      std::string& end = ends[static_cast<std::size_t>(i)];
      end = end_of([&] {
        body(*world, me);
        world->leave(me);
      });
      if (!end.empty()) world->fail(me, end);
    });
  }
  world->wait_for_bodies();
  for (std::thread& thread : threads) thread.join();
  return ends;
}

/// Runs all processes as threads. @return how the body of each PE ended
Ends run_processes(const std::vector<pe_t>& pes, double patience, const Body& body) {
  const int n = static_cast<int>(pes.size());
  const std::shared_ptr<void> memory = shared_memory(n);
  std::vector<Ends> ends(pes.size());
  std::vector<std::thread> threads;
  for (int p = 0; p < n; ++p) {
    threads.emplace_back([&, p] {
      ends[static_cast<std::size_t>(p)] =
          run_process(p, n, pes[static_cast<std::size_t>(p)], patience, memory.get(), body);
    });
  }
  for (std::thread& thread : threads) thread.join();
  Ends all;
  for (const Ends& some : ends) all.insert(all.end(), some.begin(), some.end());
  return all;
}

TEST(World, SaysWhoIsWhere) {
  const Ends ends = run_processes({2, 1, 3}, 10, [](World& world, pe_t me) {
    EXPECT_EQ(world.n_pes(), 6);
    EXPECT_EQ(world.n_processes(), 3);
    const int process_of[] = {0, 0, 1, 2, 2, 2};
    EXPECT_EQ(world.process(), process_of[me]);
    for (pe_t p = 0; p < 6; ++p) {
      EXPECT_EQ(world.process_of(p), process_of[p]);
      EXPECT_EQ(world.reach(p) == World::Reach::memory, process_of[p] == world.process()) << p;
    }
  });
  EXPECT_EQ(ends, Ends(6));
}

/// What PE `me` gives in a round. Contents and size differ between PEs: some give nothing, some more than fits into a
/// statement.
std::vector<std::uint64_t> gift(pe_t me, int round) {
  std::mt19937_64 random(static_cast<std::uint64_t>(me * 1000 + round));
  std::vector<std::uint64_t> words(random() % 4 == 0 ? random() % 20000 : random() % 4);
  for (auto& word : words) word = random();
  return words;
}

TEST(World, WhatPesGiveArrivesWhole) {
  for (const std::vector<pe_t>& pes : {std::vector<pe_t>{3}, {1, 1}, {2, 1, 3}, {1, 1, 1, 1}}) {
    const Ends ends = run_processes(pes, 10, [](World& world, pe_t me) {
      for (int round = 0; round < (test::kUnderTsan ? 20 : 60); ++round) {
        const std::vector<std::uint64_t> mine = gift(me, round);
        const auto& all =
            world.all_gather(me, World::Call::of<int>("gift"), {std::as_bytes(std::span(mine)), mine.data()});
        if (me == round % world.n_pes()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        for (pe_t p = 0; p < world.n_pes(); ++p) {
          const World::Given& given = all[static_cast<std::size_t>(p)];
          const std::vector<std::uint64_t> wanted = gift(p, round);
          ASSERT_EQ(given.bytes.size(), wanted.size() * 8) << "round " << round << " from " << p;
          if (!wanted.empty()) ASSERT_EQ(std::memcmp(given.bytes.data(), wanted.data(), given.bytes.size()), 0);
          ASSERT_EQ(reinterpret_cast<std::uintptr_t>(given.bytes.data()) % 16 % alignof(std::max_align_t), 0u);
          ASSERT_EQ(given.pointer != nullptr, world.reach(p) == World::Reach::memory && !wanted.empty());
        }
        world.leave_call(me);
        if (round % 7 == 0) world.barrier(me);
      }
    });
    EXPECT_EQ(ends, Ends(ends.size()));
  }
}

struct Case {
  const char* name;
  Body body;
  const char* expected;  ///< regular expression for the error text of every PE
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class Disagreement : public ::testing::TestWithParam<Case> {};

TEST_P(Disagreement, IsNamedToAll) {
  const auto start = Clock::now();
  for (const std::string& end : run_processes({1, 2, 1}, 60, GetParam().body)) {
    EXPECT_TRUE(std::regex_search(end, std::regex(GetParam().expected))) << end;
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(10)) << "far less than the patience of the world";
}

const char* const kSame = ": every PE must make the same calls in the same order$";

INSTANTIATE_TEST_SUITE_P(
    Worlds, Disagreement,
    ::testing::Values(
        Case{
            "AnotherCall",
            [](World& world, pe_t me) {
              world.barrier(me);
              if (world.process() == 1)
                world.all_gather(me, {"other"}, {});
              else
                world.barrier(me);
            },
            "^usage: process 0 \\(PE 0, .*process id [0-9]+\\) waits in barrier\\(\\) \\(call 2\\), process 1 \\(PEs 1 "
            "to 2, .*\\) waits in other\\(\\) \\(call 2\\): every PE must make the same calls in the same order$"},
        Case{"AnotherType",
             [](World& world, pe_t me) {
               world.all_gather(me, world.process() == 2 ? World::Call::of<int>("x") : World::Call::of<long>("x"), {});
             },
             "^usage: process 0 .* waits in x\\(\\) \\(call 1\\), process 2 \\(PE 3, .*\\) waits in x\\(\\) \\(call "
             "1\\) of "
             "another type: every PE"},
        Case{"OneCallMore",
             [](World& world, pe_t me) {
               world.barrier(me);
               if (world.process() != 0) world.barrier(me);
             },
             "^usage: process 0 .* has ended after call 1, process 1 .* waits in barrier\\(\\) \\(call 2\\): every PE"},
        Case{"PesOfOneProcess", [](World& world, pe_t me) { world.all_gather(me, {me == 2 ? "other" : "some"}, {}); },
             "PE [12] waits in (some|other)\\(\\) \\(call 1\\), PE [12] waits in (some|other)\\(\\) \\(call 1\\): "
             "every PE"},
        Case{"OneThrows",
             [](World& world, pe_t me) {
               world.barrier(me);
               if (me == 3) throw CapacityError("too small");
               world.barrier(me);
             },
             "(^transport: process 2 \\(PE 3, .*\\) ended the run: PE 3: other: too small$)|(^other: too small$)"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(World, ExchangesAmongProcessesWithinACall) {
  const Ends ends = run_processes({1, 2}, 10, [](World& world, pe_t me) {
    world.barrier(me);
    if (me == world.first_here()) {
      for (int round = 0; round < 100; ++round) {
        const std::vector<int> mine(static_cast<std::size_t>(round % 5 * 3000), world.process() * 1000 + round);
        const auto all = world.exchange({"here"}, std::as_bytes(std::span(mine)));
        ASSERT_EQ(all.size(), 2u);
        for (int p = 0; p < 2; ++p) {
          const std::vector<int> wanted(mine.size(), p * 1000 + round);
          const auto& got = all[static_cast<std::size_t>(p)];
          ASSERT_EQ(got.size(), wanted.size() * sizeof(int));
          if (!wanted.empty()) ASSERT_EQ(std::memcmp(got.data(), wanted.data(), got.size()), 0);
        }
      }
    }
    world.leave_call(me);
  });
  EXPECT_EQ(ends, Ends(3));
}

TEST(World, ProcessesStartedDifferentlyAreNamed) {
  const std::shared_ptr<void> memory = shared_memory(2);
  std::vector<Ends> ends(2);
  std::vector<std::thread> threads;
  for (int p = 0; p < 2; ++p) {
    threads.emplace_back([&, p] {
      ends[static_cast<std::size_t>(p)] = run_process(
          p, 2, 1, 10, memory.get(), [](World&, pe_t) {}, p == 0 ? "1.0 --queue fifo" : "1.1 --queue fifo");
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ends& end : ends) {
    ASSERT_EQ(end.size(), 1u);
    EXPECT_TRUE(
        std::regex_search(end[0], std::regex("^usage: process 0 \\(PE 0, .*\\) was started with '1.0 --queue fifo', "
                                             "process 1 \\(PE 1, .*\\) with '1.1 --queue fifo': all processes must")))
        << end[0];
  }
}

/// What happens to child process 1, and the error text that is expected from the others.
struct Harm {
  const char* name;
  std::function<void(pid_t)> how;  ///< called in the parent with the pid of child 1
  bool starts;                     ///< false: child 1 is never started
  const char* expected;
};
void PrintTo(const Harm& h, std::ostream* out) { *out << h.name; }

class Harmed : public ::testing::TestWithParam<Harm> {};

TEST_P(Harmed, AProcessIsNamedInTime) {
  constexpr int kProcesses = 3;
  const double patience = 0.5;
  const std::shared_ptr<void> memory = shared_memory(kProcesses);
  int lines[2];
  ASSERT_EQ(::pipe(lines), 0);
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = p == 1 && !GetParam().starts ? 0 : ::fork();
    if (child == 0 && !(p == 1 && !GetParam().starts)) {
      ::close(lines[0]);
      const Ends ends = run_process(p, kProcesses, 2, patience, memory.get(), [](World& world, pe_t me) {
        const auto start = Clock::now();
        while (Clock::now() - start < std::chrono::seconds(30)) {
          world.barrier(me);
          if (world.process() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      });
      for (const std::string& end : ends) {
        const std::string line = end + "\n";
        if (::write(lines[1], line.data(), line.size()) < 0) ::_exit(3);
      }
      ::_exit(ends[0].empty() ? 0 : 4);
    }
    children.push_back(child);
  }
  ::close(lines[1]);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  const auto start = Clock::now();
  if (GetParam().starts) GetParam().how(children[1]);
  for (const int p : {0, 2}) {
    int status = 0;
    ASSERT_EQ(::waitpid(children[static_cast<std::size_t>(p)], &status, 0), children[static_cast<std::size_t>(p)]);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 4) << status;
  }
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(6)) << "the patience, a second, and a margin for a busy machine";
  if (GetParam().starts) {
    ::kill(children[1], SIGKILL);
    ::waitpid(children[1], nullptr, 0);
  }
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = ::read(lines[0], buffer, sizeof buffer)) > 0;) text.append(buffer, static_cast<std::size_t>(n));
  ::close(lines[0]);
  int named = 0;
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1, ++named) {
    const std::string line = text.substr(at, text.find('\n', at) - at);
    EXPECT_TRUE(std::regex_search(line, std::regex(GetParam().expected))) << line;
  }
  EXPECT_GE(named, 2);
}

INSTANTIATE_TEST_SUITE_P(
    Worlds, Harmed,
    ::testing::Values(Harm{"Killed", [](pid_t child) { ::kill(child, SIGKILL); }, true,
                           "transport: .*process 1 \\(PEs 2 to 3, .*process id [0-9]+\\) has not come "
                           "there, and has done nothing for 0.5 s"},
                      Harm{"Stopped", [](pid_t child) { ::kill(child, SIGSTOP); }, true,
                           "transport: .*process 1 \\(PEs 2 to 3, .*process id [0-9]+\\) has not come "
                           "there, and has done nothing for 0.5 s"},
                      Harm{"NeverStarted", [](pid_t) {}, false,
                           "transport: .*process 1 of 3 has not come, and has done nothing for 0.5 s"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(World, ReportsOfProcessesBecomeOne) {
  const Ends ends = run_processes({1, 2, 1}, 10, [](World& world, pe_t me) {
    world.barrier(me);
    if (me == world.first_here()) {
      const int p = world.process();
      Report mine;
      // The counts of one process need not satisfy the equations, but their sums must: the other processes ran what was pushed.
      mine.pushed = 100 + p, mine.accepted = mine.run = p == 0 ? 0 : 151 + p % 2;
      mine.peak_ring = 10 - p, mine.rounds = 7, mine.thresholds = 3, mine.seconds = 1 + p % 2;
      mine.traffic = {{static_cast<pe_t>(p), 3, 5, 2, 80}};
      const Report all = of_all_processes(world, mine, nullptr);
      EXPECT_EQ(all.pushed, 303);
      EXPECT_EQ(all.run, 303);
      EXPECT_EQ(all.peak_ring, 10);
      EXPECT_EQ(all.rounds, 7);
      EXPECT_EQ(all.thresholds, 3);
      EXPECT_EQ(all.seconds, 2);
      ASSERT_EQ(all.traffic.size(), 3u);
      for (const Traffic& t : all.traffic) EXPECT_EQ(t.to * 1000 + t.items * 100 + t.messages * 10 + t.bytes, 3600);
    }
    world.leave_call(me);
  });
  EXPECT_EQ(ends, Ends(4));
}

TEST(World, ReportsThatDoNotAddUpAreRefusedByAll) {
  const Ends ends = run_processes({1, 1}, 10, [](World& world, pe_t me) {
    world.barrier(me);
    Report mine;
    mine.pushed = 2;
    mine.accepted = mine.run = 1;
    EXPECT_THROW(of_all_processes(world, mine, nullptr), DeviceError);
    world.leave_call(me);
  });
  EXPECT_EQ(ends, Ends(2));
}

TEST(World, AnErrorOfOneProcessIsThatOfAll) {
  const Ends ends = run_processes({1, 1, 1}, 10, [](World& world, pe_t me) {
    world.barrier(me);
    std::exception_ptr error;
    if (me == 1) error = std::make_exception_ptr(CapacityError("worklist full"));
    if (me == 2) error = std::make_exception_ptr(DeviceError("the second to be told"));
    EXPECT_THROW(of_all_processes(world, {}, error), CapacityError);
    world.leave_call(me);
  });
  EXPECT_EQ(ends, Ends(3));
}

// A process may compute for longer than the patience of the world.
TEST(World, AProcessThatWorksIsWaitedFor) {
  const Ends ends = run_processes({1, 1}, 0.3, [](World& world, pe_t me) {
    const auto start = Clock::now();
    volatile std::uint64_t sum = 0;
    while (me == 1 && Clock::now() - start < std::chrono::seconds(2)) sum = sum + 1;
    world.barrier(me);
  });
  EXPECT_EQ(ends, Ends(2));
}

/// Boards on which the test sets for how long a call of the communication library has not returned.
class SlowBoards : public Boards {
 public:
  using Boards::Boards;
  double longest_call() const override { return seconds; }
  double seconds = 0;
};

// held_up() reports an error only if this process has been held up while another process does nothing.
TEST(World, SaysWhoTakesNothing) {
  constexpr double kPatience = .2;
  const std::shared_ptr<void> memory = shared_memory(2);
  std::unique_ptr<World> other;
  std::thread comes(
      [&] { other = std::make_unique<World>(1, kPatience, std::make_unique<Boards>(1, 2, memory.get()), ""); });
  auto boards = std::make_unique<SlowBoards>(0, 2, memory.get());
  SlowBoards& slow = *boards;
  World world(1, kPatience, std::move(boards), "");
  comes.join();
  const auto look_for = [&](double seconds, bool works) {
    const auto begin = Clock::now();
    std::string why;
    while (why.empty() && std::chrono::duration<double>(Clock::now() - begin).count() < seconds) {
      if (works) other->beat();
      why = world.held_up();
      if (!works) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return why;
  };
  EXPECT_EQ(look_for(2.5, false), "") << "no call is in progress";
  // The other process has done nothing so far. It counts as working if it uses a hundredth of a processor, here 25 ms of the
  // last 2.5 s.
  for (const double until = processor_seconds() + .1; processor_seconds() < until;) look_for(.001, true);
  slow.seconds = 3;
  EXPECT_EQ(look_for(2.5, true), "") << "the other process works, so it is only slow";
  const std::string why = look_for(2.5, false);
  EXPECT_EQ(why.find("process 1 (PE 1, "), 0u) << why;
  EXPECT_NE(why.find("has taken nothing that was sent to it, and done nothing for 0.2 s"), std::string::npos) << why;
  slow.seconds = 2;
  EXPECT_EQ(look_for(1, false), "") << "the library may still report an error itself";
  EXPECT_THROW(world.barrier(0), TransportError);
  EXPECT_NE(look_for(1, false), "") << "the thread that has found it may be held up while it tells the others";
}

}  // namespace
}  // namespace shoal
