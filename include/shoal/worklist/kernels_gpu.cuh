// The kernels of a worklist on GPUs. Each worker has a scheduler, and its desk in shared memory.
#pragma once
#include <algorithm>

#include "shoal/transport/direct.hpp"
#include "shoal/worker/gpu.cuh"
#include "shoal/worklist/kernel_set.hpp"
#include "shoal/worklist/rounds_gpu.cuh"
#include "shoal/worklist/schedule.hpp"
#include "shoal/worklist/streams_gpu.cuh"
#include "shoal/world/options.hpp"

namespace shoal::gpu {

/// Most threads of a block of workers W. In runs on several PEs blocks of warps are small, so that as many fit as registers allow.
template <class W, class View>
inline constexpr int kBlockBound = std::is_same_v<W, GpuBlock>                   ? kMostBlockThreads
                                   : std::is_same_v<W, GpuWarp> && !kAlone<View> ? 128
                                                                                 : 256;
/// Blocks per multiprocessor for which the compiler limits registers: warps have 128 registers per thread, and 168 in runs on several PEs,
/// of which fewer would be kept in memory (docs/decisions/0080-what-leaves-is-apart.md). More blocks were slower: waiting workers
/// contend for the counters.
template <class W, class View>
inline constexpr int kResidentBlocks = std::is_same_v<W, GpuWarp> && !kAlone<View> ? 3 : 2;
static_assert(GpuBlock::kMaxLanes == kMostBlockThreads);
template <class W>
inline constexpr WorkerKind kKindOf = std::is_same_v<W, GpuBlock>  ? WorkerKind::block
                                      : std::is_same_v<W, GpuWarp> ? WorkerKind::warp
                                                                   : WorkerKind::thread;

/// Bytes of `n` objects, rounded up so that the next array is aligned.
template <class T>
SHOAL_FN constexpr std::size_t padded_bytes(std::size_t n) {
  return (n * sizeof(T) + 15) / 16 * 16;
}
/// Room for items in the sieve of a worker with `lanes` lanes.
template <class W, class Task>
SHOAL_FN constexpr lane_t sieve_items(lane_t lanes) {
  return Sieve<typename Task::Item>::capacity(lanes, W::kOffers);
}
/// Bytes of shared memory for the desk of a worker with `lanes` lanes.
template <class W, class View>
SHOAL_FN constexpr std::size_t desk_bytes(lane_t lanes) {
  using Task = typename View::Task;
  return padded_bytes<typename Task::Item>(lanes * DrainSize<W, View>::kItems) + padded_bytes<lane_t>(lanes) +
         (FanOutTask<Task> ? padded_bytes<typename RangeOf<Task>::Type>(lanes) : 0) +
         (HasPriority<Task> ? padded_bytes<BinTable>(1) : 0) +
         (kPacksItems<W, Task> || kKeepsItems<W, Task> ? padded_bytes<typename Task::Item>(lanes) : 0) +
         (kSendsWhole<W, View> ? padded_bytes<Gate>(1) : 0) +
         (HasParts<W> ? padded_bytes<Changing<W, View>>(lanes) + padded_bytes<LaneTally<W>>(1) : 0) +
         (kSifts<W, Task> ? padded_bytes<lane_t>(1) + padded_bytes<typename Task::Item>(sieve_items<W, Task>(lanes))
                          : 0);
}

template <class W, class View>
__device__ Desk<typename View::Task> carve_desk(char* memory, lane_t lanes) {
  using Task = typename View::Task;
  using Range = typename RangeOf<Task>::Type;
  Desk<Task> desk;
  desk.items = lanes * DrainSize<W, View>::kItems;
  desk.item = reinterpret_cast<typename Task::Item*>(memory);
  memory += padded_bytes<typename Task::Item>(desk.items);
  desk.start = reinterpret_cast<BatchStart*>(memory);
  memory += padded_bytes<lane_t>(lanes);
  if constexpr (FanOutTask<Task>) {
    desk.range = reinterpret_cast<Range*>(memory);
    memory += padded_bytes<Range>(lanes);
  }
  if constexpr (HasPriority<Task>) {
    desk.bins = reinterpret_cast<BinTable*>(memory);
    memory += padded_bytes<BinTable>(1);
  }
  if constexpr (kPacksItems<W, Task> || kKeepsItems<W, Task>) {
    desk.aside = reinterpret_cast<typename Task::Item*>(memory);
    memory += padded_bytes<typename Task::Item>(lanes);
  }
  if constexpr (kSendsWhole<W, View>) {
    desk.gate = reinterpret_cast<Gate*>(memory);
    memory += padded_bytes<Gate>(1);
  }
  if constexpr (HasParts<W>) {
    desk.tally = reinterpret_cast<LaneTally<W>*>(memory);
    memory += padded_bytes<LaneTally<W>>(1);
  }
  if constexpr (kSifts<W, Task>) {
    desk.sieve.count = reinterpret_cast<lane_t*>(memory);
    desk.sieve.item = reinterpret_cast<typename Task::Item*>(memory + padded_bytes<lane_t>(1));
    if (threadIdx.x == 0) *desk.sieve.count = 0;  // the first collective makes it visible
  }
  return desk;
}

/// Makes this lane's scheduler and calls `body` with it.
template <class W, class View, class Body>
__device__ void with_scheduler(const View& view, lane_t workers, lane_t fetch, Body body) {
  using Task = typename View::Task;
  extern __shared__ __align__(16) char shared[];
  lane_t index;
  Desk<Task> desk;
  Changing<W, View>* state = nullptr;
  typename Task::Item own[DrainSize<GpuThread, View>::kItems];
  W w;
  if constexpr (std::is_same_v<W, GpuBlock>) {
    index = blockIdx.x;
    w.scratch = reinterpret_cast<GpuBlock::Scratch*>(shared);
    char* const memory = shared + padded_bytes<GpuBlock::Scratch>(1);
    state = reinterpret_cast<Changing<W, View>*>(memory);
    desk = carve_desk<W, View>(memory + padded_bytes<Changing<W, View>>(blockDim.x), blockDim.x);
  } else if constexpr (std::is_same_v<W, GpuWarp>) {
    index = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    desk = carve_desk<W, View>(shared + (threadIdx.x / 32) * desk_bytes<W, View>(32), 32);
  } else {
    index = blockIdx.x * blockDim.x + threadIdx.x;
    desk.item = own;
    desk.items = DrainSize<GpuThread, View>::kItems;
  }
  if (index >= workers) return;
  Scheduler<W, View> scheduler(w, view, view.spill.lists[index], desk, fetch, index, state);
  body(scheduler);
  if (w.lane() == 0) view.spill.lists[index] = scheduler.out().now().list;
}

template <class W, class View>
__global__ void __launch_bounds__((kBlockBound<W, View>), (kResidentBlocks<W, View>))
    persistent_kernel(const __grid_constant__ View view, lane_t workers, lane_t fetch) {
  if (blockIdx.x == 0 && threadIdx.x == 0) view.here().begun.store(1);  // the kernel's blocks all begin together
  with_scheduler<W>(view, workers, fetch, [](auto& scheduler) { scheduler.run_persistent(); });
}

template <class W, class View>
__global__ void __launch_bounds__((kBlockBound<W, View>), (kResidentBlocks<W, View>))
    rounds_kernel(const __grid_constant__ View view, lane_t workers, lane_t fetch) {
  if (blockIdx.x == 0 && threadIdx.x == 0) view.here().begun.store(1);
  with_scheduler<W>(view, workers, fetch, [fetch](auto& scheduler) {
    const ticket_t head =
        scheduler.out().view().here().ring.head.load();  // does not change before the first round has ended
    scheduler.run_rounds({head, head},
                         [fetch](const View& of, Round& round) { return meet_after_round<W>(of, fetch, round); });
  });
}

template <class View>
struct InOrderOf {
  using Type = View;  ///< a task without priorities has only kernels for FIFO order
};
template <class TaskT, class TransportT>
requires HasPriority<TaskT>
struct InOrderOf<WorklistView<TaskT, TransportT>> {
  using Type = WorklistView<InOrder<TaskT>, TransportT>;
};
/// The view of a PE in a run without priorities.
template <class View>
using ViewInOrder = typename InOrderOf<View>::Type;
/// The view of a PE in a run with priorities, where runs without have another kernel.
template <class View>
using ViewWithPriorities = std::conditional_t<HasPriority<typename View::Task>, ViewByPriority<View>, View>;

/// The kernel of workers W for a view; null if the program contains none (kernel_set.hpp).
template <class W, class View, KernelKind kKind>
const void* kernel_over() {
  if constexpr (!kernels_of<typename View::Task>().has(kKindOf<W>, kKind)) {
    return nullptr;
  } else if constexpr (kKind == KernelKind::persistent) {
    return (const void*)persistent_kernel<W, View>;
  } else {
    return (const void*)rounds_kernel<W, View>;
  }
}

/// The kernels of one kind of workers W for a view. If another source file has `template struct Kernels<...>` and this one has
/// `extern template struct Kernels<...>`, they are compiled in the other one (cmake/Kernels.cmake).
template <class W, class View, KernelKind kKind>
struct Kernels {
  /// @param alone     the run has only one PE
  /// @param in_order  the run uses no priorities
  /// Where a kernel has variants (has_variants), both select one; on several PEs, `in_order` does so only for the kernels that
  /// `auto` chooses among.
  static const void* find(bool alone, bool in_order);
};
template <class W, class View, KernelKind kKind>
const void* Kernels<W, View, kKind>::find(bool alone, bool in_order) {
  if constexpr (has_variants<typename View::Task>(kKindOf<W>, kKind)) {
    if (alone) {
      return in_order ? kernel_over<W, ViewAlone<ViewInOrder<View>>, kKind>()
                      : kernel_over<W, ViewAlone<View>, kKind>();
    }
  }
  // On several PEs, single threads as workers, and rounds, have one kernel each, because `auto` does not choose them.
  if constexpr (has_variants<typename View::Task>(kKindOf<W>, kKind) && kAutoKernels.has(kKindOf<W>, kKind)) {
    return in_order ? kernel_over<W, ViewInOrder<View>, kKind>() : kernel_over<W, ViewWithPriorities<View>, kKind>();
  } else {
    return kernel_over<W, View, kKind>();
  }
}
/// The kernel of the given kind of workers W for a view; null if the program contains none.
template <class W, class View>
const void* find_kernel(KernelKind kind, bool alone, bool in_order) {
  return kind == KernelKind::persistent ? Kernels<W, View, KernelKind::persistent>::find(alone, in_order)
                                        : Kernels<W, View, KernelKind::discrete>::find(alone, in_order);
}
/// The view that the library's own algorithms use.
template <class TaskT>
using DirectView = WorklistView<TaskT, DirectTransport>;

/// Whether a run uses the kernel for a single PE (Kernels::find).
/// @param alone  the run has only one PE
template <class W, class View>
constexpr bool takes_kernel_alone(KernelKind kind, bool alone) {
  return alone && has_variants<typename View::Task>(kKindOf<W>, kind);
}
/// Bytes of shared memory for the desks of `desks` workers, in kernels of kind `kind`: enough for runs with and without
/// priorities.
/// @param alone  the run has only one PE
template <class W, class View>
std::size_t desks_bytes(KernelKind kind, lane_t lanes, int desks, bool alone) {
  static_assert(sizeof(ViewAlone<View>) == sizeof(View) && sizeof(ViewAlone<ViewInOrder<View>>) == sizeof(View) &&
                    sizeof(ViewWithPriorities<View>) == sizeof(View),
                "either is passed where the other is meant");
  if (takes_kernel_alone<W, View>(kind, alone)) return desks * desk_bytes<W, ViewAlone<View>>(lanes);
  return desks * std::max(desk_bytes<W, View>(lanes), desk_bytes<W, ViewInOrder<View>>(lanes));
}

template <class View>
Shape KernelsOf<View>::shape(const LaunchPlan& plan, pe_t n_pes) {
  check_compiled(kernels_of<typename View::Task>(), plan.worker, plan.kernel);
  const bool alone = n_pes == 1, in_order = plan.queue != QueueKind::priority;
  Shape s;
  s.threads = kBlockBound<GpuThread, View>;
  if (plan.worker == WorkerKind::block) {
    s.threads = plan.block_threads;
    s.shared_bytes =
        (sizeof(GpuBlock::Scratch) + 15) / 16 * 16 + desks_bytes<GpuBlock, View>(plan.kernel, s.threads, 1, alone);
    s.workers_per_block = 1;
    s.kernel = find_kernel<GpuBlock, View>(plan.kernel, alone, in_order);
  } else if (plan.worker == WorkerKind::warp) {
    s.threads = takes_kernel_alone<GpuWarp, View>(plan.kernel, alone) ? kBlockBound<GpuWarp, ViewAlone<View>>
                                                                      : kBlockBound<GpuWarp, View>;
    s.workers_per_block = s.threads / 32;
    s.shared_bytes = desks_bytes<GpuWarp, View>(plan.kernel, 32, s.workers_per_block, alone);
    s.kernel = find_kernel<GpuWarp, View>(plan.kernel, alone, in_order);
  } else {
    s.workers_per_block = s.threads;
    s.kernel = find_kernel<GpuThread, View>(plan.kernel, alone, in_order);
  }
  return s;
}

}  // namespace shoal::gpu
