#include "shoal/blocks/completions.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>

namespace shoal::blocks {

struct Completions::Waiting {
  std::mutex mutex;
  std::vector<Completion> calls;
};

Completions::Completions() : waiting_(std::make_unique<Waiting>()) {}
Completions::~Completions() = default;

void Completions::add(std::int64_t block, step_t steps, std::function<void()> call) {
  const std::lock_guard lock(waiting_->mutex);
  waiting_->calls.push_back({block, steps, std::move(call)});
}

std::vector<Completion> Completions::take(const StepRange& range) {
  const std::lock_guard lock(waiting_->mutex);
  std::vector<Completion>& calls = waiting_->calls;
  const auto later = std::stable_partition(calls.begin(), calls.end(), [&](const Completion& one) {
    return one.steps > range.first && one.steps <= range.end;
  });
  std::vector<Completion> taken(std::make_move_iterator(calls.begin()), std::make_move_iterator(later));
  calls.erase(calls.begin(), later);
  std::stable_sort(taken.begin(), taken.end(), [](const auto& a, const auto& b) { return a.steps < b.steps; });
  return taken;
}

void CompletionCounts::done(std::int64_t block, step_t steps) {
  const auto first = std::lower_bound(wanted_.begin(), wanted_.end(), steps,
                                      [](const Completion& one, step_t s) { return one.steps < s; });
  for (auto one = first; one != wanted_.end() && one->steps == steps; ++one) {
    if (one->block >= 0 && one->block != block) continue;
    if (left_[one - wanted_.begin()].fetch_sub(1, std::memory_order_acq_rel) == 1) one->call();
  }
}

}  // namespace shoal::blocks
