// The interface through which a baseline computes. Each process has one or more ranks.
#pragma once
#include <cstdint>
#include <vector>

#include "algo/pagerank/pull.hpp"
#include "ranks.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::baselines {

/// All processes must call each function together. Process p has the ranks from p * ranks_of_process on.
class Engine {
 public:
  virtual ~Engine() = default;
  /// One of these two is called, once, before all other functions. The graph is not needed afterwards.
  virtual void place_search(const Csr& graph, bool send_once) = 0;
  virtual void place_ranking(const Csr& graph, const PageRankRules& rules) = 0;

  /// @return seconds of this process's slowest rank; the same for sweep()
  virtual double search(vertex_t source) = 0;
  virtual double sweep() = 0;

  /// The steps of the last run: those of this process's ranks, one rank after another. All ranks have the same number of steps.
  virtual std::vector<Step> steps() const = 0;
  virtual std::vector<std::int32_t> levels() const = 0;  ///< of own vertices; -1 where unreached
  virtual std::vector<double> ranks() const = 0;         ///< of own vertices
  virtual Reached reached() const = 0;                   ///< by the ranks of this process
  virtual double error_bound() const = 0;                ///< of the sum of |rank - exact rank|
};

}  // namespace shoal::baselines
