#if defined(SHOAL_HAVE_CUDA)
#include "shoal/blocks/completions_gpu.cuh"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "shoal/device/cuda_check.cuh"
#include "shoal/device/event.cuh"

namespace shoal::blocks::gpu {

class RunCalls::Thread {
 public:
  ~Thread() {
    if (!thread_.joinable()) return;
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  void add(const std::vector<Place>& places, std::function<void()> call) {
    Due due{{}, std::move(call)};
    for (const Place& place : places) {
      due.events.push_back(take(place.device));
      DeviceGuard guard(place.device);
      SHOAL_CUDA(cudaEventRecord(due.events.back().event, place.stream));
    }
    {
      const std::lock_guard lock(mutex_);
      due_.push_back(std::move(due));
    }
    if (!thread_.joinable()) thread_ = std::thread([this] { poll(); });
    changed_.notify_all();
  }
  void finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return due_.empty() && !calling_; });
    if (const std::exception_ptr error = std::exchange(error_, nullptr)) std::rethrow_exception(error);
  }
  void drop() {
    std::unique_lock lock(mutex_);
    due_.clear();
    changed_.wait(lock, [this] { return !calling_; });
    error_ = nullptr;
  }

 private:
  struct Taken {
    int device;
    Event event;
  };
  struct Due {
    std::vector<Taken> events;
    std::function<void()> call;
  };

  /// Takes an event from the pool, or makes one.
  Taken take(int device) {
    const std::lock_guard lock(mutex_);
    std::vector<Event>& some = pool_[device];
    if (some.empty()) return {device, Event(device)};
    Taken taken{device, std::move(some.back())};
    some.pop_back();
    return taken;
  }
  /// Whether all events of a call have completed.
  static bool is_done(const Due& due) {
    return std::all_of(due.events.begin(), due.events.end(), [](const Taken& taken) {
      const cudaError_t status = cudaEventQuery(taken.event);
      if (status != cudaErrorNotReady) cuda_check(status, "an event of a run of blocks");
      return status == cudaSuccess;
    });
  }
  void poll() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return ends_ || !due_.empty(); });
      if (ends_) return;
      try {
        const auto some = due_.begin() + std::min<std::ptrdiff_t>(std::ssize(due_), 32);
        const auto done = std::find_if(due_.begin(), some, is_done);
        if (done == some) {
          lock.unlock();
          std::this_thread::sleep_for(std::chrono::microseconds(10));
          lock.lock();
          continue;
        }
        Due due = std::move(*done);
        due_.erase(done);
        for (Taken& taken : due.events) pool_[taken.device].push_back(std::move(taken.event));
        calling_ = true;
        lock.unlock();
        std::exception_ptr error;
        try {
          if (due.call) due.call();
        } catch (...) {
          error = std::current_exception();
        }
        lock.lock();
        calling_ = false;
        if (error && !error_) error_ = error;
      } catch (...) {
        if (!error_) error_ = std::current_exception();
        due_.clear();
      }
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Due> due_;  ///< in the order in which they were added
  std::map<int, std::vector<Event>> pool_;
  bool calling_ = false, ends_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

RunCalls::RunCalls() : thread_(std::make_unique<Thread>()) {}
RunCalls::~RunCalls() = default;
step_t RunCalls::next(step_t s) const {
  const auto next = std::find_if(calls_.begin(), calls_.end(), [s](const Completion& one) { return one.steps > s; });
  return next == calls_.end() ? ~step_t{0} : next->steps;
}
void RunCalls::await(const std::vector<Place>& places, std::function<void()> call) {
  thread_->add(places, std::move(call));
}
void RunCalls::finish() { thread_->finish(); }
void RunCalls::drop() { thread_->drop(); }

}  // namespace shoal::blocks::gpu
#endif
