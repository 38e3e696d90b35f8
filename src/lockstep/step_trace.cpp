#include "step_trace.hpp"

#include <algorithm>
#include <utility>

namespace shoal::lockstep {

std::string StepTrace::task(std::int64_t step, pe_t pe) const {
  return std::string(step_) + " " + std::to_string(step) + " of PE " + std::to_string(first_pe_ + pe);
}

void StepTrace::begin_run() {
  trace_ = tracing();
  if (!on()) return;
  busy_.assign(static_cast<std::size_t>(n_pes_ * threads_), {});
  ended_.assign(static_cast<std::size_t>(n_pes_), 0);
  given_.clear();
  read_.clear();
  number_ = 0;
  began_ = trace_now();
}

void StepTrace::gives(pe_t from, pe_t to, const char* what, std::int64_t bytes) {
  if (on() && from != to) given_.push_back({from, to, what, bytes});
}

void StepTrace::step_ends(const char* kind) {
  if (!on()) return;
  const auto track = [this](pe_t pe) {
    return trace_->track("PE " + std::to_string(first_pe_ + pe), std::string(step_) + "s");
  };
  for (const Gift& gift : read_) {
    trace_->flow(
        "message", track(gift.from), ended_[static_cast<std::size_t>(gift.from)] - 1, track(gift.to), began_,
        Trace::Facts()
            .add("data", std::string(gift.what) + " of PE " + std::to_string(first_pe_ + gift.from) + ", for PE " +
                             std::to_string(first_pe_ + gift.to) + " in " + step_ + " " + std::to_string(number_))
            .add("from", task(number_ - 1, gift.from))
            .add("to", task(number_, gift.to))
            .add("bytes", gift.bytes));
  }
  for (pe_t pe = 0; pe < n_pes_; ++pe) {
    std::int64_t longest = 1;
    for (int t = 0; t < threads_; ++t) {
      std::int64_t& ns = busy_[static_cast<std::size_t>(pe * threads_ + t)].ns;
      longest = std::max(longest, std::exchange(ns, 0));
    }
    Trace::Facts facts;
    facts.add("task", task(number_, pe)).add("step", number_);
    if (kind != nullptr) facts.add("kind", std::string(kind));
    const std::int64_t end = began_ + longest;
    trace_->span(track(pe), std::string(step_) + " " + std::to_string(number_), began_, end, facts);
    ended_[static_cast<std::size_t>(pe)] = end;
  }
  read_ = std::exchange(given_, {});
  ++number_;
  began_ = trace_now();
}

}  // namespace shoal::lockstep
