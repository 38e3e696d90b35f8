#include "algo/words_gpu.cuh"
#include "parents.hpp"

namespace shoal {
namespace {

/// One thread per owned vertex.
__global__ void parents_kernel(CsrView rows, const level_t* all_levels, const vertex_t* input_of_placed,
                               vertex_t source, vertex_t* parent) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < rows.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const vertex_t v = rows.first + static_cast<vertex_t>(i);
    const level_t mine = all_levels[v];
    vertex_t best = kNoVertex;
    if (v == source) {
      best = input_of_placed != nullptr ? input_of_placed[v] : v;
    } else if (mine != kUnreached) {
      const Span<const vertex_t> in = rows.neighbors(v);
      for (std::int64_t k = 0; k < in.size(); ++k) {
        const vertex_t u = in[k];
        if (all_levels[u] + 1 != mine) continue;
        const vertex_t name = input_of_placed != nullptr ? input_of_placed[u] : u;
        best = name < best ? name : best;
      }
    }
    parent[i] = best;
  }
}

}  // namespace

HostArray<vertex_t> find_parents_on_devices(const PlacedGraph& graph, const level_t* const* levels, vertex_t source,
                                            const level_t* on_host) {
  HostArray<vertex_t> parents(graph.num_vertices);
  wait_for_devices(graph);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = graph.in[p];
    if (rows.count == 0) continue;
    DeviceGuard guard(graph.devices[p]);
    const DeviceArray<level_t> all = collect_words(graph, levels, on_host, "levels of all PEs");
    DeviceArray<vertex_t> names(graph.partition.identity() ? 0 : graph.num_vertices, "input numbers");
    if (!graph.partition.identity()) names.upload(graph.partition.input_of_placed.data(), graph.num_vertices);
    DeviceArray<vertex_t> parent(rows.count, "parents");
    parents_kernel<<<1024, 256>>>(rows, all.data(), names.data(), source, parent.data());
    SHOAL_CUDA(cudaGetLastError());
    parent.download(parents.data() + rows.first, rows.count);
  }
  return parents;
}

}  // namespace shoal
