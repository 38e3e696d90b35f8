// Shortest paths for programs that do not write tasks: place a weighted graph once, search from many sources.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

enum class SsspStrategy {
  automatic,
  async,  ///< the task of algo/sssp.hpp, driven by the worklist
  delta,  ///< delta-stepping: all PEs work through buckets of distances together (Meyer, Sanders 2003)
};
const char* name(SsspStrategy);
/// The inverse of name(). @throws UsageError naming the text and the legal values
SsspStrategy parse_sssp_strategy(const std::string& text);

struct SsspOptions : Options {
  SsspStrategy strategy = SsspStrategy::automatic;
  WeightSource weights = WeightSource::file;
  double delta = 0;  ///< strategy delta: width of a bucket, in units of weight; 0 chooses. Whole weights: at least 1
  /// Also compute a tree of shortest paths; sssp_predecessors() in src/algo/sssp/reference.hpp says which one.
  bool predecessors = false;
};

/// Statistics of what a search found.
struct SsspFound {
  std::int64_t reached = 0;       ///< vertices with a distance, the source included
  std::int64_t reached_arcs = 0;  ///< out-arcs of reached vertices, as counted for traversed edges per second (TEPS)
  double farthest = 0;            ///< largest distance of a reached vertex
  bool real = false;              ///< distances are float64; else whole numbers
};

struct SsspResult : SsspFound {
  HostArray<std::int64_t>
      distances;                     ///< [n] in the input's numbers, -1 where unreached; empty when weights are float64
  HostArray<double> real_distances;  ///< [n], infinity where unreached; empty when weights are int32
  HostArray<std::int32_t> predecessors;  ///< [n] if asked for; the source is its own predecessor; -1: unreached
  Report report;
};

/// A weighted graph that has been placed on PEs, ready to be searched. The constructors also throw UsageError if options.weights
/// is `file` and the graph has no weights, for a negative or infinite weight (naming the edge), and for real weights so large
/// that a path's length could be infinite. Generated graphs have no weights of their own.
/// result() and found() also throw UsageError if weights are whole numbers beyond 32 bits (Csr::weight_remarks) and a distance
/// is 2^53 or more, because such a distance may have been rounded.
class SsspRunner : public Runner<SsspOptions, SsspResult> {
 public:
  using Runner::Runner;
  /// Searches from `source`, an input number. @throws UsageError  no such vertex; the answer of the last search is kept
  Report search(vertex_t source);
  /// Counts what the last search found, in the PEs' memory. Much faster than result(), which copies the answer to the host.
  /// @throws UsageError  before the first search, and after one that failed
  SsspFound found() const;
};

}  // namespace shoal
