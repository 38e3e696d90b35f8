#include "exchange.hpp"

#include <chrono>
#include <cstddef>
#include <cstring>

#include "shoal/core/error.hpp"
#include "shoal/core/spin.hpp"

namespace shoal::lockstep {
namespace {

using Clock = std::chrono::steady_clock;
using HeapWord = Word<std::uint64_t, Scope::system>;

constexpr unsigned kLooks = 256;  // spins between two reads of the clock
constexpr std::chrono::milliseconds kWatchEvery(50);

}  // namespace

struct alignas(kCacheLine) Exchange::Statement {
  HeapWord number;  ///< of the run and of the statement; written last
  std::byte bytes[kRoom];
};

Exchange::Exchange(World& world, std::size_t bytes, const char* what) : world_(world), heap_(*world.heap()) {
  const auto n = static_cast<std::size_t>(processes());
  left_ = n * 2 * sizeof(Statement);
  bytes_at_ = left_ + n * kCacheLine;
  base_ = heap_.allocate(bytes_at_ + bytes, what);
  left_ += base_;
  bytes_at_ += base_;
  for (int p = 0; p < processes(); ++p) {
    if (p == process()) continue;
    if (std::byte* const its = heap_.reach(p)) {
      near_.push_back(its + bytes_at_);
    } else {
      far_.push_back(p);
    }
  }
  const auto reaches_all = static_cast<std::byte>(far_.empty());
  bool all_do = true;
  for (const auto& its : world_.exchange({what}, {&reaches_all, 1})) all_do = all_do && its.at(0) == std::byte{1};
  // This is reached when all processes have cleared their area.
  if (all_do) common_ = process() == 0 ? at(0) : heap_.reach(0) + bytes_at_;
}

Exchange::~Exchange() { heap_.release(base_); }

std::size_t Exchange::statement_at(int process, std::uint64_t number) const {
  return base_ + (static_cast<std::size_t>(process) * 2 + number % 2) * sizeof(Statement);
}
Exchange::Statement& Exchange::statement(int process, std::uint64_t number) const {
  return *reinterpret_cast<Statement*>(heap_.at(statement_at(process, number)));
}
std::size_t Exchange::left_at(int process) const { return left_ + static_cast<std::size_t>(process) * kCacheLine; }

void Exchange::put(int process, std::size_t to, const void* from, std::size_t bytes) {
  if (bytes > 0 && !heap_.put(process, bytes_at_ + to, from, bytes)) lost_.store(1);
}

void Exchange::begin() {
  heap_.quiet();  // waits until the puts of an earlier run that failed have arrived
  ++run_;
  said_ = 0;
  gone_.store(0);
  lost_.store(0);
  world_.exchange({"a run in steps"}, {});
  world_.begin_watch();
}

void Exchange::end(Report& report, const Report& mine, std::exception_ptr error) {
  Report all = of_all_processes(world_, mine, error);
  if (gone_.load() != 0) throw TransportError("a process left a run in steps before its end");
  report += all;
  report.chosen.insert(report.chosen.end(), all.chosen.begin(), all.chosen.end());
}

void Exchange::leave() {
  gone_.store(1);
  for (int p = 0; p < processes(); ++p) {
    if (p != process()) heap_.put_word(p, left_at(process()), run_);
  }
}

bool Exchange::say_and_hear(const void* mine, void* heard, std::size_t bytes) {
  const std::uint64_t number = run_ << 32 | ++said_;
  const std::size_t at = statement_at(process(), number);
  Statement& own = statement(process(), number);
  if (bytes > 0) std::memcpy(own.bytes, mine, bytes);
  bool arrives = lost_.load() == 0;
  const auto to_others = [&](auto&& put) {
    for (int p = 0; p < processes(); ++p) arrives &= p == process() || put(p);
  };
  if (bytes > 0) {
    to_others([&](int p) { return heap_.put(p, at + offsetof(Statement, bytes), own.bytes, bytes); });
  }
  heap_.fence();
  own.number.store_release(number);
  to_others([&](int p) { return heap_.put_word(p, at + offsetof(Statement, number), number); });
  if (!arrives) {
    throw TransportError("process " + std::to_string(process()) + " could not write to the shared heap of another");
  }
  for (int p = 0; p < processes(); ++p) {
    if (!hear(p, number)) return false;
    if (bytes > 0) std::memcpy(static_cast<std::byte*>(heard) + p * bytes, statement(p, number).bytes, bytes);
  }
  return true;
}

/// Waits for a statement of another process. @return false: a process has left the run
bool Exchange::hear(int process, std::uint64_t number) {
  const Statement& its = statement(process, number);
  const auto has_left = [&](int p) { return reinterpret_cast<HeapWord*>(heap_.at(left_at(p)))->load() == run_; };
  Clock::time_point watched = Clock::now();
  for (Backoff backoff; its.number.load_acquire() != number; backoff.pause()) {
    heap_.progress();
    if (gone_.load() != 0) return false;
    if (backoff.spins() % kLooks != kLooks - 1) continue;
    for (int p = 0; p < processes(); ++p) {
      if (!has_left(p)) continue;
      leave();
      return false;
    }
    if (Clock::now() - watched < kWatchEvery) continue;
    watched = Clock::now();
    if (const std::string why = world_.watch(); !why.empty()) throw TransportError(why);
  }
  return true;
}

}  // namespace shoal::lockstep
