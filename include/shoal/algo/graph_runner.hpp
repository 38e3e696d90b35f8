// What the runners of all algorithms are: a graph placed on PEs, on which the algorithm can be run as often as wanted.
#pragma once
#include <memory>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {

/// Move-only; holds the PEs' memory until destroyed. A run leaves its answer on the PEs; report.seconds is the run alone.
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

  /// Checks the answer of the last run where it lies, by the properties that the algorithm's reference.hpp states. Shares
  /// nothing with the run.
  /// @return empty when it is right, else one line about a wrong vertex
  /// @throws UsageError  before the first run, and after one that failed
  std::string verify() const;

  struct State;  ///< private to the library (src/algo/placed_run.hpp)

 protected:
  explicit GraphRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

template <class OptionsT>
struct RunnerState;  // src/algo/runner.hpp

/// The runner of one algorithm, without the call that runs it.
template <class OptionsT, class ResultT>
class Runner : public GraphRunner {
 public:
  /// Partitions and places a graph of the host, which must outlive the runner (CPU PEs work on it where it is).
  /// @throws UsageError (options out of range, or that do not fit the machine or the graph), CapacityError, DeviceError
  Runner(const Csr& graph, const OptionsT& options);
  /// Generates the graph on the devices when the run is there, on the host otherwise. Throws the same.
  Runner(const GeneratorSpec& spec, const OptionsT& options);
  /// Every process reads the rows of its PEs from a file, which must outlive the runner. Throws the same.
  Runner(const SharedGraph& graph, const OptionsT& options);

  /// Fetches the answer of the last run. @throws UsageError  before the first run, and after one that failed
  ResultT result() const;

 protected:
  RunnerState<OptionsT>& state() const;
};

}  // namespace shoal
