// What the host watches while GPUs run blocks: whether they make progress and finish, and whether the other processes are alive.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/events.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/trace_gpu.cuh"
#include "shoal/blocks/units.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/stuck_process.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Watches a run from begin() until wait() or abandon(). All waits of the host for GPUs are here.
template <class B>
class RunWatch {
 public:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); }

  /// @param work     [n_pes] the streams in which a run ends
  /// @param streams  the other streams of a run
  RunWatch(const BlockArray<B>& array, const LaunchOptions& options, const std::vector<Stream>& work,
           const std::vector<Stream>& streams)
      : array_(array), options_(options), work_(work), streams_(streams) {
    for (const int device : array.machine().devices()) {
      look_.emplace_back(device);
      paced_.emplace_back(device);
    }
  }

  /// Begins a run. Every process.
  void begin(const StepRange& range) {
    waits_ = 0;
    ended_ = RunState::running;
    if (array_.wires() == nullptr) return;
    RunHere here{{}, [this] { return static_cast<std::uint32_t>(ended_); }, [this](RunState why) { end_as(why); }};
    if (options_.form == BlockForm::resident) {
      here.taken = [this] {
        std::uint64_t tiles = 0;
        for (pe_t p = 0; p < array_.machine().n_pes(); ++p) tiles += tiles_taken(p);
        return tiles;
      };
    }
    array_.wires()->begin_run(range, std::move(here), options_.stall_timeout_seconds);
    // The process that comes to an exchange first sleeps, and goes on late. From the third exchange on all come within some
    // microseconds.
    for (int i = 0; i < 2; ++i) array_.wires()->exchange({});
    ahead_ = 0;
    looked_at_ = Clock::now();
  }
  /// How the host or a kernel has ended the run early; running: it has not been ended.
  RunState ended() const { return ended_; }
  /// How often the host waited for GPUs in this run. (Polls of kernels that run for long are not counted.)
  int waits() const { return waits_; }
  /// How long kernels wait for each other at most. It is longer than the host needs to find that a process is gone or stands
  /// still, since that error says more.
  double patience_seconds() const { return options_.stall_timeout_seconds + 5; }

  /// With several processes: keeps the host only some steps ahead of the GPUs. A launch blocks when a GPU's queue is full, and a
  /// host that blocks there does not notice that another process is gone.
  /// @param steps  steps that were launched since the last call
  /// @param p      PE of `stream`, in which they were launched
  /// @return whether the run goes on
  bool keep_pace(step_t steps, const Units& units, pe_t p, cudaStream_t stream) {
    if (array_.wires() == nullptr) return true;
    ahead_ += steps;
    if (ahead_ < static_cast<step_t>(std::clamp<std::int64_t>(Units::kQueue / units.launches_a_step(), 1, 64))) {
      return goes_on();
    }
    ahead_ = 0;
    for (cudaError_t status; (status = cudaEventQuery(paced_[p])) != cudaSuccess;) {
      if (status != cudaErrorNotReady) cuda_check(status, "a kernel of blocks");
      if (!goes_on()) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
    DeviceGuard guard(array_.machine().devices()[p]);
    SHOAL_CUDA(cudaEventRecord(paced_[p], stream));
    return goes_on();
  }

  /// Waits until all PEs are done. Ends resident kernels that make no progress, or when the caller interrupts.
  void wait(RunTrace& trace) {
    const Machine& machine = array_.machine();
    const auto begin = Clock::now();
    auto looked_at = begin, moved_at = begin;
    std::vector<std::uint64_t> last(machine.n_pes()), now(machine.n_pes());
    std::string stalled;
    bool ended = false;
    ++waits_;
    for (pe_t p = 0; p < machine.n_pes();) {
      const cudaError_t status = cudaStreamQuery(work_[p]);
      if (status == cudaSuccess) {
        ++p;
        continue;
      }
      if (status != cudaErrorNotReady) cuda_check(status, "a kernel of blocks");
      if (options_.form == BlockForm::resident && trace.wants_counts()) {
        for (pe_t q = 0; q < machine.n_pes(); ++q) trace.count_tiles(q, tiles_taken(q));
      }
      if (seconds_since(begin) < 0.05) continue;  // short runs: polls without sleeping, no watchdog
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (array_.wires() != nullptr) {
        if (goes_on()) continue;
        return drain("the run has ended");
      }
      if (seconds_since(looked_at) < 0.1 || options_.form == BlockForm::kernels) continue;
      looked_at = Clock::now();
      for (pe_t q = 0; q < machine.n_pes(); ++q) now[q] = tiles_taken(q);
      if (now != last) {
        last = now;
        moved_at = looked_at;
      }
      if (!ended && interrupt_token().stop_requested()) {
        ended = true;
        moved_at = looked_at;
        end_as(RunState::interrupted);
      } else if (!ended && seconds_since(moved_at) > options_.stall_timeout_seconds) {
        stalled = "blocks: no PE took a tile for " + exact(options_.stall_timeout_seconds) + " s; taken:";
        for (const std::uint64_t tiles : now) stalled += " " + std::to_string(tiles);
        ended = true;
        moved_at = looked_at;
        end_as(RunState::stalled);
      } else if (ended && seconds_since(moved_at) > 2) {
        end_stuck_process("shoal", "a step does not return: " + stalled);
      }
    }
    if (!stalled.empty()) throw DeviceError(stalled);
  }
  /// The error to throw if a kernel has ended the run because it waited too long for another GPU; else null.
  std::exception_ptr ended_on_gpu(const Units& units) {
    if (!units.wired()) return nullptr;
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      PeWords words;
      array_.machine().copy_out(p, &words, array_.views()[p].words, sizeof(words));
      if (words.state.load() == 0) continue;
      ended_ = RunState::stalled;
      return std::make_exception_ptr(DeviceError("blocks: PE " + std::to_string(array_.machine().first_pe() + p) +
                                                 " has waited " + exact(patience_seconds()) +
                                                 " s for data from other GPUs"));
    }
    return nullptr;
  }
  /// With several processes: ends the run together with the others, after wait() or abandon(). @param mine  the result of the PEs
  /// of this process
  RunOfAll end_with_others(std::exception_ptr error, const RunOfAll& mine) {
    if (ended_ != RunState::running && !error) drain("the run has ended");
    return array_.wires()->end_run(error, mine);
  }
  /// Call it after an error: ends the run on all PEs, since kernels of other PEs would wait for ever. Ignores further errors.
  void abandon(const char* why) noexcept {
    end_as(RunState::stalled);
    drain(why);
    cudaGetLastError();
  }

 private:
  /// Whether the run goes on. Every 50 ms, with several processes, ends it here if it has ended elsewhere or the caller
  /// interrupts.
  bool goes_on() {
    if (array_.wires() != nullptr && seconds_since(looked_at_) >= 0.05) {
      looked_at_ = Clock::now();
      array_.wires()->look();
      if (ended_ == RunState::running && interrupt_token().stop_requested()) end_as(RunState::interrupted);
    }
    return ended_ == RunState::running;
  }
  /// Reads PeWords::next, in a stream of its own, while a kernel runs.
  std::uint64_t tiles_taken(pe_t p) {
    std::uint64_t tiles = 0;
    SHOAL_CUDA(
        cudaMemcpyAsync(&tiles, &array_.views()[p].words->next, sizeof(tiles), cudaMemcpyDeviceToHost, look_[p]));
    SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
    return tiles;
  }
  /// Ends the run on all PEs: writes `why` into their RunState while kernels run.
  void end_as(RunState why) {
    ended_ = why;
    static const std::uint32_t words[] = {static_cast<std::uint32_t>(RunState::stalled),
                                          static_cast<std::uint32_t>(RunState::interrupted)};
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      cudaMemcpyAsync(&array_.views()[p].words->state, &words[why == RunState::interrupted], sizeof(words[0]),
                      cudaMemcpyHostToDevice, look_[p]);
    }
    for (const Stream& stream : look_) cudaStreamSynchronize(stream);
  }
  /// Waits until all kernels have left, 10 s at most; then ends the process.
  void drain(const char* why) noexcept {
    const auto begin = Clock::now();
    const auto running = [](const Stream& stream) { return cudaStreamQuery(stream) == cudaErrorNotReady; };
    while (std::any_of(work_.begin(), work_.end(), running) || std::any_of(streams_.begin(), streams_.end(), running)) {
      if (seconds_since(begin) > 10) {
        end_stuck_process("shoal", std::string(why) + "; and a kernel does not return");
      }
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  }

  const BlockArray<B>& array_;
  const LaunchOptions& options_;
  const std::vector<Stream>&work_, &streams_;
  std::vector<Stream> look_;  ///< [n_pes] for copies while kernels run
  std::vector<Event> paced_;  ///< [n_pes] recorded by keep_pace(), which waits for them
  step_t ahead_ = 0;          ///< steps launched since paced_ was recorded
  Clock::time_point looked_at_;
  int waits_ = 0;
  RunState ended_ = RunState::running;
};

}  // namespace shoal::blocks::gpu
