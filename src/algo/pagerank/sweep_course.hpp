// The course of PageRank's sweeps on GPUs (sweep.cuh): the factors of a sweep, and when the tolerance is met. Used by kernels and
// by the host: if PEs cannot access each other's memory, the host plans each sweep from what all PEs reported (pull_apart.cu).
#pragma once
#include <cmath>
#include <cstdint>

#include "shoal/core/fn.hpp"

namespace shoal::pagerank_gpu {

struct Rules {
  double alpha, tolerance, rounding;
  double rho;             ///< symmetric graphs: first guess of the largest eigenvalue that matters; 0: w = 1
  std::uint32_t fixed_c;  ///< symmetric graphs
  double per_arc;         ///< first guess: this much per arc of a vertex, beside jumps; 0: as if nothing moved
  std::uint32_t most_sweeps;
};

/// The scalars of a sweep; equal in every thread of every PE.
struct Course {
  double c, w, m;  ///< m = w - 1, or 0 after a restart
  double rho;
  double sum, dangling;                  ///< of the ranks before the next sweep
  double residual, before, long_before;  ///< of the last three sweeps
  std::uint32_t since;                   ///< sweeps since the recursion began
};

/// Advances Chebyshev's recursion, and checks whether rho is large enough, after a sweep whose residual is in `at`. A new rho
/// restarts the recursion, which costs about one sweep: far from the end rho becomes alpha at once, near the end the value that the
/// rate suggests.
/// @param enough  the residual at which the tolerance is met
SHOAL_FN inline void plan_sweep(const Rules& rules, double enough, Course& at) {
  if (rules.rho == 0) return;
  ++at.since;
  if (at.rho < rules.alpha && at.since >= 4 && at.long_before > 0 && at.residual > 4 * enough) {
    // A component outside of [-rho, rho] shrinks by (x + sqrt(x x - rho rho)) / (1 + sqrt(1 - rho rho)), where x is its eigenvalue.
    const double rate = std::sqrt(at.residual / at.long_before) * (1 + std::sqrt(1 - at.rho * at.rho));
    const double eigenvalue = rate > at.rho ? (rate * rate + at.rho * at.rho) / (2 * rate) : 0;
    if (eigenvalue > 0.65 * rules.alpha) {
      at.rho = at.residual > 100 * enough ? rules.alpha : std::fmin(eigenvalue, rules.alpha);
      at.since = 0;
    }
  }
  at.w = at.since == 0 ? 1 : at.since == 1 ? 1 / (1 - at.rho * at.rho / 2) : 1 / (1 - at.w * at.rho * at.rho / 4);
  at.m = at.since == 0 ? 0 : at.w - 1;
}

/// Sets at.c. @return the value of c when nothing changes any more
SHOAL_FN inline double begin_sweep(const Rules& rules, Course& at) {
  const double next_c = (1 - rules.alpha) * at.sum + rules.alpha * at.dangling;
  at.c = rules.fixed_c != 0 ? 1 - rules.alpha : next_c;
  return next_c;
}

/// Call after a sweep, with the sums over all rows that it changed.
/// @param still   the sum of rows that are not swept
/// @param next_c  returned by begin_sweep()
/// @param bound   set to the bound of the error
/// @return whether the tolerance is met; at.sum is then the sum of the ranks that are the result
SHOAL_FN inline bool end_sweep(const Rules& rules, double still, double next_c, double residual, double sum,
                               double dangling, Course& at, double& bound) {
  at.long_before = at.before;
  at.before = at.residual;
  at.residual = residual;
  // With a fixed c, the result is the ranks before the sweep, whose residual this is. Otherwise it is those after it, one step
  // better.
  bound = (rules.fixed_c != 0 ? at.residual + std::fabs(next_c - at.c) : rules.alpha * at.residual) /
              (at.sum * (1 - rules.alpha)) +
          rules.rounding;
  const bool settled = bound <= rules.tolerance;
  if (settled && rules.fixed_c != 0) return true;
  at.sum = sum + (rules.fixed_c != 0 ? still : 0);
  if (rules.fixed_c == 0) at.dangling = dangling;
  plan_sweep(rules, (rules.tolerance - rules.rounding) * at.sum * (1 - rules.alpha), at);
  return settled;
}

}  // namespace shoal::pagerank_gpu
