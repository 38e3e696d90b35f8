// The ranks of a process, each on a GPU of its own and driven by a thread of its own.
#pragma once
#include <algorithm>
#include <barrier>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "../common/engine.hpp"
#include "../common/program.hpp"
#include "communicator.cuh"
#include "search_kernels.cuh"
#include "shoal/core/text.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::nccl {

using baselines::Step;

/// @tparam Search, Ranking  of one rank: made with (graph, communicator, what is wanted, device)
template <class Search, class Ranking>
class Engine : public baselines::Engine {
 public:
  /// @throws UsageError  more ranks than GPUs; DeviceError  no GPU
  Engine(baselines::Processes& processes, int ranks_of_process, std::string program)
      : processes_(processes),
        program_(std::move(program)),
        count_(ranks_of_process),
        first_device_(processes.rank_on_host * ranks_of_process),
        comms_(count_),
        searches_(count_),
        rankings_(count_) {
    const int devices = num_devices(), wanted = processes.on_host * count_;
    if (devices == 0) {
      std::string why;
      list_devices(&why);
      throw DeviceError("no GPU can be used: " + why);
    }
    if (wanted > devices) {
      throw UsageError(counted(wanted, "rank wants a GPU", "ranks want a GPU each") + ", and there are " +
                       std::to_string(devices) + "; use fewer");
    }
    if (processes.size * count_ > kMostRanks) {
      throw UsageError("there can be " + std::to_string(kMostRanks) + " ranks at most");
    }
  }
  /// In the order that NCCL wants: what uses a communicator first.
  ~Engine() override {
    for (int i = 0; i < count_; ++i) {
      cudaSetDevice(first_device_ + i);
      searches_[i].reset();
      rankings_[i].reset();
    }
    for (int i = 0; i < count_; ++i) {
      cudaSetDevice(first_device_ + i);
      comms_[i].reset();
    }
  }

  void place_search(const Csr& graph, bool send_once) override {
    connect();
    each([&](int i) { searches_[i] = std::make_unique<Search>(graph, *comms_[i], send_once, first_device_ + i); });
    agree(searches_);
  }
  void place_ranking(const Csr& graph, const PageRankRules& rules) override {
    connect();
    each([&](int i) { rankings_[i] = std::make_unique<Ranking>(graph, *comms_[i], rules, first_device_ + i); });
    agree(rankings_);
  }

  double search(vertex_t source) override {
    return timed([&](int i) { searches_[i]->run(source); });
  }
  double sweep() override {
    return timed([&](int i) { rankings_[i]->run(); });
  }

  std::vector<Step> steps() const override {
    std::vector<Step> all;
    for (int i = 0; i < count_; ++i) append(searches_[i] ? searches_[i]->steps() : rankings_[i]->steps(), all);
    return all;
  }
  std::vector<std::int32_t> levels() const override {
    std::vector<std::int32_t> all;
    for (const auto& search : searches_) append(search->levels(), all);
    return all;
  }
  std::vector<double> ranks() const override {
    std::vector<double> all;
    for (const auto& ranking : rankings_) append(ranking->ranks(), all);
    return all;
  }
  baselines::Reached reached() const override {
    baselines::Reached all;
    for (const auto& search : searches_) all.add(search->levels(), search->offsets());
    return all;
  }
  double error_bound() const override { return rankings_[0]->error_bound(); }

 private:
  template <class T>
  static void append(const std::vector<T>& words, std::vector<T>& to) {
    to.insert(to.end(), words.begin(), words.end());
  }

  /// Calls `work(i)` for each rank of the process, on a thread of its own with its device current.
  void each(const std::function<void(int)>& work) {
    const auto on_device = [&](int i) {
      SHOAL_CUDA(cudaSetDevice(first_device_ + i));
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

  /// The steps that ranks do together before their first run.
  template <class T>
  void agree(std::vector<std::unique_ptr<T>>& work) {
    each([&](int i) { work[i]->tell(); });
    each([&](int i) { work[i]->make_room(); });
    each([&](int i) { work[i]->connect(); });
  }

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

  void connect() {
    ncclUniqueId id{};
    if (processes_.rank == 0) id = Communicator::new_id();
    processes_.broadcast(&id, sizeof id, 0);
    const Ranks all{processes_.rank * count_, processes_.size * count_};
    each([&](int i) { comms_[i] = std::make_unique<Communicator>(id, Ranks{all.rank + i, all.size}); });
  }

  baselines::Processes& processes_;
  std::string program_;
  int count_, first_device_;
  std::vector<std::unique_ptr<Communicator>> comms_;
  std::vector<std::unique_ptr<Search>> searches_;
  std::vector<std::unique_ptr<Ranking>> rankings_;
};

}  // namespace shoal::nccl
