// The base classes of the runners of all algorithms. A runner is a graph that has been placed on PEs, on which an algorithm can
// be run any number of times.
#pragma once
#include <memory>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {

/// Move-only; holds the PEs' memory until destroyed. A run leaves its answer in the PEs' memory; report.seconds is the time of
/// the run alone.
class GraphRunner {
 public:
  GraphRunner(GraphRunner&&) noexcept;
  GraphRunner& operator=(GraphRunner&&) noexcept;
  ~GraphRunner();

  std::int64_t num_vertices() const;
  arc_t num_arcs() const;
  arc_t degree(vertex_t input) const;  ///< out-arcs of a vertex in graph()
  /// The graph in the input's numbers, with weights if the algorithm uses any. It is copied from the devices if it was
  /// generated there.
  const Csr& graph() const;

  /// Checks the answer of the last run in the PEs' memory, by the properties that the algorithm's reference.hpp states. Shares
  /// nothing with the run.
  /// @return empty if it is right, else one line about a wrong vertex
  /// @throws UsageError  before the first run, and after one that failed
  std::string verify() const;

  struct State;  ///< private to the library (src/algo/placed_run.hpp)

 protected:
  explicit GraphRunner(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

template <class OptionsT>
struct RunnerState;  // src/algo/runner.hpp

/// The runner of one algorithm, without the function that runs it.
template <class OptionsT, class ResultT>
class Runner : public GraphRunner {
 public:
  /// Partitions and places a graph that is on the host and must outlive the runner (CPU PEs may use it without a copy).
  /// @throws UsageError (options are out of range, or do not fit the machine or the graph), CapacityError, DeviceError
  Runner(const Csr& graph, const OptionsT& options);
  /// Generates the graph: on the devices if the run is there, else on the host. Throws the same.
  Runner(const GeneratorSpec& spec, const OptionsT& options);
  /// Every process reads the rows of its own PEs from `graph`, which must outlive the runner. Throws the same.
  Runner(const SharedGraph& graph, const OptionsT& options);

  /// Fetches the answer of the last run. @throws UsageError  before the first run, and after one that failed
  ResultT result() const;

 protected:
  RunnerState<OptionsT>& state() const;
};

}  // namespace shoal
