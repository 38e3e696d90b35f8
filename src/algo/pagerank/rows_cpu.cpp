#include "rows_cpu.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "algo/components/hook.hpp"
#include "algo/components/joined_labels.hpp"
#include "algo/engine.hpp"
#include "algo/own_vertices.hpp"
#include "short_rows.hpp"

namespace shoal {
namespace {

constexpr std::int64_t kRowsAsked = 4096;  // about this many rows are sampled to see whether arcs lead to near vertices
constexpr std::int64_t kRowsInTurn = 64;
constexpr vertex_t kWindow = 1 << 14;  // rows of a window: their contributions stay in a second-level cache

const std::vector<CsrView>& in_of(const PlacedGraph& graph) { return graph.symmetric ? graph.out : graph.in; }

/// Whether most arcs lead to vertices that are near in placed order: rows in that order find many contributions in the caches.
bool leads_near(const PlacedGraph& graph, World* world) {
  const vertex_t near = static_cast<vertex_t>(std::max<std::int64_t>(graph.num_vertices / 64, 1));
  const std::int64_t step = std::max<std::int64_t>(graph.num_vertices / kRowsAsked, 1);
  struct Found {
    arc_t arcs = 0, short_ones = 0;
  } mine;
  for (const CsrView& rows : in_of(graph)) {
    for (std::int64_t i = 0; i < rows.count; i += step) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      for (const vertex_t u : rows.neighbors(v)) {
        ++mine.arcs;
        mine.short_ones += (u > v ? u - v : v - u) <= near;
      }
    }
  }
  Found all;
  for (const Found& its : of_processes(world, mine)) all.arcs += its.arcs, all.short_ones += its.short_ones;
  return 2 * all.short_ones > all.arcs;
}

/// The labels of the components of a PE's vertices.
class Labels {
 public:
  /// @param world  of several processes, which find the components only where every arc has its reverse; null: one process
  Labels(const PlacedGraph& graph, ThreadTeam& team, World* world) : graph_(graph) {
    if (world == nullptr) {
      here_.emplace(graph, team);
      Report unused;
      here_->run(unused);
    } else if (graph.symmetric) {
      everywhere_ = joined_labels(*world, graph);
    }
  }
  bool known() const { return here_ || everywhere_.size() > 0; }
  vertex_t of(pe_t pe, vertex_t i) const { return here_ ? here_->label(pe)[i] : everywhere_[graph_.out[pe].first + i]; }
  /// The label that most of a sample of vertices have; the same in all processes.
  vertex_t most() const {
    std::vector<vertex_t> labels;
    const std::int64_t step = std::max<std::int64_t>(graph_.num_vertices / kRowsAsked, 1);
    if (!here_) {
      for (std::int64_t v = 0; v < everywhere_.size(); v += step) labels.push_back(everywhere_[v]);
      return most_frequent(std::move(labels));
    }
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& rows = graph_.out[p];
      for (std::int64_t i = 0; i < rows.count; i += step) {
        if (rows.offsets[i + 1] > rows.offsets[i]) labels.push_back(here_->label(p)[i]);
      }
    }
    return most_frequent(std::move(labels));
  }

 private:
  const PlacedGraph& graph_;
  std::optional<ComponentsHookCpu> here_;
  HostArray<vertex_t> everywhere_;
};

/// Sorts local rows [begin, end), which are ascending, by length: longest first, rows of equal length in their order.
void order_by_length(const CsrView& rows, vertex_t* begin, vertex_t* end) {
  const auto length = [&](vertex_t i) { return rows.offsets[i + 1] - rows.offsets[i]; };
  arc_t longest = 0;
  for (const vertex_t* i = begin; i != end; ++i) longest = std::max(longest, length(*i));
  if (longest > end - begin) {
    std::stable_sort(begin, end, [&](vertex_t a, vertex_t b) { return length(a) > length(b); });
    return;
  }
  std::vector<vertex_t> next(longest + 2, 0);  // [k]: where the next row that is k shorter than the longest goes
  for (const vertex_t* i = begin; i != end; ++i) ++next[longest - length(*i) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  const std::vector<vertex_t> ascending(begin, end);
  for (const vertex_t i : ascending) begin[next[longest - length(i)]++] = i;
}

}  // namespace

PageRankRowsCpu::PageRankRowsCpu(const PlacedGraph& graph, ThreadTeam& team, World* world)
    : near_(leads_near(graph, world)), pes_(graph.n_pes()) {
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    Pe& pe = pes_[p];
    pe.rows.in = in_of(graph)[p];
    pe.rows.active = pe.rows.in.count;
    pe.degree = HostArray<std::uint32_t>(pe.rows.in.count);
    pe.rows.degree = pe.degree.data();
    pe.order = HostArray<vertex_t>(pe.rows.in.count);
    pe.rows.order = pe.order.data();
    pe.offsets = HostArray<arc_t>(pe.rows.in.count + 1);
    pe.targets =
        HostArray<vertex_t>(pe.rows.in.count == 0 ? 0 : pe.rows.in.offsets[pe.rows.in.count] - pe.rows.in.offsets[0]);
  }
  order_rows(graph, team, world);
  fill_rows(graph, team, world);
  for_shares(team, graph, [&](pe_t p, int, vertex_t begin, vertex_t end) {
    const CsrView& out = graph.out[p];
    for (vertex_t i = begin - out.first; i < end - out.first; ++i) {
      const vertex_t v = out.local(pes_[p].rows.placed(i));
      pes_[p].degree[i] = static_cast<std::uint32_t>(
          std::min<arc_t>(out.offsets[v + 1] - out.offsets[v], std::numeric_limits<std::uint32_t>::max()));
    }
  });
}

/// Sets the order, largest, tied and active of each PE.
void PageRankRowsCpu::order_rows(const PlacedGraph& graph, ThreadTeam& team, World* world) {
  const Labels labels(graph, team, world);
  const vertex_t largest = labels.known() ? labels.most() : kNoVertex;
  const vertex_t window = near_ ? kWindow : kNoVertex;
  team.run([&](pe_t p, int thread) {
    if (thread != 0) return;
    PageRankCpuRows& rows = pes_[p].rows;
    vertex_t* const order = pes_[p].order.data();
    const auto length = [&](vertex_t i) { return rows.in.offsets[i + 1] - rows.in.offsets[i]; };
    // Sorts within windows of the PE's rows.
    const auto order_by_window = [&](vertex_t* begin, vertex_t* const end) {
      while (begin != end) {
        vertex_t* const next = std::find_if(begin, end, [&](vertex_t i) { return i / window != *begin / window; });
        order_by_length(rows.in, begin, next);
        begin = next;
      }
    };
    std::iota(order, order + rows.in.count, vertex_t{0});
    vertex_t* end = order + rows.in.count;
    if (graph.symmetric) end = std::stable_partition(order, end, [&](vertex_t i) { return length(i) > 0; });
    vertex_t* const others =
        labels.known() ? std::stable_partition(order, end, [&](vertex_t i) { return labels.of(p, i) == largest; })
                       : order;
    order_by_window(order, others);
    order_by_window(others, end);
    rows.largest = static_cast<vertex_t>(others - order);
    rows.active = static_cast<vertex_t>(end - order);
  });
  struct Count {
    std::int64_t in_it = 0, all = 0;
  } mine, total;
  for (const Pe& pe : pes_) mine.in_it += pe.rows.largest, mine.all += pe.rows.active;
  for (const Count& its : of_processes(world, mine)) total.in_it += its.in_it, total.all += its.all;
  const bool most = 2 * total.in_it > total.all;
  tied_ = most && graph.symmetric;
  for (Pe& pe : pes_) {
    if (!most) pe.rows.largest = 0;
    if (tied_) {
      pe.rows.tied = pe.rows.largest;
    } else {
      pe.rows.active = pe.rows.in.count;
    }
  }
}

/// Copies the arcs in that order, with places as targets.
void PageRankRowsCpu::fill_rows(const PlacedGraph& graph, ThreadTeam& team, World* world) {
  HostArray<vertex_t> place(graph.num_vertices);
  for_shares(team, graph, [&](pe_t p, int, vertex_t begin, vertex_t end) {
    const vertex_t first = graph.out[p].first;
    for (vertex_t i = begin - first; i < end - first; ++i) place[first + pes_[p].order[i]] = first + i;
  });
  complete(world, graph, place.data(), sizeof(vertex_t));
  team.run([&](pe_t p, int thread) {
    if (thread != 0) return;
    const CsrView& in = pes_[p].rows.in;
    arc_t at = 0;
    for (vertex_t i = 0; i < in.count; ++i) {
      pes_[p].offsets[i] = at;
      at += in.offsets[pes_[p].order[i] + 1] - in.offsets[pes_[p].order[i]];
    }
    pes_[p].offsets[in.count] = at;
  });
  team.run([&](pe_t p, int thread) {
    const CsrView& in = pes_[p].rows.in;
    // Long rows come first, so threads take blocks in turn.
    for (std::int64_t begin = kRowsInTurn * thread; begin < in.count; begin += kRowsInTurn * team.threads_per_pe()) {
      for (std::int64_t i = begin; i < std::min<std::int64_t>(begin + kRowsInTurn, in.count); ++i) {
        const vertex_t v = pes_[p].order[i];
        vertex_t* const to = pes_[p].targets.data() + pes_[p].offsets[i];
        for (arc_t k = in.offsets[v]; k < in.offsets[v + 1]; ++k) to[k - in.offsets[v]] = place[in.targets[k]];
      }
    }
  });
  for (Pe& pe : pes_) {
    pe.rows.in.offsets = pe.offsets.data();
    pe.rows.in.targets = pe.targets.data();
  }
}

}  // namespace shoal
