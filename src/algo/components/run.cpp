#include "algo/if_cuda.hpp"
#include "algo/runner.hpp"
#include "engines.hpp"
#include "reference.hpp"
#if defined(SHOAL_HAVE_CUDA)
#include "verify_gpu.hpp"
#endif

namespace shoal {
namespace {

struct Shape : ShapeOf<ComponentsOptions, ComponentsPlan, ComponentsEngine> {
  /// docs/decisions/0015.
  static constexpr FewVertices kFew = {.than = 1 << 22, .even_if_asked = true};
  static constexpr EngineChoice<Strategy, Engine, Plan> kEngines[] = {
      {Strategy::async, make_components_async_cpu, if_cuda<make_components_async_gpu>},
      {Strategy::hook, make_components_hook_cpu, if_cuda<make_components_hook_gpu>}};
  static constexpr auto plan = plan_components;
};

/// Replaces labels so that each component is named by its smallest vertex in input numbers.
void name_by_first_vertex(HostArray<std::int32_t>& labels) {
  HostArray<std::int32_t> first(labels.size(), -1);
  for (std::int32_t v = 0; v < labels.size(); ++v) {
    std::int32_t& name = first[labels[v]];
    if (name < 0) name = v;
    labels[v] = name;
  }
}

}  // namespace

template <>
struct RunnerState<ComponentsOptions> : PlannedState<Shape> {
  using PlannedState::PlannedState;

  ComponentsResult result() {
    ComponentsResult result;
    result.labels =
        run.gather<vertex_t>(engine->words(), [](vertex_t label) { return static_cast<std::int32_t>(label); });
    if (!run.placed().partition.identity()) name_by_first_vertex(result.labels);
    const ComponentSizes sizes = component_sizes(std::as_const(result.labels).span());
    result.count = sizes.count;
    result.largest = sizes.largest;
    return result;
  }

  std::string verify() override {
    const PlacedGraph& graph = run.placed();
#if defined(SHOAL_HAVE_CUDA)
    if (run.machine().on_gpu()) {
      return verify_components_on_devices(graph, engine->words().as<vertex_t>().data());
    }
#endif
    if (run.machine().world() != nullptr) {
      const ComponentsResult found = result();
      return by_process_0(run.machine(), [&] { return verify_components(run.graph(), found.labels.span()); });
    }
    const HostArray<vertex_t> labels = fetch_words<vertex_t>(run.machine(), graph, engine->words());
    return verify_components(graph.out, labels.span(), [&](vertex_t placed) { return graph.partition.input(placed); });
  }
};

template class Runner<ComponentsOptions, ComponentsResult>;

Report ComponentsRunner::run() {
  return state().timed([this](Report& report) { state().engine->run(report); });
}

}  // namespace shoal
