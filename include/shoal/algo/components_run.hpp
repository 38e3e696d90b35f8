// The door to connected components for programs that do not write tasks. Directed graphs: weakly connected components.
#pragma once
#include <memory>
#include <string>

#include "shoal/core/array.hpp"
#include "shoal/data/csr.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/runtime/options.hpp"
#include "shoal/runtime/report.hpp"

namespace shoal {

enum class ComponentsStrategy {
  automatic,
  async,  ///< the task of algo/components.hpp, driven by the worklist
  hook,   ///< trees of parents, hooked together and compressed
};
const char* name(ComponentsStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
ComponentsStrategy parse_components_strategy(const std::string& text);

struct ComponentsOptions : Options {
  ComponentsStrategy strategy = ComponentsStrategy::automatic;
};

struct ComponentsResult {
  HostArray<std::int32_t>
      labels;                ///< [n] the smallest vertex number of each vertex's component, in the input's numbers
  std::int64_t count = 0;    ///< components
  std::int64_t largest = 0;  ///< vertices in the largest of them
  Report report;
};

/// A graph placed on PEs, ready to be labelled. Move-only; holds the PEs' memory until destroyed.
class ComponentsRunner {
 public:
  /// Partitions and places a graph of the host, which must outlive the runner (CPU PEs work on it where it is).
  /// @throws UsageError (options that do not fit the machine), CapacityError, DeviceError
  ComponentsRunner(const Csr& graph, const ComponentsOptions& options);
  /// Generates on the device when the run is there, on the host otherwise.
  ComponentsRunner(const GeneratorSpec& spec, const ComponentsOptions& options);
  ComponentsRunner(ComponentsRunner&&) noexcept;
  ComponentsRunner& operator=(ComponentsRunner&&) noexcept;
  ~ComponentsRunner();

  /// Labels every vertex. The labels stay on the PEs, as the smallest *placed* number of each component; report.seconds is
  /// that alone. Every run begins from nothing.
  Report run();
  /// Fetches what the last run left on the PEs, in the input's numbers. @throws UsageError before the first run
  ComponentsResult result() const;
  /// Checks the labels of the last run where they are, by their properties (components_reference.hpp): empty when right,
  /// else one line about a wrong vertex. Needs no graph on the host. @throws UsageError before the first run
  std::string verify() const;

  std::int64_t num_vertices() const;
  arc_t num_arcs() const;
  /// The graph in input numbers, fetched from the device when it was generated there.
  const Csr& graph() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
