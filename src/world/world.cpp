#include "shoal/world/world.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "bytes.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/boards.hpp"
#include "stillness.hpp"
#include "talk.hpp"

namespace shoal {
namespace {

std::chrono::duration<double> look_every(double patience_seconds) {
  return std::chrono::duration<double>(std::clamp(patience_seconds / 10, 0.01, 1.0));
}

std::size_t aligned(std::size_t bytes) { return (bytes + 15) / 16 * 16; }

}  // namespace

/// Holds everything in a world that changes, and all functions that wait.
class World::State {
 public:
  State(pe_t n_pes, double patience_seconds);
  State(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options);

  const std::vector<pe_t>& first() const { return first_; }
  int process() const { return talk_ ? talk_->process() : 0; }
  Talk* talk() const { return talk_.get(); }

  // As the members of World.
  const std::vector<Given>& all_gather(pe_t me, const Call& call, const Given& mine);
  void leave_call(pe_t me);
  void leave(pe_t me);
  void fail(pe_t me, const std::string& why);
  bool wait_for_bodies();
  std::string why();

 private:
  enum class Place { outside, begins, within, left, failed };
  struct Pe {
    Place place = Place::outside;
    Call call;                ///< the last call that it began
    std::uint64_t calls = 0;  ///< number of calls that it has begun
  };
  using Bytes = Talk::Bytes;
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
  void compare(pe_t one, pe_t other);
  void end(const std::string& why);
  void throw_if_ended() const;
  std::string describe(pe_t p) const;
  bool all_gone() const;

  const double patience_seconds_;
  std::mutex mutex_;  ///< guards what follows; but given_ may be read without it once all have begun the call
  std::condition_variable changed_;
  std::vector<pe_t> first_;      ///< as World::first_
  std::vector<Pe> pes_;          ///< of this process
  std::vector<Given> given_[2];  ///< used alternately: a fast PE may begin the next call while others still read
  pe_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool ended_ = false;
  bool stands_still_ = false;  ///< why_ names a PE that does not come
  std::string why_;

  // For several processes. Only one thread at a time communicates with them: the last one that begins a call, or the one that
  // calls exchange().
  const std::unique_ptr<Talk> talk_;  ///< null: this process is alone
  bool meets_processes_ = false;      ///< the PEs of this process have all come; one waits for the other processes
  std::string lost_;                  ///< set if another process ended the run or stands still: the reason
  std::vector<Bytes> received_[2];    ///< the bytes of other processes' PEs, to which given_ points
};

World::State::State(pe_t n_pes, double patience_seconds)
    : patience_seconds_(patience_seconds), first_{0, n_pes}, pes_(static_cast<std::size_t>(n_pes)) {
  for (auto& given : given_) given.resize(pes_.size());
}

World::State::State(pe_t n_here, double patience_seconds, std::unique_ptr<Boards> boards, const std::string& options)
    : patience_seconds_(patience_seconds),
      pes_(static_cast<std::size_t>(n_here)),
      talk_(std::make_unique<Talk>(n_here, patience_seconds, std::move(boards), options)) {
  first_ = talk_->first();
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
    if (place == Place::begins && talk_) {
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

/// For the first PE that begins a call: waits for the others, and ends the program if they stand still.
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

/// For the last PE of this process: calls `talk` to communicate with the other processes, without holding the lock. If it throws,
/// all PEs of this process throw the same error.
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

/// Sends what the PEs of this process gave to all processes, and stores what the PEs of those gave in `given_`.
void World::State::gather_from_processes(const Pe& pe) {
  std::vector<Given>& given = given_[pe.calls % 2];
  Bytes mine;
  for (pe_t p = first_here(); p < end_here(); ++p) {
    const auto bytes = given[static_cast<std::size_t>(p)].bytes;
    append(mine, bytes.size());
    append(mine, 0);
    append(mine, bytes);
    mine.resize(aligned(mine.size()));  // so that the bytes of each PE are aligned for any type
  }
  std::vector<Bytes>& received = received_[pe.calls % 2];
  received = talk_->tell_all(std::string("waits in ") + pe.call.name + "() (call " + std::to_string(pe.calls) + ")",
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

void World::State::leave(pe_t me) {
  Lock lock(mutex_);
  at(me).place = Place::left;
  for (pe_t p = first_here(); p < end_here(); ++p) compare(p, me);
  changed_.notify_all();
  const auto has_left = [](const Pe& pe) { return pe.place == Place::left; };
  if (!talk_ || !std::all_of(pes_.begin(), pes_.end(), has_left)) return;
  meet_processes(lock,
                 [this] { talk_->tell_all("has ended after call " + std::to_string(pes_.front().calls), "", {}); });
  talk_->all_over();
}

void World::State::fail(pe_t me, const std::string& why) {
  const std::lock_guard lock(mutex_);
  at(me).place = Place::failed;
  if (talk_ && !ended_) talk_->end("PE " + std::to_string(me) + ": " + why);
  if (talk_) talk_->take_leave();
  ended_ = true;
  changed_.notify_all();
}

/// Ends the program if one PE waits in a call that the other PE will not make.
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
  if (talk_) talk_->end(why);
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
                    after = pe.calls > 0 ? " after call " + number : " before its first call";
  const std::string who = "PE " + std::to_string(p);
  if (pe.place == Place::left) return who + " has ended" + after;
  if (pe.place == Place::outside) return who + " runs other code" + after;
  return who + " waits in " + pe.call.name + "() (call " + number + ")";
}

bool World::State::all_gone() const {
  return std::all_of(pes_.begin(), pes_.end(),
                     [](const Pe& pe) { return pe.place == Place::left || pe.place == Place::failed; });
}

bool World::State::wait_for_bodies() {
  Lock lock(mutex_);
  while (!changed_.wait_for(lock, look_every(patience_seconds_), [this] { return stands_still_ || all_gone(); })) {
    if (talk_) talk_->beat();
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
  Talk* const talk = state_->talk();
  if (talk == nullptr) return {{mine.begin(), mine.end()}};
  return talk->exchange(std::string("is in ") + call.name + "()", call.type->name(), mine);
}
void World::leave(pe_t me) { state_->leave(me); }
void World::fail(pe_t me, const std::string& why) { state_->fail(me, why); }
Heap* World::heap() const { return state_->talk() != nullptr ? state_->talk()->heap() : nullptr; }
void World::begin_watch() {
  if (Talk* const talk = state_->talk()) talk->begin_watch();
}
std::string World::watch() { return state_->talk() != nullptr ? state_->talk()->watch() : std::string(); }
void World::end(const std::string& why) {
  if (Talk* const talk = state_->talk()) talk->end(why);
}
bool World::wait_for_bodies() { return state_->wait_for_bodies(); }
void World::beat() {
  if (Talk* const talk = state_->talk()) talk->beat();
}
std::string World::held_up() { return state_->talk() != nullptr ? state_->talk()->held_up() : std::string(); }
bool World::takes_leave(int p) const { return state_->talk() != nullptr && state_->talk()->takes_leave(p); }
std::string World::why() { return state_->why(); }

}  // namespace shoal
