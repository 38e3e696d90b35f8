// The engines that KCoreRunner drives. The words that an engine leaves are core numbers (int32).
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/kcore.hpp"

namespace shoal {

/// Decides what the options leave open from the graph's shape and the machine; appends the reasons to `why`.
using KCorePlan = StrategyPlan<KCoreStrategy>;
KCorePlan plan_kcore(const Machine&, const PlacedGraph&, const KCoreOptions&, Decisions& why);
/// Bytes of host memory.
RunNeeds needs_of(const GraphSize&, const KCoreOptions&);

using KCoreEngine = Engine<>;
MakeEngine<KCoreEngine, KCorePlan> make_kcore_async_cpu, make_kcore_async_gpu;

}  // namespace shoal
