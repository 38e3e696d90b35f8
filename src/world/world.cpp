#include "shoal/world/world.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <thread>

#include "bytes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/boards.hpp"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

double processor_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }
std::uint64_t beat_now() { return static_cast<std::uint64_t>(processor_seconds() * 1000); }
double seconds_of_beat(std::uint64_t beat) { return static_cast<double>(beat) / 1000; }

/// How long a process has stood still: the time since it last used more than a hundredth of a processor.
class Stillness {
 public:
  explicit Stillness(double worked) : worked_(worked) {}
  /// @param worked  the processor time that the process has used
  double seconds(double worked) {
    const double still = std::chrono::duration<double>(Clock::now() - since_).count();
    if (worked - worked_ <= still / 100) return still;
    since_ = Clock::now();
    worked_ = worked;
    return 0;
  }

 private:
  Clock::time_point since_ = Clock::now();
  double worked_;
};

std::chrono::duration<double> look_every(double patience_seconds) {
  return std::chrono::duration<double>(std::clamp(patience_seconds / 10, 0.01, 1.0));
}

constexpr const char* kSameCalls = ": every PE must make the same calls in the same order";

std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

std::string own_name() {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  return std::string(host) + ", process id " + std::to_string(::getpid());
}

}  // namespace

/// The world inside: everything that changes, and whatever waits.
class World::State {
 public:
  State(pe_t n_pes, double patience_seconds);
  State(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options);

  const std::vector<pe_t>& first() const { return first_; }
  int process() const { return boards_ ? boards_->process() : 0; }

  // As World's.
  const std::vector<Given>& all_gather(pe_t me, const Call& call, const Given& mine);
  void leave_call(pe_t me);
  std::vector<std::vector<std::byte>> exchange(const Call& call, std::span<const std::byte> mine);
  Heap* heap() const { return boards_ ? boards_->heap() : nullptr; }
  void begin_watch();
  std::string watch();
  void tell_end(const std::string& why) {
    if (boards_) boards_->end(why);
  }
  void leave(pe_t me);
  void fail(pe_t me, const std::string& why);
  bool wait_for_bodies();
  std::string why();
  void beat() {
    if (!boards_) return;
    boards_->beat(beat_now());
    boards_->progress();  // between hosts, nothing comes or goes without
  }
  bool takes_leave(int p) const { return boards_ && boards_->takes_leave(p); }

 private:
  enum class Place { outside, begins, within, left, failed };
  struct Pe {
    Place place = Place::outside;
    Call call;                ///< the last call that it began
    std::uint64_t calls = 0;  ///< begun
  };
  using Bytes = std::vector<std::byte>;
  using Lock = std::unique_lock<std::mutex>;

  pe_t n_pes() const { return first_.back(); }
  int n_processes() const { return static_cast<int>(first_.size()) - 1; }
  pe_t first_here() const { return first_[static_cast<std::size_t>(process())]; }
  pe_t n_here() const { return static_cast<pe_t>(pes_.size()); }
  pe_t end_here() const { return first_here() + n_here(); }
  Pe& at(pe_t pe) { return pes_[static_cast<std::size_t>(pe - first_here())]; }
  const Pe& at(pe_t pe) const { return pes_[static_cast<std::size_t>(pe - first_here())]; }
  void arrive(Lock& lock, pe_t me, Place place);
  void wait_patiently(Lock& lock, std::uint64_t round);
  template <class Talk>
  void meet_processes(Lock& lock, Talk talk);
  void gather_from_processes(const Pe& pe);
  std::vector<Bytes> tell_all(const std::string& where, const std::string& type, std::span<const std::byte> mine);
  std::vector<Bytes> hear_all(const std::string& where);
  int who_ended() const;
  void compare(pe_t one, pe_t other);
  void end(const std::string& why);
  void throw_if_ended() const;
  std::string describe(pe_t p) const;
  std::string describe_process(int process) const;
  bool all_gone() const;

  const double patience_seconds_;
  std::mutex mutex_;  ///< guards the rest, except that a board may be read once all have begun the call
  std::condition_variable changed_;
  std::vector<pe_t> first_;      ///< as World's
  std::vector<Pe> pes_;          ///< of this process
  std::vector<Given> given_[2];  ///< used in turn, because a fast PE may begin the next call while others still read
  pe_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool ended_ = false;
  bool stands_still_ = false;  ///< a PE was named that does not come
  std::string why_;

  // Of several processes. Only one thread at a time talks to the others: the last that begins a call, or who may exchange().
  const std::unique_ptr<Boards> boards_;
  std::uint64_t said_ = 0;          ///< statements
  bool meets_processes_ = false;    ///< the PEs of this process have all come
  std::string lost_;                ///< why another process ended the run, or stands still
  std::vector<std::string> names_;  ///< of the processes, once they have come
  std::vector<Stillness> watched_;  ///< [processes] since begin_watch()
  std::mutex watch_mutex_;          ///< guards the next
  std::string seen_;                ///< what watch() has seen
  std::vector<Bytes> received_[2];  ///< what `given_` points to, of other processes
};

World::State::State(pe_t n_pes, double patience_seconds)
    : patience_seconds_(patience_seconds), first_{0, n_pes}, pes_(static_cast<std::size_t>(n_pes)) {
  for (auto& given : given_) given.resize(pes_.size());
}

World::State::State(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options)
    : patience_seconds_(patience_seconds), pes_(static_cast<std::size_t>(n_here)), boards_(std::move(boards)) {
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
    throw UsageError(describe_process(0) + " was started with '" + options_of[0] + "', " +
                     describe_process(static_cast<int>(p)) + " with '" + options_of[p] +
                     "': all processes must be started in the same way");
  }
  for (auto& given : given_) given.resize(static_cast<std::size_t>(n_pes()));
}

const std::vector<World::Given>& World::State::all_gather(pe_t me, const Call& call, const Given& mine) {
  Lock lock(mutex_);
  throw_if_ended();
  Pe& pe = at(me);
  pe.call = call;
  std::vector<Given>& given = given_[++pe.calls % 2];
  given[static_cast<std::size_t>(me)] = mine;
  arrive(lock, me, Place::begins);
  return given;
}

void World::State::leave_call(pe_t me) {
  Lock lock(mutex_);
  arrive(lock, me, Place::within);
}

void World::State::arrive(Lock& lock, pe_t me, Place place) {
  at(me).place = place;
  for (pe_t p = first_here(); p < end_here(); ++p) compare(me, p);
  throw_if_ended();
  const std::uint64_t round = round_;
  if (++arrived_ == n_here()) {
    if (place == Place::begins && boards_) {
      meet_processes(lock, [this] { gather_from_processes(pes_.front()); });
    }
    arrived_ = 0;
    ++round_;
    for (Pe& pe : pes_) pe.place = Place::outside;
    changed_.notify_all();
  } else if (place == Place::begins && arrived_ == 1) {
    wait_patiently(lock, round);
  } else {
    changed_.wait(lock, [&] { return ended_ || round_ != round; });
  }
  if (round_ == round) throw_if_ended();
}

/// For the first that begins a call: waits for the others, and ends the program if they stand still.
void World::State::wait_patiently(Lock& lock, std::uint64_t round) {
  Stillness still(processor_seconds());
  const auto gone_on = [&] { return ended_ || round_ != round; };
  while (!changed_.wait_for(lock, look_every(patience_seconds_), gone_on)) {
    if (still.seconds(processor_seconds()) <= patience_seconds_ || meets_processes_) continue;
    const auto in_place = [this](Place place) {
      const auto is_there = [&](const Pe& pe) { return pe.place == place; };
      return first_here() + static_cast<pe_t>(std::find_if(pes_.begin(), pes_.end(), is_there) - pes_.begin());
    };
    stands_still_ = true;
    end(describe(in_place(Place::begins)) + ", " + describe(in_place(Place::outside)) +
        ", and nothing has happened for " + exact(patience_seconds_) + " s" + kSameCalls);
  }
}

/// For the last PE of this process: lets `talk` speak with the other processes, without the lock. What it throws, all throw.
template <class Talk>
void World::State::meet_processes(Lock& lock, Talk talk) {
  meets_processes_ = true;
  lock.unlock();
  std::string usage, lost;
  try {
    talk();
  } catch (const UsageError& error) {
    usage = error.what();
  } catch (const TransportError& error) {
    lost = error.what();
  }
  lock.lock();
  meets_processes_ = false;
  if (!usage.empty()) end(usage);
  if (!lost.empty() && !ended_) {
    lost_ = lost;
    ended_ = true;
    changed_.notify_all();
  }
  throw_if_ended();
}

/// What the PEs of this process gave, to all processes, and what theirs gave into `given_`.
void World::State::gather_from_processes(const Pe& pe) {
  std::vector<Given>& given = given_[pe.calls % 2];
  Bytes mine;
  for (pe_t p = first_here(); p < end_here(); ++p) {
    const auto bytes = given[static_cast<std::size_t>(p)].bytes;
    append(mine, bytes.size());
    append(mine, 0);
    append(mine, bytes);
    mine.resize(aligned(mine.size()));  // so that what each PE gave begins where any type may begin
  }
  std::vector<Bytes>& received = received_[pe.calls % 2];
  received = tell_all(std::string("waits in ") + pe.call.name + "() (call " + std::to_string(pe.calls) + ")",
                      pe.call.type->name(), mine);
  for (int process = 0; process < n_processes(); ++process) {
    if (process == this->process()) continue;
    Reader reader{received[static_cast<std::size_t>(process)]};
    const pe_t end = first_[static_cast<std::size_t>(process) + 1];
    for (pe_t p = first_[static_cast<std::size_t>(process)]; p < end; ++p) {
      const std::size_t size = reader.number();
      reader.number();
      given[static_cast<std::size_t>(p)] = {reader.bytes(size), nullptr};
      reader.bytes(aligned(size) - size);
    }
  }
}

std::vector<std::vector<std::byte>> World::State::exchange(const Call& call, std::span<const std::byte> mine) {
  if (!boards_) return {Bytes(mine.begin(), mine.end())};
  {
    const std::lock_guard lock(watch_mutex_);
    if (!seen_.empty()) throw TransportError(seen_);
  }
  return tell_all(std::string("is in ") + call.name + "()", call.type->name(), mine);
}

/// Tells all processes where this one is, and `mine`, in as many statements as the longest needs.
/// @throws UsageError: a process is somewhere else
std::vector<World::State::Bytes> World::State::tell_all(const std::string& where, const std::string& type,
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
      throw UsageError(describe_process(0) + " " + first_where + ", " + describe_process(static_cast<int>(p)) + " " +
                       its_where + (its_where == first_where ? " of another type" : "") + kSameCalls);
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

/// The last statement of every process, when all have made it.
std::vector<World::State::Bytes> World::State::hear_all(const std::string& where) {
  std::vector<Bytes> all(static_cast<std::size_t>(n_processes()));
  const Clock::time_point began = Clock::now();
  // A process finds by itself that one of its PEs stands still, and knows which; it gets a second more for that.
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
        if (heard()) break;  // what it ended the run for may be in these statements: then all say so
        throw TransportError(describe_process(who) + " ended the run: " + boards_->ended(who));
      }
      boards_->beat(beat_now());
      if (still.seconds(seconds_of_beat(boards_->beat_of(p))) > patience) {
        const std::string what = said_ == 1 ? " has not come, " : " has not come there, ";
        const std::string why = describe_process(process()) + " " + where + ", " + describe_process(p) + what +
                                "and has done nothing for " + exact(patience_seconds_) + " s";
        boards_->end(why);
        throw TransportError(why);
      }
      const auto waited = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began);
      std::this_thread::sleep_for(
          std::clamp(waited / 50, std::chrono::microseconds(1), std::chrono::microseconds(1000)));
    }
  }
  return all;
}

void World::State::begin_watch() {
  watched_.clear();
  for (int p = 0; boards_ && p < n_processes(); ++p) watched_.emplace_back(seconds_of_beat(boards_->beat_of(p)));
}

std::string World::State::watch() {
  if (!boards_) return "";
  boards_->beat(beat_now());
  std::string why;
  const int who = who_ended();
  if (who >= 0) why = describe_process(who) + " ended the run: " + boards_->ended(who);
  for (int p = 0; p < n_processes() && why.empty(); ++p) {
    const double still = watched_[static_cast<std::size_t>(p)].seconds(seconds_of_beat(boards_->beat_of(p)));
    if (p == process() || still <= patience_seconds_ + 1) continue;
    why = describe_process(p) + " has done nothing for " + exact(patience_seconds_) + " s during a run";
    boards_->end(why);
  }
  if (why.empty()) return why;
  const std::lock_guard lock(watch_mutex_);
  seen_ = why;
  return why;
}

/// Another process that ended the run; -1: none.
int World::State::who_ended() const {
  for (int p = 0; p < n_processes(); ++p) {
    if (p != process() && !boards_->ended(p).empty()) return p;
  }
  return -1;
}

void World::State::leave(pe_t me) {
  Lock lock(mutex_);
  at(me).place = Place::left;
  for (pe_t p = first_here(); p < end_here(); ++p) compare(p, me);
  changed_.notify_all();
  const auto has_left = [](const Pe& pe) { return pe.place == Place::left; };
  if (!boards_ || !std::all_of(pes_.begin(), pes_.end(), has_left)) return;
  meet_processes(lock, [this] { tell_all("has ended after call " + std::to_string(pes_.front().calls), "", {}); });
  boards_->all_over();
}

void World::State::fail(pe_t me, const std::string& why) {
  const std::lock_guard lock(mutex_);
  at(me).place = Place::failed;
  if (boards_ && !ended_) boards_->end("PE " + std::to_string(me) + ": " + why);
  if (boards_) boards_->take_leave();
  ended_ = true;
  changed_.notify_all();
}

/// Ends the program if one waits in a call that the other cannot come to.
void World::State::compare(pe_t one, pe_t other) {
  const Pe &a = at(one), &b = at(other);
  const auto waits = [](const Pe& pe) { return pe.place == Place::begins || pe.place == Place::within; };
  if (!waits(a) || (!waits(b) && b.place != Place::left) || (waits(b) && a.call == b.call)) return;
  std::string there = describe(other);
  if (waits(b) && a.call.same_name(b.call)) there += " of another type";
  end(describe(one) + ", " + there + kSameCalls);
}

void World::State::end(const std::string& why) {
  if (ended_) return;
  ended_ = true;
  why_ = why;
  if (boards_) boards_->end(why);
  changed_.notify_all();
}

void World::State::throw_if_ended() const {
  if (!why_.empty()) throw UsageError(why_);
  if (!lost_.empty()) throw TransportError(lost_);
  if (ended_) throw DeviceError("another PE failed");
}

std::string World::State::describe(pe_t p) const {
  const Pe& pe = at(p);
  const std::string number = std::to_string(pe.calls),
                    after = pe.calls > 0 ? " after call " + number : " before any call";
  const std::string who = "PE " + std::to_string(p);
  if (pe.place == Place::left) return who + " has ended" + after;
  if (pe.place == Place::outside) return who + " is in none" + after;
  return who + " waits in " + pe.call.name + "() (call " + number + ")";
}

std::string World::State::describe_process(int process) const {
  std::string text = "process " + std::to_string(process);
  if (names_.empty()) return text + " of " + std::to_string(boards_->processes());
  const pe_t first = first_[static_cast<std::size_t>(process)],
             last = first_[static_cast<std::size_t>(process) + 1] - 1;
  text +=
      last > first ? " (PEs " + std::to_string(first) + " to " + std::to_string(last) : " (PE " + std::to_string(first);
  return text + ", " + names_[static_cast<std::size_t>(process)] + ")";
}

bool World::State::all_gone() const {
  return std::all_of(pes_.begin(), pes_.end(),
                     [](const Pe& pe) { return pe.place == Place::left || pe.place == Place::failed; });
}

bool World::State::wait_for_bodies() {
  Lock lock(mutex_);
  while (!changed_.wait_for(lock, look_every(patience_seconds_), [this] { return stands_still_ || all_gone(); })) {
    beat();
  }
  return changed_.wait_for(lock, std::chrono::seconds(2), [this] { return all_gone(); });
}

std::string World::State::why() {
  const std::lock_guard lock(mutex_);
  return why_;
}

World::World(pe_t n_pes, double patience_seconds) : state_(std::make_unique<State>(n_pes, patience_seconds)) {
  first_ = state_->first();
}
World::World(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options)
    : state_(std::make_unique<State>(n_here, patience_seconds, std::move(boards), options)) {
  process_ = state_->process();
  first_ = state_->first();
}
World::~World() = default;

int World::process_of(pe_t pe) const {
  return static_cast<int>(std::upper_bound(first_.begin(), first_.end(), pe) - first_.begin()) - 1;
}
const std::vector<World::Given>& World::all_gather(pe_t me, const Call& call, const Given& mine) {
  return state_->all_gather(me, call, mine);
}
void World::leave_call(pe_t me) { state_->leave_call(me); }
std::vector<std::vector<std::byte>> World::exchange(const Call& call, std::span<const std::byte> mine) {
  return state_->exchange(call, mine);
}
void World::leave(pe_t me) { state_->leave(me); }
void World::fail(pe_t me, const std::string& why) { state_->fail(me, why); }
Heap* World::heap() const { return state_->heap(); }
void World::begin_watch() { state_->begin_watch(); }
std::string World::watch() { return state_->watch(); }
void World::end(const std::string& why) { state_->tell_end(why); }
bool World::wait_for_bodies() { return state_->wait_for_bodies(); }
void World::beat() { state_->beat(); }
bool World::takes_leave(int p) const { return state_->takes_leave(p); }
std::string World::why() { return state_->why(); }

}  // namespace shoal
