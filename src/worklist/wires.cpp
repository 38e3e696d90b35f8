#include "shoal/worklist/wires.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <span>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

std::size_t lines(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine * kCacheLine; }

/// The word that announces the end of a run: the number of the run, and how it ended.
std::uint64_t end_word(std::uint64_t run, std::uint32_t state) { return run << 8 | state; }

/// The values on which all processes must agree.
struct Agreed {
  std::uint64_t n_here, workers, item_bytes, log_items, log_segments;
};

}  // namespace

struct Wires::Loss {
  std::mutex mutex;
  std::string why;  ///< why the run cannot go on: another process ended it, or stands still
};

/// What one process says in a wave; the number is written last. There are two places, used in turn, because a process may say n + 1
/// while others still read n, but it says n + 2 only when it has heard n + 1 from all (models/waves.pml).
struct alignas(kCacheLine) Wires::Statement {
  Word<std::uint64_t, Scope::system> number;
  WaveAnswer answer;
};

struct Wires::Leaving {
  pe_t from, at;
  int process;
  const SegmentEnd* ends;
  const std::byte* items;
  SegmentStart* starts;
  const Word<ticket_t, Scope::system>* tail;
  std::size_t to;              ///< offset of the segments at the receiver
  std::size_t given;           ///< offset here: how many segments the receiver has given back
  ticket_t oldest = 0;         ///< all segments before this one were carried completely
  ticket_t home = 0;           ///< segments that the workers know to be given back
  std::vector<ticket_t> sent;  ///< [segments] how many items were carried, counted like `written`
  std::uint64_t messages = 0;
};

struct Wires::Arriving {
  int process;
  const SegmentStart* homes;
  std::size_t given;  ///< offset at the sender
  ticket_t home = 0;  ///< segments given back so far, in order
};

Wires::Wires(World& world, const SegmentShape& shape, std::size_t item_bytes, int workers)
    : world_(world),
      heap_(*world.heap()),
      shape_(shape),
      item_bytes_(item_bytes),
      inbox_bytes_(lines(shape.segments() * sizeof(SegmentEnd) + shape.capacity() * item_bytes)),
      puts_cost_(heap_.puts_cost()),
      loss_(std::make_unique<Loss>()) {
  const Agreed mine{static_cast<std::uint64_t>(world.n_here()), static_cast<std::uint64_t>(workers), item_bytes,
                    shape.log_items, shape.log_segments};
  const auto all = world.exchange(World::Call{"worklist"}, std::as_bytes(std::span(&mine, std::size_t{1})));
  first_.push_back(0);
  for (std::size_t p = 0; p < all.size(); ++p) {
    Agreed its{};
    std::memcpy(&its, all[p].data(), std::min(all[p].size(), sizeof its));
    if (its.item_bytes != mine.item_bytes || its.log_items != mine.log_items || its.log_segments != mine.log_segments) {
      throw UsageError("a worklist has segments of " + std::to_string(std::uint64_t{1} << mine.log_items) +
                       " items of " + std::to_string(mine.item_bytes) + " bytes in process " +
                       std::to_string(world.process()) + ", but others in process " + std::to_string(p) +
                       "; start all processes with the same options");
    }
    first_.push_back(first_.back() + static_cast<pe_t>(its.n_here));
    workers_ += its.n_here * its.workers;
    most_here_ = std::max(most_here_, static_cast<std::size_t>(its.n_here));
    columns_ = std::max(columns_, static_cast<std::size_t>(world.n_pes()) - static_cast<std::size_t>(its.n_here));
  }
  const auto n = static_cast<std::size_t>(processes());
  const auto part = [&](std::size_t bytes) {
    const std::size_t at = bytes_;
    bytes_ += lines(bytes);
    return at;
  };
  statements_ = part(n * 2 * sizeof(Statement));
  ended_ = part(n * sizeof(std::uint64_t));
  moved_ = part(n * sizeof(std::uint64_t));
  given_ = part(most_here_ * columns_ * kCacheLine);
  inboxes_ = part(most_here_ * columns_ * inbox_bytes_);
  base_ = heap_.allocate(bytes_, "segments from other processes");
  for (std::size_t* at : {&statements_, &ended_, &moved_, &given_, &inboxes_}) *at += base_;
  busy_.store(0), told_end_.store(0), ended_elsewhere_.store(0), carried_at_.store(0), took_.store(0);
  world.exchange(World::Call{"worklist"}, {});  // all processes have cleared their part
}

void Wires::agree(const std::string& why) {
  const auto all = world_.exchange(World::Call{"worklist"}, std::as_bytes(std::span(why)));
  for (const auto& its : all) {
    if (!its.empty()) throw CapacityError(std::string(reinterpret_cast<const char*>(its.data()), its.size()));
  }
}

Wires::~Wires() { heap_.release(base_); }

/// The index of PE `other` among the PEs of other processes, as seen from PE `of`.
std::size_t Wires::column(pe_t of, pe_t other) const {
  const int process = world_.process_of(of);
  const pe_t n = first_of(process + 1) - first_of(process);
  return static_cast<std::size_t>(other < first_of(process) ? other : other - n);
}
std::size_t Wires::inbox_at(pe_t to, pe_t from) const {
  const auto row = static_cast<std::size_t>(to - first_of(world_.process_of(to)));
  return inboxes_ + (row * columns_ + column(to, from)) * inbox_bytes_;
}
std::size_t Wires::given_at(pe_t from, pe_t to) const {
  const auto row = static_cast<std::size_t>(from - first_of(world_.process_of(from)));
  return given_ + (row * columns_ + column(from, to)) * kCacheLine;
}
std::size_t Wires::statement_at(int process, std::uint64_t number) const {
  return statements_ + (static_cast<std::size_t>(process) * 2 + number % 2) * sizeof(Statement);
}
Wires::Statement& Wires::statement(int process, std::uint64_t number) const {
  return *reinterpret_cast<Statement*>(heap_.at(statement_at(process, number)));
}
SegmentEnd* Wires::inbox(pe_t to, pe_t from) const {
  return reinterpret_cast<SegmentEnd*>(heap_.at(inbox_at(to, from)));
}

void Wires::add_leaving(pe_t from, pe_t to, SegmentEnd* ends, SegmentStart* starts,
                        const Word<ticket_t, Scope::system>* tail) {
  leaving_.push_back({from, to, world_.process_of(to), ends,
                      reinterpret_cast<const std::byte*>(ends + shape_.segments()), starts, tail, inbox_at(to, from),
                      given_at(from, to), 0, 0, std::vector<ticket_t>(shape_.segments(), 0), 0});
}
void Wires::add_arriving(pe_t from, pe_t to, SegmentStart* homes) {
  arriving_.push_back({world_.process_of(from), homes, given_at(from, to), 0});
}

void Wires::reset() {
  heap_.quiet();
  world_.exchange(World::Call{"reset"}, {});  // nothing is in flight
  std::memset(heap_.at(base_), 0, bytes_);
  for (Leaving& way : leaving_) {
    way.oldest = way.home = way.messages = 0;
    std::fill(way.sent.begin(), way.sent.end(), 0);
  }
  for (Arriving& way : arriving_) way.home = 0;
  said_ = 0;
  waits_ = false;
  world_.exchange(World::Call{"reset"}, {});
}

void Wires::begin_run() {
  ++run_;
  busy_.store(0);  // a worker may have left its turn with an exception
  told_end_.store(0), ended_elsewhere_.store(0);
  world_.begin_watch();
}

void Wires::end_run() {
  look_for_ends();
  const std::lock_guard lock(loss_->mutex);
  if (!loss_->why.empty()) throw TransportError(loss_->why);
  heap_.quiet();
}

void Wires::carry() {
  std::uint32_t nobody = 0;
  if (busy_.load() != 0 || !busy_.compare_swap_acquire(nobody, 1)) return;
  plain_write(carries_, plain_read(carries_) + 1);
  late_.clear();
  const std::uint64_t began = puts_cost_ ? clock_us() : 0;
  for (Leaving& way : leaving_) take_home(way);
  for (Leaving& way : leaving_) carry_items(way);
  for (Arriving& way : arriving_) {
    const ticket_t before = way.home;
    while (way.homes[shape_.slot(way.home)].home.load() > shape_.lap(way.home)) {
      way.homes[shape_.slot(way.home)].home.load_acquire();
      ++way.home;
    }
    if (way.home > before) late_.push_back({way.process, way.given, way.home});
  }
  bool put = true;
  if (!late_.empty()) heap_.fence();  // even if no items were put: the same word may have been put a moment ago
  for (const Late& late : late_) put &= heap_.put_word(late.process, late.to, late.value);
  if (late_.empty() || carries_ % 16 == 0) heap_.progress();
  if (!put) fail();
  if (puts_cost_ && !late_.empty()) {
    carried_at_.store(clock_us());
    took_.store(carried_at_.load() - began);
  }
  busy_.store_release(0);
  look_for_ends();
}

std::uint64_t Wires::messages(pe_t from, pe_t to) const {
  for (const Leaving& way : leaving_) {
    if (way.from == from && way.at == to) return way.messages;
  }
  return 0;
}

/// Makes the segments that the receiver has given back known to the workers here.
void Wires::take_home(Leaving& way) {
  auto& given = word(way.given);
  if (given.load() == way.home) return;
  for (const ticket_t now = given.load_acquire(); way.home < now; ++way.home) {
    way.starts[shape_.slot(way.home)].home.fetch_max_release(shape_.lap(way.home) + 1);
  }
}

/// Puts all items that may be read and were not carried yet.
void Wires::carry_items(Leaving& way) {
  const ticket_t tail = way.tail->load();
  for (ticket_t segment = way.oldest; segment << shape_.log_items < tail; ++segment) {
    const ticket_t slot = shape_.slot(segment), end = shape_.end(segment);
    ticket_t& sent = way.sent[slot];
    const ticket_t written = way.ends[slot].written.load_acquire();
    if (written > sent) {
      const ticket_t at = (slot << shape_.log_items) + (sent & (shape_.items() - 1));
      const std::size_t items_to = way.to + shape_.segments() * sizeof(SegmentEnd);
      if (!heap_.put(way.process, items_to + at * item_bytes_, way.items + at * item_bytes_,
                     (written - sent) * item_bytes_)) {
        return fail();  // the items did not arrive, so their count must not be announced
      }
      late_.push_back({way.process, way.to + slot * sizeof(SegmentEnd) + offsetof(SegmentEnd, written), written});
      sent = written;
      ++way.messages;
    }
    if (segment == way.oldest && sent == end) ++way.oldest;
  }
}

/// Something could not be put: ends the run.
void Wires::fail() {
  for (const Pe& pe : pes_) {
    std::uint32_t none = 0;
    pe.cause->compare_swap(none, static_cast<std::uint32_t>(RunState::transport_failed));
    std::uint32_t running = 0;
    pe.state->compare_swap_acq_rel(running, static_cast<std::uint32_t>(RunState::transport_failed));
  }
}

void Wires::look_for_ends() {
  // Any state but done: every process detects done by itself.
  for (const Pe& pe : pes_) {
    const std::uint32_t state = pe.state->load();
    if (state > static_cast<std::uint32_t>(RunState::done)) {
      if (ended_elsewhere_.load() == 0) tell_end(static_cast<RunState>(state));
      return;
    }
  }
  for (int p = 0; p < processes(); ++p) {
    const std::uint64_t told = word(ended_ + static_cast<std::size_t>(p) * sizeof(std::uint64_t)).load_acquire();
    if (told >> 8 != run_) continue;
    const auto state = static_cast<std::uint32_t>(told & 0xFF);
    ended_elsewhere_.store(1);
    for (const Pe& pe : pes_) {
      std::uint32_t running = 0;
      pe.state->compare_swap_acq_rel(running, state);
    }
    return;
  }
}

void Wires::tell_end(RunState why) {
  std::uint32_t not_told = 0;
  if (!told_end_.compare_swap(not_told, 1)) return;
  const std::size_t mine = ended_ + static_cast<std::size_t>(world_.process()) * sizeof(std::uint64_t);
  for (int p = 0; p < processes(); ++p) {
    if (p != world_.process()) heap_.put_word(p, mine, end_word(run_, static_cast<std::uint32_t>(why)));
  }
}

std::uint64_t Wires::moved(std::uint64_t mine) {
  heap_.progress();
  look_for_ends();
  const std::string why = world_.watch();
  if (!why.empty()) {
    {
      const std::lock_guard lock(loss_->mutex);
      if (loss_->why.empty()) loss_->why = why;
    }
    for (const Pe& pe : pes_) {
      std::uint32_t running = 0;
      pe.state->compare_swap_acq_rel(running, static_cast<std::uint32_t>(RunState::transport_failed));
    }
  }
  const auto at = [&](int p) { return moved_ + static_cast<std::size_t>(p) * sizeof(std::uint64_t); };
  std::uint64_t sum = mine;
  for (int p = 0; p < processes(); ++p) {
    if (p == world_.process()) continue;
    if (!heap_.put_word(p, at(world_.process()), mine)) fail();
    sum += word(at(p)).load();
  }
  return sum;
}

Wires::Turn Wires::turn() {
  if (!waits_) return said_ % 2 == 0 ? Turn::to_say_completed : Turn::to_say_created;
  std::uint64_t sum = 0;
  for (int p = 0; p < processes(); ++p) {
    const Statement& its = statement(p, said_);
    if (its.number.load_acquire() != said_) {
      heap_.progress();
      return Turn::wait;
    }
    sum += plain_read(its.answer.count);
  }
  if (said_ % 2 == 0) return Turn::to_compare;
  waits_ = false;
  completed_ = sum;
  return Turn::to_say_created;
}

void Wires::say(const WaveAnswer& mine) {
  Statement& own = statement(world_.process(), ++said_);
  waits_ = true;
  plain_write(own.answer, mine);
  const std::size_t at = statement_at(world_.process(), said_);
  const auto to_others = [&](auto&& put) {
    bool done = true;
    for (int p = 0; p < processes(); ++p) done &= p == world_.process() || put(p);
    return done;
  };
  if (!to_others(
          [&](int p) { return heap_.put(p, at + offsetof(Statement, answer), &own.answer, sizeof own.answer); })) {
    return fail();  // the answer did not arrive, so nobody may mistake the old one for it
  }
  heap_.fence();
  own.number.store_release(said_);
  if (!to_others([&](int p) { return heap_.put_word(p, at + offsetof(Statement, number), said_); })) fail();
}

bool Wires::compare(WaveAnswer& all) {
  all = {};
  for (int p = 0; p < processes(); ++p) {
    const WaveAnswer its = plain_read(statement(p, said_).answer);
    all.count += its.count;
    all.nearest = std::min(all.nearest, its.nearest);
  }
  waits_ = false;
  return completed_ == all.count;
}

}  // namespace shoal
