// A runner consists of a placed graph (placed_run.hpp), a plan for it, and the engine that the plan asks for. In its run.cpp, an
// algorithm defines the types of these (its Shape), and how words become a result and are checked (its RunnerState).
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "engine.hpp"
#include "host_memory.hpp"
#include "placed_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

/// The types of an algorithm's runner. An algorithm derives its Shape from this, and adds kFew, kEngines and plan.
template <class OptionsT, class PlanT, class EngineT>
struct ShapeOf {
  using Options = OptionsT;
  using Plan = PlanT;      ///< a StrategyPlan
  using Engine = EngineT;  ///< the interface to its strategies
  using Strategy = decltype(OptionsT::strategy);
  /// Whether its bulk strategy runs on GPUs of several processes,
  static constexpr bool kOnGpusOfProcesses = false;
  /// and whether it does so where these GPUs cannot access each other's memory (they are on several hosts).
  static constexpr bool kOnGpusApart = false;
  /// What the algorithm needs of the graph.
  static GraphWants wants(const Options&) { return {}; }
};

/// Refuses options that GPUs of several processes cannot run, before a graph is placed. @return `given`
template <class Shape>
const typename Shape::Options& check_gpus_of_processes(const typename Shape::Options& given) {
  const bool several = joined_world() != nullptr && joined_world()->n_processes() > 1;
  if (!several || given.engine != "openshmem" || given.device != DeviceKind::gpu) return given;
  const char* const cure = "; use --device cpu, or one process with --pes";
  if (gpus_are_apart() && !Shape::kOnGpusApart) refuse_gpus_apart(given);
  if (!Shape::kOnGpusOfProcesses) {
    throw UsageError(std::string("only bfs, sssp and pagerank run yet on GPUs of several processes") + cure);
  }
  if (runs_async(given)) {
    throw UsageError(
        std::string(
            "the worklist (--strategy async, and options that need it) cannot send items between GPUs of several "
            "processes yet; leave these out") +
        cure);
  }
  return given;
}

/// @tparam Shape        a ShapeOf with these members:
///   kFew               which graphs are too small for several GPUs
///   kEngines           an EngineChoice for each strategy
///   plan(machine, graph, options, why)
template <class Shape>
struct PlannedState : GraphRunner::State {
  using OptionsT = typename Shape::Options;

  template <class Graph>
  PlannedState(const Graph& graph, const OptionsT& given)
      : State(graph, check_gpus_of_processes<Shape>(given), needs_of(size_of(graph), given), Shape::wants(given),
              few_for(given, Shape::kFew)),
        options(given),
        plan(Shape::plan(run.machine(), run.placed(), given, run.chosen())) {
    run.limit_threads(plan.threads);
    engine = run.prepare([this] { return make_engine(); });
  }

  /// The engine of the plan's strategy, for the machine's kind of processor.
  auto make_engine() const {
    const auto* choice = std::begin(Shape::kEngines);
    while (choice->strategy != plan.strategy) ++choice;
    return (run.machine().on_gpu() ? choice->on_gpu : choice->on_cpu)(run.machine(), run.placed(), plan);
  }

  OptionsT options;
  typename Shape::Plan plan;
  std::unique_ptr<typename Shape::Engine> engine;
};

template <class OptionsT, class ResultT>
Runner<OptionsT, ResultT>::Runner(const Csr& graph, const OptionsT& options)
    : GraphRunner(std::make_unique<RunnerState<OptionsT>>(graph, options)) {}
template <class OptionsT, class ResultT>
Runner<OptionsT, ResultT>::Runner(const GeneratorSpec& spec, const OptionsT& options)
    : GraphRunner(std::make_unique<RunnerState<OptionsT>>(spec, options)) {}

template <class OptionsT, class ResultT>
Runner<OptionsT, ResultT>::Runner(const SharedGraph& graph, const OptionsT& options)
    : GraphRunner(std::make_unique<RunnerState<OptionsT>>(graph, options)) {}

template <class OptionsT, class ResultT>
RunnerState<OptionsT>& Runner<OptionsT, ResultT>::state() const {
  return static_cast<RunnerState<OptionsT>&>(*state_);
}

template <class OptionsT, class ResultT>
ResultT Runner<OptionsT, ResultT>::result() const {
  state().need_result();
  ResultT result = state().result();
  result.report = state().report;
  return result;
}

}  // namespace shoal
