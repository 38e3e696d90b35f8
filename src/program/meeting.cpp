#include "shoal/program/meeting.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

const std::vector<const void*>& Meeting::begin(pe_t me, const MeetingCall& call, const void* mine) {
  std::unique_lock lock(mutex_);
  throw_if_ended();
  Pe& pe = pes_[me];
  pe.call = call;
  std::vector<const void*>& board = boards_[++pe.calls % 2];
  board[me] = mine;
  arrive(lock, me, Place::begins);
  return board;
}

void Meeting::wait(pe_t me) {
  std::unique_lock lock(mutex_);
  arrive(lock, me, Place::within);
}

void Meeting::arrive(std::unique_lock<std::mutex>& lock, pe_t me, Place place) {
  pes_[me].place = place;
  for (pe_t p = 0; p < static_cast<pe_t>(pes_.size()); ++p) compare(me, p);
  throw_if_ended();
  const std::uint64_t round = round_;
  if (++arrived_ == static_cast<pe_t>(pes_.size())) {
    arrived_ = 0;
    ++round_;
    for (Pe& pe : pes_) pe.place = Place::outside;
    changed_.notify_all();
  } else {
    changed_.wait(lock, [&] { return ended_ || round_ != round; });
  }
  if (round_ == round) throw_if_ended();
}

void Meeting::leave(pe_t me) {
  const std::lock_guard lock(mutex_);
  pes_[me].place = Place::left;
  for (pe_t p = 0; p < static_cast<pe_t>(pes_.size()); ++p) compare(p, me);
  changed_.notify_all();
}

void Meeting::fail(pe_t me) {
  const std::lock_guard lock(mutex_);
  pes_[me].place = Place::failed;
  ended_ = true;
  changed_.notify_all();
}

/// Ends the program if one waits in a call that the other cannot come to.
void Meeting::compare(pe_t one, pe_t other) {
  const Pe &a = pes_[one], &b = pes_[other];
  const auto waits = [](const Pe& pe) { return pe.place == Place::begins || pe.place == Place::within; };
  if (!waits(a) || (!waits(b) && b.place != Place::left) || (waits(b) && a.call == b.call)) return;
  std::string there = describe(other);
  if (waits(b) && a.call.same_name(b.call)) there += " of another type";
  end(describe(one) + ", " + there + ": every PE must make the same calls in the same order");
}

void Meeting::end(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  why_ = why;
  changed_.notify_all();
}

void Meeting::throw_if_ended() const {
  if (!why_.empty()) throw UsageError(why_);
  if (ended_) throw DeviceError("another PE failed");
}

std::string Meeting::describe(pe_t p) const {
  const Pe& pe = pes_[p];
  const std::string number = std::to_string(pe.calls),
                    after = pe.calls > 0 ? " after call " + number : " before any call";
  const std::string who = "PE " + std::to_string(p);
  if (pe.place == Place::left) return who + " has ended" + after;
  if (pe.place == Place::outside) return who + " is in none" + after;
  return who + " waits in " + pe.call.name + "() (call " + number + ")";
}

bool Meeting::all_gone() const {
  return std::all_of(pes_.begin(), pes_.end(),
                     [](const Pe& pe) { return pe.place == Place::left || pe.place == Place::failed; });
}

bool Meeting::may_be_stuck() const {
  return !ended_ && std::any_of(pes_.begin(), pes_.end(), [](const Pe& pe) { return pe.place == Place::begins; });
}

bool Meeting::watch(double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  const auto processor_seconds = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const auto look_every = std::chrono::duration<double>(std::clamp(timeout_seconds / 10, 0.01, 1.0));
  std::unique_lock lock(mutex_);
  auto still_since = Clock::now();
  double worked = processor_seconds();
  std::uint64_t round = round_;
  while (!changed_.wait_for(lock, look_every, [this] { return all_gone(); })) {
    const double still = std::chrono::duration<double>(Clock::now() - still_since).count();
    if (!may_be_stuck() || round != round_ || processor_seconds() - worked > still / 100) {
      still_since = Clock::now();
      worked = processor_seconds();
      round = round_;
    } else if (still > timeout_seconds) {
      const auto at = [this](Place place) {
        return static_cast<pe_t>(
            std::find_if(pes_.begin(), pes_.end(), [&](const Pe& pe) { return pe.place == place; }) - pes_.begin());
      };
      end(describe(at(Place::begins)) + ", " + describe(at(Place::outside)) + ", and nothing has happened for " +
          exact(timeout_seconds) + " s: every PE must make the same calls in the same order");
      return changed_.wait_for(lock, std::chrono::seconds(2), [this] { return all_gone(); });
    }
  }
  return true;
}

std::string Meeting::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

}  // namespace shoal
