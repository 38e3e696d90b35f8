// What KCoreRunner drives. The words that engines leave are core numbers, int32.
#pragma once
#include "algo/engine.hpp"
#include "algo/host_memory.hpp"
#include "shoal/algo/kcore.hpp"

namespace shoal {

/// What the options leave open, decided from the graph's shape and the machine; reasons go to `why`.
using KCorePlan = StrategyPlan<KCoreStrategy>;
KCorePlan plan_kcore(const Machine&, const PlacedGraph&, const KCoreOptions&, Decisions& why);
/// Bytes of the host's memory.
RunNeeds needs_of(const GraphSize&, const KCoreOptions&);

using KCoreEngine = Engine<>;
MakeEngine<KCoreEngine, KCorePlan> make_kcore_async_cpu, make_kcore_async_gpu;

}  // namespace shoal
