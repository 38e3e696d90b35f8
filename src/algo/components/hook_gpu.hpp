// Connected components on the GPUs of one process, by hooking and compressing trees of parents. The steps, and why they are
// correct, are in hook.hpp. Host declarations only; no CUDA types.
//
// With several PEs, each PE finds the trees of its own vertices along arcs between them, in its own memory, and sends the others a
// bitmap of its vertices that are in its giant tree. The giant trees are united first. Then each PE handles the arcs of its other
// vertices. Most of these vertices find, by the bitmap, a neighbour in some giant tree, and need nothing from that neighbour's PE.
// The remaining vertices are hooked over the wire. If these would be most of the graph (no PE has a giant tree among its own arcs),
// PEs instead unite their arcs in parents of all vertices and merge those (forests.cuh).
//
// Source: Afforest (Sutton et al., IPDPS 2018). Differences: tiles of consecutive vertices are united in shared memory, so that
// graphs with local arcs need few atomics in global memory; one sequence of kernels without any barrier inside a kernel; bitmaps
// and hooks at the owner replace Groute's merging of whole parent arrays in a tree of PEs.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "algo/engine.hpp"
#include "shoal/core/types.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// How several PEs combine their forests into one.
enum class ComponentsExchange {
  automatic,  ///< hooks; forests if a PE's hooks in a first run follow over one arc per 8 vertices over the wire
  hooks,      ///< each parent is stored only at its vertex's PE, and hooked there
  forests,    ///< every PE merges the parents that each PE found for all vertices: 8 more bytes per vertex of the graph
};

/// How work is divided. Labels do not depend on any of these.
struct ComponentsHookGpuTuning {
  vertex_t tile = 0;  ///< consecutive vertices that a block unites in shared memory: 512 to 32,768, a multiple of 512;
                      ///< 0: 16,384, or less, down to 2,048, if multiprocessors would be idle otherwise
  bool giant = true;  ///< skip the arcs of the tree that contains most sampled vertices; false: handle all arcs
  arc_t hub_arcs = 16384;  ///< the whole device shares rows of more arcs than this; at least 64
  ComponentsExchange exchange = ComponentsExchange::automatic;
  double deadline_seconds = 5;  ///< longest wait for another PE before the run ends in a DeviceError
};

/// One kernel of a run.
struct ComponentsHookStep {
  std::string name;
  double microseconds = 0;  ///< of the PE on which it took longest, including waits
};

/// Labels a graph that was placed on GPUs, any number of times. All memory is allocated in the constructor.
class ComponentsHookGpu : public Engine<> {
 public:
  /// Allocates about 4.2 bytes for each vertex of a PE and, with several PEs, one bit for each vertex of the graph (with forests: 8
  /// bytes; if `automatic` finds no memory for them, it stays with hooks). With several PEs and `automatic`, one run is made here
  /// to choose.
  /// @param graph  on devices, 1 to 8 PEs; must stay alive and unchanged. `in` is used when the graph is not symmetric.
  /// @throws UsageError   CPU PEs, more than 8 PEs, or tuning out of range
  /// @throws DeviceError  the devices cannot access each other's memory
  /// @throws CapacityError  device memory
  explicit ComponentsHookGpu(const PlacedGraph& graph, const ComponentsHookGpuTuning& tuning = {});
  ~ComponentsHookGpu() override;
  ComponentsHookGpu(ComponentsHookGpu&&) noexcept;
  ComponentsHookGpu& operator=(ComponentsHookGpu&&) noexcept;

  /// Finds the label of every vertex: the smallest placed number of its component. Blocks until all PEs are done.
  /// @param report  gains seconds (wall clock from before the first launch until every device is done), rounds (kernels of a PE)
  ///                and how many vertices joined a giant tree by their first arcs
  /// @throws DeviceError  a PE waited longer than the deadline for another, or a launch failed; the labels are then undefined, and
  ///                      the object stays usable unless the device is lost
  void run(Report& report) override;

  /// Runs once more, kernel by kernel, and returns the time of each; slower in total than run().
  std::vector<ComponentsHookStep> profile();

  /// Labels of the last run: device memory of each PE, [count] for its vertices. May be null for a PE without vertices.
  vertex_t* label(pe_t pe) const;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
