#if defined(SHOAL_HAVE_CUDA)
#include "shoal/blocks/trace_gpu.cuh"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>

#include "shoal/core/state_log.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/event.cuh"

namespace shoal::blocks::gpu {
namespace {

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

struct Mark {
  pe_t pe;
  std::ptrdiff_t event;
  std::string ended;
};

}  // namespace

struct RunTrace::Events {
  GpuTimes times;
  std::vector<Mark> marks = {};
  std::map<step_t, std::ptrdiff_t> starts = {};  ///< first step of a launch -> event
  std::map<std::pair<std::int64_t, step_t>, std::ptrdiff_t> steps =
      {};  ///< (unit, s) -> event at the end of step s - 1

  /// Records an event in PE p's stream. @return false: there are too many events
  bool mark(pe_t p, int device, cudaStream_t stream, const std::string& ended) {
    const std::ptrdiff_t event = times.event(p, device);
    if (event < 0) return false;
    SHOAL_CUDA(cudaEventRecord(times[event], stream));
    marks.push_back({p, event, ended});
    return true;
  }
};

RunTrace::RunTrace(const std::vector<int>& devices, const std::vector<Stream>& work) : devices_(devices), work_(work) {}
RunTrace::~RunTrace() = default;

void RunTrace::begin() {
  events_.reset();
  if (tracing() != nullptr) events_ = std::make_unique<Events>(Events{GpuTimes(devices_, work_)});
}
void RunTrace::drop() { events_.reset(); }

void RunTrace::mark(pe_t p, const std::string& ended) {
  if (events_ != nullptr) events_->mark(p, devices_[p], work_[p], ended);
}
void RunTrace::mark_steps(step_t first) {
  if (events_ != nullptr && events_->mark(0, devices_[0], work_[0], "")) {
    events_->starts[first] = events_->marks.back().event;
  }
}
void RunTrace::add_step(std::int64_t unit, step_t s, pe_t p) {
  if (events_ != nullptr) events_->steps[{unit, s}] = events_->times.event(p, devices_[p]);
}
cudaEvent_t RunTrace::step(std::int64_t unit, step_t s) const {
  if (events_ == nullptr) return nullptr;
  const auto own = events_->steps.find({unit, s});
  return own != events_->steps.end() && own->second >= 0 ? events_->times[own->second] : nullptr;
}
bool RunTrace::wants_counts() {
  constexpr std::int64_t kEvery = 1'000'000;
  if (events_ == nullptr || trace_now() - counted_at_ < kEvery) return false;
  counted_at_ = trace_now();
  return true;
}
void RunTrace::count_tiles(pe_t p, std::uint64_t tiles) {
  tracing()->count("PE " + std::to_string(p), "tiles taken", trace_now(), static_cast<double>(tiles));
}

void RunTrace::draw(const std::vector<std::vector<TracedBlock>>& blocks, const Units& units,
                    const std::vector<TracedChannel>& channels) {
  Trace& trace = *tracing();
  const GpuTimes& times = events_->times;
  for (std::size_t i = 1; i < events_->marks.size(); ++i) {
    const Mark &from = events_->marks[i - 1], &to = events_->marks[i];
    if (to.ended.empty() || from.pe != to.pe) continue;
    trace.span(trace.track("PE " + std::to_string(to.pe), "kernels"), to.ended, times.at(from.event),
               times.at(to.event));
  }
  std::map<std::pair<std::int64_t, step_t>, std::int64_t> ended;
  for (const auto& [which, event] : events_->steps) {
    if (event >= 0) ended[which] = times.at(event);
  }
  std::vector<TracedStep> steps;
  for (const auto& [which, end] : ended) {  // a step began when everything that it waits for had ended
    const auto [u, s] = which;
    std::int64_t begin = -1;
    const auto after = [&, s = s](std::int64_t other) {
      const auto found = ended.find({other, s - 1});
      if (found != ended.end()) begin = std::max(begin, found->second);
    };
    after(u);
    for (const std::int64_t other : units[u].after) after(other);
    const auto start = events_->starts.find(s - 1);
    if (begin < 0 && start != events_->starts.end()) begin = times.at(start->second);
    if (begin < 0) continue;
    for (const TracedBlock& its : blocks[static_cast<std::size_t>(u)]) {
      steps.push_back({its.block, s - 1, std::min(begin, end), end, its.tiles});
    }
  }
  draw_steps(trace, std::move(steps), channels);
  events_.reset();
}

}  // namespace shoal::blocks::gpu
#endif
