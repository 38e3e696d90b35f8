// Grids in blocks of several processes, compared with the serial reference: equal bit for bit. The processes are threads behind
// walls here: puts arrive late, in pieces, and in any order between fences. With some walls, some or all processes can also
// store into each other's memory.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "average.hpp"
#include "contract/walled_processes.hpp"
#include "shoal/blocks/grid_steps.hpp"
#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/core/error.hpp"
#include "toys.hpp"

namespace shoal {
namespace {

using contract::Walled;

template <class T>
using Steps = GridStepsBy<Average<T>, blocks::cpu::Launcher>;

/// Late puts in any order; stores to all processes; stores to some processes and puts to the others.
const std::vector<WalledPlan> kWalls = {{.seed = 3, .late_percent = 60, .reorder = true},
                                        {.seed = 5, .gates = true},
                                        {.seed = 7, .late_percent = 30, .reorder = true, .gates = true, .hosts = 2}};

/// Runs 7 steps in two parts on all processes.
template <class T>
void expect_equal(Walled& walled, Size3 size, const GridOptions& options) {
  double want_change = 0;
  const std::vector<T> want = reference<T>(size, 7, &want_change);
  walled.on_each([&](std::size_t p) {
    Steps<T> grid(walled.machine(p), size, options, Average<T>{size});
    grid.start();
    grid.run(3, false);
    grid.run(4, true);
    EXPECT_EQ(grid.change(), want_change) << "process " << p;
    EXPECT_EQ(grid.measure(), want_change) << "process " << p;
    EXPECT_EQ(grid.read(), want) << "process " << p;
    grid.start();  // again, from the beginning
    grid.run(7, false);
    EXPECT_EQ(grid.read(), want) << "process " << p;
  });
}

TEST(BlockWires, EqualTheReferenceHoweverTheyAreCut) {
  for (const std::vector<pe_t>& pes_of : std::vector<std::vector<pe_t>>{{1, 1}, {2, 1}, {1, 1, 1}, {1, 1, 1, 1}}) {
    for (const WalledPlan& walls : kWalls) {
      Walled walled(pes_of, 1, walls);
      for (const std::int64_t odf : {1, 4, 8}) {
        SCOPED_TRACE(testing::Message() << pes_of.size() << " processes, walls " << walls.seed << ", odf " << odf);
        GridOptions options;
        options.odf = odf;
        expect_equal<double>(walled, {17, 5, 40}, options);
        options.mapping.kind = MappingKind::round_robin;
        expect_equal<float>(walled, {7, 6, 5}, options);
      }
      GridOptions options;
      options.blocks = {3, 2, 4};  // one cell each
      options.mapping.kind = MappingKind::round_robin;
      expect_equal<double>(walled, {3, 2, 4}, options);
      expect_equal<double>(walled, {1, 1, 1}, {});  // some processes have no block
    }
  }
}

TEST(BlockWires, SeveralWorkersCarry) {
  for (const WalledPlan& walls : kWalls) {
    Walled walled({1, 1}, 2, walls);
    GridOptions options;
    options.odf = 4;
    expect_equal<double>(walled, {40, 12, 9}, options);
  }
}

TEST(BlockWires, AreStoredAndGoOnInOtherProcesses) {
  const Size3 size{20, 21, 22};
  GridOptions options;
  options.blocks = {2, 3, 2};
  std::string stored;
  std::int64_t taken = 0;
  for (const std::vector<pe_t>& pes_of : std::vector<std::vector<pe_t>>{{1, 1}, {1, 1, 1}, {2, 1}, {1, 1}}) {
    Walled walled(pes_of, 1, kWalls[static_cast<std::size_t>(taken) % kWalls.size()]);
    std::vector<std::string> now(pes_of.size());
    walled.on_each([&](std::size_t p) {
      Steps<double> grid(walled.machine(p), size, options, Average<double>{size});
      const char* at = stored.data();
      if (taken == 0) {
        grid.start();
      } else {
        grid.load(taken, [&](void* to, std::size_t n) { std::memcpy(to, std::exchange(at, at + n), n); });
        EXPECT_EQ(at, stored.data() + stored.size());
      }
      grid.run(5, false);
      grid.save([&](const void* from, std::size_t n) { now[p].append(static_cast<const char*>(from), n); });
      EXPECT_EQ(grid.read(), reference<double>(size, static_cast<int>(taken) + 5));
    });
    for (const std::string& its : now) EXPECT_EQ(its, now[0]);
    stored = now[0];
    taken += 5;
  }
}

TEST(BlockWires, BlocksAreToldAndGiveInAllProcesses) {
  const SizeN size{2, 3, 1, 2};
  for (const std::vector<pe_t>& pes_of : std::vector<std::vector<pe_t>>{{1, 1}, {2, 1, 1}}) {
    for (const WalledPlan& walls : kWalls) {
      Walled walled(pes_of, 1, walls);
      walled.on_each([&](std::size_t p) {
        Toys toys(walled.machine(p), size, parse_mapping("round-robin"), true);
        blocks::cpu::Launcher launcher(toys.array);
        Plain plain(size, true);
        launcher.start();
        EXPECT_EQ(launcher.reduce(0), plain.given());
        launcher.tell(0, Weight{3});
        launcher.tell(0, 4, Alone{11});  // one block, on one of the processes
        std::fill(plain.by.begin(), plain.by.end(), 3);
        std::fill_n(plain.more.begin() + 4 * Toy::kTiles, Toy::kTiles, 11);
        int calls = 0;
        for (const blocks::step_t steps : {2, 9}) launcher.when_done(steps, [&calls] { ++calls; });
        launcher.run({0, 9, false, false, 4});
        EXPECT_EQ(calls, 2) << "process " << p;
        ASSERT_EQ(launcher.given().size(), 2u);
        for (int s = 0; s < 9; ++s) {
          plain.step(s == 0);
          if (s == 3 || s == 7) {
            EXPECT_EQ(launcher.given()[s / 4].values, plain.given()) << "process " << p;
          }
        }
        EXPECT_EQ(launcher.reduce(9), plain.given()) << "process " << p;
      });
    }
  }
}

/// Calls body(process) for each process. Returns the text of what each threw, or "".
template <class Body>
std::vector<std::string> thrown_by_each(Walled& walled, Body body) {
  std::vector<std::string> lines(walled.processes());
  walled.on_each([&](std::size_t p) {
    try {
      body(p);
    } catch (const std::exception& error) {
      lines[p] = error.what();
    }
  });
  return lines;
}

TEST(BlockWires, APutThatFailsEndsTheRunEverywhere) {
  Walled walled({1, 1}, 1, {.late_percent = 30, .fail_at = 5, .at_process = 1});
  const Size3 size{12, 5, 6};
  const auto lines = thrown_by_each(walled, [&](std::size_t p) {
    Steps<double> grid(walled.machine(p), size, {}, Average<double>{size});
    grid.start();
    EXPECT_THROW(grid.run(20, false), TransportError);
    grid.start();  // the same object works again
    grid.run(20, false);
    EXPECT_EQ(grid.read(), reference<double>(size, 20));
    grid.start();
  });
  for (const std::string& line : lines) EXPECT_EQ(line, "");
}

/// This holds also for the put by which a process reports its progress. With puts as slow as here, the first twelve include one
/// of those.
TEST(BlockWires, AnyPutThatFailsEndsTheRun) {
  const Size3 size{12, 5, 6};
  GridOptions options;
  options.launch.stall_timeout_seconds = 1;  // progress is put every 0.1 s
  for (std::int64_t put = 0; put < 12; ++put) {
    Walled walled({1, 1}, 1, {.delay_us = 30'000, .fail_at = put});
    const auto lines = thrown_by_each(walled, [&](std::size_t p) {
      Steps<double> grid(walled.machine(p), size, options, Average<double>{size});
      grid.start();
      EXPECT_THROW(grid.run(20, false), TransportError) << "put " << put;
    });
    for (const std::string& line : lines) EXPECT_EQ(line, "");
  }
}

TEST(BlockWires, APutThatIsLostEndsTheRunEverywhere) {
  Walled walled({1, 1}, 1, {.lose_from = 6});
  const Size3 size{12, 5, 6};
  GridOptions options;
  options.launch.stall_timeout_seconds = 0.2;
  const auto lines = thrown_by_each(walled, [&](std::size_t p) {
    Steps<double> grid(walled.machine(p), size, options, Average<double>{size});
    grid.start();
    grid.run(20, false);
  });
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("no process took a tile for 0.2 s; taken:"), std::string::npos) << line;
  }
}

/// next() throws if `armed`, here in the blocks of one process.
struct Breaks : Average<double> {
  struct Throws {};
  SHOAL_FN double next(const auto& near) const {
    if (armed) throw CapacityError("planted");
    return Average<double>::next(near);
  }
  bool armed = false;
};

TEST(BlockWires, AMemberThatThrowsEndsTheRunEverywhere) {
  for (const WalledPlan& walls : kWalls) {
    Walled walled({1, 1, 1}, 1, walls);
    const Size3 size{12, 5, 6};
    GridOptions options;
    options.odf = 2;
    const auto lines = thrown_by_each(walled, [&](std::size_t p) {
      GridStepsBy<Breaks, blocks::cpu::Launcher> grid(walled.machine(p), size, options, Breaks{{size}, p == 1});
      grid.start();
      grid.run(9, false);
    });
    for (const std::string& line : lines) EXPECT_EQ(line, "planted");
    expect_equal<double>(walled, size, options);  // the processes can run again
  }
}

TEST(BlockWires, ProcessesThatDifferAreFound) {
  Walled walled({1, 1}, 1, {});
  const auto lines = thrown_by_each(walled, [&](std::size_t p) {
    const Size3 size{12, 5, p == 0 ? 6 : 7};
    Steps<double> grid(walled.machine(p), size, {}, Average<double>{size});
  });
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("processes 0 and 1 have different blocks"), std::string::npos) << line;
  }
  const auto steps = thrown_by_each(walled, [&](std::size_t p) {
    Steps<double> grid(walled.machine(p), {4, 4, 4}, {}, Average<double>{{4, 4, 4}});
    grid.start();
    grid.run(p == 0 ? 3 : 4, false);
  });
  for (const std::string& line : steps) EXPECT_NE(line.find("run different steps"), std::string::npos) << line;
}

TEST(BlockWires, WhatIsOfOneProcessIsRefused) {
  Walled walled({1, 1}, 1, {});
  const auto lines = thrown_by_each(walled, [&](std::size_t p) {
    Steps<double> grid(walled.machine(p), {4, 4, 4}, {}, Average<double>{{4, 4, 4}});
    grid.start();
    grid.run(3, false);
    grid.balance();
  });
  for (const std::string& line : lines)
    EXPECT_NE(line.find("blocks cannot be moved between processes"), std::string::npos) << line;
}

TEST(BlockWires, AHeapThatIsTooSmallIsNamed) {
  Walled walled({1, 1}, 1, {});
  const auto lines = thrown_by_each(walled, [&](std::size_t p) {
    const Size3 size{2, 1100, 1000};
    GridOptions options;
    options.blocks = {2, 1, 1};
    Steps<double> grid(walled.machine(p), size, options, Average<double>{size});
  });
  for (const std::string& line : lines) {
    EXPECT_NE(line.find("channels between blocks of other processes needs 17"), std::string::npos) << line;
    EXPECT_NE(line.find("SHMEM_SYMMETRIC_HEAP_SIZE"), std::string::npos) << line;
  }
}

}  // namespace
}  // namespace shoal
