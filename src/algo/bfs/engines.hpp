// What BfsRunner drives: one search strategy on one kind of processor, with the levels on the PEs.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/algo/bfs_run.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class BfsEngine {
 public:
  virtual ~BfsEngine() = default;
  /// Levels of every PE, from scratch. Adds seconds, counts, rounds to `report`.
  virtual void search(vertex_t placed_source, Report& report) = 0;
  /// Copies PE pe's levels, in placed order, to the host: [graph.out[pe].count].
  virtual void fetch_levels(pe_t pe, level_t* to) const = 0;
  /// The smallest input number among the valid parents, by placed number: [num_vertices].
  virtual void fetch_parents(vertex_t placed_source, vertex_t* to) = 0;
  /// Checks the levels where they are, by their properties: empty when right, else one line about a wrong vertex.
  virtual std::string verify(vertex_t placed_source) const = 0;
};

std::unique_ptr<BfsEngine> make_bfs_async_cpu(const Machine&, const PlacedGraph&, const LaunchPlan&);
std::unique_ptr<BfsEngine> make_bfs_levels_cpu(const Machine&, const PlacedGraph&);
#if defined(SHOAL_HAVE_CUDA)
std::unique_ptr<BfsEngine> make_bfs_async_gpu(const Machine&, const PlacedGraph&, const LaunchPlan&);
std::unique_ptr<BfsEngine> make_bfs_levels_gpu(const Machine&, const PlacedGraph&);
#endif

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct BfsPlan {
  BfsStrategy strategy;
  LaunchPlan launch;
  int threads;  ///< CPU threads per PE
};
/// What `auto` means on GPUs, and why.
std::pair<BfsStrategy, const char*> choose_bfs_on_gpus(const PlacedGraph&);
/// Whether, in order of arrival, a GPU with less to do would run ahead of the others: windows of levels hold it back.
bool bfs_runs_ahead_on_gpus(const PlacedGraph&);
BfsPlan plan_bfs(const Machine&, const PlacedGraph&, const BfsOptions&, Decisions& why);

}  // namespace shoal
