#include <cmath>

#include "pagerank_async.hpp"
#include "pagerank_engines.hpp"
#include "shoal/core/array.hpp"

namespace shoal {
namespace {

class PullCpu : public PageRankEngine {
 public:
  PullCpu(const Machine& machine, const PlacedGraph& graph, const PageRankRules& rules)
      : machine_(machine), graph_(graph), pull_(graph, machine.team(), rules) {}
  PageRankOutcome rank(const double* personal, Report& report) override { return pull_.rank(personal, report); }
  void fetch_ranks(pe_t pe, double* to) const override { pull_.fetch(pe, to); }
  PageRankCheck check(double alpha, const double* personal) const override {
    HostArray<double> ranks(graph_.num_vertices);
    for (pe_t p = 0; p < graph_.n_pes(); ++p) fetch_ranks(p, ranks.data() + graph_.out[p].first);
    return check_pagerank_on_threads(machine_, graph_, ranks.data(), alpha, personal);
  }

 private:
  const Machine& machine_;
  const PlacedGraph& graph_;
  PageRankPullCpu pull_;
};

struct CheckCpu {
  PageRankCheck operator()(const Machine& machine, const PlacedGraph& graph, const double* ranks, double alpha,
                           const double* personal) const {
    return check_pagerank_on_threads(machine, graph, ranks, alpha, personal);
  }
};

}  // namespace

PageRankCheck check_pagerank_on_threads(const Machine& machine, const PlacedGraph& graph, const double* ranks,
                                        double alpha, const double* personal) {
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
  std::vector<PageRankCheck> parts(static_cast<std::size_t>(machine.team().size()));
  machine.team().run([&](pe_t pe, int thread) {
    const CsrView& rows = graph.in[pe];
    const std::int64_t t = machine.threads_per_pe();
    PageRankCheck part;
    for (std::int64_t i = std::int64_t{rows.count} * thread / t; i < std::int64_t{rows.count} * (thread + 1) / t; ++i) {
      const vertex_t v = rows.first + static_cast<vertex_t>(i);
      double sum = 0;
      for (const vertex_t u : rows.neighbors(v)) sum += share[u];
      const double step = alpha * sum + jumps * (personal != nullptr ? personal[v] : uniform);
      const double off = std::abs(step - ranks[v]);
      part.residual += off;
      if (part.worst == kNoVertex || off > std::abs(part.worst_should - part.worst_is)) {
        part.worst = v;
        part.worst_is = ranks[v];
        part.worst_should = step;
      }
    }
    parts[pe * t + thread] = part;
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

std::unique_ptr<PageRankEngine> make_pagerank_async_cpu(const Machine& machine, const PlacedGraph& graph,
                                                        const LaunchPlan& plan, const PageRankRules& rules) {
  return std::make_unique<PageRankAsync<PageRankSummed, CheckCpu>>(machine, graph, plan, rules);
}
std::unique_ptr<PageRankEngine> make_pagerank_pull_cpu(const Machine& machine, const PlacedGraph& graph,
                                                       const PageRankRules& rules) {
  return std::make_unique<PullCpu>(machine, graph, rules);
}

}  // namespace shoal
