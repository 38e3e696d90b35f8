#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/kcore.cuh"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal {

namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 132 * 8;

struct Found {
  unsigned left = 0, seeds = 0;
  int least = KCorePe::kNoDegree;
};
/// What the blocks of a kernel have found so far, and how many of them have finished.
struct Finding {
  Found found;
  Word<std::uint32_t, Scope::device> finished;
};

__global__ void begin_peeling(CsrView rows, KCorePe pe) {
  for (vertex_t i = blockIdx.x * blockDim.x + threadIdx.x; i < rows.count; i += gridDim.x * blockDim.x) {
    pe.degree[i] = static_cast<std::int32_t>(rows.offsets[i + 1] - rows.offsets[i]);
    pe.left[i] = i;
  }
}

/// The index for each lane's entry in an array of which *size entries are used; only lanes with `mine` get an entry. All lanes of a
/// warp must call it.
__device__ unsigned append(bool mine, unsigned* size) {
  const unsigned lanes = __ballot_sync(~0u, mine), lane = threadIdx.x & 31;
  unsigned base = 0;
  if (lanes != 0 && lane == 0) base = atomicAdd(size, static_cast<unsigned>(__popc(lanes)));
  return __shfl_sync(~0u, base, 0) + __popc(lanes & ((1u << lane) - 1));
}

/// @param left    [n] vertices that were left before
/// @param stays   vertices that are left now, in any order
/// @param by_all  as Finding{} before and after
/// @param result  host memory: copies before and after the kernel would take longer than most of these kernels
__global__ void look_at_all(CsrView rows, KCorePe pe, const vertex_t* left, unsigned n, vertex_t* stays,
                            std::int32_t done, std::int32_t k, Finding* by_all, Found* result) {
  Found* const found = &by_all->found;
  int least = KCorePe::kNoDegree;
  const unsigned step = gridDim.x * blockDim.x, whole = (n + 31) / 32 * 32;
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < whole; at += step) {
    bool stay = false, begin = false;
    vertex_t i = 0;
    if (at < n) {
      i = left[at];
      begin = pe.begins(i, done, k, stay);
      if (stay) least = min(least, pe.degree[i]);
    }
    const unsigned to = append(stay, &found->left);
    if (stay) stays[to] = i;
    const unsigned seed = append(begin, &found->seeds);
    if (begin) pe.seeds[seed] = rows.first + i;
  }
  least = __reduce_min_sync(~0u, least);
  if ((threadIdx.x & 31) == 0 && least != KCorePe::kNoDegree) atomicMin(&found->least, least);
  __syncthreads();
  if (threadIdx.x != 0 || by_all->finished.fetch_add_acq_rel(1) + 1 < gridDim.x) return;
  *result = *found;  // of all blocks: the last one to finish is here
  *by_all = Finding{};
}

/// Operations on all vertices of the PEs, on their devices at the same time.
class HandsGpu {
 public:
  template <class Engine>
  void clear(const Engine& engine) {
    const PlacedGraph& graph = engine.graph();
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      DeviceGuard guard(graph.devices[p]);
      if (pes_.size() <= p) pes_.emplace_back(graph.out[p].count);
      pes_[p].n = graph.out[p].count;
      pes_[p].swapped = false;
      const Finding nothing{};
      SHOAL_CUDA(cudaMemcpy(pes_[p].finding.data(), &nothing, sizeof(nothing), cudaMemcpyHostToDevice));
      if (pes_[p].n == 0) continue;
      begin_peeling<<<blocks(pes_[p].n), kThreads>>>(graph.out[p], engine.pe(p));
      SHOAL_CUDA(cudaGetLastError());
    }
  }

  template <class Engine>
  std::vector<KCoreLook> look(const Engine& engine, std::int32_t done, std::int32_t k) {
    const PlacedGraph& graph = engine.graph();
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      Pe& mine = pes_[p];
      mine.here() = Found{};
      if (mine.n == 0) continue;
      DeviceGuard guard(graph.devices[p]);
      vertex_t* from = engine.pe(p).left;
      vertex_t* to = mine.other.data();
      if (mine.swapped) std::swap(from, to);
      mine.swapped = !mine.swapped;
      look_at_all<<<blocks(mine.n), kThreads>>>(graph.out[p], engine.pe(p), from, mine.n, to, done, k,
                                                mine.finding.data(), &mine.here());
      SHOAL_CUDA(cudaGetLastError());
    }
    std::vector<KCoreLook> looks(graph.n_pes());
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      DeviceGuard guard(graph.devices[p]);
      SHOAL_CUDA(cudaStreamSynchronize(nullptr));
      const Found found = pes_[p].here();
      pes_[p].n = found.left;
      looks[p] = {found.left, found.least, {}};
      if (found.seeds > 0) looks[p].seeds = {{0, found.seeds}};
    }
    return looks;
  }

 private:
  struct Pe {
    explicit Pe(vertex_t count)
        : other(count, "vertices left"),
          finding(1, "what is found"),
          found_here(pinned_memory(sizeof(Found), "what was found")) {}
    Found& here() { return *static_cast<Found*>(found_here.get()); }

    DeviceArray<vertex_t> other;  // alternates with KCorePe::left
    DeviceArray<Finding> finding;
    std::shared_ptr<void> found_here;  // a Found
    vertex_t n = 0;                    // number of vertices left
    bool swapped = false;
  };

  static int blocks(std::int64_t n) { return static_cast<int>(std::min((n + kThreads - 1) / kThreads, kMostBlocks)); }

  std::vector<Pe> pes_;
};

}  // namespace

std::unique_ptr<KCoreEngine> make_kcore_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                  const KCorePlan& plan) {
  return std::make_unique<KCoreAsync<HandsGpu>>(machine, graph, plan);
}

}  // namespace shoal
