// PageRank by sweeps, one thread per rank: each rank adds its vertices' shares up by target, for each target of another
// rank in a word of its own, and all ranks exchange these words. What ranks and their error are stands in
// src/algo/pagerank/reference.hpp: one step G brings ranks closer by alpha, so after a step that changed them by d in sum
// they are alpha * d / (1 - alpha) from the exact ones at most.
#pragma once
#include <cmath>
#include <limits>
#include <vector>

#include "algo/pagerank/pull.hpp"
#include "ranks.hpp"

namespace shoal::mpi {

class Ranking {
 public:
  /// All ranks call it: they agree on the order of the words that each sends to each.
  Ranking(const Csr& graph, const Ranks& ranks, const PageRankRules& rules)
      : rows_(graph, ranks), out_(ranks.size), in_(ranks.size), rules_(rules) {
    num_vertices_ = graph.num_vertices();
    const std::int64_t own = rows_.count();
    // The word of each target: own vertices first, then those of rank 0, 1, ...
    std::vector<vertex_t> word(num_vertices_, kNoVertex), asked;
    for (const vertex_t u : rows_.targets) word[u] = 0;
    for (int r = 0; r < ranks.size; ++r) {
      const std::size_t before = asked.size();
      for (std::int64_t u = r, i = 0; u < num_vertices_; u += ranks.size, ++i) {
        if (r == ranks.rank) word[u] = static_cast<vertex_t>(i);
        if (r == ranks.rank || word[u] == kNoVertex) continue;
        word[u] = static_cast<vertex_t>(own + static_cast<std::int64_t>(asked.size()));
        asked.push_back(static_cast<vertex_t>(i));
      }
      out_.count(r, asked.size() - before);
    }
    for (vertex_t& u : rows_.targets) u = word[u];
    out_.place();
    exchange_counts(out_, in_);
    targets_in_.resize(in_.place());
    exchange(asked.data(), out_, targets_in_.data(), in_);
    sums_.resize(own + asked.size());
    received_.resize(targets_in_.size());
  }

  void run() {
    const std::int64_t own = rows_.count();
    const double n = static_cast<double>(num_vertices_), alpha = rules_.alpha;
    const double rounding = pagerank_rounding(rules_);
    // Changes are below 2 and shrink by alpha in each sweep; rounding may take 9/10 of the tolerance.
    const double most = std::log(rules_.tolerance * (1 - alpha) / 40) / std::log(alpha) + 10;
    steps_.clear();
    ranks.assign(own, 1 / n);
    Sums all{};
    for (std::int64_t v = 0; v < own; ++v) add(v, 0, all);
    all = over_ranks(all);
    error_bound = num_vertices_ > 0 ? std::numeric_limits<double>::infinity() : 0;
    while (error_bound > rules_.tolerance) {
      if (static_cast<double>(steps_.size()) > most) {
        throw DeviceError("ranks do not settle: the error is below " + rough(error_bound) + ", " +
                          exact(rules_.tolerance) + " was asked for");
      }
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
      const double jump = ((1 - alpha) * all.rank + alpha * all.dangling) / n;
      Sums part{};
      for (std::int64_t v = 0; v < own; ++v) {
        const double last = ranks[v];
        ranks[v] = alpha * sums_[v] + jump;
        add(v, last, part);
      }
      step.compute_seconds += clock.lap();
      all = over_ranks(part);
      step.communicate_seconds += clock.lap();
      steps_.push_back(step);
      error_bound = alpha * all.change / (1 - alpha) + rounding;
    }
    for (double& rank : ranks) rank /= all.rank;  // 1, save rounding
  }

  /// Of the last run, one for each sweep.
  const std::vector<Step>& steps() const { return steps_; }

  std::vector<double> ranks;  ///< of own vertices
  double error_bound = 0;     ///< of the sum of |rank - exact rank|

 private:
  struct Sums {
    double change, rank, dangling;
  };
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
  std::vector<vertex_t> targets_in_;     // own vertices that other ranks' words are for
  std::vector<double> sums_, received_;  // own vertices, then what goes to others
  std::vector<Step> steps_;
};

}  // namespace shoal::mpi
