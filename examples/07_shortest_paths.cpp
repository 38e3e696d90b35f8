// Shortest paths from one source: a task with weights and priorities. On CPU threads and GPUs:
//   example_07_shortest_paths road:512 --weights hash255 --source 17 --pes 2
//   example_07_shortest_paths roads.gr.gz --queue fifo
#include <cstdint>
#include <cstdio>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "shoal/graph/weights.hpp"
#include "shoal/shoal.hpp"
using namespace shoal;

constexpr std::uint64_t kNoPath = ~std::uint64_t{0};

struct Paths {
  struct Item {
    vertex_t v;
    std::uint64_t distance;  // of a path to v
  };
  CsrView graph;
  OwnerTable owners;
  const std::int32_t* weights;  // by the arcs' numbers
  std::uint64_t* distance;      // [graph.count]

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }
  SHOAL_FN bool accept(Item item) const {
    return fetch_min(distance[graph.local(item.v)], item.distance) > item.distance;
  }
  SHOAL_FN bool stale(Item item) const { return load(distance[graph.local(item.v)]) < item.distance; }
  SHOAL_FN double priority(Item item) const { return static_cast<double>(item.distance); }
  SHOAL_FN ArcRange range(Item item) const { return graph.arcs(item.v); }
  SHOAL_FN Item make(Item item, Arc arc) const {
    return {arc.target, item.distance + static_cast<std::uint64_t>(weights[arc.number])};
  }
};

std::vector<std::uint64_t> reference(const Csr& graph, vertex_t source) {  // Dijkstra's algorithm
  using Entry = std::pair<std::uint64_t, vertex_t>;
  std::vector<std::uint64_t> distance(graph.num_vertices(), kNoPath);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
  queue.push({distance[source] = 0, source});
  while (!queue.empty()) {
    const auto [d, v] = queue.top();
    queue.pop();
    for (arc_t a = graph.offsets[v]; d == distance[v] && a < graph.offsets[v + 1]; ++a) {
      const std::uint64_t longer = d + static_cast<std::uint64_t>(graph.int_weights[a]);
      if (longer < distance[graph.targets[a]]) queue.push({distance[graph.targets[a]] = longer, graph.targets[a]});
    }
  }
  return distance;
}

int main(int argc, char** argv) {
  return run_program(argc, argv, "Shortest distances from one vertex to all others.", [](Context& ctx) {
    with_weights(ctx.input(), WeightSource::file);  // refuses missing and negative weights
    if (ctx.input().weight_kind != WeightKind::int32) throw UsageError("this program needs whole weights below 2^31");

    const CsrView graph = ctx.graph();
    auto distance = ctx.alloc<std::uint64_t>(graph.count, kNoPath);
    std::vector<Paths::Item> seeds;
    if (ctx.leader()) seeds.push_back({ctx.placed_source(), 0});
    Options options = ctx.options();
    if (options.queue == QueueKind::automatic) options.queue = QueueKind::priority;
    if (options.queue == QueueKind::priority && options.threshold_delta == 0) options.threshold_delta = 128;
    const Report report = run(ctx, Paths{graph, ctx.owners(), ctx.weights().ints, distance.data()}, seeds, options);

    const bool right = ctx.gather(distance) == reference(ctx.input(), ctx.source());
    if (ctx.leader()) {
      std::printf("%.3f ms, %lld items run on %d PEs: %s\n", report.seconds * 1e3, static_cast<long long>(report.run),
                  ctx.n_pes(), right ? "right" : "WRONG");
    }
    return right;
  });
}
