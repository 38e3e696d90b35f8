#include <algorithm>

#include "async.hpp"
#include "levels.hpp"
#include "reference.hpp"
#include "shoal/core/array.hpp"

namespace shoal {
namespace {

/// The smallest input number among the in-neighbours one level up; each PE's threads share its rows.
void find_parents(const Machine& machine, const PlacedGraph& graph, const std::vector<const level_t*>& level,
                  vertex_t source, vertex_t* parent) {
  const auto level_of = [&](vertex_t v) {
    const pe_t p = graph.partition.owner(v);
    return level[p][graph.in[p].local(v)];
  };
  machine.team().run([&](pe_t pe, int thread) {
    const CsrView& rows = graph.in[pe];
    const std::int64_t t = machine.threads_per_pe();
    for (std::int64_t i = std::int64_t{rows.count} * thread / t; i < std::int64_t{rows.count} * (thread + 1) / t; ++i) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      const level_t mine = level[pe][i];
      vertex_t best = kNoVertex;
      if (v == source)
        best = graph.partition.input(v);
      else if (mine != kUnreached) {
        for (vertex_t u : rows.neighbors(v)) {
          if (level_of(u) + 1 == mine) best = std::min(best, graph.partition.input(u));
        }
      }
      parent[v] = best;
    }
  });
}

/// The per-vertex rule over every PE's rows; one line about the first wrong vertex that a thread meets, in input numbers.
std::string verify_placed(const Machine& machine, const PlacedGraph& graph, const BfsEngine& engine, vertex_t source) {
  HostArray<level_t> level(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) engine.fetch_levels(p, level.data() + graph.out[p].first);
  std::vector<std::string> wrong(static_cast<std::size_t>(machine.team().size()));
  machine.team().run([&](pe_t pe, int thread) {
    const CsrView& rows = graph.in[pe];
    const std::int64_t t = machine.threads_per_pe();
    for (std::int64_t i = std::int64_t{rows.count} * thread / t; i < std::int64_t{rows.count} * (thread + 1) / t; ++i) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      std::uint64_t closest = closest_in_neighbor(rows, level.data(), v);
      if (level_is_right(v, source, level[v], closest)) continue;
      const Partition& names = graph.partition;
      if (closest != ~0ull) closest = closest >> 32 << 32 | names.input(static_cast<vertex_t>(closest));
      wrong[pe * t + thread] = describe_wrong_level(names.input(v), names.input(source), level[v], closest);
      return;
    }
  });
  for (const std::string& line : wrong) {
    if (!line.empty()) return line;
  }
  return "";
}

class AsyncCpu : public BfsAsync<> {
 public:
  using BfsAsync::BfsAsync;
  std::string verify(vertex_t source) const override { return verify_placed(machine_, graph_, *this, source); }
  void fetch_parents(vertex_t source, vertex_t* to) override {
    find_parents(machine_, graph_, known_.all_own<const level_t*>(), source, to);
  }
};

class LevelsCpu : public BfsEngine {
 public:
  LevelsCpu(const Machine& machine, const PlacedGraph& graph)
      : machine_(machine), graph_(graph), search_(graph, machine.team()) {}
  void search(vertex_t placed_source, Report& report) override { search_.search(placed_source, report); }
  void fetch_levels(pe_t pe, level_t* to) const override {
    const Span<const level_t> level = search_.level(pe);
    std::copy(level.begin(), level.end(), to);
  }
  void fetch_parents(vertex_t, vertex_t* to) override { search_.parents({to, graph_.num_vertices}); }
  std::string verify(vertex_t source) const override { return verify_placed(machine_, graph_, *this, source); }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  BfsLevelsCpu search_;
};

}  // namespace

std::unique_ptr<BfsEngine> make_bfs_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                              const LaunchPlan& plan) {
  return std::make_unique<AsyncCpu>(machine, graph, plan);
}
std::unique_ptr<BfsEngine> make_bfs_levels_cpu(const Machine& machine, const PlacedGraph& graph) {
  return std::make_unique<LevelsCpu>(machine, graph);
}

}  // namespace shoal
