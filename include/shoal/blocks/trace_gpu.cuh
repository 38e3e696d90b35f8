// Traces of blocks on GPUs come from timed events in their streams. Kernels have no code for traces.
#pragma once
#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/blocks/events.cuh"
#include "shoal/blocks/trace.hpp"
#include "shoal/blocks/units.hpp"
#include "shoal/core/state_log.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/core/types.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// Timed events. One event of each PE is recorded at a known time of the host's clock, so that times of GPUs can be converted to
/// it.
class GpuTimes {
 public:
  /// @param streams  [PEs] streams that are idle
  GpuTimes(const std::vector<int>& devices, const std::vector<Stream>& streams) {
    for (std::size_t p = 0; p < devices.size(); ++p) {
      DeviceGuard guard(devices[p]);
      zero_.emplace_back(devices[p], cudaEventDefault);
      SHOAL_CUDA(cudaEventRecord(zero_.back(), streams[p]));
      SHOAL_CUDA(cudaEventSynchronize(zero_.back()));
      zero_at_.push_back(trace_now());
      for (int i = 0; i < 2; ++i) {  // so that no event is created while a kernel waits for another one's launch
        events_.push_back({static_cast<pe_t>(p), Event(devices[p], cudaEventDefault)});
        spare_.push_back(std::ssize(events_) - 1);
      }
    }
  }
  /// Takes an event of PE p. @return its index; -1: there are too many events
  std::ptrdiff_t event(pe_t p, int device) {
    const auto spare = std::find_if(spare_.begin(), spare_.end(),
                                    [&](std::ptrdiff_t i) { return events_[static_cast<std::size_t>(i)].first == p; });
    if (spare != spare_.end()) {
      const std::ptrdiff_t found = *spare;
      spare_.erase(spare);
      return found;
    }
    if (events_.size() >= kMost) return -1;
    events_.push_back({p, Event(device, cudaEventDefault)});
    return std::ssize(events_) - 1;
  }
  cudaEvent_t operator[](std::ptrdiff_t i) const { return events_[static_cast<std::size_t>(i)].second; }
  /// When event i completed, by the host's clock, in nanoseconds. Call it after all work has ended.
  std::int64_t at(std::ptrdiff_t i) const {
    const auto& [p, event] = events_[static_cast<std::size_t>(i)];
    float ms = 0;
    SHOAL_CUDA(cudaEventElapsedTime(&ms, zero_[p], event));
    return zero_at_[p] + static_cast<std::int64_t>(static_cast<double>(ms) * 1e6);
  }

 private:
  static constexpr std::size_t kMost = 100'000;
  std::vector<Event> zero_;
  std::vector<std::int64_t> zero_at_;
  std::vector<std::pair<pe_t, Event>> events_;
  std::vector<std::ptrdiff_t> spare_;
};

/// Records the events of one run at a time, between begin() and draw() or drop(). Without a trace it does nothing.
class RunTrace {
 public:
  /// @param work  [PEs] the streams Launcher::work_
  RunTrace(const std::vector<int>& devices, const std::vector<Stream>& work) : devices_(devices), work_(work) {}

  /// Before the launches of a run.
  void begin() {
    steps_.clear();
    starts_.clear();
    marks_.clear();
    if (tracing() != nullptr) times_ = std::make_unique<GpuTimes>(devices_, work_);
  }
  void drop() { times_.reset(); }
  /// Whether the run is traced.
  explicit operator bool() const { return times_ != nullptr; }

  /// Records an event in PE p's stream.
  /// @param ended  name of the work between the mark before and this one; empty: no span is drawn
  bool mark(pe_t p, std::string ended) {
    const std::ptrdiff_t event = times_ == nullptr ? -1 : times_->event(p, devices_[p]);
    if (event < 0) return false;
    SHOAL_CUDA(cudaEventRecord((*times_)[event], work_[p]));
    marks_.push_back({p, event, std::move(ended)});
    return true;
  }
  /// Steps from `first` on are launched one by one, after the work that is in PE 0's stream now.
  void mark_steps(step_t first) {
    if (mark(0, "")) starts_[first] = marks_.back().event;
  }
  /// Gives a unit an event of its own for the end of step s - 1, unless there are too many.
  void add_step(std::int64_t unit, step_t s, pe_t p) {
    if (times_ != nullptr) steps_[{unit, s}] = times_->event(p, devices_[p]);
  }
  /// The event of add_step(); null: there is none.
  cudaEvent_t step(std::int64_t unit, step_t s) const {
    if (times_ == nullptr) return nullptr;
    const auto own = steps_.find({unit, s});
    return own != steps_.end() && own->second >= 0 ? (*times_)[own->second] : nullptr;
  }
  /// For resident kernels: true once per millisecond, if the run is traced.
  bool wants_counts() {
    constexpr std::int64_t kEvery = 1'000'000;
    if (times_ == nullptr || trace_now() - counted_at_ < kEvery) return false;
    counted_at_ = trace_now();
    return true;
  }
  static void count_tiles(pe_t p, std::uint64_t tiles) {
    tracing()->count("PE " + std::to_string(p), "tiles taken", trace_now(), static_cast<double>(tiles));
  }

  /// After the run: draws it into the trace.
  template <class B>
  void draw(const BlockArray<B>& array, const Units& units) {
    Trace& trace = *tracing();
    for (std::size_t i = 1; i < marks_.size(); ++i) {
      const Mark &from = marks_[i - 1], &to = marks_[i];
      if (to.ended.empty() || from.pe != to.pe) continue;
      trace.span(trace.track("PE " + std::to_string(to.pe), "kernels"), to.ended, times_->at(from.event),
                 times_->at(to.event));
    }
    std::map<std::pair<std::int64_t, step_t>, std::int64_t> ended;
    for (const auto& [which, event] : steps_) {
      if (event >= 0) ended[which] = times_->at(event);
    }
    std::vector<TracedStep> steps;
    for (const auto& [which, end] : ended) {  // a step began when everything that it waits for had ended
      const auto [u, s] = which;
      std::int64_t begin = -1;
      const auto after = [&](std::int64_t other) {
        const auto found = ended.find({other, s - 1});
        if (found != ended.end()) begin = std::max(begin, found->second);
      };
      after(u);
      for (const std::int64_t other : units[u].after) after(other);
      const auto start = starts_.find(s - 1);
      if (begin < 0 && start != starts_.end()) begin = times_->at(start->second);
      if (begin < 0) continue;
      for (std::int64_t b = 0; b < array.size(); ++b) {
        const Unit& unit = units[u];
        if (!array.here(b) || array.home(b) != unit.pe || (!units.together() && b != unit.block)) continue;
        const auto tiles = static_cast<std::int64_t>(array.slots()[unit.pe][array.number(b)].tiles);
        steps.push_back({b, s - 1, std::min(begin, end), end, tiles});
      }
    }
    draw_steps(trace, std::move(steps), array.channels());
    times_.reset();
  }

 private:
  struct Mark {
    pe_t pe;
    std::ptrdiff_t event;
    std::string ended;
  };
  const std::vector<int>& devices_;
  const std::vector<Stream>& work_;
  std::unique_ptr<GpuTimes> times_;
  std::int64_t counted_at_ = 0;
  std::vector<Mark> marks_;
  std::map<step_t, std::ptrdiff_t> starts_;                          ///< first step of a launch -> event
  std::map<std::pair<std::int64_t, step_t>, std::ptrdiff_t> steps_;  ///< (unit, s) -> event at the end of step s - 1
};

}  // namespace shoal::blocks::gpu
