// The door to shortest paths for programs that do not write tasks: place a weighted graph once, search from many sources.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/data/weights.hpp"
#include "shoal/runtime/options.hpp"
#include "shoal/runtime/report.hpp"

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

struct SsspResult {
  HostArray<std::int64_t> distances;  ///< [n] in the input's numbers, -1 where unreached; empty when weights are real
  HostArray<double> real_distances;   ///< [n], infinity where unreached; empty when weights are whole
  HostArray<std::int32_t> predecessors;  ///< [n] if asked for; the source is its own, -1 where unreached
  std::int64_t reached = 0;              ///< vertices with a distance, the source included
  std::int64_t reached_arcs = 0;         ///< out-arcs of reached vertices (the arcs of a "traversed edges per second")
  double farthest = 0;                   ///< largest distance of a reached vertex
  Report report;
};

/// A weighted graph placed on PEs, ready to be searched. Move-only; holds the PEs' memory until destroyed.
class SsspRunner {
 public:
  /// Partitions and places a graph of the host, which must outlive the runner (CPU PEs work on it where it is).
  /// @throws UsageError  options that do not fit the machine, no weights where options.weights is `file`, a negative or
  ///                     infinite weight (names the edge), real weights so large that a path's length could be infinite
  /// @throws CapacityError, DeviceError
  SsspRunner(const Csr& graph, const SsspOptions& options);
  /// Generates on the device when the run is there, on the host otherwise; options.weights is hash255 or unit.
  SsspRunner(const GeneratorSpec& spec, const SsspOptions& options);
  SsspRunner(SsspRunner&&) noexcept;
  SsspRunner& operator=(SsspRunner&&) noexcept;
  ~SsspRunner();

  /// Searches from `source` (an input number). The distances stay on the PEs; report.seconds is the search alone.
  Report search(vertex_t source);
  /// Fetches what the last search left on the PEs, in the input's numbers.
  SsspResult result() const;
  /// Checks the distances of the last search by their properties (sssp_reference.hpp), on GPUs where they are: empty when
  /// right, else one line about a wrong vertex. Needs no second search.
  std::string verify() const;

  std::int64_t num_vertices() const;
  arc_t num_arcs() const;
  arc_t degree(vertex_t input) const;
  /// The graph with its weights in input numbers, fetched from the device when it was generated there (for verification).
  const Csr& graph() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
