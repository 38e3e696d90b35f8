// What a graph and a run take of the host's memory, estimated before they take it.
#pragma once
#include <cstdint>

#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/graph_size.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/options.hpp"

namespace shoal {

/// What an algorithm takes on the host beside the graph's rows: bytes. Each says so in its plan.cpp:
/// `RunNeeds needs_of(const GraphSize&, const NAMEOptions&)`.
struct RunNeeds {
  static constexpr double kWord = 4, kWide = 8;  ///< a level, label, vertex or float32; a distance or float64
  static constexpr double kSmallSlot = 16, kLargeSlot = 24;  ///< of a ring: a sequence number and an item

  // Of an engine on CPU threads.
  double vertex = 0;        ///< for each vertex
  double vertex_of_pe = 0;  ///< for each vertex of the graph, on every PE
  double arc = 0;           ///< for each arc
  double waiting = 0;       ///< for each vertex that has an arc: what waits in queues
  double slot = 0;          ///< of a worklist's ring; 0: it has none
  double weight = 0;        ///< for each arc: weights, or another graph, that are made for the run
  bool undirected = false;  ///< the run is on an undirected graph, also where it was made of a directed one: no in-arcs
  // Of any engine.
  double answer = 0;             ///< for each vertex: the answer, and what fetching it takes
  bool answer_reverses = false;  ///< the answer needs in-arcs in the input's numbers
  double check = 0;              ///< for each vertex: the answer, and what checking it on the host takes
  bool check_reverses = false;
};

/// Whether these options are run by worklist.
template <class AlgorithmOptions>
bool runs_async(const AlgorithmOptions& options) {
  using Strategy = decltype(options.strategy);
  return options.strategy == Strategy::async || (options.strategy == Strategy::automatic && asks_for_worklist(options));
}

/// The same of an algorithm whose other strategies work on the memory of all PEs, which those of several processes do not share.
template <class AlgorithmOptions>
bool runs_async_across(const AlgorithmOptions& options) {
  using Strategy = decltype(options.strategy);
  return runs_async(options) || (options.strategy == Strategy::automatic && options.engine == "openshmem");
}

/// Bytes that a graph of the host and a run of it hold there at their peak, the graph included. Rooms of a worklist's spill that
/// a run may never touch are left out.
/// @param check  the answer is checked on the host
std::int64_t host_bytes(const GraphSize& graph, const Options& options, const RunNeeds& needs, bool check);

/// What a generator's graph is at most.
GraphSize size_of(const GeneratorSpec& spec);
inline GraphSize size_of(const SharedGraph& graph) { return graph.size(); }

/// @param bytes      to be taken from now on
/// @param processes  that take as much on this host
/// @throws CapacityError  this machine has not got them; names the graph, what was wanted and had, and the cure
void require_host_memory(const std::string& graph, const GraphSize& size, std::int64_t bytes, int processes = 1);

}  // namespace shoal
