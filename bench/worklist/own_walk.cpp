// Tokens walk on a graph: one starts at every 16th vertex and makes 64 steps, each to a neighbour that the token's number chooses.
// The answer is how often each vertex was visited. It stands for a user's own task in scripts/own_tasks.py: long chains, no
// fan-out.
//   own_walk kron:16 --pes 2
#include <cstdint>
#include <cstdio>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

constexpr std::uint32_t kSteps = 64;
constexpr vertex_t kApart = 16;

/// The index, among `degree` neighbours, of the one that a token goes to.
SHOAL_FN std::uint64_t choice(std::uint64_t token, std::uint32_t left, std::uint64_t degree) {
  return ((token * kSteps + left + 1) * 0x9E3779B97F4A7C15ull >> 32) % degree;
}

struct Walk {
  struct Item {
    vertex_t v;
    std::uint32_t left;  // steps still to be made from v on
    std::uint64_t token;
  };
  CsrView graph;
  OwnerTable owners;
  std::uint32_t* visits;  // [graph.count]

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const {
    add_relaxed(visits[graph.local(item.v)], 1u);
    return item.left > 0;
  }
  template <Worker W>
  SHOAL_FN void operator()(const W& w, Item item, auto& out) const {
    const auto next = graph.neighbors(item.v);
    if (next.size() == 0) return;
    const std::uint64_t at = choice(item.token, item.left, static_cast<std::uint64_t>(next.size()));
    out.push(w, Item{next[at], item.left - 1, item.token});
  }
};

/// @return how often each vertex is visited, computed for one token after another; in the input's numbers
std::vector<std::uint32_t> reference(Context& ctx) {
  const Partition& partition = ctx.placed().partition;
  // The neighbour that a token goes to depends on the neighbours' order, which is that of placed numbers.
  const Csr graph = partition.identity() ? Csr{} : place(ctx.input(), partition);
  const Csr& rows = partition.identity() ? ctx.input() : graph;
  const vertex_t n = rows.num_vertices();
  std::vector<std::uint32_t> visits(n);
  for (vertex_t v = 0; v < n; v += kApart) {
    vertex_t at = partition.placed(v);
    for (std::uint32_t left = kSteps;; --left) {
      ++visits[partition.input(at)];
      const auto next = rows.neighbors(at);
      if (left == 0 || next.size() == 0) break;
      at = next[choice(v, left, static_cast<std::uint64_t>(next.size()))];
    }
  }
  return visits;
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "Tokens walk on a graph; how often is each vertex visited?", [](Context& ctx) {
    auto visits = ctx.alloc<std::uint32_t>(ctx.graph().count, 0);
    std::vector<Walk::Item> seeds;
    for (vertex_t v = 0; ctx.leader() && v < ctx.placed().num_vertices; v += kApart)
      seeds.push_back({ctx.placed_vertex(v), kSteps, v});
    const Report report = run(ctx, Walk{ctx.graph(), ctx.owners(), visits.data()}, seeds);
    const std::vector<std::uint32_t> got = ctx.gather(visits);
    if (!ctx.leader()) return true;
    const bool right = got == reference(ctx);
    std::printf("%.3f ms, %zu vertices: %s\n", report.seconds * 1e3, got.size(), right ? "right" : "WRONG");
    return right;
  });
}
