// Words that an engine left on GPUs, brought together on one of them.
#pragma once
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

}  // namespace shoal
