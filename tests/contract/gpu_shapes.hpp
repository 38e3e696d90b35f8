// What the contract tests on GPUs vary: worker and kernel, and how many GPUs there are.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "shapes.hpp"
#include "shoal/runtime/devices.hpp"

namespace shoal::contract {

using GpuShape = std::tuple<WorkerKind, KernelKind>;

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
