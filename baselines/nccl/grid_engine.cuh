// Jacobi iteration on the ranks of a process.
#pragma once
#include <memory>
#include <vector>

#include "jacobi3d.cuh"
#include "rank_threads.cuh"

namespace shoal::nccl {

class GridEngine : public baselines::GridEngine {
 public:
  GridEngine(baselines::Processes& processes, int ranks_of_process, const baselines::GridWanted& wanted)
      : threads_(processes, ranks_of_process, "shoal_nccl"),
        room_{std::vector<HostRoom::Rank>(ranks_of_process), std::barrier<>(ranks_of_process), processes},
        wanted_(wanted),
        ranks_(ranks_of_process) {
    if (wanted.staged && processes.size > 1 && ranks_of_process > 1) {
      throw UsageError(
          "--staged works between the ranks of one process, or between processes of one rank each; use --gpus 1, or "
          "one process");
    }
  }
  ~GridEngine() override {
    threads_.in_turn([&](int i) { ranks_[i].reset(); });
  }

  void start() override {
    if (!ranks_[0]) place();
    threads_.each([&](int i) { ranks_[i]->start(); });
  }
  double iterate(std::int64_t n) override {
    return threads_.timed([&](int i) { ranks_[i]->iterate(n); });
  }
  std::vector<Step> steps() const override {
    std::vector<Step> all;
    for (const auto& rank : ranks_) all.push_back(rank->steps().back());
    return all;
  }
  std::vector<double> cells() const override {
    std::vector<double> all;
    for (const auto& rank : ranks_) {
      const std::vector<double> own = rank->cells();
      all.insert(all.end(), own.begin(), own.end());
    }
    return all;
  }

 private:
  void place() {
    threads_.connect();
    threads_.each(
        [&](int i) { ranks_[i] = std::make_unique<Jacobi>(wanted_, threads_.comm(i), room_, threads_.device(i)); });
    threads_.each([&](int i) { ranks_[i]->connect(); });
  }

  RankThreads threads_;
  HostRoom room_;
  baselines::GridWanted wanted_;
  std::vector<std::unique_ptr<Jacobi>> ranks_;
};

}  // namespace shoal::nccl
