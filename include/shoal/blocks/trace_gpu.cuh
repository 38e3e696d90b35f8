// A trace of blocks on GPUs: events in their streams, which are timed. Kernels have no code for it.
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
#include "shoal/core/types.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// For traces: when a GPU came to places in its streams. Each device has a place whose time is known by the host's clock as well.
class GpuTimes {
 public:
  /// @param streams  [PEs] without work
  GpuTimes(const std::vector<int>& devices, const std::vector<Stream>& streams) {
    for (std::size_t p = 0; p < devices.size(); ++p) {
      DeviceGuard guard(devices[p]);
      zero_.emplace_back(devices[p], cudaEventDefault);
      SHOAL_CUDA(cudaEventRecord(zero_.back(), streams[p]));
      SHOAL_CUDA(cudaEventSynchronize(zero_.back()));
      zero_at_.push_back(trace_now());
      for (int i = 0; i < 2; ++i) {  // so that none is made while a kernel waits for another one's launch
        events_.push_back({static_cast<pe_t>(p), Event(devices[p], cudaEventDefault)});
        spare_.push_back(std::ssize(events_) - 1);
      }
    }
  }
  /// An event of PE p; its number. -1: there are too many.
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
  /// After all work has ended: by the host's clock.
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

/// What a traced run did: one after the other, each between begin() and draw() or drop().
class RunTrace {
 public:
  /// @param work  [PEs] their streams
  RunTrace(const std::vector<int>& devices, const std::vector<Stream>& work) : devices_(devices), work_(work) {}

  /// Before the launches of a run.
  void begin() {
    steps_.clear();
    starts_.clear();
    marks_.clear();
    if (tracing() != nullptr) times_ = std::make_unique<GpuTimes>(devices_, work_);
  }
  void drop() { times_.reset(); }
  /// The run is traced.
  explicit operator bool() const { return times_ != nullptr; }

  /// A place in PE p's stream. @param ended  what has ended there and began at the mark before; empty: nothing
  bool mark(pe_t p, std::string ended) {
    const std::ptrdiff_t event = times_ == nullptr ? -1 : times_->event(p, devices_[p]);
    if (event < 0) return false;
    SHOAL_CUDA(cudaEventRecord((*times_)[event], work_[p]));
    marks_.push_back({p, event, std::move(ended)});
    return true;
  }
  /// Steps are launched one by one from `first` on, behind what is in PE 0's stream.
  void mark_steps(step_t first) {
    if (mark(0, "")) starts_[first] = marks_.back().event;
  }
  /// The event of a unit that has taken the step before s; it has one of its own, unless there are too many.
  void add_step(std::int64_t unit, step_t s, pe_t p) {
    if (times_ != nullptr) steps_[{unit, s}] = times_->event(p, devices_[p]);
  }
  /// Null: none of its own.
  cudaEvent_t step(std::int64_t unit, step_t s) const {
    if (times_ == nullptr) return nullptr;
    const auto own = steps_.find({unit, s});
    return own != steps_.end() && own->second >= 0 ? (*times_)[own->second] : nullptr;
  }
  /// For resident kernels: whether a millisecond has passed since it said so.
  bool wants_counts() {
    constexpr std::int64_t kEvery = 1'000'000;
    if (times_ == nullptr || trace_now() - counted_at_ < kEvery) return false;
    counted_at_ = trace_now();
    return true;
  }
  static void count_tiles(pe_t p, std::uint64_t tiles) {
    tracing()->count("PE " + std::to_string(p), "tiles taken", trace_now(), static_cast<double>(tiles));
  }

  /// After the run.
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
    for (const auto& [which, end] : ended) {  // it began when what it waits for had ended
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
  std::map<step_t, std::ptrdiff_t> starts_;                          ///< by the first of the steps
  std::map<std::pair<std::int64_t, step_t>, std::ptrdiff_t> steps_;  ///< by unit and step
};

}  // namespace shoal::blocks::gpu
