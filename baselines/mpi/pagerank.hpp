// PageRank by sweeps, one thread per rank. Each rank sums its vertices' shares by target, with one word for each target of another
// rank, and all ranks exchange these words.
#pragma once
#include <cmath>
#include <vector>

#include "../common/sweeps.hpp"
#include "ranks.hpp"

namespace shoal::mpi {

using baselines::Sums;
using baselines::Sweeps;

class Ranking {
 public:
  /// All ranks must call this together: they agree on the order of the words that each rank sends to each other.
  Ranking(const Csr& graph, const Ranks& ranks, const PageRankRules& rules)
      : rows_(graph, ranks), out_(ranks.size), in_(ranks.size), rules_(rules) {
    num_vertices_ = graph.num_vertices();
    const std::int64_t own = rows_.count();
    const baselines::TargetWords words(rows_, ranks, num_vertices_);
    for (int r = 0; r < ranks.size; ++r) out_.count(r, words.counts[r]);
    out_.place();
    exchange_counts(out_, in_);
    targets_in_.resize(in_.place());
    exchange(words.asked.data(), out_, targets_in_.data(), in_);
    sums_.resize(own + words.asked.size());
    received_.resize(targets_in_.size());
  }

  void run() {
    const std::int64_t own = rows_.count();
    steps_.clear();
    ranks.assign(own, 1 / static_cast<double>(num_vertices_));
    Sums all{};
    for (std::int64_t v = 0; v < own; ++v) add(v, 0, all);
    all = over_ranks(all);
    Sweeps sweeps(num_vertices_, rules_);
    while (sweeps.go_on()) {
      Clock clock;
      std::fill(sums_.begin(), sums_.end(), 0.0);
      for (std::int64_t v = 0; v < own; ++v) {
        const double share = ranks[v] / static_cast<double>(rows_.degree(v));
        for (const vertex_t word : rows_[v]) sums_[word] += share;
      }
      Step step{own, static_cast<std::int64_t>(sums_.size()) - own, clock.lap()};
      exchange(sums_.data() + own, out_, received_.data(), in_);
      step.communicate_seconds = clock.lap();
      for (std::size_t i = 0; i < received_.size(); ++i) sums_[targets_in_[i]] += received_[i];
      const double jump = sweeps.jump(all);
      Sums part{};
      for (std::int64_t v = 0; v < own; ++v) {
        const double last = ranks[v];
        ranks[v] = rules_.alpha * sums_[v] + jump;
        add(v, last, part);
      }
      step.compute_seconds += clock.lap();
      all = over_ranks(part);
      step.communicate_seconds += clock.lap();
      step.seconds = step.compute_seconds + step.communicate_seconds;
      steps_.push_back(step);
      sweeps.swept(all.change);
    }
    error_bound = sweeps.error_bound();
    for (double& rank : ranks) rank /= all.rank;  // all.rank is 1 except for rounding
  }

  /// The steps of the last run, one for each sweep.
  const std::vector<Step>& steps() const { return steps_; }

  std::vector<double> ranks;  ///< of own vertices
  double error_bound = 0;     ///< of the sum of |rank - exact rank|

 private:
  void add(std::int64_t v, double last, Sums& to) const {
    to.change += std::abs(ranks[v] - last);
    to.rank += ranks[v];
    to.dangling += rows_.degree(v) == 0 ? ranks[v] : 0;
  }
  static Sums over_ranks(const Sums& part) {
    Sums all{};
    MPI_Allreduce(&part, &all, 3, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return all;
  }

  Rows rows_;  // targets are words of sums_
  Layout out_, in_;
  PageRankRules rules_;
  std::int64_t num_vertices_ = 0;
  std::vector<vertex_t> targets_in_;     // for each word that other ranks send: the own vertex that it is for
  std::vector<double> sums_, received_;  // sums_: own vertices, then words for other ranks (TargetWords)
  std::vector<Step> steps_;
};

}  // namespace shoal::mpi
