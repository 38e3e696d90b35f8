// A CUDA graph of the work that a function launches.
#pragma once
#include <cuda_runtime.h>

#include <utility>

#include "shoal/device/cuda_check.cuh"

namespace shoal::blocks::gpu {

/// A graph that can be launched any number of times.
class Graph {
 public:
  Graph() = default;
  Graph(const Graph&) = delete;
  Graph& operator=(Graph&& other) noexcept {
    std::swap(run_, other.run_);
    return *this;
  }
  ~Graph() {
    if (run_ != nullptr) cudaGraphExecDestroy(run_);
  }
  /// Makes the graph of everything that `record` launches on `stream`, and on streams that it makes wait for `stream`.
  template <class Record>
  void capture(cudaStream_t stream, const Record& record) {
    SHOAL_CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t graph = nullptr;
    try {
      record();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    SHOAL_CUDA(cudaStreamEndCapture(stream, &graph));
    const cudaError_t made = cudaGraphInstantiate(&run_, graph, 0);
    cudaGraphDestroy(graph);
    cuda_check(made, "cudaGraphInstantiate(steps of blocks)");
    SHOAL_CUDA(cudaGraphUpload(run_, stream));
  }
  explicit operator bool() const { return run_ != nullptr; }
  void launch(cudaStream_t stream) const { SHOAL_CUDA(cudaGraphLaunch(run_, stream)); }

 private:
  cudaGraphExec_t run_ = nullptr;
};

}  // namespace shoal::blocks::gpu
