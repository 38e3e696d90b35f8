// Breadth-first search for programs that do not write tasks: place a graph once, search from many sources.
#pragma once
#include <string>

#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

enum class BfsStrategy {
  automatic,
  async,   ///< the task of algo/bfs.hpp, driven by the worklist
  levels,  ///< level-synchronous and direction-optimising; PEs exchange bitmaps
};
const char* name(BfsStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
BfsStrategy parse_bfs_strategy(const std::string& text);

struct BfsOptions : Options {
  BfsStrategy strategy = BfsStrategy::automatic;
  bool parents = false;  ///< also compute a tree: of the valid parents, the one with the smallest input number
};

/// Statistics of what a search found.
struct BfsFound {
  std::int64_t reached = 0;       ///< vertices with a level, the source included
  std::int64_t reached_arcs = 0;  ///< out-arcs of reached vertices, as counted for traversed edges per second (TEPS)
  std::int32_t depth = 0;         ///< largest level
};

struct BfsResult : BfsFound {
  HostArray<std::int32_t> levels;   ///< [n] in the input's numbers; -1: unreached
  HostArray<std::int32_t> parents;  ///< [n] if asked for; the source is its own parent; -1: unreached
  Report report;
};

/// A graph that has been placed on PEs, ready to be searched.
class BfsRunner : public Runner<BfsOptions, BfsResult> {
 public:
  using Runner::Runner;
  /// Searches from `source`, an input number. @throws UsageError  no such vertex; the answer of the last search is kept
  Report search(vertex_t source);
  /// Counts what the last search found, in the PEs' memory. Much faster than result(), which copies the answer to the host.
  /// @throws UsageError  before the first search, and after one that failed
  BfsFound found() const;
};

}  // namespace shoal
