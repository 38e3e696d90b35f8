// What a baseline computes with: one or more ranks in each process.
#pragma once
#include <cstdint>
#include <vector>

#include "algo/pagerank/pull.hpp"
#include "ranks.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::baselines {

/// All processes call each function together. Process p has the ranks from p * ranks_of_process on.
class Engine {
 public:
  virtual ~Engine() = default;
  /// Once, before anything else; one of both. The graph is not needed any more afterwards.
  virtual void place_search(const Csr& graph, bool send_once) = 0;
  virtual void place_ranking(const Csr& graph, const PageRankRules& rules) = 0;

  /// @return seconds of this process's slowest rank
  virtual double search(vertex_t source) = 0;
  virtual double sweep() = 0;

  /// Of the last run. Ranks of this process one after the other; all ranks have as many steps.
  virtual std::vector<Step> steps() const = 0;
  virtual std::vector<std::int32_t> levels() const = 0;  ///< of own vertices; -1 where unreached
  virtual std::vector<double> ranks() const = 0;         ///< of own vertices
  virtual Reached reached() const = 0;                   ///< by the ranks of this process
  virtual double error_bound() const = 0;                ///< of the sum of |rank - exact rank|
};

}  // namespace shoal::baselines
