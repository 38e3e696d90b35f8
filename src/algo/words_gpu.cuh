// Gathers the words that an engine left on several GPUs on one of them.
#pragma once
#include <vector>

#include "algo/engine.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// Waits for all work on the graph's devices: a run may still be writing words on streams other than the one that copies them.
inline void wait_for_devices(const PlacedGraph& graph) {
  for (const int device : graph.devices) {
    DeviceGuard guard(device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

/// The words of all vertices, by placed number, on the current device.
/// @param part  [n_pes], device memory of each PE: [count] words of its vertices
template <class Word>
DeviceArray<Word> collect_words(const PlacedGraph& graph, const Word* const* part, const char* what) {
  DeviceArray<Word> all(graph.num_vertices, what);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.out[p];
    if (rows.count == 0) continue;
    SHOAL_CUDA(cudaMemcpy(all.data() + rows.first, part[p], std::size_t{rows.count} * sizeof(Word), cudaMemcpyDefault));
  }
  return all;
}

/// The same where PEs belong to several processes. Each process then has the words of all vertices on the host.
/// @param on_host  [num_vertices]; or null: there is one process, and the words are on the devices
template <class Word>
DeviceArray<Word> collect_words(const PlacedGraph& graph, const Word* const* part, const Word* on_host,
                                const char* what) {
  if (on_host == nullptr) return collect_words(graph, part, what);
  DeviceArray<Word> all(graph.num_vertices, what);
  all.upload(on_host, graph.num_vertices);
  return all;
}

/// Called by every process: completes arrays of the whole graph on its devices, in which each PE has the values of its own
/// vertices.
/// @param world  the world of several processes
/// @param all    [PEs of this process], in device memory
/// @param at     at(q) is the offset in such an array at which the values of PE q's vertices begin; q counts the PEs of all
///               processes
template <class Word, class At>
void complete_on_devices(World& world, const PlacedGraph& graph, const std::vector<Word*>& all, At&& at) {
  const vertex_t* const begin = graph.partition.owner.begin;
  HostArray<Word> whole(graph.num_vertices);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.out[p];
    if (rows.count == 0) continue;
    SHOAL_CUDA(cudaMemcpy(whole.data() + rows.first, all[p] + at(graph.first_pe + p),
                          std::size_t{rows.count} * sizeof(Word), cudaMemcpyDefault));
  }
  complete(&world, graph, whole.data(), sizeof(Word));
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    for (pe_t q = 0; q < graph.all_pes(); ++q) {
      const vertex_t count = begin[q + 1] - begin[q];
      if (q == graph.first_pe + p || count == 0) continue;
      SHOAL_CUDA(cudaMemcpy(all[p] + at(q), whole.data() + begin[q], std::size_t{count} * sizeof(Word),
                            cudaMemcpyHostToDevice));
    }
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

}  // namespace shoal
