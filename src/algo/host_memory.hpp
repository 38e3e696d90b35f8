// Estimates of the host memory that a graph and a run take, made before they take it.
#pragma once
#include <cstdint>

#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/graph_size.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/options.hpp"

namespace shoal {

/// What an algorithm takes on the host beside the graph's rows, in bytes. Each algorithm's plan.cpp defines
/// `RunNeeds needs_of(const GraphSize&, const NAMEOptions&)`.
struct RunNeeds {
  static constexpr double kWord = 4, kWide = 8;  ///< 4: a level, label, vertex or float32; 8: a distance or float64
  static constexpr double kSmallSlot = 16, kLargeSlot = 24;  ///< a ring's slot: a sequence number and an item

  // For an engine on CPU threads.
  double vertex = 0;        ///< for each vertex
  double vertex_of_pe = 0;  ///< for each vertex of the whole graph, on every PE
  double arc = 0;           ///< for each arc
  double waiting = 0;       ///< for each vertex that has an arc: its share of queues
  double slot = 0;          ///< for each slot of a worklist's ring; 0: there is no ring
  double weight = 0;        ///< for each arc: weights, or a second graph, made for the run
  bool undirected = false;  ///< the run is on an undirected graph, maybe made from a directed one: no in-arcs
  // For any engine.
  double answer = 0;             ///< for each vertex: the answer, and what fetching it takes
  bool answer_reverses = false;  ///< the answer needs in-arcs in the input's numbers
  double check = 0;              ///< for each vertex: the answer, and what checking it on the host takes
  bool check_reverses = false;
};

/// Whether the worklist runs these options.
template <class AlgorithmOptions>
bool runs_async(const AlgorithmOptions& options) {
  using Strategy = decltype(options.strategy);
  return options.strategy == Strategy::async || (options.strategy == Strategy::automatic && asks_for_worklist(options));
}

/// The same, for an algorithm whose other strategies need the memory of all PEs, which PEs of several processes do not share.
template <class AlgorithmOptions>
bool runs_async_across(const AlgorithmOptions& options) {
  using Strategy = decltype(options.strategy);
  return runs_async(options) || (options.strategy == Strategy::automatic && options.engine == "openshmem");
}

/// Peak bytes of host memory that a graph and a run on it hold, the graph included. Room of a worklist's spill that a run may never
/// touch is not counted.
/// @param check  whether the answer is checked on the host
std::int64_t host_bytes(const GraphSize& graph, const Options& options, const RunNeeds& needs, bool check);

/// Called before memory is allocated, so that a run whose rings alone take too much is not refused for its graph.
/// @throws CapacityError  this host does not have the memory for rings of options.capacity
void require_ring_memory(const Options& options, const RunNeeds& needs);

/// An upper bound for the size of a generator's graph.
GraphSize size_of(const GeneratorSpec& spec);
inline GraphSize size_of(const SharedGraph& graph) { return graph.size(); }

/// @param bytes      bytes that will be allocated from now on
/// @param processes  how many processes on this host allocate as much
/// @throws CapacityError  this host does not have that much memory; names the graph, the bytes wanted and available, and the cure
void require_host_memory(const std::string& graph, const GraphSize& size, std::int64_t bytes, int processes = 1);

}  // namespace shoal
