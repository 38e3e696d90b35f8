// PageRank in plain serial code, and a definition of the right answer.
//
// A walk stands on a vertex u. With probability alpha it follows one of u's d(u) out-arcs, each equally likely (parallel
// arcs count as often as they occur, a self-loop is one arc); otherwise, and always when u has no out-arc ("dangling"), it
// jumps to vertex v with probability p(v), the personalisation: uniform, 1/n, unless another is given. The ranks x(v) are
// how often the walk stands on v in the long run. They sum to 1 and are the only solution of x = G(x),
//
//   G(x)(v) = alpha * sum over arcs (u, v) of x(u) / d(u)  +  ((1 - alpha) * sum of x + alpha * sum of dangling x) * p(v)
//
// This is what NetworkX's pagerank() computes (a dangling vertex jumps by the personalisation; weight=None).
//
// The distance from the right answer: G brings any two vectors closer by a factor of at most alpha in the L1 norm |y| = sum of
// |y(v)|. So for any x,
//
//   |x - exact| <= |G(x) - x| / (1 - alpha)
//
// and one step from an answer bounds its error without knowing the exact ranks. Results are checked with this bound, and runs
// report it. (Proof: |x - exact| <= |x - G(x)| + |G(x) - G(exact)| <= |x - G(x)| + alpha |x - exact|.)
//
// Dangling vertices need no extra traffic: with c = (1 - alpha) sum x + alpha sum of dangling x, the ranks solve the linear system
// y = alpha A'y + c p. Its solution is c times that for c = 1, so any c will do, and dividing by the sum gives the ranks. The
// strategies solve that system with a fixed or a changing c.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// Ranks by power iteration, serial, in float64, pushed along out-arcs. [num_vertices]
/// @param alpha     in [0, 1)
/// @param personal  [num_vertices] at least 0, sums to 1; empty: uniform
/// @param error     the L1 error is at most this (except for rounding, about 1e-16 times the largest degree)
inline std::vector<double> pagerank_reference(const Csr& graph, double alpha = 0.85,
                                              const std::vector<double>& personal = {}, double error = 1e-12) {
  const std::int64_t n = graph.num_vertices();
  std::vector<double> x(n, n > 0 ? 1.0 / static_cast<double>(n) : 0), next(n);
  // Rounding changes the sums of long rows in every step; after this many steps nothing else changes.
  const double steps = alpha > 0 ? std::log(error * (1 - alpha) / 4) / std::log(alpha) + 2 : 2;
  double change = 1;
  // The first step is needed even with alpha 0: it moves the ranks to where jumps lead.
  for (std::int64_t step = 0; n > 0 && (step == 0 || change * alpha > error * (1 - alpha)) && step < steps; ++step) {
    double jumps = 0, sum = 0;
    std::fill(next.begin(), next.end(), 0.0);
    for (std::int64_t u = 0; u < n; ++u) {
      const auto row = graph.neighbors(static_cast<vertex_t>(u));
      jumps += (row.empty() ? 1 : 1 - alpha) * x[u];
      for (const vertex_t v : row) next[v] += alpha * x[u] / static_cast<double>(row.size());
    }
    for (std::int64_t v = 0; v < n; ++v) {
      next[v] += jumps * (personal.empty() ? 1.0 / static_cast<double>(n) : personal[v]);
      sum += next[v];
    }
    change = 0;
    for (std::int64_t v = 0; v < n; ++v) {
      next[v] /= sum;  // the sum is 1 except for rounding, which would accumulate
      change += std::abs(next[v] - x[v]);
    }
    x.swap(next);
  }
  return x;
}

/// The result of one step G from given ranks.
struct PageRankCheck {
  double sum = 0;              ///< of the ranks
  double residual = 0;         ///< |G(x) - x|
  vertex_t worst = kNoVertex;  ///< vertex where they differ most
  double worst_is = 0, worst_should = 0;
  vertex_t bad = kNoVertex;  ///< a vertex whose rank is negative or not a number
};

/// Describes a check in one line: empty when the ranks sum to 1 and their error is within `tolerance`.
/// @param worst  the number by which `check.worst` (or `check.bad`) is to be called
std::string describe_pagerank_check(const PageRankCheck& check, double alpha, double tolerance, std::int64_t n,
                                    vertex_t worst);

/// Checks ranks on all threads, in float64. Empty when they are right; otherwise one line, such as
/// `the ranks may be 3.1e-04 from PageRank (the residual is 4.6e-05), 1e-06 was asked for; vertex 17 has 2.0e-05, one step
/// gives 4.1e-05`.
/// @param in      the graph if it is symmetric, else its transpose
/// @param ranks   [num_vertices]; any other length is reported as wrong
/// @param personal  [num_vertices] at least 0, sums to 1; empty: uniform
std::string verify_pagerank(const Csr& graph, const Csr& in, Span<const double> ranks, double alpha, double tolerance,
                            const std::vector<double>& personal = {});

}  // namespace shoal
