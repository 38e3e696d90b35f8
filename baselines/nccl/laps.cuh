// Measures how long computation and communication take on a GPU, by CUDA events, for each step of a run.
#pragma once
#include <chrono>
#include <cstddef>
#include <vector>

#include "../common/ranks.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal::nccl {

using baselines::Step;

enum class Doing { computes, communicates };

/// The steps of a run of one rank. The rank's device must be current when it is made and used.
class Laps {
 public:
  using Clock = std::chrono::steady_clock;

  Laps() = default;
  Laps(const Laps&) = delete;
  Laps& operator=(const Laps&) = delete;
  ~Laps() {
    for (const cudaEvent_t event : events_) cudaEventDestroy(event);
  }

  void clear() {
    steps_.clear();
    spans_.clear();
    used_ = 0;
  }
  void step_begins(std::int64_t vertices) {
    steps_.push_back({vertices});
    begin_ = Clock::now();
  }
  /// Called when the host knows the result of the step.
  void step_ends() { steps_.back().seconds = std::chrono::duration<double>(Clock::now() - begin_).count(); }
  void sent(std::int64_t words) { steps_.back().sent += words; }

  /// Calls `enqueue`, which puts work on `stream`, and measures that work.
  template <class F>
  void time(Doing doing, cudaStream_t stream, F&& enqueue) {
    const std::size_t begin = record(stream);
    enqueue();
    spans_.push_back({steps_.size() - 1, doing, begin, record(stream)});
  }

  /// To be called after all measured work has ended.
  const std::vector<Step>& finish() {
    for (const Span& span : spans_) {
      float ms = 0;
      SHOAL_CUDA(cudaEventElapsedTime(&ms, events_[span.begin], events_[span.end]));
      Step& step = steps_[span.step];
      (span.doing == Doing::computes ? step.compute_seconds : step.communicate_seconds) += ms * 1e-3;
    }
    spans_.clear();
    return steps_;
  }
  const std::vector<Step>& steps() const { return steps_; }

 private:
  struct Span {
    std::size_t step;
    Doing doing;
    std::size_t begin, end;  // events
  };
  std::size_t record(cudaStream_t stream) {
    if (used_ == events_.size()) {
      cudaEvent_t event = nullptr;
      SHOAL_CUDA(cudaEventCreate(&event));
      events_.push_back(event);
    }
    SHOAL_CUDA(cudaEventRecord(events_[used_], stream));
    return used_++;
  }

  std::vector<Step> steps_;
  std::vector<Span> spans_;
  std::vector<cudaEvent_t> events_;  // kept from run to run
  std::size_t used_ = 0;
  Clock::time_point begin_;
};

}  // namespace shoal::nccl
