// Searches for the fastest options: by successive halving over a coarse grid, then by varying one option at a time around the
// best. At the end, the best and `auto` run in turns.
#pragma once
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "tune_measure.hpp"

namespace shoal::cli {

/// The measurement of one way.
struct Measured {
  Way way;
  double seconds = 0;  ///< median
  int trials = 0;      ///< number of runs behind the median; 0: it did not run
  std::string failed;  ///< why it did not run, or what was wrong with its answer
  bool wrong = false;  ///< it gave a wrong answer
};

struct TuneLimits {
  double budget_seconds = 60;  ///< no measurement starts after it, but the last comparison with auto is always made
  int trials = 8;              ///< of the last comparison, for each side
  std::uint64_t seed = 1;      ///< of sources
};

class TuneSearch {
 public:
  /// @param measure  makes the runs
  /// @param fixed    the flags that all its runs have; these options are not varied
  /// @param say      called after each measurement, with the fraction of the budget that is used
  TuneSearch(const AlgorithmInfo& info, TuneMeasure& measure, Way fixed, const TuneLimits& limits,
             std::function<void(double, const Measured&)> say);

  /// @throws what running `auto` throws. A way that fails is left out, and all() says why
  void run();

  const std::vector<Measured>& all() const { return all_; }  ///< in the order of measuring
  const Way& best() const { return best_; }                  ///< empty when nothing beats auto
  double best_seconds() const { return best_seconds_; }      ///< side by side with auto_seconds(), on the same sources
  double auto_seconds() const { return auto_seconds_; }
  int turns() const { return turns_; }  ///< number of turns behind both times
  /// By how much auto is slower than the best way found, median over turns: 0.1 is ten per cent; 0: none is faster.
  double gap() const { return gap_; }
  const Decisions& auto_chose() const { return auto_chose_; }
  std::int64_t left_out() const {
    return left_out_;
  }  ///< ways of the grid that were not tried because the budget was spent

 private:
  bool is_worklist(const Way& way) const;
  bool is_auto(const Way& way) const;
  std::vector<Way> grid() const;
  Measured measure(const Way& way, int trials, double limit_seconds);
  void halve(std::vector<Way> ways);
  void refine();
  void compare();
  double used() const;
  bool may_try(const char* flag) const { return fixed_.count(flag) == 0; }

  const AlgorithmInfo& info_;
  TuneMeasure& measure_;
  const Way fixed_;
  const bool on_gpu_, several_pes_;
  const TuneLimits limits_;
  const std::function<void(double, const Measured&)> say_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();

  std::vector<Measured> all_;
  Way best_;
  double best_seconds_ = 0, auto_seconds_ = 0, fastest_ = 0;  // fastest_: of all so far, auto too
  double gap_ = 0;
  int turns_ = 0;
  Decisions auto_chose_;
  std::int64_t left_out_ = 0;
};

}  // namespace shoal::cli
