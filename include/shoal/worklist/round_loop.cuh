// Rounds of a discrete run that the device repeats by itself: a CUDA graph whose loop body is a few round kernels. The
// last block of a round clears the loop's condition when nothing is left. This is for one PE, and saves the host's part
// between two rounds: a round trip to the host costs more than most rounds of a graph with long paths.
//
// Needs conditional nodes (CUDA 12.4). Without them, with several PEs, and in runs with phases, the host repeats the
// rounds. The host still watches (wait_and_watch): if a run does not move, it sets the state word, and the next round
// ends the loop.
#pragma once
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/worklist/quiescence.hpp"

#if CUDART_VERSION >= 12040
#define SHOAL_DEVICE_ROUNDS 1
using shoal_loop_handle = cudaGraphConditionalHandle;
#else
#define SHOAL_DEVICE_ROUNDS 0
using shoal_loop_handle = unsigned long long;
#endif

namespace shoal::gpu {

/// What the rounds of one loop share, in device memory.
struct RoundLoop {
  PaddedWord<std::uint32_t, Scope::device> arrived;  ///< blocks that have finished this round
  PaddedWord<ticket_t, Scope::device> limit;         ///< this round takes the tickets below it
  Word<std::uint64_t, Scope::device> rounds;
  Word<std::uint32_t, Scope::device>
      ended;  ///< set only between two rounds, so all blocks of a round read the same value

  /// Every thread calls this as its last act. The last block prepares the next round, or ends the loop. It has acquired
  /// what all others wrote, and nothing else runs, so one load of each counter shows whether anything is left; all
  /// loads are in flight together.
  template <class View>
  __device__ void end_round(const View& view, ticket_t below, shoal_loop_handle handle) {
    __syncthreads();
    if (threadIdx.x != 0 || arrived.fetch_add_acq_rel(1) + 1 != gridDim.x) return;
    PeControl& here = view.here();
    const std::uint64_t created = created_at(view, view.me), completed = here.completed.load();
    const ticket_t tail = here.ring.tail.load();
    const std::uint64_t before = rounds.load();
    const bool over = here.state.load() != 0;
    arrived.store(0);
    rounds.store(before + 1);
    here.ring.head.store(below);  // tickets claimed beyond the limit go back
    limit.store(tail);
    if (!over && completed != created) return;
    if (!over) view.stop_all(RunState::done);
    ended.store(1);
#if SHOAL_DEVICE_ROUNDS
    cudaGraphSetConditional(handle, 0);
#endif
  }
};

#if SHOAL_DEVICE_ROUNDS

/// The graph: one WHILE node around kKernels launches of a kernel.
class LoopGraph {
 public:
  static constexpr int kKernels = 4;  ///< launches per turn of the loop, because a turn costs more than a launch

  /// False without the driver for it, and where SHOAL_HOST_ROUNDS is set: under compute-sanitizer (CUDA 13.0) memcheck
  /// reports errors in these rounds and racecheck breaks off. A small conditional graph passes both; what a round has
  /// in addition is a parameter that is read through its address.
  static bool available() {
    int driver = 0;
    return std::getenv("SHOAL_HOST_ROUNDS") == nullptr && cudaDriverGetVersion(&driver) == cudaSuccess &&
           driver >= 12040;
  }

  /// @param arguments_for  the kernel's arguments for a loop's handle; copied here
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

#endif

}  // namespace shoal::gpu
