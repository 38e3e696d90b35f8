// The course of PageRank's phases on GPUs (phases.cuh): c of the largest component, when the tolerance is met, and when phases do not
// suit a graph. Of kernels, and of a test that goes through them on the host.
#pragma once
#include "sweep_course.hpp"

namespace shoal::pagerank_gpu {

inline constexpr std::uint32_t kShortSweeps = 2;  ///< of short rows alone, after each sweep of all rows
inline constexpr std::uint32_t kTrialSweeps = 4;  ///< by then a graph has shown whether changes shrink fast
inline constexpr double kSlow = 0.4;              ///< of the change a sweep before: Chebyshev's recursion is faster

/// What rows that were swept told.
struct PhaseTold {
  double change;  ///< alpha times the sum of |new - old|
  /// The sum of new ranks in the largest component, and in others; after a sweep of all rows without those of short ones.
  double tied, other;
};

/// Scalars of a sweep in phases; equal in every thread of every PE.
struct PhaseCourse {
  double c;                            ///< of the largest component; all others have 1 - alpha
  double tied, still;                  ///< what jumps go to it; the sum of rows that are not swept
  PhaseTold of_all;                    ///< of the sweep of all rows
  double change, before, long_before;  ///< of the last three sweeps
  double scale;                        ///< of ranks in the largest component, in the end
  double sum, bound;                   ///< of all ranks, scaled; of the error
  std::uint32_t sweeps;
};

/// After a sweep of all rows (at.of_all) and the first of the short ones alone. @return whether the tolerance is met
SHOAL_FN inline bool end_phases(const Rules& rules, const PhaseTold& of_short, PhaseCourse& at) {
  const double jump = 1 - rules.alpha, tied = at.of_all.tied + of_short.tied;
  const double next = jump * tied / at.tied;  // as it would be, if this sum were the right one
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

/// Whether changes shrink so slowly that it is better to begin anew, by Chebyshev's recursion.
SHOAL_FN inline bool is_slow(const Rules& rules, const PhaseCourse& at) {
  return at.sweeps == kTrialSweeps && at.change > kSlow * kSlow * at.long_before && at.bound > 10 * rules.tolerance;
}

}  // namespace shoal::pagerank_gpu
