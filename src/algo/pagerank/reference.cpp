#include "reference.hpp"

#include <cmath>
#include <mutex>

#include "shoal/core/parallel.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
std::string describe_pagerank_check(const PageRankCheck& check, double alpha, double tolerance, std::int64_t n,
                                    vertex_t worst) {
  if (n == 0) return "";
  if (check.bad != kNoVertex) {
    return "vertex " + std::to_string(worst) + " has rank " + rough(check.worst_is) + ", which no walk can have";
  }
  const double error = check.residual / (1 - alpha);
  // The exact ranks sum to exactly 1: the distance of the sum from 1 is an error that the step does not show.
  const double off = std::abs(check.sum - 1);
  if (error <= tolerance && off <= tolerance) return "";
  if (!(off <= tolerance)) return "the ranks sum to " + rough(check.sum) + ", not to 1";
  std::string line = "the ranks may be " + rough(error) + " from PageRank (the residual is " + rough(check.residual) +
                     "), " + rough(tolerance) + " was asked for";
  if (check.worst != kNoVertex) {
    line += "; vertex " + std::to_string(worst) + " has " + rough(check.worst_is) + ", one step gives " +
            rough(check.worst_should);
  }
  return line;
}

std::string verify_pagerank(const Csr& graph, const Csr& in, Span<const double> ranks, double alpha, double tolerance,
                            const std::vector<double>& personal) {
  const std::int64_t n = graph.num_vertices();
  if (ranks.size() != n || in.num_vertices() != n) {
    return "there are " + std::to_string(ranks.size()) + " ranks for " + std::to_string(n) + " vertices";
  }
  PageRankCheck check;
  double dangling = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    if (!(ranks[v] >= 0) || !std::isfinite(ranks[v])) {
      check.bad = static_cast<vertex_t>(v);
      check.worst_is = ranks[v];
      return describe_pagerank_check(check, alpha, tolerance, n, check.bad);
    }
    check.sum += ranks[v];
    if (graph.degree(static_cast<vertex_t>(v)) == 0) dangling += ranks[v];
  }
  const double jumps = (1 - alpha) * check.sum + alpha * dangling;
  std::mutex mutex;
  double largest = -1;
  parallel_ranges(n, 1 << 13, [&](std::int64_t begin, std::int64_t end) {
    double residual = 0, local_largest = -1, should = 0;
    vertex_t worst = kNoVertex;
    for (std::int64_t i = begin; i < end; ++i) {
      const auto v = static_cast<vertex_t>(i);
      double sum = 0;
      for (const vertex_t u : in.neighbors(v)) sum += ranks[u] / static_cast<double>(graph.degree(u));
      const double p = personal.empty() ? 1.0 / static_cast<double>(n) : personal[v];
      const double step = alpha * sum + jumps * p, off = std::abs(step - ranks[v]);
      residual += off;
      if (off > local_largest) local_largest = off, worst = v, should = step;
    }
    const std::lock_guard lock(mutex);
    check.residual += residual;
    if (local_largest > largest || (local_largest == largest && worst < check.worst)) {
      largest = local_largest;
      check.worst = worst;
      check.worst_is = ranks[worst];
      check.worst_should = should;
    }
  });
  return describe_pagerank_check(check, alpha, tolerance, n, check.worst);
}

}  // namespace shoal
