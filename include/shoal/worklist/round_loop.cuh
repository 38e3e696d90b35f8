// Rounds of a discrete run that the device repeats by itself: a CUDA graph with a loop whose body is a few round kernels
// (src/worklist/loop_graph.cuh). The last block of a round clears the loop's condition when no item is left. This works for
// one PE only. It avoids a round trip to the host between two rounds, which costs more than most rounds do on a graph with
// long paths.
//
// The last block also moves the threshold; each move takes one more round.
//
// Needs conditional nodes (CUDA 12.4). Without them, with several PEs, and for tasks with idle(), the host launches each
// round. The host watches for progress in either case (wait_and_watch): if there is none, it sets the state word, and the
// next round ends the loop.
#pragma once
#include <cuda_runtime.h>

#include <cstdint>

#include "shoal/worker/gpu.cuh"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/quiescence.hpp"

#if CUDART_VERSION >= 12040
#define SHOAL_DEVICE_ROUNDS 1
using shoal_loop_handle = cudaGraphConditionalHandle;
#else
#define SHOAL_DEVICE_ROUNDS 0
using shoal_loop_handle = unsigned long long;
#endif

namespace shoal::gpu {

/// The state that the rounds of one loop share, in device memory.
struct RoundLoop {
  PaddedWord<std::uint32_t, Scope::device> arrived;  ///< blocks that have finished this round
  PaddedWord<ticket_t, Scope::device> limit;         ///< this round takes the ring's tickets below it
  Word<std::uint64_t, Scope::device> rounds;
  Word<std::uint32_t, Scope::device>
      ended;           ///< set only between two rounds, so all blocks of a round read the same value
  PhaseOrders orders;  ///< used only by the last block of a round

  /// Every thread calls this as its last action. The last block to arrive prepares the next round, or ends the loop. It has
  /// acquired what all other blocks wrote, and nothing else runs, so one load of each counter shows whether any item is left;
  /// all loads are in flight together.
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
    if (!over && (completed != created || order_phase(GpuThread{}, view, orders, created))) return;
    if (!over) view.stop_all(RunState::done);
    ended.store(1);
#if SHOAL_DEVICE_ROUNDS
    cudaGraphSetConditional(handle, 0);
#endif
  }
};

}  // namespace shoal::gpu
