// Search and PageRank on the ranks of a process. It contains no CUDA, so a test can make it from parts that need no GPU.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "../common/engine.hpp"
#include "../common/processes.hpp"

namespace shoal::nccl {

using baselines::Step;

/// @tparam Threads          RankThreads
/// @tparam Search, Ranking  the work of one rank, constructed from (graph, communicator, rules, device)
template <class Threads, class Search, class Ranking>
class Engine : public baselines::Engine {
 public:
  /// @throws UsageError  more ranks than GPUs; DeviceError  no GPU
  Engine(baselines::Processes& processes, int ranks_of_process, std::string program)
      : threads_(processes, ranks_of_process, std::move(program)),
        searches_(ranks_of_process),
        rankings_(ranks_of_process) {}
  ~Engine() override {
    threads_.in_turn([&](int i) {
      searches_[i].reset();
      rankings_[i].reset();
    });
  }

  void place_search(const Csr& graph, bool send_once) override {
    threads_.connect();
    threads_.each([&](int i) {
      searches_[i] = std::make_unique<Search>(graph, threads_.comm(i), send_once, threads_.device(i));
    });
    agree(searches_);
  }
  void place_ranking(const Csr& graph, const PageRankRules& rules) override {
    threads_.connect();
    threads_.each(
        [&](int i) { rankings_[i] = std::make_unique<Ranking>(graph, threads_.comm(i), rules, threads_.device(i)); });
    agree(rankings_);
  }

  double search(vertex_t source) override {
    return threads_.timed([&](int i) { searches_[i]->run(source); });
  }
  double sweep() override {
    return threads_.timed([&](int i) { rankings_[i]->run(); });
  }

  std::vector<Step> steps() const override {
    std::vector<Step> all;
    for (int i = 0; i < threads_.count(); ++i) {
      append(searches_[i] ? searches_[i]->steps() : rankings_[i]->steps(), all);
    }
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

  /// The steps that all ranks do together before their first run. All ranks of this process finish a step before the next one
  /// begins.
  template <class T>
  void agree(std::vector<std::unique_ptr<T>>& work) {
    threads_.each([&](int i) { work[i]->tell(); });
    threads_.each([&](int i) { work[i]->make_room(); });
    threads_.each([&](int i) { work[i]->connect(); });
  }

  Threads threads_;
  std::vector<std::unique_ptr<Search>> searches_;
  std::vector<std::unique_ptr<Ranking>> rankings_;
};

}  // namespace shoal::nccl
