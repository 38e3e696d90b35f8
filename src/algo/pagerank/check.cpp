#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "algo/own_vertices.hpp"
#include "shoal/core/array.hpp"

namespace shoal {

PageRankCheck check_pagerank_on_threads(ThreadTeam& team, const PlacedGraph& graph, const double* ranks, double alpha,
                                        const double* personal) {
  PageRankCheck check;
  double dangling = 0;
  HostArray<double> share(graph.num_vertices);
  for (const CsrView& rows : graph.out) {
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const std::int64_t v = rows.first + i;
      const auto degree = static_cast<double>(rows.offsets[i + 1] - rows.offsets[i]);
      if (!(ranks[v] >= 0) || !std::isfinite(ranks[v])) {
        check.bad = static_cast<vertex_t>(v);
        check.worst_is = ranks[v];
        return check;
      }
      check.sum += ranks[v];
      dangling += degree == 0 ? ranks[v] : 0;
      share[v] = degree > 0 ? ranks[v] / degree : 0;
    }
  }
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
  for (const PageRankCheck& part : parts) {
    check.residual += part.residual;
    if (part.worst == kNoVertex) continue;
    if (check.worst == kNoVertex ||
        std::abs(part.worst_should - part.worst_is) > std::abs(check.worst_should - check.worst_is)) {
      check.worst = part.worst;
      check.worst_is = part.worst_is;
      check.worst_should = part.worst_should;
    }
  }
  return check;
}

}  // namespace shoal
