// Workers on GPUs: one persistent kernel per PE, or one discrete kernel per PE and round. The task is the same.
//
// A persistent kernel is launched cooperatively with a grid from the occupancy calculator, so that every worker is resident:
// a pusher may wait for a slot that another worker is about to empty. Every kernel is loaded, and everything allocated,
// before the first launch. The host watches the counters and ends a run that does not move.
#pragma once
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/cuda_check.cuh"
#include "shoal/runtime/machine.hpp"
#include "shoal/runtime/report.hpp"
#include "shoal/runtime/round_loop.cuh"
#include "shoal/runtime/schedule.hpp"
#include "shoal/runtime/stall.hpp"
#include "shoal/worker/gpu.cuh"

namespace shoal::gpu {

inline constexpr int kWarpWorkerBlock = 256;  ///< threads of a block that holds warp or thread workers
inline constexpr int kResidentBlocks = 2;  ///< of these per multiprocessor: more waiting warps were slower (contention)
/// What the compiler shares registers out for.
template <class W>
inline constexpr int kBlockBound = std::is_same_v<W, GpuBlock> ? GpuBlock::kMaxLanes : kWarpWorkerBlock;
template <class W>
inline constexpr int kResidentBound = std::is_same_v<W, GpuThread> ? kResidentBlocks : 1;

/// Items on the desk of a worker of `lanes` lanes: what one drain of a channel can bring. Each costs a few microseconds, full
/// or not, so workers of few lanes take more than one item each.
template <class Task>
SHOAL_FN constexpr lane_t desk_items(lane_t lanes) {
  constexpr lane_t fitting = 2048 / sizeof(typename Task::Item);
  return lanes == 1 ? 32 : lanes > 32 || fitting < lanes ? lanes : fitting < 256 ? fitting : 256;
}
/// Bytes of `n` objects, and where the next array may begin.
template <class T>
SHOAL_FN constexpr std::size_t padded_bytes(std::size_t n) {
  return (n * sizeof(T) + 15) / 16 * 16;
}
/// Shared memory of the desk of a worker of `lanes` lanes.
template <class Task>
SHOAL_FN constexpr std::size_t desk_bytes(lane_t lanes) {
  return padded_bytes<typename Task::Item>(desk_items<Task>(lanes)) + padded_bytes<lane_t>(lanes) +
         (FanOutTask<Task> ? padded_bytes<typename RangeOf<Task>::Type>(lanes) : 0);
}

template <class Task>
__device__ Desk<Task> carve_desk(char* memory, lane_t lanes) {
  using Range = typename RangeOf<Task>::Type;
  Desk<Task> desk;
  desk.items = desk_items<Task>(lanes);
  desk.item = reinterpret_cast<typename Task::Item*>(memory);
  memory += padded_bytes<typename Task::Item>(desk.items);
  desk.start = reinterpret_cast<lane_t*>(memory);
  memory += padded_bytes<lane_t>(lanes);
  if constexpr (FanOutTask<Task>) desk.range = reinterpret_cast<Range*>(memory);
  return desk;
}

/// Makes this lane's scheduler and gives it to `body`.
template <class W, class View, class Body>
__device__ void with_scheduler(const View& view, lane_t workers, lane_t fetch, Body body) {
  using Task = typename View::Task;
  extern __shared__ __align__(16) char shared[];
  lane_t index;
  Desk<Task> desk;
  typename Task::Item own[desk_items<Task>(1)];
  W w;
  if constexpr (std::is_same_v<W, GpuBlock>) {
    index = blockIdx.x;
    w.scratch = reinterpret_cast<GpuBlock::Scratch*>(shared);
    desk = carve_desk<Task>(shared + (sizeof(GpuBlock::Scratch) + 15) / 16 * 16, blockDim.x);
  } else if constexpr (std::is_same_v<W, GpuWarp>) {
    index = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    desk = carve_desk<Task>(shared + (threadIdx.x / 32) * desk_bytes<Task>(32), 32);
  } else {
    index = blockIdx.x * blockDim.x + threadIdx.x;
    desk.item = own;
    desk.items = desk_items<Task>(1);
  }
  if (index >= workers) return;
  Scheduler<W, View> scheduler(w, view, view.spill.lists[index], desk, fetch, index);
  body(scheduler);
  if (w.lane() == 0) view.spill.lists[index] = scheduler.out().list();
}

template <class W, class View>
__global__ void __launch_bounds__(kBlockBound<W>, kResidentBound<W>)
    persistent_kernel(const __grid_constant__ View view, lane_t workers, lane_t fetch) {
  with_scheduler<W>(view, workers, fetch, [](auto& scheduler) { scheduler.run_persistent(); });
}

/// @param limit  of the round, when the host repeats it; else `loop` has it
template <class W, class View>
__global__ void __launch_bounds__(kBlockBound<W>, kResidentBound<W>)
    round_kernel(const __grid_constant__ View view, lane_t workers, lane_t fetch, ticket_t limit, RoundLoop* loop,
                 shoal_loop_handle handle) {
  if (loop != nullptr) {
    if (loop->ended.load() != 0) return;
    limit = loop->limit.load();
  }
  with_scheduler<W>(view, workers, fetch, [=](auto& scheduler) { scheduler.run_round(limit); });
  if (loop != nullptr) loop->end_round(view, limit, handle);
}

/// Threads of a block, shared memory and workers of a block for a plan.
struct Shape {
  int threads = 0;
  std::size_t shared_bytes = 0;
  int workers_per_block = 0;
  const void* kernel = nullptr;
};

template <class View, class Plan>
Shape shape_of(const Plan& plan) {
  using Task = typename View::Task;
  const bool persistent = plan.kernel == KernelKind::persistent;
  Shape s;
  if (plan.worker == WorkerKind::block) {
    s.threads = plan.block_threads;
    s.shared_bytes = (sizeof(GpuBlock::Scratch) + 15) / 16 * 16 + desk_bytes<Task>(s.threads);
    s.workers_per_block = 1;
    s.kernel = persistent ? (const void*)persistent_kernel<GpuBlock, View> : (const void*)round_kernel<GpuBlock, View>;
  } else if (plan.worker == WorkerKind::warp) {
    s.threads = kWarpWorkerBlock;
    s.shared_bytes = kWarpWorkerBlock / 32 * desk_bytes<Task>(32);
    s.workers_per_block = kWarpWorkerBlock / 32;
    s.kernel = persistent ? (const void*)persistent_kernel<GpuWarp, View> : (const void*)round_kernel<GpuWarp, View>;
  } else {
    s.threads = kWarpWorkerBlock;
    s.workers_per_block = kWarpWorkerBlock;
    s.kernel =
        persistent ? (const void*)persistent_kernel<GpuThread, View> : (const void*)round_kernel<GpuThread, View>;
  }
  return s;
}

/// Workers that are resident together on one PE, bounded by plan.workers.
template <class View, class Plan>
int most_workers(const Machine& machine, const Plan& plan) {
  const Shape s = shape_of<View>(plan);
  int least = 0;
  for (int device : machine.devices()) {
    DeviceGuard guard(device);
    if (s.shared_bytes > 48 * 1024) {
      SHOAL_CUDA(cudaFuncSetAttribute(s.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.shared_bytes));
    }
    int per_multiprocessor = 0, multiprocessors = 0;
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, s.kernel, s.threads, s.shared_bytes));
    SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    if (plan.blocks_per_multiprocessor > 0 && plan.workers == 0) {
      per_multiprocessor = std::min(per_multiprocessor, plan.blocks_per_multiprocessor);
    }
    const int workers = per_multiprocessor * multiprocessors * s.workers_per_block;
    least = least == 0 ? workers : std::min(least, workers);
  }
  if (least == 0) {
    throw UsageError("a worker of " + std::to_string(s.threads) + " threads with " + std::to_string(s.shared_bytes) +
                     " bytes of shared memory does not fit a multiprocessor; use a smaller --worker block:N");
  }
  return plan.workers > 0 ? std::min(plan.workers, least) : least;
}

/// Streams and pinned mirrors of a run; made once per launch of a Worklist.
class Lanes {
 public:
  explicit Lanes(const Machine& machine) : machine_(machine) {
    for (int device : machine.devices()) {
      DeviceGuard guard(device);
      cudaStream_t work, look;
      SHOAL_CUDA(cudaStreamCreateWithFlags(&work, cudaStreamNonBlocking));
      SHOAL_CUDA(cudaStreamCreateWithFlags(&look, cudaStreamNonBlocking));
      work_.push_back(work);
      look_.push_back(look);
      PeControl* mirror = nullptr;
      SHOAL_CUDA(cudaHostAlloc(&mirror, sizeof(PeControl), cudaHostAllocPortable));
      mirror_.push_back(mirror);
    }
  }
  ~Lanes() {
    for (std::size_t p = 0; p < work_.size(); ++p) {
      cudaStreamDestroy(work_[p]);
      cudaStreamDestroy(look_[p]);
      cudaFreeHost(mirror_[p]);
    }
  }
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  cudaStream_t work(pe_t p) const { return work_[p]; }

  /// Copies every PE's counters to the host, beside the running kernels (`own_stream`) or after them.
  template <class View>
  std::vector<PeSnapshot> snapshots(const std::vector<View>& views, std::uint64_t chunks, bool beside) {
    std::vector<PeSnapshot> pes;
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      SHOAL_CUDA(cudaMemcpyAsync(mirror_[p], views[p].control[p], sizeof(PeControl), cudaMemcpyDeviceToHost,
                                 beside ? look_[p] : work_[p]));
    }
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      SHOAL_CUDA(cudaStreamSynchronize(beside ? look_[p] : work_[p]));
      pes.push_back(snapshot(*mirror_[p], machine_.n_pes(), chunks));
    }
    return pes;
  }
  /// Before the next kernel of PE p: its ring's head becomes `ticket`.
  void set_head(pe_t p, RingCounters& ring, ticket_t ticket) {
    heads_[p] = ticket;
    SHOAL_CUDA(cudaMemcpyAsync(&ring.head, &heads_[p], sizeof(ticket_t), cudaMemcpyHostToDevice, work_[p]));
  }
  template <class View>
  void stop(const std::vector<View>& views, RunState why) {
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      const std::uint32_t word = static_cast<std::uint32_t>(why);
      SHOAL_CUDA(cudaMemcpyAsync(&views[p].control[p]->state, &word, sizeof(word), cudaMemcpyHostToDevice, look_[p]));
      SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
    }
  }

 private:
  const Machine& machine_;
  std::vector<cudaStream_t> work_, look_;
  std::vector<PeControl*> mirror_;
  ticket_t heads_[kMaxPes] = {};
};

/// Waits for every PE's kernel; ends the run when nothing moved for the plan's stall timeout.
template <class View, class Plan>
void wait_and_watch(const Machine& machine, const Plan& plan, const std::vector<View>& views, std::uint64_t chunks,
                    Lanes& lanes) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const auto start = Clock::now();
  auto looked_at = start, moved_at = start;
  std::uint64_t last = ~std::uint64_t{0};
  bool stopped = false;
  std::string stalled;  // diagnosed while nothing moves, before the workers are told to leave
  for (pe_t p = 0; p < machine.n_pes();) {
    const cudaError_t status = cudaStreamQuery(lanes.work(p));
    if (status == cudaSuccess) {
      ++p;
      continue;
    }
    if (status != cudaErrorNotReady) cuda_check(status, "a worklist kernel");
    if (seconds_since(start) < 0.05) continue;  // short runs: no sleep, no look
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (seconds_since(looked_at) < 0.1) continue;
    looked_at = Clock::now();
    const std::uint64_t now = progress(lanes.snapshots(views, chunks, true));
    if (now != last) {
      last = now;
      moved_at = looked_at;
    } else if (!stopped && seconds_since(moved_at) > plan.stall_timeout_seconds) {
      const std::vector<PeSnapshot> pes = lanes.snapshots(views, chunks, true);
      if (pes[0].state == 0) {  // else it ended, for whatever reason, and a worker has not noticed
        stalled = stall_line(plan.stall_timeout_seconds, pes);
        lanes.stop(views, RunState::stalled);
      }
      stopped = true;
      moved_at = Clock::now();
    } else if (stopped && seconds_since(moved_at) > 2) {
      if (stalled.empty()) stalled = stall_line(plan.stall_timeout_seconds, lanes.snapshots(views, chunks, true));
      std::fprintf(stderr, "shoal: error: a task does not return: %s\n", stalled.c_str());
      std::_Exit(75);  // a kernel cannot be taken back; the process is the only handle on it
    }
  }
  if (!stalled.empty()) throw DeviceError(stalled);
}

/// Discrete runs: what order_phase() does, by the host between two rounds.
template <class View>
bool order_phase_from_host(const Machine& machine, const std::vector<View>& views, const std::vector<PeSnapshot>& pes,
                           PhaseOrders& orders) {
  using Task = typename View::Task;
  if constexpr (!kPhased<Task>) {
    return false;
  } else {
    std::uint64_t created = 0;
    lane_t least = kNoBucket;
    for (const PeSnapshot& pe : pes) created += pe.created();
    const Buckets& buckets = views[0].far.buckets;
    const lane_t slots = buckets.lists > 0 ? buckets.slots() : 0;
    const std::uint64_t tokens = views[0].n_workers, before = orders.word;
    std::vector<std::array<lane_t, kMostSlots>> told(pes.size());
    for (pe_t q = 0; q < machine.n_pes(); ++q) {
      machine.copy_out(q, told[q].data(), views[q].control[q]->nearest, sizeof(told[q]));
      for (lane_t slot = 0; slot < slots; ++slot) {
        least = std::min(least, may_be_parked(buckets, slot, told[q][slot], before));
      }
    }
    if (!next_phase<Task>(orders, buckets, least, created, tokens * pes.size())) return false;
    for (pe_t q = 0; q < machine.n_pes(); ++q) {
      PeControl* control = views[q].control[q];
      std::int64_t had = 0;
      machine.copy_out(q, &had, &control->tokens, sizeof(had));
      for (lane_t slot = 0; slot < slots; ++slot) {
        if (spent(buckets, slot, told[q][slot], before, orders.word)) told[q][slot] = kNoBucket;
      }
      had += static_cast<std::int64_t>(tokens);
      machine.copy_in(q, control->nearest, told[q].data(), sizeof(told[q]));
      machine.copy_in(q, &control->tokens, &had, sizeof(had));
      machine.copy_in(q, &control->phase, &orders.word, sizeof(orders.word));
      DeviceGuard guard(machine.devices()[q]);
      SHOAL_CUDA(cudaDeviceSynchronize());  // a kernel of another stream does not wait for copies from pageable memory
    }
    return true;
  }
}

#if SHOAL_DEVICE_ROUNDS
/// The rounds of a discrete run on one PE, repeated by the device.
template <class View, class Plan>
void repeat_on_device(const Machine& machine, const Plan& plan, const std::vector<View>& views, const Shape& s,
                      int blocks, lane_t workers, lane_t fetch, ticket_t limit, std::uint64_t chunks, Lanes& lanes,
                      Report& report) {
  DeviceGuard guard(machine.devices()[0]);
  DeviceArray<RoundLoop> loop(1, "round loop");
  RoundLoop begin{};
  begin.limit.store(limit);
  loop.upload(&begin, 1);
  SHOAL_CUDA(cudaDeviceSynchronize());  // a kernel of another stream does not wait for copies from pageable memory
  RoundLoop* at = loop.data();
  shoal_loop_handle handle_of_loop = 0;
  void* arguments[] = {
      const_cast<void*>(static_cast<const void*>(&views[0])), &workers, &fetch, &limit, &at, &handle_of_loop};
  LoopGraph graph(s.kernel, dim3(blocks), dim3(s.threads), s.shared_bytes, lanes.work(0),
                  [&](shoal_loop_handle handle) {
                    handle_of_loop = handle;
                    return arguments;
                  });
  const auto start = std::chrono::steady_clock::now();
  graph.launch();
  wait_and_watch(machine, plan, views, chunks, lanes);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  loop.download(&begin, 1);
  report.rounds = static_cast<std::int64_t>(begin.rounds.load());
}
#endif

template <class View, class Plan>
void launch(const Machine& machine, const Plan& plan, const std::vector<View>& views, int workers, std::uint64_t chunks,
            Report& report) {
  const Shape s = shape_of<View>(plan);
  const int blocks = (workers + s.workers_per_block - 1) / s.workers_per_block;
  const pe_t n = machine.n_pes();
  Lanes lanes(machine);
  lane_t n_workers = static_cast<lane_t>(workers);
  lane_t fetch = plan.fetch;
  const lane_t most = plan.worker == WorkerKind::block ? s.threads : plan.worker == WorkerKind::warp ? 32 : 1;
  fetch = std::max<lane_t>(1, std::min(fetch, most));
  std::vector<ticket_t> limit;
  for (const PeSnapshot& pe : lanes.snapshots(views, chunks, false)) limit.push_back(pe.ring_tail);
  for (pe_t p = 0; p < n; ++p) {  // load the module on every device first
    DeviceGuard guard(machine.devices()[p]);
    cudaFuncAttributes attributes;
    SHOAL_CUDA(cudaFuncGetAttributes(&attributes, s.kernel));
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  const auto launch_all = [&] {
    for (pe_t p = 0; p < n; ++p) {
      DeviceGuard guard(machine.devices()[p]);
      void* view = const_cast<void*>(static_cast<const void*>(&views[p]));
      RoundLoop* no_loop = nullptr;
      shoal_loop_handle no_handle = 0;
      void* arguments[] = {view, &n_workers, &fetch, &limit[p], &no_loop, &no_handle};
      if (plan.kernel == KernelKind::persistent) {
        SHOAL_CUDA(cudaLaunchCooperativeKernel(s.kernel, dim3(blocks), dim3(s.threads), arguments, s.shared_bytes,
                                               lanes.work(p)));
      } else {
        SHOAL_CUDA(cudaLaunchKernel(s.kernel, dim3(blocks), dim3(s.threads), arguments, s.shared_bytes, lanes.work(p)));
      }
    }
  };
#if SHOAL_DEVICE_ROUNDS
  if (plan.kernel == KernelKind::discrete && n == 1 && !kPhased<typename View::Task> && LoopGraph::available()) {
    return repeat_on_device(machine, plan, views, s, blocks, n_workers, fetch, limit[0], chunks, lanes, report);
  }
#endif
  const auto start = std::chrono::steady_clock::now();
  if (plan.kernel == KernelKind::persistent) {
    launch_all();
    wait_and_watch(machine, plan, views, chunks, lanes);
    report.rounds = 1;
  } else {
    std::uint64_t last = ~std::uint64_t{0};
    auto moved_at = start;
    PhaseOrders orders;
    for (;;) {
      launch_all();
      wait_and_watch(machine, plan, views, chunks, lanes);
      ++report.rounds;
      const std::vector<PeSnapshot> pes = lanes.snapshots(views, chunks, false);
      for (pe_t p = 0; p < n; ++p) {
        lanes.set_head(p, views[p].control[p]->ring, limit[p]);  // tickets claimed beyond the limit go back
        limit[p] = pes[p].ring_tail;
      }
      if (pes[0].state != 0) break;
      if (outstanding(pes) == 0 && !order_phase_from_host(machine, views, pes, orders)) {
        lanes.stop(views, RunState::done);
        break;
      }
      const auto now = std::chrono::steady_clock::now();
      if (progress(pes) != last) {
        last = progress(pes);
        moved_at = now;
      } else if (std::chrono::duration<double>(now - moved_at).count() > plan.stall_timeout_seconds) {
        lanes.stop(views, RunState::stalled);
        break;
      }
    }
  }
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace shoal::gpu
