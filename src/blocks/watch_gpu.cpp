#if defined(SHOAL_HAVE_CUDA)
#include "shoal/blocks/watch_gpu.cuh"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "shoal/core/interrupt.hpp"
#include "shoal/core/state_log.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/stuck_process.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal::blocks::gpu {
namespace {

/// @param t  a time of trace_now()
double seconds_since(std::int64_t t) { return static_cast<double>(trace_now() - t) / 1e9; }

}  // namespace

RunWatch::RunWatch(const Machine& machine, Wires* wires, std::function<PeWords*(pe_t)> words_of,
                   const LaunchOptions& options, const std::vector<Stream>& work, const std::vector<Stream>& streams)
    : machine_(machine),
      wires_(wires),
      words_of_(std::move(words_of)),
      options_(options),
      work_(work),
      streams_(streams) {
  for (const int device : machine.devices()) {
    look_.emplace_back(device);
    paced_.emplace_back(device);
  }
}

void RunWatch::begin(const StepRange& range) {
  waits_ = 0;
  ended_ = RunState::running;
  if (wires_ == nullptr) return;
  RunHere here{{}, [this] { return static_cast<std::uint32_t>(ended_); }, [this](RunState why) { end_as(why); }};
  if (options_.form == BlockForm::resident) {
    here.taken = [this] {
      std::uint64_t tiles = 0;
      for (pe_t p = 0; p < machine_.n_pes(); ++p) tiles += tiles_taken(p);
      return tiles;
    };
  }
  wires_->begin_run(range, std::move(here), options_.stall_timeout_seconds);
  // The process that comes to an exchange first sleeps, and goes on late. From the third exchange on all come within some
  // microseconds.
  for (int i = 0; i < 2; ++i) wires_->exchange({});
  ahead_ = 0;
  looked_at_ = trace_now();
}

bool RunWatch::keep_pace(step_t steps, const Units& units, pe_t p, cudaStream_t stream) {
  if (wires_ == nullptr) return true;
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
  DeviceGuard guard(machine_.devices()[p]);
  SHOAL_CUDA(cudaEventRecord(paced_[p], stream));
  return goes_on();
}

void RunWatch::wait(RunTrace& trace) {
  const auto begin = trace_now();
  auto looked_at = begin, moved_at = begin;
  std::vector<std::uint64_t> last(machine_.n_pes()), now(machine_.n_pes());
  std::string stalled;
  bool ended = false;
  ++waits_;
  for (pe_t p = 0; p < machine_.n_pes();) {
    const cudaError_t status = cudaStreamQuery(work_[p]);
    if (status == cudaSuccess) {
      ++p;
      continue;
    }
    if (status != cudaErrorNotReady) cuda_check(status, "a kernel of blocks");
    if (options_.form == BlockForm::resident && trace.wants_counts()) {
      for (pe_t q = 0; q < machine_.n_pes(); ++q) trace.count_tiles(q, tiles_taken(q));
    }
    if (seconds_since(begin) < 0.05) continue;  // short runs: polls without sleeping, no watchdog
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (wires_ != nullptr) {
      if (goes_on()) continue;
      return drain("the run has ended");
    }
    if (seconds_since(looked_at) < 0.1 || options_.form == BlockForm::kernels) continue;
    looked_at = trace_now();
    for (pe_t q = 0; q < machine_.n_pes(); ++q) now[q] = tiles_taken(q);
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

std::exception_ptr RunWatch::ended_on_gpu(const Units& units) {
  if (!units.wired()) return nullptr;
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    PeWords words;
    machine_.copy_out(p, &words, words_of_(p), sizeof(words));
    if (words.state.load() == 0) continue;
    ended_ = RunState::stalled;
    return std::make_exception_ptr(DeviceError("blocks: PE " + std::to_string(machine_.first_pe() + p) +
                                               " has waited " + exact(patience_seconds()) +
                                               " s for data from other GPUs"));
  }
  return nullptr;
}

RunOfAll RunWatch::end_with_others(std::exception_ptr error, const RunOfAll& mine) {
  if (ended_ != RunState::running && !error) drain("the run has ended");
  return wires_->end_run(error, mine);
}

void RunWatch::abandon(const char* why) noexcept {
  end_as(RunState::stalled);
  drain(why);
  cudaGetLastError();
}

bool RunWatch::goes_on() {
  if (wires_ != nullptr && seconds_since(looked_at_) >= 0.05) {
    looked_at_ = trace_now();
    wires_->look();
    if (ended_ == RunState::running && interrupt_token().stop_requested()) end_as(RunState::interrupted);
  }
  return ended_ == RunState::running;
}

std::uint64_t RunWatch::tiles_taken(pe_t p) {
  std::uint64_t tiles = 0;
  SHOAL_CUDA(cudaMemcpyAsync(&tiles, &words_of_(p)->next, sizeof(tiles), cudaMemcpyDeviceToHost, look_[p]));
  SHOAL_CUDA(cudaStreamSynchronize(look_[p]));
  return tiles;
}

void RunWatch::end_as(RunState why) {
  ended_ = why;
  static const std::uint32_t words[] = {static_cast<std::uint32_t>(RunState::stalled),
                                        static_cast<std::uint32_t>(RunState::interrupted)};
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    cudaMemcpyAsync(&words_of_(p)->state, &words[why == RunState::interrupted], sizeof(words[0]),
                    cudaMemcpyHostToDevice, look_[p]);
  }
  for (const Stream& stream : look_) cudaStreamSynchronize(stream);
}

void RunWatch::drain(const char* why) noexcept {
  const auto begin = trace_now();
  const auto running = [](const Stream& stream) { return cudaStreamQuery(stream) == cudaErrorNotReady; };
  while (std::any_of(work_.begin(), work_.end(), running) || std::any_of(streams_.begin(), streams_.end(), running)) {
    if (seconds_since(begin) > 10) {
      end_stuck_process("shoal", std::string(why) + "; and a kernel does not return");
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace shoal::blocks::gpu
#endif
