// Completion callbacks of runs on GPUs (blocks/completions.hpp): a thread polls events and makes the calls that are due. The host
// thread that launches only records the events and waits for none of them.
#pragma once
#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <vector>

namespace shoal::blocks::gpu {

class CompletionThread {
 public:
  CompletionThread();
  CompletionThread(const CompletionThread&) = delete;
  CompletionThread& operator=(const CompletionThread&) = delete;
  ~CompletionThread();

  /// The end of a stream, where an event will be recorded, and the stream's device.
  struct Place {
    int device;
    cudaStream_t stream;
  };
  /// Records an event in each of these streams now. `call` is made when all of the events have completed.
  void add(const std::vector<Place>& places, std::function<void()> call);
  /// Call it after the GPUs have finished: waits until all calls have been made.
  /// @throws what the first failing call threw; DeviceError
  void finish();
  /// Call it after an error: drops the calls that have not been made.
  void drop();

 private:
  class Polling;  // in src/blocks/completions_gpu.cpp, with the standard library's headers that it needs
  const std::unique_ptr<Polling> polling_;
};

}  // namespace shoal::blocks::gpu
