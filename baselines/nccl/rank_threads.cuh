// The ranks of a process. Each has a GPU, a thread that drives it, and a rank in a communicator.
#pragma once
#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../common/attempt.hpp"
#include "../common/processes.hpp"
#include "communicator.cuh"
#include "search_kernels.cuh"
#include "shoal/core/text.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::nccl {

/// 1, because NCCL refuses ranks that share a GPU. More are possible with a stand-in for NCCL (tests/baselines/fake_nccl.cpp).
inline int ranks_per_gpu() {
  const char* const text = std::getenv("SHOAL_TEST_RANKS_PER_GPU");
  return text != nullptr ? std::max(1, std::atoi(text)) : 1;
}

class RankThreads {
 public:
  /// @throws UsageError  more ranks than GPUs; DeviceError  no GPU
  RankThreads(baselines::Processes& processes, int ranks_of_process, std::string program)
      : processes_(processes),
        program_(std::move(program)),
        count_(ranks_of_process),
        first_rank_(processes.rank_on_host * ranks_of_process),
        comms_(count_) {
    const int devices = num_devices(), wanted = processes.on_host * count_;
    if (devices == 0) {
      std::string why;
      list_devices(&why);
      throw DeviceError("no GPU can be used: " + why);
    }
    if (wanted > devices * ranks_per_gpu()) {
      throw UsageError(counted(wanted, "rank needs a GPU", "ranks need a GPU each") + ", but there are " +
                       std::to_string(devices) + "; use fewer");
    }
    if (processes.size * count_ > kMostRanks) {
      throw UsageError(std::to_string(processes.size * count_) + " ranks are too many; use at most " +
                       std::to_string(kMostRanks));
    }
  }
  /// Objects that use a communicator must have been destroyed.
  ~RankThreads() {
    in_turn([&](int i) { comms_[i].reset(); });
  }
  RankThreads(const RankThreads&) = delete;
  RankThreads& operator=(const RankThreads&) = delete;

  int count() const { return count_; }
  int device(int i) const { return (first_rank_ + i) / ranks_per_gpu(); }
  const Communicator& comm(int i) const { return *comms_[i]; }

  /// To be called once, by all processes together.
  void connect() {
    ncclUniqueId id{};
    if (processes_.rank == 0) id = Communicator::new_id();
    processes_.broadcast(&id, sizeof id, 0);
    const Ranks all{processes_.rank * count_, processes_.size * count_};
    each([&](int i) { comms_[i] = std::make_unique<Communicator>(id, Ranks{all.rank + i, all.size}); });
  }

  /// Calls `work(i)` for each rank of the process, on a thread of its own whose current device is the rank's.
  void each(const std::function<void(int)>& work) {
    const auto on_device = [&](int i) {
      SHOAL_CUDA(cudaSetDevice(device(i)));
      work(i);
    };
    if (count_ == 1) return on_device(0);
    std::vector<std::thread> threads;
    for (int i = 0; i < count_; ++i) {
      threads.emplace_back([&, i] {
        std::string line;
        const int status = baselines::attempt([&] { return on_device(i), 0; }, line);
        if (status == 0) return;
        baselines::complain(program_, line);
        processes_.end_all(status);  // the others wait for this rank within NCCL
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  /// The same on this thread, one rank after the other: to release what each rank has.
  void in_turn(const std::function<void(int)>& work) noexcept {
    for (int i = 0; i < count_; ++i) {
      cudaSetDevice(device(i));
      work(i);
    }
  }

  /// Runs `work` like each(); all ranks begin together. @return seconds of the slowest rank
  double timed(const std::function<void(int)>& work) {
    std::barrier<> start(count_);
    std::vector<double> seconds(count_);
    each([&](int i) {
      using Clock = std::chrono::steady_clock;
      start.arrive_and_wait();
      const Clock::time_point begin = Clock::now();
      work(i);
      seconds[i] = std::chrono::duration<double>(Clock::now() - begin).count();
    });
    return *std::max_element(seconds.begin(), seconds.end());
  }

 private:
  baselines::Processes& processes_;
  std::string program_;
  int count_, first_rank_;  // on this host
  std::vector<std::unique_ptr<Communicator>> comms_;
};

}  // namespace shoal::nccl
