#define SHOAL_CODE_FOR CodeFor::gpu
#include "async.hpp"
#include "kernels/components.cuh"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {

namespace {

/// Finds the own vertices that are seeds; their order is arbitrary.
__global__ void find_seeds(CsrView out, CsrView in, Components::Item* seeds, unsigned long long* count) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < out.count;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const vertex_t v = out.first + static_cast<vertex_t>(i);
    if (starts_component(out, in, v)) seeds[atomicAdd(count, 1ull)] = {v, v};
  }
}
__global__ void own_numbers(CsrView out, CsrView in, vertex_t* known, vertex_t vertices) {
  for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < vertices;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const vertex_t v = static_cast<vertex_t>(i);
    const bool mine = v >= out.first && v - out.first < out.count;
    known[v] = mine && starts_component(out, in, v) ? kNoVertex : v;
  }
}

struct PrepareGpu {
  template <class Engine>
  std::vector<Components::Item> seeds(const Engine& engine, pe_t pe) const {
    const Components& task = engine.task(pe);
    if (task.out.count == 0) return {};
    DeviceGuard guard(engine.machine().devices()[pe]);
    DeviceArray<Components::Item> found(task.out.count, "seeds");
    DeviceArray<unsigned long long> count(1, "number of seeds");
    count.fill_bytes(0);
    find_seeds<<<1024, 256>>>(task.out, task.in, found.data(), count.data());
    SHOAL_CUDA(cudaGetLastError());
    unsigned long long n = 0;
    count.download(&n, 1);
    std::vector<Components::Item> seeds(n);
    found.download(seeds.data(), static_cast<std::int64_t>(n));
    return seeds;
  }
  /// Clears the labels on all devices at the same time.
  template <class Engine>
  void clear(Engine& engine) const {
    const std::vector<int>& devices = engine.machine().devices();
    for (pe_t p = 0; p < engine.graph().n_pes(); ++p) {
      DeviceGuard guard(devices[p]);
      own_numbers<<<1024, 256>>>(engine.task(p).out, engine.task(p).in, engine.known().all(p),
                                 engine.graph().num_vertices);
      SHOAL_CUDA(cudaGetLastError());
    }
    for (int device : devices) {
      DeviceGuard guard(device);
      SHOAL_CUDA(cudaStreamSynchronize(0));
    }
  }
};

}  // namespace

std::unique_ptr<ComponentsEngine> make_components_async_gpu(const Machine& machine, const PlacedGraph& graph,
                                                            const ComponentsPlan& plan) {
  return std::make_unique<ComponentsAsync<PrepareGpu>>(machine, graph, plan);
}

}  // namespace shoal
