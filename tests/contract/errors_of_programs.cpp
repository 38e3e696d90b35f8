// A program that fails in the way that --size selects. program_errors.cmake has the exit status and the text that each must
// give.
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

enum Way { kRight, kWrong, kGather, kOwner, kBodyThrows, kTaskThrows, kBodyThrowsANumber, kCapacity, kSums };

/// Counts the items that arrive at each PE.
struct Arrive {
  struct Item {
    pe_t at;
  };
  std::uint64_t* arrived;
  std::uint32_t* largest;
  bool throws;

  SHOAL_FN pe_t owner(Item item) const { return item.at; }
  SHOAL_FN bool accept(Item item) const {
    fetch_add(*arrived, std::uint64_t{1});
    fetch_max(*largest, static_cast<std::uint32_t>(item.at) + 7);
    return true;
  }
  template <Worker W>
  SHOAL_FN void operator()(const W&, Item, auto&) const {
#if !defined(__CUDA_ARCH__)
    if (throws) throw std::runtime_error("the task has had it");
#endif
  }
};

bool run_it(Context& ctx, Way way) {
  auto arrived = ctx.alloc<std::uint64_t>(1, 0);
  auto largest = ctx.alloc<std::uint32_t>(1, 0);
  const Arrive task{arrived.data(), largest.data(), way == kTaskThrows};
  std::vector<Arrive::Item> seeds;
  for (pe_t p = 0; p < ctx.n_pes(); ++p) seeds.push_back({way == kOwner && ctx.leader() ? -1 : p});
  const Report report = run(ctx, task, seeds);
  const auto n = static_cast<std::uint64_t>(ctx.n_pes());
  std::vector<std::uint32_t> in_order(n);
  std::iota(in_order.begin(), in_order.end(), 7u);
  return ctx.concatenate(arrived) == std::vector<std::uint64_t>(n, n) && ctx.concatenate(largest) == in_order &&
         ctx.reduce_sum(ctx.read(arrived)[0]) == n * n && report.run == static_cast<std::int64_t>(n * n);
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "Goes wrong in the way that --size names.", 0, [](Context& ctx) {
    const Way way = static_cast<Way>(ctx.size());
    const bool last = ctx.my_pe() == ctx.n_pes() - 1;  // the others wait for it, and leave
    if (way == kGather) ctx.gather(ctx.alloc<int>(5, 0));
    if (way == kBodyThrows && last) throw std::runtime_error("the body has had it");
    if (way == kBodyThrowsANumber && last) throw 6;
    if (way == kCapacity && last) throw CapacityError("too small by 7");
    if (way == kSums || way == kOwner || way == kTaskThrows) return run_it(ctx, way);
    ctx.barrier();
    return way == kRight;
  });
}
