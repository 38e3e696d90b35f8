#include <cuda_profiler_api.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <limits>
#include <string>
#include <thread>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/data/stuck_process.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/worklist/rendezvous.hpp"
#include "shoal/worklist/streams_gpu.cuh"
#include "shoal/worklist/trace.hpp"

namespace shoal::gpu {

int most_workers(const Machine& machine, const LaunchPlan& plan, const Shape& s) {
  int least = std::numeric_limits<int>::max();
  for (int device : machine.devices()) {
    DeviceGuard guard(device);
    constexpr std::size_t kWithoutAsking = 48 * 1024, kOfTheKernel = 256;  // the latter at least what kernels declare
    if (s.shared_bytes > kWithoutAsking - kOfTheKernel) {
      SHOAL_CUDA(cudaFuncSetAttribute(s.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)s.shared_bytes));
    }
    int per_multiprocessor = 0, multiprocessors = 0;
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_multiprocessor, s.kernel, s.threads, s.shared_bytes));
    SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    if (plan.warps_per_multiprocessor > 0 && plan.workers == 0) {
      per_multiprocessor = std::min(per_multiprocessor, std::max(32 * plan.warps_per_multiprocessor / s.threads, 1));
    }
    const int workers = per_multiprocessor * multiprocessors / machine.pes_per_gpu() * s.workers_per_block;
    least = std::min(least, workers);
  }
  if (least == 0) {
    throw UsageError("a worker of " + std::to_string(s.threads) + " threads with " + std::to_string(s.shared_bytes) +
                     " bytes of shared memory does not fit a multiprocessor; use a smaller --worker block:N");
  }
  return plan.workers > 0 ? std::min(plan.workers, least) : least;
}

Streams::Streams(const Machine& machine)
    : machine_(machine),
      memory_(pinned_memory(machine.n_pes() * sizeof(PeControl), "mirrors of counters")),
      ready_(machine.devices()[0]) {
  for (int device : machine.devices()) {
    work_.emplace_back(device);
    look_.emplace_back(device);
    ended_.emplace_back(device);
  }
}

void Streams::load(const void* kernel) {
  if (kernel == loaded_) return;
  for (const int device : machine_.devices()) {
    DeviceGuard guard(device);
    cudaFuncAttributes attributes;
    SHOAL_CUDA(cudaFuncGetAttributes(&attributes, kernel));
  }
  loaded_ = kernel;
}

void Streams::await_memory() {
  // One call for each pair of PEs would take longer than the host's wait: k-core of kron:18 took 1.06 of the time on two GPUs.
  if (machine_.n_pes() > 1 || machine_.world() != nullptr) return machine_.wait_for_memory();
  DeviceGuard guard(machine_.devices()[0]);
  SHOAL_CUDA(cudaEventRecord(ready_, cudaStreamLegacy));
  SHOAL_CUDA(cudaStreamWaitEvent(work_[0], ready_));
  SHOAL_CUDA(cudaStreamWaitEvent(look_[0], ready_));  // or a word that stops the run might be overwritten
}

void Streams::launch(pe_t p, const RunOnGpus& run, int blocks, void** arguments) {
  DeviceGuard guard(machine_.devices()[p]);
  const Shape& s = run.shape;
  SHOAL_CUDA(cudaLaunchCooperativeKernel(s.kernel, dim3(blocks), dim3(s.threads), arguments, s.shared_bytes, work_[p]));
  SHOAL_CUDA(cudaEventRecord(ended_[p], work_[p]));
}

void Streams::copy_back(const RunOnGpus& run) {
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    for (pe_t q = 0; q < machine_.n_pes(); ++q) {
      if (q != p) SHOAL_CUDA(cudaStreamWaitEvent(work_[p], ended_[q]));
    }
    SHOAL_CUDA(cudaMemcpyAsync(run.after[p], run.control[p], run.control_bytes, cudaMemcpyDeviceToHost, work_[p]));
  }
}

bool Streams::has_ended(pe_t p) const {
  const cudaError_t status = cudaEventQuery(ended_[p]);
  if (status == cudaErrorNotReady) return false;
  cuda_check(status, "a worklist kernel");
  return true;
}

void Streams::finish() const {
  for (const Stream& stream : work_) SHOAL_CUDA(cudaStreamSynchronize(stream));
}

std::vector<PeSnapshot> Streams::snapshots(const RunOnGpus& run) {
  std::vector<PeSnapshot> pes;
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    SHOAL_CUDA(cudaMemcpyAsync(&mirror(p), run.control[p], run.control_bytes, cudaMemcpyDeviceToHost, look_[p]));
  }
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
    pes.push_back(snapshot(mirror(p), machine_.n_pes(), run.chunks));
  }
  return pes;
}

void Streams::stop(const RunOnGpus& run, RunState why) {
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    const std::uint32_t word = static_cast<std::uint32_t>(why);
    SHOAL_CUDA(cudaMemcpyAsync(&run.control[p]->state, &word, sizeof(word), cudaMemcpyHostToDevice, look_[p]));
    SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
  }
}

void Streams::abandon(const RunOnGpus& run, const char* why) noexcept {
  static const std::uint32_t word = static_cast<std::uint32_t>(RunState::stalled);
  int before = 0;
  cudaGetDevice(&before);
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {  // a call fails if the current device's context is dead
    cudaSetDevice(machine_.devices()[p]);
    cudaMemcpyAsync(&run.control[p]->state, &word, sizeof(word), cudaMemcpyHostToDevice, look_[p]);
  }
  const auto start = std::chrono::steady_clock::now();
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    cudaSetDevice(machine_.devices()[p]);
    while (cudaStreamQuery(work_[p]) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2)) {
        end_stuck_process("shoal",
                          std::string(why) + "; and the kernel of PE " + std::to_string(p) + " does not return");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }
  cudaGetLastError();
  cudaSetDevice(before);
}

namespace {

/// Waits for every PE's kernel. Ends the run if nothing moves for the plan's stall timeout, if a kernel has not begun by then, or if
/// the run was called off.
void wait_and_watch(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams,
                    RunTrace& trace) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const auto start = Clock::now();
  auto looked_at = start, moved_at = start;
  std::uint64_t last = ~std::uint64_t{0};
  bool stopped = false, called_off = false;
  std::string stalled;  // the diagnosis, made while nothing moves, before the workers are made to leave
  for (pe_t p = 0; p < machine.n_pes();) {
    if (streams.has_ended(p)) {
      ++p;
      continue;
    }
    if (trace.due()) trace.add(streams.snapshots(run));
    if (seconds_since(start) < 0.05) continue;  // short runs: no sleep, no snapshot
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (seconds_since(looked_at) < 0.1) continue;
    looked_at = Clock::now();
    if (!called_off && interrupt_token().stop_requested()) {
      called_off = true;
      streams.stop(run, RunState::interrupted);
    }
    const std::vector<PeSnapshot> seen = streams.snapshots(run);
    const std::uint64_t now = progress(seen);
    if (!stopped) {
      stalled = missed_rendezvous(seen, machine.devices(), seconds_since(start), plan.stall_timeout_seconds);
    }
    if (!stopped && !stalled.empty()) {
      streams.stop(run, RunState::stalled);
      stopped = true;
      moved_at = Clock::now();
    } else if (now != last) {
      last = now;
      moved_at = looked_at;
    } else if (!stopped && seconds_since(moved_at) > plan.stall_timeout_seconds) {
      const std::vector<PeSnapshot> pes = streams.snapshots(run);
      if (pes[0].state == 0) {  // otherwise the run has ended, and a worker has not noticed it yet
        stalled = stall_line(plan.stall_timeout_seconds, pes);
        streams.stop(run, RunState::stalled);
      }
      stopped = true;
      moved_at = Clock::now();
    } else if (stopped && seconds_since(moved_at) > 2) {
      if (stalled.empty()) stalled = stall_line(plan.stall_timeout_seconds, streams.snapshots(run));
      end_stuck_process("shoal", "a task does not return: " + stalled);
    }
  }
  if (!stalled.empty()) throw DeviceError(stalled);
}

/// A range for profilers, which cannot replay kernels that wait for one another. SHOAL_PROFILE_RUN=N selects run N of this process,
/// counted from 0 (docs/item_cost.md).
class ProfiledRun {
 public:
  explicit ProfiledRun(const Machine& machine) : machine_(machine) {
    static std::atomic<int> runs = 0;
    const char* const number = std::getenv("SHOAL_PROFILE_RUN");
    const int run = runs.fetch_add(1);
    is_one_ = number != nullptr && std::atoi(number) == run;
    if (!is_one_) return;
    DeviceGuard guard(machine_.devices()[0]);  // the device that is profiled
    cudaDeviceSynchronize();
    cudaProfilerStart();
  }
  ~ProfiledRun() {
    if (!is_one_) return;
    if (std::uncaught_exceptions() > 0) {  // kernels may still wait for one that was not launched
      cudaProfilerStop();
      return;
    }
    for (const int device : machine_.devices()) {
      DeviceGuard guard(device);
      cudaDeviceSynchronize();
    }
    DeviceGuard guard(machine_.devices()[0]);
    cudaProfilerStop();
  }
  ProfiledRun(const ProfiledRun&) = delete;
  ProfiledRun& operator=(const ProfiledRun&) = delete;

 private:
  const Machine& machine_;
  bool is_one_;
};

void run_kernels(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams,
                 Report& report) {
  const Shape& s = run.shape;
  const int blocks = (run.workers + s.workers_per_block - 1) / s.workers_per_block;
  const pe_t n = machine.n_pes();
  lane_t n_workers = static_cast<lane_t>(run.workers);
  RunTrace trace(machine.first_pe(), n);
  lane_t fetch = plan.fetch;
  const lane_t most = plan.worker == WorkerKind::block ? s.threads : plan.worker == WorkerKind::warp ? 32 : 1;
  fetch = std::max<lane_t>(1, std::min(fetch, most));
  streams.load(s.kernel);
  streams.await_memory();
  const auto start = std::chrono::steady_clock::now();
  const std::int64_t begin_of_trace = trace_now();
  {
    const ProfiledRun profiled(machine);
    for (pe_t p = 0; p < n; ++p) {
      void* arguments[] = {const_cast<void*>(run.view[p]), &n_workers, &fetch};
      streams.launch(p, run, blocks, arguments);
    }
    streams.copy_back(run);
    wait_and_watch(machine, plan, run, streams, trace);
  }
  trace.kernels(plan.kernel == KernelKind::persistent ? "persistent kernel" : "rounds", begin_of_trace);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  streams.finish();
  report.rounds = plan.kernel == KernelKind::persistent ? 1 : snapshot(*run.after[0], n, run.chunks).rounds;
  if (tracing() != nullptr) trace.add(streams.snapshots(run));
}

}  // namespace

void launch(const Machine& machine, const LaunchPlan& plan, const RunOnGpus& run, Streams& streams, Report& report) {
  try {
    run_kernels(machine, plan, run, streams, report);
  } catch (const std::exception& error) {
    streams.abandon(run, error.what());
    throw;
  }
}

}  // namespace shoal::gpu
