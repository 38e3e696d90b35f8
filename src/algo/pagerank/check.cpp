#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algo/engine.hpp"
#include "algo/own_vertices.hpp"
#include "shoal/core/array.hpp"

namespace shoal {

void add_rows(PageRankCheck& sum, const PageRankCheck& part) {
  sum.residual += part.residual;
  if (part.worst == kNoVertex) return;
  if (sum.worst != kNoVertex &&
      std::abs(part.worst_should - part.worst_is) <= std::abs(sum.worst_should - sum.worst_is)) {
    return;
  }
  sum.worst = part.worst;
  sum.worst_is = part.worst_is;
  sum.worst_should = part.worst_should;
}

PageRankCheck check_pagerank_on_threads(const Machine& machine, const PlacedGraph& graph, const double* ranks,
                                        double alpha, const double* personal) {
  ThreadTeam& team = machine.team();
  /// The findings of a process in the ranks of its own vertices.
  struct Own {
    double sum = 0, dangling = 0, bad_is = 0;
    vertex_t bad = kNoVertex;
  } own;
  HostArray<double> share(graph.num_vertices);
  for (const CsrView& rows : graph.out) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t v = rows.first + i;
      const auto degree = static_cast<double>(rows.offsets[i + 1] - rows.offsets[i]);
      if (!(ranks[v] >= 0) || !std::isfinite(ranks[v])) {
        if (own.bad == kNoVertex) own.bad = static_cast<vertex_t>(v), own.bad_is = ranks[v];
        continue;
      }
      own.sum += ranks[v];
      own.dangling += degree == 0 ? ranks[v] : 0;
      share[v] = degree > 0 ? ranks[v] / degree : 0;
    }
  }
  complete(machine, graph, share.data(), sizeof(double));
  PageRankCheck check;
  double dangling = 0;
  for (const Own& its : of_processes(machine, own)) {
    if (check.bad == kNoVertex && its.bad != kNoVertex) check.bad = its.bad, check.worst_is = its.bad_is;
    check.sum += its.sum;
    dangling += its.dangling;
  }
  if (check.bad != kNoVertex) return check;
  const double jumps = (1 - alpha) * check.sum + alpha * dangling;
  const double uniform = 1.0 / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
  std::vector<PageRankCheck> parts(static_cast<std::size_t>(team.size()));
  for_shares(team, graph, [&](pe_t pe, int thread, vertex_t begin, vertex_t end) {
    PageRankCheck part;
    for (vertex_t v = begin; v < end; ++v) {
      double sum = 0;
      for (const vertex_t u : graph.in[pe].neighbors(v)) sum += share[u];
      const double step = alpha * sum + jumps * (personal != nullptr ? personal[v] : uniform);
      const double off = std::abs(step - ranks[v]);
      part.residual += off;
      if (part.worst == kNoVertex || off > std::abs(part.worst_should - part.worst_is)) {
        part.worst = v;
        part.worst_is = ranks[v];
        part.worst_should = step;
      }
    }
    parts[static_cast<std::size_t>(pe * team.threads_per_pe() + thread)] = part;
  });
  PageRankCheck here;
  for (const PageRankCheck& part : parts) add_rows(here, part);
  for (const PageRankCheck& its : of_processes(machine, here)) add_rows(check, its);
  return check;
}

}  // namespace shoal
