// Completion callbacks of runs on GPUs (blocks/completions.hpp): a thread polls events and makes the calls that are due. The host
// thread that launches only records the events and waits for none of them.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "shoal/blocks/completions.hpp"

namespace shoal::blocks::gpu {

/// The calls that one run at a time will make, and the thread that makes them.
class RunCalls {
 public:
  RunCalls();
  RunCalls(const RunCalls&) = delete;
  RunCalls& operator=(const RunCalls&) = delete;
  ~RunCalls();

  /// The end of a stream, where an event will be recorded, and the stream's device.
  struct Place {
    int device;
    cudaStream_t stream;
  };
  /// Begins a run. @param calls  those that the run will reach, in order of steps (Completions::take)
  void begin(std::vector<Completion> calls) { calls_ = std::move(calls); }
  /// The smallest number of steps above s for which a call is registered; the largest step_t if there is none.
  step_t next(step_t s) const;
  /// The steps from `begin` to `end` - 1 have been launched. Records events, and makes the calls for begin + 1 to `end` steps when all
  /// of their events have completed.
  /// @param places_of  block, or -1 for all blocks -> std::vector<Place>: the streams in which its steps end
  template <class PlacesOf>
  void launched(step_t begin, step_t end, const PlacesOf& places_of) {
    for (Completion& one : calls_) {
      if (one.steps > begin && one.steps <= end) await(places_of(one.block), std::move(one.call));
    }
  }
  /// Call it after the GPUs have finished: waits until all calls have been made.
  /// @throws what the first failing call threw; DeviceError
  void finish();
  /// Call it after an error: drops the calls that have not been made.
  void drop();

 private:
  class Thread;  // in src/blocks/completions_gpu.cpp, with the standard library's headers that it needs
  void await(const std::vector<Place>& places, std::function<void()> call);

  std::vector<Completion> calls_;
  const std::unique_ptr<Thread> thread_;
};

}  // namespace shoal::blocks::gpu
