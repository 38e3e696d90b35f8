// Breadth-first search: hops from one source. The same lines run on CPU threads and on GPUs, with one PE or many:
//   example_01_bfs kron:16 --source 17
//   example_01_bfs road:512 --pes 4 --worker block:256
#include <cstdio>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

/// One item says "vertex v can be reached in `level` hops". The owner of v keeps it only when it lowers the level of v;
/// whoever runs it offers level + 1 to every neighbour. The search is over when no item is left on any PE.
struct Search {
  struct Item {
    vertex_t v;
    level_t level;
  };
  CsrView graph;      // this PE's rows
  OwnerTable owners;  // who owns which vertex
  level_t* level;     // [graph.count]

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const { return fetch_min(level[graph.local(item.v)], item.level) > item.level; }
  SHOAL_FN bool stale(Item item) const { return load(level[graph.local(item.v)]) < item.level; }
  SHOAL_FN auto range(Item item) const { return graph.neighbors(item.v); }
  SHOAL_FN Item make(Item item, vertex_t neighbor) const { return {neighbor, item.level + 1}; }
};

std::vector<level_t> reference(const Csr& graph, vertex_t source) {
  std::vector<level_t> level(graph.num_vertices(), kUnreached);
  std::vector<vertex_t> queue{source};
  level[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (vertex_t v : graph.neighbors(queue[i])) {
      if (level[v] != kUnreached) continue;
      level[v] = level[queue[i]] + 1;
      queue.push_back(v);
    }
  }
  return level;
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "Hops from one vertex to all others.", [](Context& ctx) {
    auto level = ctx.alloc<level_t>(ctx.graph().count, kUnreached);
    const Search search{ctx.graph(), ctx.owners(), level.data()};
    std::vector<Search::Item> seeds;
    if (ctx.leader()) seeds.push_back({ctx.placed_source(), 0});

    const Report report = run(ctx, search, seeds);
    const bool right = ctx.gather(level) == reference(ctx.input(), ctx.source());
    if (ctx.leader()) {
      std::printf("%.3f ms, %lld items run on %d PEs: %s\n", report.seconds * 1e3, static_cast<long long>(report.run),
                  ctx.n_pes(), right ? "right" : "WRONG");
    }
    return right;
  });
}
