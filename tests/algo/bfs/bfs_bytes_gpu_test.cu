// Breadth-first search by worklist on GPUs with a second copy of the levels in bytes, as it is used from 2^23 vertices on.
#include <gtest/gtest.h>

#include "algo/gpu_bed.cuh"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

class LevelsInBytesOnGpus : public test::OnGpus {};

TEST_F(LevelsInBytesOnGpus, AreRight) {
  for (const int pes : {1, 2}) {
    for (const KernelKind kernel : {KernelKind::persistent, KernelKind::discrete}) {
      BfsOptions options;
      options.device = DeviceKind::gpu;
      options.strategy = BfsStrategy::async;
      options.pes = pes;
      options.pes_per_gpu = pes;
      options.kernel = kernel;
      options.worker = WorkerKind::block;  // blocks learn from the other PE what has been reached
      BfsRunner search(parse_generator("uniform:23,degree=5"), options);
      for (const vertex_t source : {1u, 77u}) {
        search.search(source);
        EXPECT_EQ(search.verify(), "") << name(kernel) << " on " << pes << " PEs from " << source;
      }
    }
  }
}

}  // namespace
}  // namespace shoal
