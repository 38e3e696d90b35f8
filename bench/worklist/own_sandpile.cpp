// The abelian sandpile: a cell with four grains topples, and each of its neighbours gets one. The final pile is the same for any
// order of topplings. It stands for a user's own task in scripts/own_tasks.py: additions that come in bursts.
//   own_sandpile --size 1000000 --pes 2
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

struct Sandpile {
  struct Item {
    std::int64_t cell;  // gets one grain
  };
  std::uint32_t* got;  // [rows of this PE][side] all grains that a cell ever got, including those at the start
  std::int64_t side, first, rows_each;
  pe_t n_pes;

  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.cell / side / rows_each); }
  // Every fourth grain topples the cell, so at the end a cell has `got` modulo 4 grains.
  SHOAL_FN bool accept(Item item) const { return (fetch_add(got[item.cell - first], 1u) + 1) % 4 == 0; }
  template <Worker W>
  SHOAL_FN void operator()(const W& w, Item item, auto& out) const {
    const std::int64_t row = item.cell / side, column = item.cell % side;
    for (int k = 0; k < 4; ++k) {
      const std::int64_t r = row + (k == 0) - (k == 1), c = column + (k == 2) - (k == 3);
      const bool inside = r >= 0 && r < side && c >= 0 && c < side;  // else the grain falls off
      out.emit(w, inside && w.lane() == 0, Item{r * side + c});
    }
  }
};

std::uint64_t mix(std::int64_t cell) { return (static_cast<std::uint64_t>(cell) + 1) * 0x9E3779B97F4A7C15ull >> 40; }

/// @return the final pile, computed by one toppling after another
std::vector<std::uint32_t> reference(std::int64_t side) {
  std::vector<std::uint32_t> pile(side * side);
  std::vector<std::int64_t> high;
  for (std::int64_t cell = 0; cell < side * side; ++cell) {
    pile[cell] = static_cast<std::uint32_t>(mix(cell) % 4 + mix(cell) / 4 % 2);
    if (pile[cell] >= 4) high.push_back(cell);
  }
  while (!high.empty()) {
    const std::int64_t cell = high.back(), row = cell / side, column = cell % side;
    high.pop_back();
    pile[cell] -= 4;
    for (int k = 0; k < 4; ++k) {
      const std::int64_t r = row + (k == 0) - (k == 1), c = column + (k == 2) - (k == 3);
      if (r < 0 || r >= side || c < 0 || c >= side) continue;
      if (++pile[r * side + c] == 4) high.push_back(r * side + c);
    }
  }
  return pile;
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "A sandpile of about N cells comes to rest.", 1 << 20, [](Context& ctx) {
    const auto side = static_cast<std::int64_t>(std::sqrt(static_cast<double>(ctx.size())));
    const std::int64_t rows_each = side / ctx.n_pes() + 1, first = ctx.my_pe() * rows_each * side;
    const std::int64_t end = std::min(first + rows_each * side, side * side),
                       mine = std::max<std::int64_t>(end - first, 0);
    auto got = ctx.alloc<std::uint32_t>(mine, 0);
    std::vector<std::uint32_t> start(mine);
    std::vector<Sandpile::Item> seeds;
    for (std::int64_t i = 0; i < mine; ++i) {
      start[i] = static_cast<std::uint32_t>(mix(first + i) % 4);
      if (mix(first + i) / 4 % 2 == 1) seeds.push_back({first + i});
    }
    ctx.write(got, start);
    const Report report = run(ctx, Sandpile{got.data(), side, first, rows_each, ctx.n_pes()}, seeds);
    std::vector<std::uint32_t> rest = ctx.concatenate(got);
    if (!ctx.leader()) return true;
    for (std::uint32_t& grains : rest) grains %= 4;
    const bool right = rest == reference(side);
    std::printf("%.3f ms, %zu cells: %s\n", report.seconds * 1e3, rest.size(), right ? "right" : "WRONG");
    return right;
  });
}
