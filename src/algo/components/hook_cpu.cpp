#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <stop_token>
#include <string>
#include <vector>

#include "algo/bfs/levels_parts.hpp"
#include "engines.hpp"
#include "hook.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal {
namespace {

constexpr int kFirstArcs = 2;    // of each row: used for the sample, also across tiles
constexpr vertex_t kAhead = 16;  // distance in rows of the prefetch
constexpr int kTileArcs = 4;     // of each row: handled within a tile

enum HookPhase { kTiles, kLinks, kRest, kCompress, kPhases };

/// The state that the threads of one PE share.
struct alignas(kCacheLine) PeState {
  PaddedWord<std::int64_t, Scope::device> taken[kPhases];  // tiles handed out, in each phase
  PaddedWord<std::int64_t, Scope::device> rest;            // vertices outside the giant tree
  std::int64_t first_word = 0;                             // where its part of the marks begins
};

/// Unites the trees of u and v, while other threads may change them; the smaller root stays the root.
void unite(vertex_t* parent, vertex_t u, vertex_t v) {
  vertex_t p = load(parent[u]), q = load(parent[v]);
  while (p != q) {
    const vertex_t high = std::max(p, q), low = std::min(p, q);
    vertex_t up = load(parent[high]);
    if (up == low) return;
    if (up == high &&
        std::atomic_ref<vertex_t>(parent[high]).compare_exchange_strong(up, low, std::memory_order_relaxed))
      return;
    // Goes up two steps, and shortens the path for later callers. (`high` is no root here, so no other thread's hook is lost.)
    p = load(parent[up]), q = load(parent[low]);
    if (p != up) store(parent[high], p);
  }
}

/// The root of v's tree, or `stop` if that is on the way there.
vertex_t find(const vertex_t* parent, vertex_t v, vertex_t stop = kNoVertex) {
  while (v != stop) {
    const vertex_t p = load(parent[v]);
    if (p == v) break;
    v = p;
  }
  return v;
}

/// The root of v's tree within a tile that no other thread accesses yet; halves the path.
vertex_t find_in_tile(vertex_t* parent, vertex_t v) {
  while (parent[v] != v) v = parent[v] = parent[parent[v]];
  return v;
}

/// True if the first arcs of consecutive rows are far apart in memory, so that the hardware does not prefetch them.
bool rows_are_long(const CsrView& rows, vertex_t begin, vertex_t end) {
  return rows.offsets[end] - rows.offsets[begin] > 8 * (arc_t{end} - begin);
}

}  // namespace

struct ComponentsHookCpu::State {
  const PlacedGraph& graph;
  ThreadTeam& team;
  ComponentsHookTuning tuning;
  HostArray<vertex_t> parent;     // [n] by placed number
  HostArray<std::uint64_t> mark;  // bit i of a PE's word w: its vertex 64 w + i has first arcs left for the links
  std::deque<PeState> pes;
  vertex_t giant = kNoVertex;       // root of the giant tree at the time of sampling
  vertex_t giant_root = kNoVertex;  // root of that tree after all hooks

  State(const PlacedGraph& g, ThreadTeam& t, const ComponentsHookTuning& o)
      : graph(g), team(t), tuning(o), parent(bfs_levels::large_array<vertex_t>(g.num_vertices)), pes(t.n_pes()) {
    std::int64_t words = 0;
    for (pe_t p = 0; p < t.n_pes(); ++p) {
      pes[p].first_word = words;
      words += (std::int64_t{g.out[p].count} + 63) / 64;
    }
    mark = HostArray<std::uint64_t>(words);
  }

  std::int64_t run();
  void unite_tile(const CsrView& rows, std::uint64_t* marks, vertex_t begin, vertex_t end, vertex_t* outside);
  void link_tile(const CsrView& rows, const std::uint64_t* marks, vertex_t begin, vertex_t end);
  std::int64_t rest_of_tile(pe_t pe, vertex_t begin, vertex_t end);
  void compress_tile(vertex_t begin, vertex_t end);
  void find_giant();

  /// Calls f(first, last), with local vertices, for each tile that this thread gets, in ascending order.
  template <class F>
  void tiles(HookPhase phase, pe_t pe, F&& f) {
    const std::int64_t count = graph.out[pe].count, tile = tuning.tile;
    for (std::int64_t t; (t = pes[pe].taken[phase].fetch_add(1)) * tile < count;) {
      f(static_cast<vertex_t>(t * tile), static_cast<vertex_t>(std::min(count, (t + 1) * tile)));
    }
  }
};

/// Unites local vertices [begin, end), whose parents only this thread accesses in this phase.
/// @param outside  [tile] scratch for one smaller neighbour outside the tile per vertex
void ComponentsHookCpu::State::unite_tile(const CsrView& rows, std::uint64_t* marks, vertex_t begin, vertex_t end,
                                          vertex_t* outside) {
  const vertex_t first = rows.first + begin, last = rows.first + end;
  const bool long_rows = rows_are_long(rows, begin, end);
  for (vertex_t v = first; v < last; ++v) parent[v] = v;
  for (vertex_t i = begin; i < end; ++i) {
    const vertex_t v = rows.first + i;
    outside[i - begin] = kNoVertex;
    if (long_rows && i + kAhead < end) __builtin_prefetch(rows.targets + rows.offsets[i + kAhead]);
    const vertex_t* const row = rows.targets + rows.offsets[i];
    const arc_t degree = rows.offsets[i + 1] - rows.offsets[i];
    for (int k = 0; k < std::min<arc_t>(degree, kTileArcs); ++k) {
      const vertex_t u = row[k];
      if (u < first) {
        if (k == 0)
          outside[i - begin] = u;
        else if (k < kFirstArcs)
          marks[i / 64] |= std::uint64_t{1} << (i % 64);
      } else if (u < v || (!graph.symmetric && u < last)) {  // a symmetric arc is handled at its larger end
        const vertex_t a = find_in_tile(parent.data(), u), b = find_in_tile(parent.data(), v);
        parent[std::max(a, b)] = std::min(a, b);
      } else if (u >= last) {
        if (k < kFirstArcs) marks[i / 64] |= std::uint64_t{1} << (i % 64);
      }
    }
  }
  for (vertex_t i = begin; i < end; ++i) {
    const vertex_t v = rows.first + i, u = outside[i - begin];
    if (parent[v] != v) {
      parent[v] = parent[parent[v]];  // the parent is smaller, so it already points to its root, or out of the tile
      if (u != kNoVertex) marks[i / 64] |= std::uint64_t{1} << (i % 64);
    } else if (u != kNoVertex) {
      parent[v] = u;
    }
  }
}

void ComponentsHookCpu::State::link_tile(const CsrView& rows, const std::uint64_t* marks, vertex_t begin,
                                         vertex_t end) {
  const bool long_rows = rows_are_long(rows, begin, end);
  for (vertex_t i = begin; i < end; ++i) {
    if (marks[i / 64] == 0) {
      i |= 63;
      continue;
    }
    if (long_rows && i + kAhead < end) __builtin_prefetch(rows.targets + rows.offsets[i + kAhead]);
    if ((marks[i / 64] >> (i % 64) & 1) == 0) continue;
    const vertex_t* const row = rows.targets + rows.offsets[i];
    const arc_t degree = rows.offsets[i + 1] - rows.offsets[i];
    for (int k = 0; k < std::min<arc_t>(degree, kFirstArcs); ++k) unite(parent.data(), rows.first + i, row[k]);
  }
}

/// Called by one thread, while the others wait.
void ComponentsHookCpu::State::find_giant() {
  giant = kNoVertex;
  const std::int64_t n = graph.num_vertices;
  if (n == 0 || tuning.samples == 0) return;
  std::vector<vertex_t> roots(tuning.samples);
  for (int i = 0; i < tuning.samples; ++i) {
    roots[i] = find(parent.data(), static_cast<vertex_t>(mix64(i) % static_cast<std::uint64_t>(n)));
  }
  std::sort(roots.begin(), roots.end());
  std::ptrdiff_t most = 0;
  for (auto at = roots.begin(); at != roots.end();) {
    const auto next = std::upper_bound(at, roots.end(), *at);
    if (next - at > most) most = next - at, giant = *at;
    at = next;
  }
}

/// @return how many vertices are not in the giant tree
std::int64_t ComponentsHookCpu::State::rest_of_tile(pe_t pe, vertex_t begin, vertex_t end) {
  const CsrView &out = graph.out[pe], &in = graph.in[pe];
  std::int64_t outside = 0;
  for (vertex_t i = begin; i < end; ++i) {
    const vertex_t v = out.first + i, root = find(parent.data(), v, giant);
    if (root != v) store(parent[v], root);
    if (root == giant) continue;
    ++outside;
    bool arrived = false;
    const auto look_at = [&](Span<const vertex_t> row) {
      for (std::int64_t k = 0; k < row.size() && !arrived; ++k) {
        unite(parent.data(), v, row[k]);
        arrived = find(parent.data(), v, giant) == giant;
      }
    };
    look_at(out.neighbors(v));
    if (!graph.symmetric) look_at(in.neighbors(v));
  }
  return outside;
}

void ComponentsHookCpu::State::compress_tile(vertex_t begin, vertex_t end) {
  for (vertex_t v = begin; v < end; ++v) {
    const vertex_t p = load(parent[v]);
    if (p == giant) {
      if (giant_root != giant) store(parent[v], giant_root);
    } else if (p != v) {
      store(parent[v], find(parent.data(), p));
    }
  }
}

/// @return how many vertices were outside the giant tree after the first arcs
std::int64_t ComponentsHookCpu::State::run() {
  for (PeState& pe : pes) {
    for (auto& word : pe.taken) word.store(0);
    pe.rest.store(0);
  }
  SpinBarrier barrier(team.size());
  const std::stop_callback when_called_off(interrupt_token(), [&] { barrier.cancel(); });
  team.run([&](pe_t pe, int) {
    const CsrView& rows = graph.out[pe];
    std::uint64_t* const marks = mark.data() + pes[pe].first_word;
    try {
      HostArray<vertex_t> outside(tuning.tile);
      tiles(kTiles, pe, [&](vertex_t begin, vertex_t end) {
        std::fill(marks + begin / 64, marks + (std::int64_t{end} + 63) / 64, 0);
        unite_tile(rows, marks, begin, end, outside.data());
      });
    } catch (...) {
      barrier.cancel();
      throw;
    }
    if (!barrier.arrive_and_wait()) return;
    tiles(kLinks, pe, [&](vertex_t begin, vertex_t end) { link_tile(rows, marks, begin, end); });
    if (!barrier.arrive_and_wait([&] { find_giant(); })) return;
    std::int64_t outside = 0;
    tiles(kRest, pe, [&](vertex_t begin, vertex_t end) { outside += rest_of_tile(pe, begin, end); });
    pes[pe].rest.fetch_add(outside);
    if (!barrier.arrive_and_wait([&] { giant_root = giant == kNoVertex ? giant : find(parent.data(), giant); })) return;
    tiles(kCompress, pe, [&](vertex_t begin, vertex_t end) { compress_tile(rows.first + begin, rows.first + end); });
  });
  throw_if_interrupted();
  std::int64_t outside = 0;
  for (PeState& pe : pes) outside += pe.rest.load();
  return outside;
}

ComponentsHookCpu::ComponentsHookCpu(const PlacedGraph& graph, ThreadTeam& team, const ComponentsHookTuning& tuning) {
  if (!graph.devices.empty()) {
    throw UsageError("ComponentsHookCpu: the graph lies on GPUs; place it with place_on_threads");
  }
  if (team.n_pes() != graph.n_pes()) {
    throw UsageError("ComponentsHookCpu: the graph has " + std::to_string(graph.n_pes()) + " PEs and the team " +
                     std::to_string(team.n_pes()));
  }
  if (tuning.tile < 1 || tuning.samples < 0) {
    throw UsageError("ComponentsHookTuning: tile " + std::to_string(tuning.tile) + ", samples " +
                     std::to_string(tuning.samples) + "; use at least 1 and at least 0");
  }
  ComponentsHookTuning rounded = tuning;
  rounded.tile = (std::min<vertex_t>(tuning.tile, 1u << 30) + 63) / 64 * 64;  // a word of marks belongs to one tile
  state_ = std::make_unique<State>(graph, team, rounded);
}
ComponentsHookCpu::~ComponentsHookCpu() = default;

void ComponentsHookCpu::run(Report& report) {
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t rest = state_->run();
  report.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.rounds += 1;
  report.chosen.push_back({"sampling",
                           std::to_string(state_->graph.num_vertices - rest) + " of " +
                               std::to_string(state_->graph.num_vertices) +
                               " vertices joined the giant tree by their first arcs",
                           ""});
}

Span<const vertex_t> ComponentsHookCpu::label(pe_t pe) const {
  const CsrView& rows = state_->graph.out[pe];
  return {state_->parent.data() + rows.first, rows.count};
}

Words ComponentsHookCpu::words() const {
  return Words::of(state_->graph, [this](pe_t pe) { return label(pe).data(); });
}

std::unique_ptr<ComponentsEngine> make_components_hook_cpu(const Machine& machine, const PlacedGraph& graph,
                                                           const ComponentsPlan&) {
  return std::make_unique<ComponentsHookCpu>(graph, machine.team());
}

}  // namespace shoal
