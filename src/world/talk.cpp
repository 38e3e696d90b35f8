#include "talk.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "bytes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

std::string own_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return std::string(host) + ", process id " + std::to_string(::getpid());
}

}  // namespace

Talk::Talk(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options)
    : patience_seconds_(patience_seconds), boards_(std::move(boards)) {
  first_.assign(static_cast<std::size_t>(boards_->processes()) + 1, 0);
  Bytes mine;
  append(mine, static_cast<std::uint64_t>(n_here));
  append(mine, own_name());
  append(mine, options);
  boards_->beat(beat_now());
  const std::vector<Bytes> all = tell_all("has begun", "", mine);
  std::vector<std::string> options_of;
  for (std::size_t p = 0; p < all.size(); ++p) {
    Reader reader{all[p]};
    first_[p + 1] = first_[p] + static_cast<pe_t>(reader.number());
    names_.push_back(reader.text());
    options_of.push_back(reader.text());
  }
  for (std::size_t p = 0; p < all.size(); ++p) {
    if (options_of[p] == options_of[0]) continue;
    throw UsageError(describe(0) + " was started with '" + options_of[0] + "', " + describe(static_cast<int>(p)) +
                     " with '" + options_of[p] + "': all processes must be started in the same way");
  }
}

std::vector<Talk::Bytes> Talk::exchange(const std::string& where, const std::string& type,
                                        std::span<const std::byte> mine) {
  {
    const std::lock_guard lock(watch_mutex_);
    if (!seen_.empty()) throw TransportError(seen_);
  }
  return tell_all(where, type, mine);
}

void Talk::beat() {
  boards_->beat(beat_now());
  boards_->progress();  // without it nothing is sent or received between hosts
}

std::vector<Talk::Bytes> Talk::tell_all(const std::string& where, const std::string& type,
                                        std::span<const std::byte> mine) {
  Bytes first;
  append(first, where);
  append(first, type);
  append(first, mine.size());
  const auto take = [&](std::size_t room) {
    const auto piece = mine.first(std::min(room, mine.size()));
    mine = mine.subspan(piece.size());
    return piece;
  };
  append(first, take(Boards::kRoom - first.size()));
  boards_->say(++said_, first);
  std::vector<Bytes> all = hear_all(where);
  std::vector<std::size_t> sizes;
  std::string first_where, first_type;
  for (std::size_t p = 0; p < all.size(); ++p) {
    Reader reader{all[p]};
    const std::string its_where = reader.text(), its_type = reader.text();
    if (p == 0) first_where = its_where, first_type = its_type;
    if (its_where != first_where || its_type != first_type) {
      throw UsageError(describe(0) + " " + first_where + ", " + describe(static_cast<int>(p)) + " " + its_where +
                       (its_where == first_where ? " of another type" : "") + kSameCalls);
    }
    sizes.push_back(reader.number());
    all[p] = Bytes(reader.rest.begin(), reader.rest.end());
  }
  const auto wait_for_more = [&] {
    for (std::size_t p = 0; p < all.size(); ++p) {
      if (all[p].size() < sizes[p]) return true;
    }
    return false;
  };
  while (wait_for_more()) {
    boards_->say(++said_, take(Boards::kRoom));
    const std::vector<Bytes> more = hear_all(where);
    for (std::size_t p = 0; p < all.size(); ++p) append(all[p], more[p]);
  }
  return all;
}

/// Waits until every process has made statement number said_, and returns these statements.
std::vector<Talk::Bytes> Talk::hear_all(const std::string& where) {
  std::vector<Bytes> all(static_cast<std::size_t>(n_processes()));
  const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
  // If a PE stands still, its own process detects this and knows which PE it is. So that process gets a second more.
  const double patience = patience_seconds_ + 1;
  for (int p = 0; p < n_processes(); ++p) {
    const auto heard = [&] { return boards_->hear(p, said_, all[static_cast<std::size_t>(p)]); };
    Stillness still(seconds_of_beat(boards_->beat_of(p)));
    for (std::uint64_t looks = 0; !heard(); ++looks) {
      boards_->progress();
      if (looks < 100) {
        std::this_thread::yield();
        continue;
      }
      const int who = who_ended();
      if (who >= 0) {
        if (heard()) break;  // the statements may show why it ended the run; then every process reports that
        throw TransportError(describe(who) + " ended the run: " + boards_->ended(who));
      }
      boards_->beat(beat_now());
      if (still.seconds(seconds_of_beat(boards_->beat_of(p))) > patience) {
        const std::string what = said_ == 1 ? " has not come, " : " has not come there, ";
        const std::string why = describe(process()) + " " + where + ", " + describe(p) + what +
                                "and has done nothing for " + exact(patience_seconds_) + " s";
        given_up_ = true;
        boards_->end(why);
        throw TransportError(why);
      }
      const auto waited =
          std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - began);
      std::this_thread::sleep_for(
          std::clamp(waited / 50, std::chrono::microseconds(1), std::chrono::microseconds(1000)));
    }
  }
  return all;
}

void Talk::begin_watch() {
  watched_.clear();
  for (int p = 0; p < n_processes(); ++p) watched_.emplace_back(seconds_of_beat(boards_->beat_of(p)));
}

std::string Talk::watch() {
  boards_->beat(beat_now());
  std::string why;
  const int who = who_ended();
  if (who >= 0) why = describe(who) + " ended the run: " + boards_->ended(who);
  for (int p = 0; p < n_processes() && why.empty(); ++p) {
    const double still = watched_[static_cast<std::size_t>(p)].seconds(seconds_of_beat(boards_->beat_of(p)));
    if (p == process() || still <= patience_seconds_ + 1) continue;
    why = describe(p) + " has done nothing for " + exact(patience_seconds_) + " s during a run";
    given_up_ = true;
    boards_->end(why);
  }
  if (why.empty()) return why;
  const std::lock_guard lock(watch_mutex_);
  seen_ = why;
  return why;
}

std::string Talk::held_up() {
  int who = -1;
  for (int p = 0; p < n_processes(); ++p) {
    const double worked = seconds_of_beat(boards_->beat_of(p));
    const auto at = static_cast<std::size_t>(p);
    if (stands_.size() == at) stands_.emplace_back(worked);
    if (stands_[at].seconds(worked) > patience_seconds_ + 1 && p != process() && who < 0) who = p;
  }
  // A second more than a thread that is not held up takes to report it. If one has given up, and tells the others, a second.
  if (who < 0 || boards_->longest_call() <= (given_up_ ? 1 : patience_seconds_ + 2)) return "";
  return describe(who) + " has taken nothing that was sent to it, and done nothing for " + exact(patience_seconds_) +
         " s";
}

/// Another process that ended the run; -1: none.
int Talk::who_ended() const {
  for (int p = 0; p < n_processes(); ++p) {
    if (p != process() && !boards_->ended(p).empty()) return p;
  }
  return -1;
}

std::string Talk::describe(int process) const {
  std::string text = "process " + std::to_string(process);
  if (names_.empty()) return text + " of " + std::to_string(boards_->processes());
  const pe_t first = first_[static_cast<std::size_t>(process)],
             last = first_[static_cast<std::size_t>(process) + 1] - 1;
  text +=
      last > first ? " (PEs " + std::to_string(first) + " to " + std::to_string(last) : " (PE " + std::to_string(first);
  return text + ", " + names_[static_cast<std::size_t>(process)] + ")";
}

}  // namespace shoal
