// The door to shortest paths for programs that do not write tasks: place a weighted graph once, search from many sources.
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
  bool predecessors =
      false;  ///< also a tree of shortest paths: sssp_predecessors() in sssp_reference.hpp says which one
};

/// What a search found, in numbers.
struct SsspFound {
  std::int64_t reached = 0;       ///< vertices with a distance, the source included
  std::int64_t reached_arcs = 0;  ///< out-arcs of reached vertices (the arcs of a "traversed edges per second")
  double farthest = 0;            ///< largest distance of a reached vertex
  bool real = false;              ///< distances are float64; else whole numbers
};

struct SsspResult : SsspFound {
  HostArray<std::int64_t>
      distances;                     ///< [n] in the input's numbers, -1 where unreached; empty when weights are float64
  HostArray<double> real_distances;  ///< [n], infinity where unreached; empty when weights are int32
  HostArray<std::int32_t> predecessors;  ///< [n] if asked for; the source is its own, -1 where unreached
  Report report;
};

/// A weighted graph placed on PEs, ready to be searched. Both constructors also throw UsageError where weights are wanted that
/// the graph has not (options.weights is `file`), for a negative or infinite weight (naming the edge), and for real weights so large
/// that a path's length could be infinite. Generated graphs have no weights of their own.
/// result() and found() also throw UsageError where the weights are whole ones beyond 32 bits (Csr::weight_remarks) and a
/// distance is 2^53 or more: a rounded one is never given for an exact one.
class SsspRunner : public Runner<SsspOptions, SsspResult> {
 public:
  using Runner::Runner;
  /// Searches from `source`, an input number. @throws UsageError  no such vertex, which leaves the last answer as it was
  Report search(vertex_t source);
  /// Counts what the last search found, where the answer lies: much faster than result(), which brings it to the host.
  /// @throws UsageError  before the first search, and after one that failed
  SsspFound found() const;
};

}  // namespace shoal
