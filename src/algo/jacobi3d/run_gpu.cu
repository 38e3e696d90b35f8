#include <algorithm>
#include <chrono>
#include <vector>

#include "jacobi3d.hpp"
#include "shoal/blocks/launch_gpu.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {

template <class T>
std::unique_ptr<GridSteps<T>> make_jacobi3d_gpu(const Machine& machine, const GridOptions& options,
                                                const Jacobi3d<T>& program) {
  return std::make_unique<GridStepsBy<Jacobi3d<T>, blocks::gpu::Launcher>>(machine, program.size, options, program);
}
template std::unique_ptr<GridSteps<float>> make_jacobi3d_gpu(const Machine&, const GridOptions&,
                                                             const Jacobi3d<float>&);
template std::unique_ptr<GridSteps<double>> make_jacobi3d_gpu(const Machine&, const GridOptions&,
                                                              const Jacobi3d<double>&);

double copy_rate_gpu(const Machine& machine, std::int64_t bytes) {
  std::vector<int> devices = machine.devices();
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  std::vector<DeviceArray<char>> arrays;
  for (const int device : devices) {
    DeviceGuard guard(device);
    for (int i = 0; i < 2; ++i) {
      arrays.emplace_back(bytes, "a copy");
      arrays.back().fill_bytes(i);
    }
  }
  const auto wait = [&] {
    for (const int device : devices) {
      DeviceGuard guard(device);
      SHOAL_CUDA(cudaDeviceSynchronize());
    }
  };
  constexpr int kCopies = 10;
  double best = 0;
  for (int trial = 0; trial < 5; ++trial) {
    wait();
    const auto begin = std::chrono::steady_clock::now();
    for (int copy = 0; copy < kCopies; ++copy) {
      for (std::size_t i = 0; i < devices.size(); ++i) {
        DeviceGuard guard(devices[i]);
        SHOAL_CUDA(cudaMemcpyAsync(arrays[2 * i].data(), arrays[2 * i + 1].data(), static_cast<std::size_t>(bytes),
                                   cudaMemcpyDeviceToDevice));
      }
    }
    wait();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    best = std::max(best, 2.0 * kCopies * static_cast<double>(bytes) * static_cast<double>(devices.size()) / seconds);
  }
  return best;
}

}  // namespace shoal
