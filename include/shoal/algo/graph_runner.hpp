// What the runners of all algorithms are: a graph placed on PEs, on which the algorithm can be run as often as wanted.
#pragma once
#include <memory>

#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// Move-only; holds the PEs' memory until destroyed. Every runner has two constructors:
///   Runner(const Csr& graph, options)          partitions and places a graph of the host, which must outlive the runner
///                                              (CPU PEs work on it where it is)
///   Runner(const GeneratorSpec& spec, options) generates on the devices when the run is there, on the host otherwise
/// which throw UsageError (options out of range, or that do not fit the machine or the graph), CapacityError, DeviceError.
/// A run leaves its answer on the PEs; report.seconds is the run alone. result() fetches the answer of the last run, and
/// verify() checks it where it is: empty when right, else one line about a wrong vertex. Both throw UsageError before the
/// first run, and after one that failed.
class GraphRunner {
 public:
  GraphRunner(GraphRunner&&) noexcept;
  GraphRunner& operator=(GraphRunner&&) noexcept;
  ~GraphRunner();

  std::int64_t num_vertices() const;
  arc_t num_arcs() const;
  arc_t degree(vertex_t input) const;  ///< out-arcs, as graph() has them
  /// The graph in input numbers, with its weights where the algorithm has any; fetched from the devices when it was
  /// generated there.
  const Csr& graph() const;

 protected:
  struct State;  // src/algo/placed_run.hpp
  explicit GraphRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace shoal
