#include "shoal/algo/components_run.hpp"

#include <utility>

#include "algo/host_memory.hpp"
#include "algo/placed_run.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

namespace {

/// Graphs of fewer vertices are hooked by one GPU of several. Four H200 and one, 2026-11-22, ms, one run after the other: road:1024
/// .093 / .062, road:2048 (4 M vertices) .13 / .17, kron:20 .20 / .15, kron:22 .37 / .30, kron:24 .50 / .98; and after a rest, in
/// which wires between GPUs fall asleep, road:1024 .26 / .10, road:2048 .24 / .21.
constexpr std::int64_t kFewVertices = 1 << 22;

}  // namespace

struct ComponentsRunner::State : GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const ComponentsOptions& o)
      : GraphRunner::State(
            graph, o, needs_of(size_of(graph), o), std::nullopt,
            components_strategy(o) == ComponentsStrategy::hook ? FewVertices{kFewVertices, true} : FewVertices{}),
        options(o) {
    engine = run.prepare([this] { return make_engine(); });
  }

  std::unique_ptr<ComponentsEngine> make_engine() {
    const Machine& machine = run.machine();
    const PlacedGraph& placed = run.placed();
    const ComponentsPlan plan = plan_components(machine, placed, options, run.chosen());
    run.limit_threads(plan.threads);
    const bool async = plan.strategy == ComponentsStrategy::async;
#if defined(SHOAL_HAVE_CUDA)
    if (machine.on_gpu()) {
      return async ? make_components_async_gpu(machine, placed, plan.launch)
                   : make_components_hook_gpu(machine, placed);
    }
#endif
    return async ? make_components_async_cpu(machine, placed, plan.launch) : make_components_hook_cpu(machine, placed);
  }
  ComponentsOptions options;
  std::unique_ptr<ComponentsEngine> engine;
};

ComponentsRunner::ComponentsRunner(const Csr& graph, const ComponentsOptions& options)
    : GraphRunner(std::make_unique<State>(graph, options)) {}
ComponentsRunner::ComponentsRunner(const GeneratorSpec& spec, const ComponentsOptions& options)
    : GraphRunner(std::make_unique<State>(spec, options)) {}
ComponentsRunner::State& ComponentsRunner::state() const { return static_cast<State&>(*state_); }

Report ComponentsRunner::run() {
  return state().timed([&](Report& report) { state().engine->run(report); });
}

ComponentsResult ComponentsRunner::result() const {
  State& s = state();
  s.need_result();
  ComponentsResult result;
  result.report = s.report;
  result.labels = s.run.gather<vertex_t>([&](pe_t pe, vertex_t* to) { s.engine->fetch_labels(pe, to); },
                                         [](vertex_t label) { return static_cast<std::int32_t>(label); });
  if (!s.run.placed().partition.identity()) {
    // The first vertex of a component in the input's order names it.
    HostArray<std::int32_t> smallest(num_vertices(), -1);
    for (std::int32_t v = 0; v < num_vertices(); ++v) {
      std::int32_t& name = smallest[result.labels[v]];
      if (name < 0) name = v;
      result.labels[v] = name;
    }
  }
  const ComponentSizes sizes = component_sizes(std::as_const(result.labels).span());
  result.count = sizes.count;
  result.largest = sizes.largest;
  return result;
}

std::string ComponentsRunner::verify() const {
  state().need_result();
  return state().engine->verify();
}

}  // namespace shoal
