// What the tasks that lower one word per vertex have in common (BFS, shortest paths, components): their memory, and how a run
// begins and is reported.
#pragma once
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include "placed_run.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// Sets every byte to 0xFF, on all PEs at once; returns when all PEs are done.
/// @param memory  [n_pes], each `bytes` long
void fill_ones(const Machine& machine, const std::vector<std::shared_ptr<void>>& memory, std::size_t bytes);

/// One word per vertex on every PE, by placed number. For a PE's own vertices it is the true value; for the vertices of others it
/// is the last value that this PE sent to their owner (`known` of the tasks).
template <class Word>
class KnownWords {
 public:
  /// The words are uninitialised. @param what  the name of the memory, for errors: "levels"
  KnownWords(const Machine& machine, const PlacedGraph& graph, const char* what) : machine_(machine), graph_(graph) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      memory_.push_back(machine.allocate(p, bytes(), what, Machine::Contents::anything));
    }
  }

  Word* all(pe_t pe) const { return static_cast<Word*>(memory_[pe].get()); }  ///< [num_vertices]
  Word* own(pe_t pe) const { return all(pe) + graph_.out[pe].first; }         ///< [graph.out[pe].count]
  /// own() for every PE of this process.
  Symmetric<Word> parts() const {
    Symmetric<Word> parts;
    for (pe_t p = 0; p < graph_.n_pes(); ++p) parts.part[graph_.first_pe + p] = own(p);
    return parts;
  }
  Words words() const {
    return Words::of(graph_, [this](pe_t p) { return own(p); });
  }

  void fill_ones() const { shoal::fill_ones(machine_, memory_, bytes()); }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(graph_.num_vertices) * sizeof(Word); }

  const Machine& machine_;
  const PlacedGraph& graph_;
  std::vector<std::shared_ptr<void>> memory_;
};

/// Called by every process: runs the worklist; the report has the sums of what all processes counted.
template <class WorklistT, class Tasks, class Seeds>
Report run_everywhere(const Machine& machine, WorklistT& worklist, const Tasks& tasks, const Seeds& seeds) {
  if (machine.world() == nullptr) return worklist.run(tasks, seeds);
  Report report;
  std::exception_ptr error;
  try {
    report = worklist.run(tasks, seeds);
  } catch (...) {
    error = std::current_exception();
  }
  return of_all_processes(*machine.world(), report, error);
}

/// The seeds of a search: one item on the PE that owns the source. That PE may belong to another process.
/// @return [n_pes of this process]
template <class Item>
std::vector<std::vector<Item>> seeds_at(const PlacedGraph& graph, vertex_t source, const Item& seed) {
  std::vector<std::vector<Item>> seeds(graph.n_pes());
  const pe_t pe = graph.partition.owner(source) - graph.first_pe;
  if (pe >= 0 && pe < graph.n_pes()) seeds[pe] = {seed};
  return seeds;
}

/// Calls clear(), then runs the worklist; the reported time covers both. `report` keeps its choices and phases; everything else in
/// it comes from the run.
template <class Clear, class WorklistT, class Tasks, class Seeds>
void clear_and_run(const Machine& machine, Clear&& clear, WorklistT& worklist, const Tasks& tasks, const Seeds& seeds,
                   Report& report) {
  Stopwatch watch;
  clear();
  const double clear_seconds = watch.lap();
  Report run = run_everywhere(machine, worklist, tasks, seeds);
  run.chosen = std::move(report.chosen);
  run.phase_seconds = std::move(report.phase_seconds);
  run.seconds += clear_seconds + report.seconds;
  report = std::move(run);
}

}  // namespace shoal
