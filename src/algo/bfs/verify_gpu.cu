#include "verify_gpu.hpp"

#include <algorithm>
#include <cstdint>

#include "algo/words_gpu.cuh"
#include "reference.hpp"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// What the host needs to describe a violation.
struct WrongLevel {
  vertex_t vertex;  ///< placed; kNoVertex when all are right
  level_t level;
  std::uint64_t closest;
};

/// One warp checks each vertex; *first_wrong becomes the smallest wrong one.
__global__ void __launch_bounds__(256)
    check_levels(CsrView in, const level_t* level, vertex_t source, vertex_t* first_wrong) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  for (std::int64_t i = warp; i < in.count; i += warps) {
    const vertex_t v = in.first + static_cast<vertex_t>(i);
    std::uint64_t closest = closest_in_neighbor(in, level, v, threadIdx.x % 32, 32);
    for (int step = 16; step > 0; step /= 2) {
      const std::uint64_t other = __shfl_xor_sync(0xFFFFFFFFu, closest, step);
      closest = other < closest ? other : closest;
    }
    if (threadIdx.x % 32 == 0 && !level_is_right(v, source, level[v], closest)) atomicMin(first_wrong, v);
  }
}

__global__ void describe_wrong(CsrView in, const level_t* level, const vertex_t* first_wrong, WrongLevel* wrong) {
  wrong->vertex = *first_wrong;
  if (wrong->vertex == kNoVertex) return;
  wrong->level = level[wrong->vertex];
  wrong->closest = closest_in_neighbor(in, level, wrong->vertex);
}

}  // namespace

std::string verify_levels_on_devices(const PlacedGraph& graph, const level_t* const* level_slices,
                                     vertex_t placed_source, const level_t* on_host) {
  const pe_t n_pes = graph.n_pes();
  if (static_cast<pe_t>(graph.devices.size()) != n_pes) {
    throw UsageError("verify_levels_on_devices: the graph is not placed on devices; use verify_levels");
  }
  wait_for_devices(graph);
  for (pe_t p = 0; p < n_pes; ++p) {
    const CsrView& in = graph.in[p];
    if (in.count == 0) continue;
    DeviceGuard guard(graph.devices[p]);
    const DeviceArray<level_t> level = collect_words(graph, level_slices, on_host, "levels of all vertices, to verify");
    DeviceArray<vertex_t> first_wrong(1, "first wrong vertex");
    DeviceArray<WrongLevel> wrong(1, "wrong level");
    first_wrong.fill_bytes(0xFF);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((std::int64_t{in.count} + 7) / 8, 1 << 16));
    check_levels<<<blocks, 256>>>(in, level.data(), placed_source, first_wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    describe_wrong<<<1, 1>>>(in, level.data(), first_wrong.data(), wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    WrongLevel found{};
    wrong.download(&found, 1);
    if (found.vertex == kNoVertex) continue;
    std::uint64_t closest = found.closest;
    if (closest != ~0ull) {
      closest = (closest & ~0xFFFFFFFFull) | graph.partition.input(static_cast<vertex_t>(closest));
    }
    return describe_wrong_level(graph.partition.input(found.vertex), graph.partition.input(placed_source), found.level,
                                closest);
  }
  return "";
}

}  // namespace shoal
