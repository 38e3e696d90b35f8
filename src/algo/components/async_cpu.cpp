#include <algorithm>
#include <numeric>

#include "async.hpp"

namespace shoal {
namespace {

struct PrepareCpu {
  template <class Engine>
  std::vector<Components::Item> seeds(const Engine& engine, pe_t pe) const {
    const Components& task = engine.task(pe);
    std::vector<Components::Item> seeds;
    for (vertex_t v = task.out.first; v < task.out.first + task.out.count; ++v) {
      if (starts_component(task.out, task.in, v)) seeds.push_back({v, v});
    }
    return seeds;
  }
  /// Each thread clears its share of its PE's labels. Seeds are few, and sorted, so they are marked in a second pass.
  template <class Engine>
  void clear(Engine& engine) const {
    const Machine& machine = engine.machine();
    machine.team().run([&](pe_t pe, int thread) {
      const std::int64_t t = machine.threads_per_pe();
      const std::int64_t all = engine.graph().num_vertices;
      vertex_t* const known = engine.known().all(pe);
      std::iota(known + all * thread / t, known + all * (thread + 1) / t, static_cast<vertex_t>(all * thread / t));
    });
    machine.team().run([&](pe_t pe, int thread) {
      const CsrView& rows = engine.graph().out[pe];
      const std::int64_t n = rows.count, t = machine.threads_per_pe();
      const std::int64_t begin = n * thread / t, end = n * (thread + 1) / t;
      const auto& seeds = engine.seeds(pe);
      auto seed = std::lower_bound(seeds.begin(), seeds.end(), rows.first + begin,
                                   [](const Components::Item& item, std::int64_t v) { return item.v < v; });
      for (; seed != seeds.end() && seed->v < rows.first + end; ++seed)
        engine.known().own(pe)[rows.local(seed->v)] = kNoVertex;
    });
  }
};

}  // namespace

std::unique_ptr<ComponentsEngine> make_components_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                                            const ComponentsPlan& plan) {
  return std::make_unique<ComponentsAsync<PrepareCpu>>(machine, graph, plan);
}

}  // namespace shoal
