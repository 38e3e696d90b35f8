// The CUDA graph with which the device repeats the rounds of a discrete run (worklist/round_loop.cuh).
#pragma once
#include <cstdlib>

#include "shoal/device/cuda_check.cuh"
#include "shoal/worklist/round_loop.cuh"

#if SHOAL_DEVICE_ROUNDS
namespace shoal::gpu {

/// The graph: one WHILE node around kKernels launches of a kernel.
class LoopGraph {
 public:
  static constexpr int kKernels = 4;  ///< launches per turn of the loop, because a turn costs more than a launch

  /// False if the driver does not support such graphs, and if SHOAL_HOST_ROUNDS is set: under compute-sanitizer (CUDA 13.0),
  /// memcheck reports errors in these rounds and racecheck aborts. A small conditional graph passes both; the difference is that a
  /// round has a parameter that is read through its address.
  static bool available() {
    int driver = 0;
    return std::getenv("SHOAL_HOST_ROUNDS") == nullptr && cudaDriverGetVersion(&driver) == cudaSuccess &&
           driver >= 12040;
  }

  /// @param arguments_for  returns the kernel's arguments for a loop's handle; they are copied here
  template <class ArgumentsFor>
  LoopGraph(const void* kernel, dim3 blocks, dim3 threads, std::size_t shared_bytes, cudaStream_t stream,
            ArgumentsFor arguments_for)
      : stream_(stream) {
    SHOAL_CUDA(cudaGraphCreate(&graph_, 0));
    try {
      shoal_loop_handle handle;
      SHOAL_CUDA(cudaGraphConditionalHandleCreate(&handle, graph_, 1, cudaGraphCondAssignDefault));
      cudaGraphNodeParams loop{};
      loop.type = cudaGraphNodeTypeConditional;
      loop.conditional.handle = handle;
      loop.conditional.type = cudaGraphCondTypeWhile;
      loop.conditional.size = 1;
      cudaGraphNode_t node;
#if CUDART_VERSION >= 13000
      SHOAL_CUDA(cudaGraphAddNode(&node, graph_, nullptr, nullptr, 0, &loop));
#else
      SHOAL_CUDA(cudaGraphAddNode(&node, graph_, nullptr, 0, &loop));
#endif
      cudaKernelNodeParams round{};
      round.func = const_cast<void*>(kernel);
      round.gridDim = blocks;
      round.blockDim = threads;
      round.sharedMemBytes = static_cast<unsigned>(shared_bytes);
      round.kernelParams = arguments_for(handle);
      cudaGraphNode_t before;
      for (int k = 0; k < kKernels; ++k) {
        SHOAL_CUDA(cudaGraphAddKernelNode(&node, loop.conditional.phGraph_out[0], &before, k > 0 ? 1 : 0, &round));
        before = node;
      }
      SHOAL_CUDA(cudaGraphInstantiate(&executable_, graph_, 0));
      SHOAL_CUDA(cudaGraphUpload(executable_, stream_));
      SHOAL_CUDA(cudaStreamSynchronize(stream_));
    } catch (...) {
      destroy();
      throw;
    }
  }
  ~LoopGraph() { destroy(); }
  LoopGraph(const LoopGraph&) = delete;
  LoopGraph& operator=(const LoopGraph&) = delete;

  void launch() { SHOAL_CUDA(cudaGraphLaunch(executable_, stream_)); }

 private:
  void destroy() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
  }

  cudaStream_t stream_;
  cudaGraph_t graph_ = nullptr;
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace shoal::gpu
#endif
