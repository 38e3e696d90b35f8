// What the plans of all algorithms have in common. A plan decides what the options leave open; `why` gains a line for
// each decision, which the report shows.
#pragma once
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/kinds.hpp"
#include "shoal/pgas/placed_graph.hpp"
#include "shoal/runtime/machine.hpp"
#include "shoal/runtime/worklist_plan.hpp"

namespace shoal {

using Decisions = std::vector<std::pair<std::string, std::string>>;  ///< option, "value: reason"

/// Arcs per vertex; 0 without vertices.
inline double mean_degree(const PlacedGraph& graph) {
  return static_cast<double>(graph.num_arcs) / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
}

/// Says which strategy runs, and which of the options given it does not use.
template <class Strategy>
void say_strategy(Strategy strategy, const std::string& reason, const Options& options, Decisions& why) {
  why.emplace_back("strategy", std::string(name(strategy)) + ": " + reason);
  if (strategy != Strategy::async) note_unused(options, why);
}

/// Says something else about an option that has been decided.
inline void say_again(const char* option, const std::string& text, Decisions& why) {
  for (auto& [decided, said] : why) {
    if (decided == option) said = text;
  }
}

/// plan_launch() for a task whose items are vertices and that pushes along their arcs.
inline LaunchPlan plan_vertices(const Machine& machine, const PlacedGraph& graph, const Options& options,
                                Decisions& why) {
  const std::int64_t vertices_of_a_pe = graph.num_vertices / std::max<pe_t>(graph.n_pes(), 1) + 1;
  return plan_launch(options, machine.on_gpu(), graph.n_pes(), vertices_of_a_pe, mean_degree(graph), why);
}

}  // namespace shoal
