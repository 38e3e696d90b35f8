// The door to breadth-first search for programs that do not write tasks: place a graph once, search from many sources.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/runtime/options.hpp"
#include "shoal/runtime/report.hpp"

namespace shoal {

enum class BfsStrategy {
  automatic,
  async,   ///< the task of algo/bfs.hpp, driven by the worklist
  levels,  ///< level-synchronous and direction-optimising, bitmaps exchanged between PEs
};
const char* name(BfsStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
BfsStrategy parse_strategy(const std::string& text);

struct BfsOptions : Options {
  BfsStrategy strategy = BfsStrategy::automatic;
  bool parents = false;  ///< also a tree: the smallest input number among the valid parents
};

struct BfsResult {
  HostArray<std::int32_t> levels;   ///< [n] in the input's numbers; -1 where unreached
  HostArray<std::int32_t> parents;  ///< [n] if asked for; the source is its own parent, -1 where unreached
  std::int64_t reached = 0;         ///< vertices with a level, the source included
  std::int64_t reached_arcs = 0;    ///< out-arcs of reached vertices (the arcs of a "traversed edges per second")
  std::int32_t depth = 0;           ///< largest level
  Report report;
};

/// A graph placed on PEs, ready to be searched. Move-only; holds the PEs' memory until destroyed.
class BfsRunner {
 public:
  /// Partitions and places a graph of the host, which must outlive the runner (CPU PEs work on it where it is).
  /// @throws UsageError (options that do not fit the machine), CapacityError, DeviceError
  BfsRunner(const Csr& graph, const BfsOptions& options);
  /// Generates on the device when the run is there, on the host otherwise.
  BfsRunner(const GeneratorSpec& spec, const BfsOptions& options);
  BfsRunner(BfsRunner&&) noexcept;
  BfsRunner& operator=(BfsRunner&&) noexcept;
  ~BfsRunner();

  /// Searches from `source` (an input number). The levels stay on the PEs; report.seconds is the search alone.
  Report search(vertex_t source);
  /// Fetches what the last search left on the PEs, in the input's numbers.
  BfsResult result() const;
  /// Checks the levels of the last search where they are, by their properties (bfs_reference.hpp): empty when right, else
  /// one line about a wrong vertex. Needs neither the host's graph nor a second search.
  std::string verify() const;

  std::int64_t num_vertices() const;
  arc_t num_arcs() const;
  arc_t degree(vertex_t input) const;
  /// The graph in input numbers, fetched from the device when it was generated there (for verification).
  const Csr& graph() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
