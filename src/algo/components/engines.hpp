// What ComponentsRunner drives: one strategy on one kind of processor, with the labels on the PEs.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "shoal/algo/components_run.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class ComponentsEngine {
 public:
  virtual ~ComponentsEngine() = default;
  /// Labels of every PE, from scratch. Adds seconds, counts, rounds to `report`.
  virtual void run(Report& report) = 0;
  /// Copies PE pe's labels, in placed order and placed numbers, to the host: [graph.out[pe].count].
  virtual void fetch_labels(pe_t pe, vertex_t* to) const = 0;
  /// Checks the labels where they are, by their properties: empty when right, else one line about a wrong vertex.
  virtual std::string verify() const = 0;
};

std::unique_ptr<ComponentsEngine> make_components_async_cpu(const Machine&, const PlacedGraph&, const LaunchPlan&);
std::unique_ptr<ComponentsEngine> make_components_hook_cpu(const Machine&, const PlacedGraph&);
#if defined(SHOAL_HAVE_CUDA)
std::unique_ptr<ComponentsEngine> make_components_async_gpu(const Machine&, const PlacedGraph&, const LaunchPlan&);
std::unique_ptr<ComponentsEngine> make_components_hook_gpu(const Machine&, const PlacedGraph&);
#endif

/// The strategy that the options ask for, or lead to.
ComponentsStrategy components_strategy(const ComponentsOptions&);

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
struct ComponentsPlan {
  ComponentsStrategy strategy;
  LaunchPlan launch;
  int threads;  ///< CPU threads per PE
};
ComponentsPlan plan_components(const Machine&, const PlacedGraph&, const ComponentsOptions&, Decisions& why);

}  // namespace shoal
