// The host beside running kernels: streams, copies of every PE's counters, and the end of a run that does not move.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"
#include "shoal/runtime/machine.hpp"
#include "shoal/runtime/stall.hpp"

namespace shoal::gpu {

/// Streams and pinned mirrors of a Worklist's runs; making them may take longer than a short run.
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

}  // namespace shoal::gpu
