// Arrays of blocks in 1 to 6 dimensions: placement, neighbours and cuts, what all blocks are told, and what they give for
// reductions.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "cpu_machine.hpp"
#include "shoal/blocks/launch_cpu.hpp"
#include "shoal/blocks/mapping.hpp"
#include "shoal/core/error.hpp"
#include "toys.hpp"

namespace shoal {
namespace {

const std::vector<SizeN> kSizes{{1}, {5}, {2, 3}, {3, 1, 4}, {2, 3, 2, 2}, {1, 2, 3, 1, 2}, {2, 2, 1, 3, 2, 2}};

TEST(SizeN, NumbersPlacesAlongTheLastDimensionFirst) {
  const SizeN size{2, 3, 4};
  EXPECT_EQ(size.volume(), 24);
  EXPECT_EQ(size.number_of({0, 0, 1}), 1);
  EXPECT_EQ(size.number_of({0, 1, 0}), 4);
  EXPECT_EQ(size.number_of({1, 0, 0}), 12);
  EXPECT_EQ(text_of(size), "2 x 3 x 4");
  for (const SizeN& each : kSizes) {
    for (std::int64_t b = 0; b < each.volume(); ++b) EXPECT_EQ(each.number_of(each.place_of(b)), b);
  }
}

TEST(SizeN, KnowsWhoIsBesideWhom) {
  const SizeN size{3, 4};
  EXPECT_EQ(size.neighbor(0, 0, 1), 4);
  EXPECT_EQ(size.neighbor(0, 1, 1), 1);
  EXPECT_EQ(size.neighbor(0, 0, -1), -1);
  EXPECT_EQ(size.neighbor(0, 0, -1, true), 8);
  EXPECT_EQ(size.neighbor(3, 1, 1), -1);
  EXPECT_EQ(size.neighbor(3, 1, 1, true), 0);
  EXPECT_EQ(SizeN({1}).neighbor(0, 0, 1, true), 0);
  for (const SizeN& each : kSizes) {
    for (std::int64_t b = 0; b < each.volume(); ++b) {
      for (int d = 0; d < each.dimensions(); ++d) {
        const std::int64_t next = each.neighbor(b, d, 1);
        if (next >= 0) {
          EXPECT_EQ(each.neighbor(next, d, -1), b);
        }
        EXPECT_EQ(each.neighbor(each.neighbor(b, d, 1, true), d, -1, true), b);
      }
    }
  }
}

TEST(SizeN, RefusesWhatIsNone) {
  EXPECT_THROW((SizeN{}), UsageError);
  EXPECT_THROW((SizeN{1, 1, 1, 1, 1, 1, 1}), UsageError);
  EXPECT_THROW(SizeN({2, 2}).number_of({0, 2}), UsageError);
  EXPECT_THROW(SizeN({2, 2}).number_of({-1, 0}), UsageError);
  EXPECT_THROW(SizeN({2, 2}).number_of({0}), UsageError);
}

/// The number of pairs of neighbouring cells that a cut separates, counted cell by cell.
std::int64_t cells_at_cuts(const SizeN& cells, const SizeN& cut) {
  std::int64_t all = 0;
  for (int d = 0; d < cells.dimensions(); ++d) {
    for (std::int64_t i = 0; i < cells.volume(); ++i) {
      const std::int64_t next = cells.neighbor(i, d, 1);
      if (next < 0) continue;
      const auto part = [&](std::int64_t at) {
        std::int64_t p = 0;
        while (part_begin(cells[d], cut[d], p + 1) <= at) ++p;
        return p;
      };
      all += part(cells.place_of(i)[d]) != part(cells.place_of(next)[d]) ? 1 : 0;
    }
  }
  return all;
}

TEST(Cuts, HaveTheLeastSurface) {
  for (const SizeN& cells : {SizeN{12}, {6, 8}, {4, 6, 5}, {4, 3, 4, 2}, {2, 3, 2, 4, 2}, {2, 2, 3, 2, 2, 2}}) {
    for (const std::int64_t blocks : {1, 2, 4, 6, 12}) {
      SCOPED_TRACE(text_of(cells) + " in " + std::to_string(blocks));
      std::int64_t least = -1;  // the least over all cuts into `blocks` parts
      std::vector<std::int64_t> n(static_cast<std::size_t>(cells.dimensions()), 1);
      const auto try_all = [&](auto& self, int d, std::int64_t left) -> void {
        if (d == cells.dimensions()) {
          if (left != 1) return;
          const std::int64_t cut = cells_at_cuts(cells, SizeN(n));
          least = least < 0 ? cut : std::min(least, cut);
          return;
        }
        for (n[d] = 1; n[d] <= std::min(left, cells[d]); ++n[d]) {
          if (left % n[d] == 0) self(self, d + 1, left / n[d]);
        }
      };
      try_all(try_all, 0, blocks);
      const SizeN cut = cut_cells(cells, blocks);
      if (least < 0) {
        EXPECT_LT(cut.volume(), blocks);  // `blocks` has no factors that fit
      } else {
        EXPECT_EQ(cut.volume(), blocks);
        EXPECT_EQ(cells_at_cuts(cells, cut), least);
      }
    }
  }
  EXPECT_EQ(cut_cells({8, 8}, 4, {1, 10}), (SizeN{4, 1}));
  EXPECT_EQ(cut_cells({8, 8}, 4, {10, 1}), (SizeN{1, 4}));
}

TEST(Mapping, GivesEachPeAPart) {
  const Mapping parts = parse_mapping("parts");
  EXPECT_EQ(name(parts), "parts");
  EXPECT_EQ(place_blocks({4, 4}, 4, parts), (std::vector<pe_t>{0, 0, 1, 1, 0, 0, 1, 1, 2, 2, 3, 3, 2, 2, 3, 3}));
  EXPECT_EQ(place_blocks({6}, 3, parts), (std::vector<pe_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(place_blocks({3, 5}, 4, parts), place_blocks({3, 5}, 4, {}));  // cannot be divided into four equal parts
  const SizeN size{2, 4, 2, 2};
  const auto where = place_blocks(size, 8, parts);
  for (pe_t p = 0; p < 8; ++p) EXPECT_EQ(std::count(where.begin(), where.end(), p), 4);
}

TEST(Arrays, TakeStepsInAnyNumberOfDimensions) {
  for (const pe_t pes : {1, 3}) {
    const Machine machine = cpu_machine(pes, 2);
    for (const SizeN& size : kSizes) {
      for (const bool wraps : {false, true}) {
        for (const char* mapping : {"block", "round-robin", "parts"}) {
          SCOPED_TRACE(text_of(size) + " " + mapping + (wraps ? " wraps" : "") + " " + std::to_string(pes));
          Toys toys(machine, size, parse_mapping(mapping), wraps);
          blocks::cpu::Launcher launcher(toys.array);
          launcher.start();
          launcher.run({0, 6, false});
          Plain plain(size, wraps);
          for (int s = 0; s < 6; ++s) plain.step(s == 0);
          EXPECT_EQ(toys.states(6), plain.now);
        }
      }
    }
  }
}

TEST(Arrays, GiveWhatIsReduced) {
  for (const pe_t pes : {1, 2, 4}) {
    const Machine machine = cpu_machine(pes, pes == 1 ? 3 : 1);
    for (const SizeN& size : kSizes) {
      SCOPED_TRACE(text_of(size) + " " + std::to_string(pes));
      Toys toys(machine, size, parse_mapping("round-robin"), true);
      blocks::cpu::Launcher launcher(toys.array);
      launcher.start();
      Plain plain(size, true);
      EXPECT_EQ(launcher.reduce(0), plain.given());
      launcher.run({0, 4, false});
      EXPECT_TRUE(launcher.given().empty());
      for (int s = 0; s < 4; ++s) plain.step(s == 0);
      launcher.run({4, 12, false, false, 3});  // blocks give for states 6, 9 and 12
      ASSERT_EQ(launcher.given().size(), 3u);
      for (int s = 4; s < 12; ++s) {
        plain.step(false);
        if ((s + 1) % 3 != 0) continue;
        const blocks::Given& given = launcher.given()[static_cast<std::size_t>((s + 1) / 3 - 2)];
        EXPECT_EQ(given.state, static_cast<blocks::step_t>(s + 1));
        EXPECT_EQ(given.values, plain.given());  // sums are equal bit for bit on any number of PEs
      }
      EXPECT_EQ(launcher.reduce(12), plain.given());
      EXPECT_EQ(toys.states(12), plain.now);
    }
  }
}

TEST(Arrays, AreTold) {
  const Machine machine = cpu_machine(2, 2);
  const SizeN size{2, 3, 2};
  Toys toys(machine, size, parse_mapping("parts"), false);
  blocks::cpu::Launcher launcher(toys.array);
  launcher.start();
  Plain plain(size, false);
  launcher.tell(0, Weight{3});
  std::fill(plain.by.begin(), plain.by.end(), 3);
  launcher.run({0, 3, false});
  for (int s = 0; s < 3; ++s) plain.step(s == 0);
  EXPECT_EQ(toys.states(3), plain.now);
  launcher.tell(3, Weight{5});
  launcher.tell(3, 7, Alone{11});  // to block 7 only
  std::fill(plain.by.begin(), plain.by.end(), 5);
  for (int t = 0; t < Toy::kTiles; ++t) plain.more[7 * Toy::kTiles + t] = 11;
  launcher.run({3, 8, false});
  for (int s = 3; s < 8; ++s) plain.step(false);
  EXPECT_EQ(toys.states(8), plain.now);
  EXPECT_THROW(launcher.tell(8, 12, Alone{1}), UsageError);
}

/// Whether all tiles of block b have taken `steps` steps.
bool has_taken(const BlockArray<Toy>& array, std::int64_t b, blocks::step_t steps) {
  const auto& slot = array.slots()[array.home(b)][array.number(b)];
  return slot.words->finished[(steps - 1) & 1].load_acquire() >= ((steps - 1) / 2 + 1) * slot.tiles;
}

TEST(Arrays, TellWhenStepsAreDone) {
  for (const pe_t pes : {1, 3}) {
    SCOPED_TRACE(pes);
    const Machine machine = cpu_machine(pes, 2);
    const SizeN size{3, 2, 2};
    Toys toys(machine, size, parse_mapping("round-robin"), true);
    blocks::cpu::Launcher launcher(toys.array);
    launcher.start();
    std::atomic<int> calls = 0, early = 0;
    std::vector<double> given[2];  // read inside the calls, for states 2 and 6
    for (std::int64_t b = 0; b < toys.array.size(); ++b) {
      for (const blocks::step_t steps : {1, 5, 9}) {
        launcher.when_done(b, steps, [&, b, steps] {
          ++calls;
          early += has_taken(toys.array, b, steps) ? 0 : 1;
        });
      }
    }
    for (const blocks::step_t steps : {6, 2, 8}) {  // in any order
      launcher.when_done(steps, [&, steps] {
        ++calls;
        for (std::int64_t b = 0; b < toys.array.size(); ++b) early += has_taken(toys.array, b, steps) ? 0 : 1;
        if (steps < 8) given[steps == 6] = launcher.gave(steps);
      });
    }
    launcher.run({0, 7, false, false, 2});
    EXPECT_EQ(calls, 2 * 12 + 2);  // 8 and 9 are for a later run
    EXPECT_EQ(early, 0);
    EXPECT_EQ(given[0], launcher.given()[0].values);
    EXPECT_EQ(given[1], launcher.given()[2].values);
    launcher.run({7, 20, false});
    EXPECT_EQ(calls, 3 * 12 + 3);
    launcher.run({20, 30, false});
    EXPECT_EQ(calls, 3 * 12 + 3);
    EXPECT_EQ(early, 0);
  }
}

TEST(Arrays, EndWithWhatACallThrows) {
  const Machine machine = cpu_machine(2, 2);
  Toys toys(machine, {2, 2}, {}, true);
  blocks::cpu::Launcher launcher(toys.array);
  launcher.start();
  launcher.when_done(3, [] { throw CapacityError("full"); });
  EXPECT_THROW(launcher.run({0, 50, false}), CapacityError);
  launcher.start();
  launcher.run({0, 5, false});
  Plain plain({2, 2}, true);
  for (int s = 0; s < 5; ++s) plain.step(s == 0);
  EXPECT_EQ(toys.states(5), plain.now);
  EXPECT_THROW(launcher.when_done(4, 1, [] {}), UsageError);
}

TEST(Arrays, PackForCopies) {  // this test makes the copies between two steps
  for (const pe_t pes : {1, 2, 3}) {
    SCOPED_TRACE(pes);
    const Machine machine = cpu_machine(pes, 1);
    const SizeN size{3, 2, 2};
    Toys toys(machine, size, parse_mapping("round-robin"), true);
    toys.array.send_by_copies();
    blocks::cpu::Launcher launcher(toys.array);
    launcher.start();
    std::int64_t between = 0;  // the number of sides whose neighbour is on another PE
    for (std::int64_t b = 0; b < toys.array.size(); ++b) {
      for (const std::int64_t other : toys.array.neighbors(b))
        between += toys.array.pe(b) != toys.array.pe(other) ? 1 : 0;
    }
    const auto crossings = toys.array.crossings();
    EXPECT_EQ(std::ssize(crossings), between);
    EXPECT_EQ(between > 0, pes > 1);
    Plain plain(size, true);
    for (blocks::step_t s = 0; s < 7; ++s) {
      launcher.run({s, s + 1, false});
      plain.step(s == 0);
      EXPECT_EQ(toys.states(s + 1), plain.now);
      for (const blocks::Crossing& crossing : crossings) {
        EXPECT_NE(toys.array.pe(crossing.block), toys.array.pe(crossing.other));
        EXPECT_EQ(crossing.bytes, Toy::kTiles * sizeof(Toy::Value));
        std::memcpy(crossing.in[(s + 1) & 1], crossing.out[(s + 1) & 1], crossing.bytes);
      }
    }
  }
}

TEST(Arrays, RefuseWhatDoesNotFit) {
  const Machine machine = cpu_machine(1, 1);
  EXPECT_THROW(BlockArray<Toy>(machine, {2, 2}, {0, 0, 0}), UsageError);
}

/// A block without reductions.
struct Silent {
  using Value = int;
  std::int64_t tiles() const { return 1; }
  void start(const CpuThread&, std::uint64_t) const {}
  void unpack(const CpuThread&, blocks::step_t, std::uint64_t, std::uint32_t, const int*) const {}
  void update(const CpuThread&, blocks::step_t, std::uint64_t) const {}
  void pack(const CpuThread&, blocks::step_t, std::uint64_t, std::uint32_t, int*) const {}
};

TEST(Arrays, OfBlocksThatGiveNothingAreNotReduced) {
  const Machine machine = cpu_machine(1, 1);
  BlockArray<Silent> array(machine, {0, 0});
  array.put(0, {});
  array.put(1, {});
  array.place();
  blocks::cpu::Launcher launcher(array);
  launcher.start();
  EXPECT_THROW(launcher.run({0, 2, false, false, 1}), UsageError);
  EXPECT_THROW(launcher.reduce(0), UsageError);
  launcher.run({0, 2, false});
}

}  // namespace
}  // namespace shoal
