// Level-synchronous breadth-first search, one thread per rank. Each rank expands its part of the frontier and puts vertices of
// other ranks into bins; then all ranks exchange the bins. The owner of a vertex tests whether it was visited.
#pragma once
#include <vector>

#include "ranks.hpp"

namespace shoal::mpi {

class Search {
 public:
  /// @param send_once  a rank sends a vertex at most once in a search; this takes a bit for each vertex of the graph
  Search(const Csr& graph, const Ranks& ranks, bool send_once)
      : ranks_(ranks),
        rows_(graph, ranks),
        num_vertices_(graph.num_vertices()),
        send_once_(send_once),
        bins_(ranks.size) {}

  void run(vertex_t source) {
    Clock clock;
    steps_.clear();
    levels.assign(rows_.count(), -1);
    if (send_once_) sent_.assign(num_vertices_, false);
    next_.clear();
    if (ranks_.owner(source) == ranks_.rank) reach(ranks_.local(source), 0);
    Layout out(ranks_.size), in(ranks_.size);
    std::int64_t waiting = 1;
    for (std::int32_t level = 1; waiting > 0; ++level) {
      frontier_.swap(next_);
      next_.clear();
      for (const vertex_t v : frontier_) {
        for (const vertex_t u : rows_[v]) {
          const int owner = ranks_.owner(u);
          if (owner == ranks_.rank) {
            reach(ranks_.local(u), level);
          } else if (!send_once_ || !sent_[u]) {
            if (send_once_) sent_[u] = true;
            bins_[owner].push_back(ranks_.local(u));
          }
        }
      }
      words_.clear();
      for (int r = 0; r < ranks_.size; ++r) {
        out.count(r, static_cast<std::int64_t>(bins_[r].size()));
        words_.insert(words_.end(), bins_[r].begin(), bins_[r].end());
        bins_[r].clear();
      }
      Step step{static_cast<std::int64_t>(frontier_.size()), static_cast<std::int64_t>(out.place())};
      step.compute_seconds = clock.lap();
      exchange_counts(out, in);
      received_.resize(in.place());
      exchange(words_.data(), out, received_.data(), in);
      step.communicate_seconds = clock.lap();
      for (const vertex_t v : received_) reach(v, level);
      step.compute_seconds += clock.lap();
      waiting = over_all(static_cast<std::int64_t>(next_.size()), MPI_SUM, MPI_INT64_T);
      step.communicate_seconds += clock.lap();
      step.seconds = step.compute_seconds + step.communicate_seconds;
      steps_.push_back(step);
    }
  }

  /// How many vertices of this rank have a level, and how many arcs they have.
  baselines::Reached reached() const {
    baselines::Reached own;
    own.add(levels, rows_.offsets);
    return own;
  }
  /// The steps of the last search: one for each level. The last level found nothing new.
  const std::vector<Step>& steps() const { return steps_; }

  std::vector<std::int32_t> levels;  ///< of own vertices; -1 where unreached

 private:
  void reach(vertex_t v, std::int32_t level) {
    if (levels[v] >= 0) return;
    levels[v] = level;
    next_.push_back(v);
  }

  Ranks ranks_;
  Rows rows_;
  std::int64_t num_vertices_;
  bool send_once_;
  std::vector<bool> sent_;
  // Members, so that their memory is kept from search to search.
  std::vector<vertex_t> frontier_, next_, words_, received_;
  std::vector<std::vector<vertex_t>> bins_;  // by owner
  std::vector<Step> steps_;
};

}  // namespace shoal::mpi
