// What the contract tests on GPUs vary: the worker, the kernel, and the number of PEs. If there are fewer GPUs than PEs, PEs
// share GPUs.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "shapes.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::contract {

using GpuShape = std::tuple<WorkerKind, KernelKind>;

/// The options of a run on `pes` PEs on a machine with `gpus` GPUs.
inline Options options_of(pe_t pes, pe_t gpus) {
  Options options;
  options.device = DeviceKind::gpu;
  options.pes = pes;
  options.pes_per_gpu = (pes + gpus - 1) / gpus;
  return options;
}

class OnGpusOfAShape : public ::testing::TestWithParam<GpuShape> {
 protected:
  void SetUp() override {
    std::string why;
    gpus_ = static_cast<pe_t>(list_devices(&why).size());
    if (gpus_ == 0) GTEST_SKIP() << "no GPU: " << why;
  }

  pe_t gpus_ = 0;
};

inline auto every_gpu_shape() {
  return ::testing::Combine(::testing::Values(WorkerKind::thread, WorkerKind::warp, WorkerKind::block),
                            ::testing::ValuesIn(kKernels));
}
inline std::string describe_gpu_shape(const ::testing::TestParamInfo<GpuShape>& info) {
  return std::string(name(std::get<0>(info.param))) + "_" + name(std::get<1>(info.param));
}

}  // namespace shoal::contract
