// Words that an engine left on GPUs, brought together on one of them.
#pragma once
#include <vector>

#include "algo/engine.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

/// A run may still be writing words on other streams than those that copy them.
inline void wait_for_devices(const PlacedGraph& graph) {
  for (const int device : graph.devices) {
    DeviceGuard guard(device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

/// The words of all vertices, by placed number, on the current device.
/// @param part  [n_pes] device memory of each PE: [count] words of its vertices
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

/// The same where PEs belong to several processes, each of which has the words of all on the host.
/// @param on_host  [num_vertices], or null: one process, and they are on the devices
template <class Word>
DeviceArray<Word> collect_words(const PlacedGraph& graph, const Word* const* part, const Word* on_host,
                                const char* what) {
  if (on_host == nullptr) return collect_words(graph, part, what);
  DeviceArray<Word> all(graph.num_vertices, what);
  all.upload(on_host, graph.num_vertices);
  return all;
}

/// Every process: completes arrays of the whole graph on its devices, in which each PE has what belongs to its vertices.
/// @param world  of several processes
/// @param all    [PEs of this process] in device memory
/// @param at     at(q) is where what belongs to the vertices of PE q, of all, begins there
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
