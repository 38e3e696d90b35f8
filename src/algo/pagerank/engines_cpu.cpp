#include <algorithm>
#include <cmath>

#include "async.hpp"
#include "engines.hpp"
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

/// All vertices of a PE, on its threads.
struct HandsCpu {
  template <class Engine, class F>
  static void for_all(const Engine& engine, pe_t p, F&& f) {
    const Machine& machine = engine.machine();
    const std::int64_t n = engine.graph().out[p].count, t = machine.threads_per_pe();
    machine.team().run([&](pe_t pe, int thread) {
      if (pe == p) f(thread, n * thread / t, n * (thread + 1) / t);
    });
  }
  /// Threads read the rows of all PEs alike.
  static const std::uint32_t* degrees(const PlacedGraph&, pe_t) { return nullptr; }
  template <class Engine>
  void clear(const Engine& engine, pe_t p) const {
    for_all(engine, p, [&](int, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      std::fill(task.y + begin, task.y + end, 0.0);
      std::fill(task.residual + begin, task.residual + end, 0.0);
    });
  }
  template <class Engine>
  PageRankSums sums(const Engine& engine, pe_t p) const {
    std::vector<PageRankSums> parts(static_cast<std::size_t>(engine.machine().threads_per_pe()));
    for_all(engine, p, [&](int thread, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      PageRankSums part;
      for (std::int64_t i = begin; i < end; ++i) {
        const double r = task.residual[i];
        part.ranks += std::max(task.y[i] + r, 0.0);
        if (task.graph.offsets[i + 1] == task.graph.offsets[i]) continue;
        part.left += std::abs(r);
        part.drift += r;
        part.jumps += task.personal != nullptr ? task.personal[i] : task.uniform;
      }
      parts[static_cast<std::size_t>(thread)] = part;
    });
    PageRankSums all;
    for (const PageRankSums& part : parts) {
      all.left += part.left, all.drift += part.drift, all.jumps += part.jumps, all.ranks += part.ranks;
    }
    return all;
  }
  template <class Engine>
  void settle(const Engine& engine, pe_t p, double scale) const {
    for_all(engine, p, [&](int, std::int64_t begin, std::int64_t end) {
      const auto& task = engine.task(p);
      for (std::int64_t i = begin; i < end; ++i) task.y[i] = std::max(task.y[i] + task.residual[i], 0.0) * scale;
    });
  }
  static PageRankCheck check(const Machine& machine, const PlacedGraph& graph, const double* ranks, double alpha,
                             const double* personal) {
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
  return std::make_unique<PageRankAsync<PageRankSummed, HandsCpu>>(machine, graph, plan, rules);
}
std::unique_ptr<PageRankEngine> make_pagerank_pull_cpu(const Machine& machine, const PlacedGraph& graph,
                                                       const PageRankRules& rules) {
  return std::make_unique<PullCpu>(machine, graph, rules);
}

}  // namespace shoal
