// Connected components for programs that do not write tasks. In directed graphs, these are the weakly connected components.
#pragma once
#include <string>

#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

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

/// A graph that has been placed on PEs, ready to be labelled.
class ComponentsRunner : public Runner<ComponentsOptions, ComponentsResult> {
 public:
  using Runner::Runner;
  /// Labels every vertex, from scratch.
  Report run();
};

}  // namespace shoal
