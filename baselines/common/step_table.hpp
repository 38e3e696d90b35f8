// The steps of all ranks in a run, collected on process 0 and printed or written as JSON.
#pragma once
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <vector>

#include "processes.hpp"
#include "ranks.hpp"
#include "shoal/core/text.hpp"

namespace shoal::baselines {

class StepTable {
 public:
  using Json = nlohmann::ordered_json;

  /// All processes call this together. @param own  the steps of this process's ranks, one rank after another; all have equally many
  StepTable(Processes& processes, int ranks_of_process, const std::vector<Step>& own)
      : ranks_(processes.size * ranks_of_process),
        steps_(own.size() / static_cast<std::size_t>(ranks_of_process)),
        all_(processes.gather(own, std::vector<std::int64_t>(processes.size, static_cast<std::int64_t>(own.size())))) {}

  std::size_t count() const { return steps_; }
  const Step& at(std::size_t i, int rank) const { return all_[steps_ * static_cast<std::size_t>(rank) + i]; }
  /// The sum over all steps of one rank.
  Step sum(int rank) const {
    Step all;
    for (std::size_t i = 0; i < steps_; ++i) all.add(at(i, rank));
    return all;
  }
  /// Means over ranks. Their sum is the time, except for the time that is neither.
  double compute_seconds() const { return mean(&Step::compute_seconds); }
  double communicate_seconds() const { return mean(&Step::communicate_seconds); }

  /// @param step  the name of a step; @param done  the name of what a rank works on in it
  void print(const char* step, const char* done) const {
    std::printf("%6s %5s %11s %11s %12s %12s %12s\n", step, "rank", done, "words sent", "compute ms", "communic. ms",
                "in all ms");
    for (std::size_t i = 0; i < steps_; ++i) {
      for (int r = 0; r < ranks_; ++r) {
        const Step& s = at(i, r);
        std::printf("%6zu %5d %11s %11s %12.4f %12.4f %12.4f\n", i, r, grouped(s.done).c_str(), grouped(s.sent).c_str(),
                    s.compute_seconds * 1e3, s.communicate_seconds * 1e3, s.seconds * 1e3);
      }
    }
  }

  /// @param each  add every step, not only the sums
  void add_to(Json& trial, const char* done, bool each) const {
    trial["steps"] = steps_;
    for (int r = 0; r < ranks_; ++r) trial["by_rank"].push_back(to_json(sum(r), done));
    for (std::size_t i = 0; each && i < steps_; ++i) {
      Json by_rank;
      for (int r = 0; r < ranks_; ++r) by_rank.push_back(to_json(at(i, r), done));
      trial["by_step"].push_back(std::move(by_rank));
    }
  }

 private:
  double mean(double Step::*seconds) const {
    double all = 0;
    for (int r = 0; r < ranks_; ++r) all += sum(r).*seconds / ranks_;
    return all;
  }
  static Json to_json(const Step& s, const char* done) {
    return {{done, s.done},
            {"words_sent", s.sent},
            {"compute_seconds", s.compute_seconds},
            {"communicate_seconds", s.communicate_seconds},
            {"seconds", s.seconds}};
  }

  int ranks_;
  std::size_t steps_;
  std::vector<Step> all_;
};

}  // namespace shoal::baselines
