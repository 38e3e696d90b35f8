// The host's part while kernels run: streams, copies of every PE's counters, and the end of a run that does not move.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"
#include "shoal/worklist/rendezvous.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/world/machine.hpp"

namespace shoal::gpu {

/// The streams of a Worklist's runs, and pinned copies of the counters.
class Streams {
 public:
  explicit Streams(const Machine& machine)
      : machine_(machine), memory_(pinned_memory(machine.n_pes() * sizeof(PeControl), "mirrors of counters")) {
    for (int device : machine.devices()) {
      work_.emplace_back(device);
      look_.emplace_back(device);
    }
  }

  cudaStream_t work(pe_t p) const { return work_[p]; }

  /// Copies every PE's counters to the host: `beside` the running kernels, on another stream, or after them.
  template <class View>
  std::vector<PeSnapshot> snapshots(const std::vector<View>& views, std::uint64_t chunks, bool beside) {
    std::vector<PeSnapshot> pes;
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      SHOAL_CUDA(cudaMemcpyAsync(&mirror(p), views[p].control[p], sizeof(PeControl), cudaMemcpyDeviceToHost,
                                 beside ? look_[p] : work_[p]));
    }
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      SHOAL_CUDA(cudaStreamSynchronize(beside ? look_[p] : work_[p]));
      pes.push_back(snapshot(mirror(p), machine_.n_pes(), chunks));
    }
    return pes;
  }
  /// Sets the head of PE p's ring to `ticket`, before its next kernel.
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

  /// After an error of the CUDA runtime on some PE: tells the kernels of the others to leave, since they might wait for
  /// that PE for ever. Further errors are ignored. If a kernel does not leave, the process ends, because the memory
  /// that it uses cannot be freed.
  template <class View>
  void abandon(const std::vector<View>& views, const char* why) noexcept {
    static const std::uint32_t word = static_cast<std::uint32_t>(RunState::stalled);
    int before = 0;
    cudaGetDevice(&before);
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {  // a call fails if the current device's context is dead
      cudaSetDevice(machine_.devices()[p]);
      cudaMemcpyAsync(&views[p].control[p]->state, &word, sizeof(word), cudaMemcpyHostToDevice, look_[p]);
    }
    const auto start = std::chrono::steady_clock::now();
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      cudaSetDevice(machine_.devices()[p]);
      while (cudaStreamQuery(work_[p]) == cudaErrorNotReady) {
        if (std::chrono::steady_clock::now() - start > std::chrono::seconds(2)) {
          std::fprintf(stderr, "shoal: error: %s; and the kernel of PE %d does not return\n", why, p);
          std::_Exit(75);
        }
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      }
    }
    cudaGetLastError();
    cudaSetDevice(before);
  }

 private:
  PeControl& mirror(pe_t p) const { return static_cast<PeControl*>(memory_.get())[p]; }

  const Machine& machine_;
  std::shared_ptr<void> memory_;
  std::vector<Stream> work_, look_;
  ticket_t heads_[kMaxPes] = {};
};

/// Waits for every PE's kernel. Ends the run if nothing moves for the plan's stall timeout, if a persistent kernel has not
/// begun by then, or if it was called off.
template <class View, class Plan>
void wait_and_watch(const Machine& machine, const Plan& plan, const std::vector<View>& views, std::uint64_t chunks,
                    Streams& streams) {
  using Clock = std::chrono::steady_clock;
  const auto seconds_since = [](Clock::time_point t) {
    return std::chrono::duration<double>(Clock::now() - t).count();
  };
  const auto start = Clock::now();
  auto looked_at = start, moved_at = start;
  std::uint64_t last = ~std::uint64_t{0};
  bool stopped = false, called_off = false;
  std::string stalled;  // the diagnosis, made while nothing moves, before the workers are told to leave
  for (pe_t p = 0; p < machine.n_pes();) {
    const cudaError_t status = cudaStreamQuery(streams.work(p));
    if (status == cudaSuccess) {
      ++p;
      continue;
    }
    if (status != cudaErrorNotReady) cuda_check(status, "a worklist kernel");
    if (seconds_since(start) < 0.05) continue;  // short runs: no sleep, no look
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (seconds_since(looked_at) < 0.1) continue;
    looked_at = Clock::now();
    if (!called_off && interrupt_token().stop_requested()) {
      called_off = true;
      streams.stop(views, RunState::interrupted);
    }
    const std::vector<PeSnapshot> seen = streams.snapshots(views, chunks, true);
    const std::uint64_t now = progress(seen);
    if (plan.kernel == KernelKind::persistent && !stopped) {
      stalled = missed_rendezvous(seen, machine.devices(), seconds_since(start), plan.stall_timeout_seconds);
    }
    if (!stopped && !stalled.empty()) {
      streams.stop(views, RunState::stalled);
      stopped = true;
      moved_at = Clock::now();
    } else if (now != last) {
      last = now;
      moved_at = looked_at;
    } else if (!stopped && seconds_since(moved_at) > plan.stall_timeout_seconds) {
      const std::vector<PeSnapshot> pes = streams.snapshots(views, chunks, true);
      if (pes[0].state == 0) {  // else the run has ended, and a worker has not noticed it yet
        stalled = stall_line(plan.stall_timeout_seconds, pes);
        streams.stop(views, RunState::stalled);
      }
      stopped = true;
      moved_at = Clock::now();
    } else if (stopped && seconds_since(moved_at) > 2) {
      if (stalled.empty()) stalled = stall_line(plan.stall_timeout_seconds, streams.snapshots(views, chunks, true));
      std::fprintf(stderr, "shoal: error: a task does not return: %s\n", stalled.c_str());
      std::_Exit(75);  // a kernel cannot be stopped; only the end of the process ends it
    }
  }
  if (!stalled.empty()) throw DeviceError(stalled);
}

}  // namespace shoal::gpu
