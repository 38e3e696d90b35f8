// The engines that ComponentsRunner drives. The words that an engine leaves are labels (vertex_t): the smallest placed number of
// each vertex's component.
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/components_run.hpp"

namespace shoal {

/// Decides what the options leave open from the graph's shape and the machine; appends the reasons to `why`.
using ComponentsPlan = StrategyPlan<ComponentsStrategy>;
ComponentsPlan plan_components(const Machine&, const PlacedGraph&, const ComponentsOptions&, Decisions& why);
/// Bytes of host memory.
RunNeeds needs_of(const GraphSize&, const ComponentsOptions&);

using ComponentsEngine = Engine<>;
MakeEngine<ComponentsEngine, ComponentsPlan> make_components_async_cpu, make_components_async_gpu,
    make_components_hook_cpu, make_components_hook_gpu;

}  // namespace shoal
