// When PageRank by power iteration ends. src/algo/pagerank/reference.hpp defines ranks and their error. One step G brings ranks
// closer to the exact ones by the factor alpha. So after a step that changed them by d in sum, they are at most
// alpha * d / (1 - alpha) from the exact ones.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

#include "algo/pagerank/pull.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal::baselines {

/// Sums over the vertices of a rank, or of all ranks.
struct Sums {
  double change, rank, dangling;
};

class Sweeps {
 public:
  Sweeps(std::int64_t num_vertices, const PageRankRules& rules)
      : rules_(rules),
        n_(static_cast<double>(num_vertices)),
        rounding_(pagerank_rounding(rules)),
        // Changes are below 2 and shrink by the factor alpha in each sweep; rounding may take 9/10 of the tolerance.
        most_(std::log(rules.tolerance * (1 - rules.alpha) / 40) / std::log(rules.alpha) + 10),
        error_bound_(num_vertices > 0 ? std::numeric_limits<double>::infinity() : 0) {}

  /// @return whether another sweep is needed. @throws DeviceError  more sweeps were made than can be needed
  bool go_on() const {
    if (error_bound_ <= rules_.tolerance) return false;
    if (static_cast<double>(done_) <= most_) return true;
    throw DeviceError("the ranks do not converge: the error is below " + rough(error_bound_) + ", but " +
                      exact(rules_.tolerance) + " was asked for");
  }
  /// What each vertex gets from jumps. @param before  the sums over all vertices before the sweep
  double jump(const Sums& before) const {
    return ((1 - rules_.alpha) * before.rank + rules_.alpha * before.dangling) / n_;
  }
  /// Counts a sweep. @param change  the sum over all vertices
  void swept(double change) {
    ++done_;
    error_bound_ = rules_.alpha * change / (1 - rules_.alpha) + rounding_;
  }
  double error_bound() const { return error_bound_; }  ///< of the sum of |rank - exact rank|

 private:
  PageRankRules rules_;
  double n_, rounding_, most_, error_bound_;
  std::int64_t done_ = 0;
};

}  // namespace shoal::baselines
