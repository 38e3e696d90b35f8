#include "algo/if_cuda.hpp"
#include "algo/own_vertices.hpp"
#include "algo/reached.hpp"
#include "algo/runner.hpp"
#include "engines.hpp"
#include "parents.hpp"
#include "reference.hpp"
#if defined(SHOAL_HAVE_CUDA)
#include "verify_gpu.hpp"
#endif

namespace shoal {
namespace {

struct Shape : ShapeOf<BfsOptions, BfsPlan, BfsEngine> {
  /// docs/decisions/0015, 0080.
  static constexpr FewVertices kFew = {.than = 1 << 23, .roads_than = 1 << 27};
  static constexpr bool kOnGpusOfProcesses = true;
  static constexpr bool kOnGpusApart = true;
  static constexpr EngineChoice<Strategy, Engine, Plan> kEngines[] = {
      {Strategy::async, make_bfs_async_cpu, if_cuda<make_bfs_async_gpu>},
      {Strategy::levels, make_bfs_levels_cpu, if_cuda<make_bfs_levels_gpu>}};
  static constexpr auto plan = plan_bfs;
};

}  // namespace

template <>
struct RunnerState<BfsOptions> : PlannedState<Shape> {
  using PlannedState::PlannedState;

  BfsFound found() const {
    const Reached reached = count_reached(run.machine(), run.placed(), engine->words());
    return {reached.vertices, reached.arcs, static_cast<std::int32_t>(reached.farthest)};
  }

  BfsResult result() {
    BfsResult result;
    static_cast<BfsFound&>(result) = found();
    result.levels =
        run.gather<level_t>(engine->words(), [](level_t level) { return static_cast<std::int32_t>(level); });
    if (options.parents) {
      result.parents = run.to_input(parents(), [](vertex_t parent) { return static_cast<std::int32_t>(parent); });
    }
    return result;
  }

  std::string verify() override {
    const PlacedGraph& graph = run.placed();
#if defined(SHOAL_HAVE_CUDA)
    if (run.machine().on_gpu()) {
      const HostArray<level_t> all = levels_of_processes();
      return first_of_processes(run.machine(), verify_levels_on_devices(graph, engine->words().as<level_t>().data(),
                                                                        source, all.empty() ? nullptr : all.data()));
    }
#endif
    const HostArray<level_t> levels = fetch_words<level_t>(run.machine(), graph, engine->words());
    const std::string wrong = first_wrong_line(run.machine().team(), graph, [&](pe_t pe, vertex_t v) -> std::string {
      std::uint64_t closest = closest_in_neighbor(graph.in[pe], levels.data(), v);
      if (level_is_right(v, source, levels[v], closest)) return "";
      const Partition& names = graph.partition;
      if (closest != ~0ull) closest = closest >> 32 << 32 | names.input(static_cast<vertex_t>(closest));
      return describe_wrong_level(names.input(v), names.input(source), levels[v], closest);
    });
    return first_of_processes(run.machine(), wrong);
  }

  vertex_t source = kNoVertex;  ///< placed, of the last search

 private:
#if defined(SHOAL_HAVE_CUDA)
  /// Called by every process. With several processes: the levels of all vertices, since no GPU has all of them. Otherwise empty.
  HostArray<level_t> levels_of_processes() const {
    if (run.machine().world() == nullptr) return {};
    return fetch_words<level_t>(run.machine(), run.placed(), engine->words());
  }
#endif
  HostArray<vertex_t> parents() const {
#if defined(SHOAL_HAVE_CUDA)
    if (run.machine().on_gpu()) {
      const HostArray<level_t> all = levels_of_processes();
      HostArray<vertex_t> parents = find_parents_on_devices(run.placed(), engine->words().as<level_t>().data(), source,
                                                            all.empty() ? nullptr : all.data());
      complete(run.machine(), run.placed(), parents.data(), sizeof(vertex_t));
      return parents;
    }
#endif
    const HostArray<level_t> levels = fetch_words<level_t>(run.machine(), run.placed(), engine->words());
    HostArray<vertex_t> parents = find_parents(run.machine().team(), run.placed(), levels.span(), source);
    complete(run.machine(), run.placed(), parents.data(), sizeof(vertex_t));
    return parents;
  }
};

template class Runner<BfsOptions, BfsResult>;

Report BfsRunner::search(vertex_t source) {
  state().source = state().run.placed_vertex("source", source);
  return state().timed([this](Report& report) { state().engine->run(state().source, report); });
}
BfsFound BfsRunner::found() const {
  state().need_result();
  return state().found();
}

}  // namespace shoal
