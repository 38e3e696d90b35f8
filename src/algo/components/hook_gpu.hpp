// Connected components on the GPUs of one process, by hooking and compressing trees of parents: the steps and the reason
// why they are right are in components_hook.hpp. Host declarations only; no CUDA types.
//
// Several PEs: each finds the trees of its own vertices along arcs between them, in its own memory, and tells the others
// with a bitmap which of its vertices are in its giant tree. The giant trees are united first; then each PE looks at the
// arcs of its other vertices, most of which find a neighbour in some giant tree in the bitmap and need nothing from the
// neighbour's PE. What is left hooks parents over the wire. Where that would be most of the graph (no PE has a giant tree in
// its own arcs), PEs unite their arcs in parents of all vertices and merge those instead (components_forests.cuh).
//
// Source: Afforest (Sutton et al., IPDPS 2018). Differs: tiles of consecutive vertices are united in shared memory, so that
// graphs with local arcs need few atomics in memory; one sequence of kernels without any barrier inside a kernel; Groute's
// merging of whole parent arrays in a tree of PEs is replaced by bitmaps and hooks at the owner.
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

/// How several PEs make one forest of theirs.
enum class ComponentsExchange {
  automatic,  ///< hooks; forests if a first run hooks along more than an arc for every 8 vertices, on a PE, over the wire
  hooks,      ///< every parent is kept at its vertex's PE, and hooked there
  forests,    ///< every PE merges the parents that each of them found for all vertices: 8 bytes more for each of these
};

/// How work is cut. Labels do not depend on any of these.
struct ComponentsHookGpuTuning {
  vertex_t tile = 0;  ///< consecutive vertices that a block unites in shared memory: 512 to 32,768, in 512s; 0: 16,384,
                      ///< down to 2,048 where that would leave multiprocessors idle
  bool giant = true;  ///< spare the arcs of the tree that most sampled vertices are in; false looks at all arcs
  arc_t hub_arcs = 16384;  ///< longer rows are shared by the whole device, at least 64
  ComponentsExchange exchange = ComponentsExchange::automatic;
  double deadline_seconds = 5;  ///< longest wait for another PE before the run ends in a DeviceError
};

/// One kernel of a run.
struct ComponentsHookStep {
  std::string name;
  double microseconds = 0;  ///< of the PE where it took longest, with what it waited for
};

/// Labels a graph that was placed on GPUs, as often as wanted. All memory is allocated here.
class ComponentsHookGpu : public Engine<> {
 public:
  /// Allocates about 4.2 bytes for each vertex of a PE, and with several PEs a bit for each vertex of the graph (with
  /// forests: 8 bytes; if `automatic` finds no room for them, it stays with hooks). Several PEs run once here, to see.
  /// @param graph  on devices, 1 to 8 PEs; must stay alive and unchanged. `in` is used when it is not symmetric.
  /// @throws UsageError   CPU PEs, more than 8 PEs, or tuning out of range
  /// @throws DeviceError  the devices cannot reach each other's memory
  /// @throws CapacityError  device memory
  explicit ComponentsHookGpu(const PlacedGraph& graph, const ComponentsHookGpuTuning& tuning = {});
  ~ComponentsHookGpu() override;
  ComponentsHookGpu(ComponentsHookGpu&&) noexcept;
  ComponentsHookGpu& operator=(ComponentsHookGpu&&) noexcept;

  /// Finds the label of every vertex: the smallest placed number of its component. Blocks until all PEs are done.
  /// @param report  gains seconds (wall clock from before the first launch until every device is done), rounds (kernels of
  ///                a PE) and how much the sampling spared
  /// @throws DeviceError  a PE waited longer than the deadline for another, or a launch failed; the labels are then
  ///                      undefined, the object stays usable unless the device is lost
  void run(Report& report) override;

  /// Runs once more, kernel by kernel, and says how long each took; slower as a whole than run().
  std::vector<ComponentsHookStep> profile();

  /// Device memory of each PE: [count] labels of its vertices, of the last run. May be null where there are none.
  vertex_t* label(pe_t pe) const;
  Words words() const override;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shoal
