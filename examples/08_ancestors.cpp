// From how many vertices is there a path to the source? A search along the arcs that come in. On CPU threads and GPUs:
//   example_08_ancestors kron:16,directed --source 17 --pes 2
#include <cstdint>
#include <cstdio>
#include <vector>

#include "shoal/shoal.hpp"
using namespace shoal;

struct Ancestors {
  static constexpr bool kAnyOrder = true;  // each vertex is accepted once, whatever the order
  struct Item {
    vertex_t v;  // has a path to the source
  };
  CsrView in;  // the in-arcs of this PE's vertices: neighbors(v) are the vertices with an arc to v
  OwnerTable owners;
  std::uint32_t* found;  // [in.count] 0 or 1

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const { return exchange(found[in.local(item.v)], 1u) == 0; }
  template <Worker W>
  SHOAL_FN void operator()(const W& w, Item item, auto& out) const {
    out.push_each(w, in.neighbors(item.v), [](vertex_t from) { return Item{from}; });
  }
};

std::vector<std::uint32_t> reference(const Csr& graph, vertex_t source) {
  std::vector<std::uint32_t> found(graph.num_vertices(), 0);
  found[source] = 1;
  for (bool more = true; more;) {
    more = false;
    for (vertex_t v = 0; v < found.size(); ++v) {
      for (vertex_t to : graph.neighbors(v)) {
        if (found[v] < found[to]) found[v] = 1, more = true;
      }
    }
  }
  return found;
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "The vertices with a path to the source.", [](Context& ctx) {
    const CsrView in = ctx.in_graph();
    auto found = ctx.alloc<std::uint32_t>(in.count, 0);
    std::vector<Ancestors::Item> seeds;
    if (ctx.leader()) seeds.push_back({ctx.placed_source()});
    const Report report = run(ctx, Ancestors{in, ctx.owners(), found.data()}, seeds);

    const bool right = ctx.gather(found) == reference(ctx.input(), ctx.source());
    if (ctx.leader()) {
      std::printf("%.3f ms, %lld vertices: %s\n", report.seconds * 1e3, static_cast<long long>(report.run),
                  right ? "right" : "WRONG");
    }
    return right;
  });
}
