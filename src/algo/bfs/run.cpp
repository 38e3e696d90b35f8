#include <algorithm>
#include <utility>

#include "algo/host_memory.hpp"
#include "algo/placed_run.hpp"
#include "engines.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

namespace {

/// Four H200 and one, 2026-11-22, medians of 5, ms: kron:20 .25 / .13, kron:22 .34 / .19, uniform:22 .47 / .38, kron:23 (8 M vertices)
/// .28 / .25, kron:24 .34 / .45, uniform:24 .84 / 2.1; road:512 2.3 / 2.1, road:2048 (4 M) 9.9 / 10.
constexpr std::int64_t kFewVertices = 1 << 23;

}  // namespace

struct BfsRunner::State : GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const BfsOptions& o)
      : GraphRunner::State(graph, o, needs_of(size_of(graph), o), std::nullopt, few_for_auto(o, kFewVertices)),
        options(o) {
    engine = run.prepare([this] { return make_engine(); });
  }

  std::unique_ptr<BfsEngine> make_engine() {
    const Machine& machine = run.machine();
    const PlacedGraph& placed = run.placed();
    const BfsPlan plan = plan_bfs(machine, placed, options, run.chosen());
    run.limit_threads(plan.threads);
    const bool async = plan.strategy == BfsStrategy::async;
#if defined(SHOAL_HAVE_CUDA)
    if (machine.on_gpu())
      return async ? make_bfs_async_gpu(machine, placed, plan.launch) : make_bfs_levels_gpu(machine, placed);
#endif
    return async ? make_bfs_async_cpu(machine, placed, plan.launch) : make_bfs_levels_cpu(machine, placed);
  }

  BfsOptions options;
  std::unique_ptr<BfsEngine> engine;
  vertex_t source = kNoVertex;  ///< placed, of the last search
};

BfsRunner::BfsRunner(const Csr& graph, const BfsOptions& options)
    : GraphRunner(std::make_unique<State>(graph, options)) {}
BfsRunner::BfsRunner(const GeneratorSpec& spec, const BfsOptions& options)
    : GraphRunner(std::make_unique<State>(spec, options)) {}
BfsRunner::State& BfsRunner::state() const { return static_cast<State&>(*state_); }

Report BfsRunner::search(vertex_t source) {
  State& s = state();
  s.source = s.run.placed_vertex("source", source);
  return s.timed([&](Report& report) { s.engine->search(s.source, report); });
}

BfsResult BfsRunner::result() const {
  State& s = state();
  s.need_result();
  const std::int64_t n = num_vertices();
  BfsResult result;
  result.report = s.report;
  result.levels = s.run.gather<level_t>([&](pe_t pe, level_t* to) { s.engine->fetch_levels(pe, to); },
                                        [](level_t level) { return static_cast<std::int32_t>(level); });
  const Reached reached = s.run.count_reached([&](std::int64_t v) { return result.levels[v]; });
  result.reached = reached.vertices;
  result.reached_arcs = reached.arcs;
  result.depth = static_cast<std::int32_t>(reached.farthest);
  if (s.options.parents) {
    HostArray<vertex_t> parent(n);
    s.engine->fetch_parents(s.source, parent.data());
    result.parents = HostArray<std::int32_t>(n);
    for (std::int64_t v = 0; v < n; ++v) {
      result.parents[s.run.placed().partition.input(static_cast<vertex_t>(v))] = static_cast<std::int32_t>(parent[v]);
    }
  }
  return result;
}

std::string BfsRunner::verify() const {
  state().need_result();
  return state().engine->verify(state().source);
}

}  // namespace shoal
