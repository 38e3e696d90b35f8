// Hop-limited reach: how many vertices lie within three hops of the source? An item carries the number of hops that it has left.
// Here operator() pushes items, in place of range and make.
//   example_02_reach road:256 --source 1000 --pes 2
#include <cstdint>
#include <cstdio>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

struct Reach {
  struct Item {
    vertex_t v;
    std::uint32_t left;  // hops that may still be made from v
  };
  CsrView graph;
  OwnerTable owners;
  std::uint32_t* used;  // [graph.count] the fewest hops from the source; all bits 1: not reached
  std::uint32_t limit;

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const {
    const std::uint32_t made = limit - item.left;
    return fetch_min(used[graph.local(item.v)], made) > made && item.left > 0;
  }
  template <Worker W>
  SHOAL_FN void operator()(const W& w, Item item, auto& out) const {
    out.push_each(w, graph.neighbors(item.v), [=](vertex_t u) { return Item{u, item.left - 1}; });
  }
};

int main(int argc, char** argv) {
  return run_program(argc, argv, "Vertices within three hops of the source.", [](Context& ctx) {
    constexpr std::uint32_t kNever = 0xFFFFFFFFu, kLimit = 3;
    auto used = ctx.alloc<std::uint32_t>(ctx.graph().count, kNever);
    std::vector<Reach::Item> seeds;
    if (ctx.leader()) seeds.push_back({ctx.placed_source(), kLimit});
    const Report report = run(ctx, Reach{ctx.graph(), ctx.owners(), used.data(), kLimit}, seeds);

    // The serial reference: three rounds over all arcs.
    const std::vector<std::uint32_t> got = ctx.gather(used);
    std::vector<std::uint32_t> want(got.size(), kNever);
    want[ctx.source()] = 0;
    for (std::uint32_t hop = 0; hop < kLimit; ++hop) {
      for (vertex_t v = 0; v < want.size(); ++v) {
        if (want[v] != hop) continue;
        for (vertex_t u : ctx.input().neighbors(v)) want[u] = want[u] < hop + 1 ? want[u] : hop + 1;
      }
    }
    std::size_t reached = 0;
    for (std::uint32_t hops : got) reached += hops != kNever;
    if (ctx.leader())
      std::printf("%.3f ms, %zu vertices within %u hops: %s\n", report.seconds * 1e3, reached, kLimit,
                  got == want ? "right" : "WRONG");
    return got == want;
  });
}
