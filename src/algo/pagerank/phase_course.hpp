// The course of PageRank's phases on GPUs (phases.cuh): the c of the largest component, when the tolerance is met, and when phases
// do not suit a graph. Used by kernels, and by a test that runs them on the host.
#pragma once
#include "sweep_course.hpp"

namespace shoal::pagerank_gpu {

inline constexpr std::uint32_t kShortSweeps = 2;  ///< sweeps of short rows alone, after each sweep of all rows
inline constexpr std::uint32_t kTrialSweeps = 4;  ///< after this many sweeps it is known whether changes shrink fast
inline constexpr double kSlow = 0.4;              ///< of the change before; above it, Chebyshev's recursion is faster

/// Sums over the rows of a sweep.
struct PhaseTold {
  double change;  ///< alpha times the sum of |new - old|
  /// The sums of new ranks in the largest component, and in others; after a sweep of all rows, without those of short rows.
  double tied, other;
};

/// The scalars of a sweep in phases; equal in every thread of every PE.
struct PhaseCourse {
  double c;                            ///< c of the largest component; all others have 1 - alpha
  double tied, still;                  ///< sum of p in the largest component; sum of ranks of rows that are not swept
  PhaseTold of_all;                    ///< findings of the sweep of all rows
  double change, before, long_before;  ///< of the last three sweeps
  double scale;                        ///< the final factor for ranks in the largest component
  double sum, bound;                   ///< sum of all ranks, scaled; bound of the error
  std::uint32_t sweeps;
};

/// Call after a sweep of all rows (at.of_all) and the first one of short rows alone. @return whether the tolerance is met
SHOAL_FN inline bool end_phases(const Rules& rules, const PhaseTold& of_short, PhaseCourse& at) {
  const double jump = 1 - rules.alpha, tied = at.of_all.tied + of_short.tied;
  const double next = jump * tied / at.tied;  // the value that c would have if this sum were the right one
  at.scale = jump / next;
  at.long_before = at.before;
  at.before = at.change;
  at.change = at.of_all.change + of_short.change;
  at.sum = at.scale * tied + at.of_all.other + of_short.other + at.still;
  const double c_of_all = jump * at.sum + rules.alpha * at.still;  // rows that are not swept have no arcs: they dangle
  const double residual =
      at.scale * std::fabs(next - at.c) * at.tied + std::fmax(at.scale, 1.0) * at.change + std::fabs(c_of_all - jump);
  at.c = next;
  at.bound = residual / (at.sum * jump) + rules.rounding;
  ++at.sweeps;
  return at.bound <= rules.tolerance;
}

/// Whether changes shrink so slowly that it is better to start again with Chebyshev's recursion.
SHOAL_FN inline bool is_slow(const Rules& rules, const PhaseCourse& at) {
  return at.sweeps == kTrialSweeps && at.change > kSlow * kSlow * at.long_before && at.bound > 10 * rules.tolerance;
}

}  // namespace shoal::pagerank_gpu
