#include "machine.hpp"

#include <setjmp.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "memory.hpp"

namespace shoal::sim {
namespace {

constexpr std::size_t kStackBytes = 256 * 1024;
constexpr std::size_t kTraceKept = 4096;

enum class Kind : std::uint8_t { load, store, rmw, failed_exchange, yield, read, write };
const char* const kKindNames[] = {"load", "store", "rmw", "cas failed", "yield", "plain read", "plain write"};
const char* const kOrderNames[] = {"relaxed", "acquire", "release", "acq_rel"};

struct Event {
  std::uint32_t step = 0;
  std::int8_t worker = 0;
  Kind kind = Kind::yield;
  Order order = Order::relaxed;
  std::uint32_t behind = 0;
  const void* at = nullptr;
  std::uint64_t before = 0, bits = 0;
};

struct Label {
  std::uintptr_t first;
  std::size_t stride, count;
  std::string text;
};

struct Fiber {
  int pe = 0;
  std::function<void()> body;
  char* stack = nullptr;
  ucontext_t start;
  jmp_buf resume;
  bool started = false, finished = false;
  std::int64_t rank = 0;  // for Policy::priority: the worker of highest rank runs
  Event last;
};

bool acquires(Order o) { return o == Order::acquire || o == Order::acq_rel; }
bool releases(Order o) { return o == Order::release || o == Order::acq_rel; }

}  // namespace

struct Machine::Impl {
  std::vector<Fiber> workers;
  std::vector<char*> stacks;
  std::vector<Label> labels;
  Memory memory;
  Schedule schedule;
  Random random{0};
  jmp_buf finished;
  int current = -1, live = 0;
  std::uint32_t step = 0, same_in_a_row = 0;
  std::uint64_t steps_before = 0;  ///< steps of earlier runs on the same memory
  std::uint64_t hash = 0;
  std::int64_t lowest_rank = 0;
  std::array<std::uint32_t, 4> change_at{};
  int stalled = -1;
  std::uint32_t stall_begin = 0, stall_end = 0;
  std::string failure;
  std::vector<Event> events;

  void enter(int next);
  int choose(bool yields);
  void pass(bool yields);
  void record(Kind kind, Order order, const void* at, std::uint64_t before, std::uint64_t bits, std::uint32_t behind);
  void check_scope(const void* at);
  [[noreturn]] void end(std::string what);
  void prepare();
  void go();
  std::string where(const void* at) const;
  std::string show(const Event& event) const;
  static void main();
};

namespace {
Machine::Impl* running = nullptr;  // the one machine that runs on this thread
}

void Machine::Impl::main() {
  Impl& m = *running;
  m.workers[m.current].body();
  m.workers[m.current].finished = true;
  if (--m.live == 0) _longjmp(m.finished, 1);
  m.enter(m.choose(true));
  std::abort();  // a finished worker is never entered again
}

void Machine::Impl::enter(int next) {
  current = next;
  Fiber& fiber = workers[next];
  if (fiber.started) _longjmp(fiber.resume, 1);
  fiber.started = true;
  setcontext(&fiber.start);
}

// Chooses the next worker. `yields`: the current one has nothing to do or is finished.
int Machine::Impl::choose(bool yields) {
  const bool is_stalling = stalled >= 0 && step >= stall_begin && step < stall_end;
  std::array<int, kMaxWorkers> ready;
  int n = 0;
  for (int w = 0; w < static_cast<int>(workers.size()); ++w) {
    if (workers[w].finished || (is_stalling && w == stalled && live > 1)) continue;
    if (yields && w == current && live > 1) continue;
    ready[n++] = w;
  }
  if (n == 0) {  // only the stalled one, or only the current one, is left
    for (int w = 0; w < static_cast<int>(workers.size()); ++w) {
      if (!workers[w].finished) ready[n++] = w;
    }
  }
  if (schedule.policy == Policy::bursts && !yields && random.below(8) != 0) return current;
  if (schedule.policy != Policy::priority) return ready[n == 1 ? 0 : random.below(static_cast<std::uint32_t>(n))];
  const bool changes = std::find(change_at.begin(), change_at.end(), step) != change_at.end();
  if (yields || changes || same_in_a_row > 500) workers[current].rank = --lowest_rank;
  return *std::max_element(ready.begin(), ready.begin() + n,
                           [&](int a, int b) { return workers[a].rank < workers[b].rank; });
}

// Called before every operation: here other workers may run.
void Machine::Impl::pass(bool yields) {
  if (++step > schedule.max_steps) {
    std::string what = "no end after " + std::to_string(schedule.max_steps) + " steps; last operations:";
    for (const Fiber& fiber : workers) what += fiber.finished ? "" : "\n  " + show(fiber.last);
    end(what);
  }
  const int next = choose(yields), from = current;
  if (next == from) {
    ++same_in_a_row;
    return;
  }
  same_in_a_row = 0;
  if (_setjmp(workers[from].resume) == 0) enter(next);
}

void Machine::Impl::record(Kind kind, Order order, const void* at, std::uint64_t before, std::uint64_t bits,
                           std::uint32_t behind) {
  Event event{step, static_cast<std::int8_t>(current), kind, order, behind, at, before, bits};
  workers[current].last = event;
  // The address is left out of the hash, as it may differ from process to process.
  for (std::uint64_t x : {std::uint64_t(current), std::uint64_t(kind), std::uint64_t(behind), bits}) {
    hash = (hash ^ x) * 0x100000001B3ull;
  }
  if (schedule.trace) {
    if (events.size() >= 2 * kTraceKept) events.erase(events.begin(), events.begin() + kTraceKept);
    events.push_back(event);
  }
}

void Machine::Impl::check_scope(const void* at) {
  if (!memory.scope_error().empty()) end("scope broken at " + where(at) + ": " + memory.scope_error());
}

void Machine::Impl::end(std::string what) {
  failure = std::move(what);
  _longjmp(finished, 1);
}

std::string Machine::Impl::where(const void* at) const {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  for (const Label& label : labels) {
    if (address < label.first || address >= label.first + label.stride * label.count) continue;
    const std::size_t i = (address - label.first) / label.stride, rest = (address - label.first) % label.stride;
    return label.text + (label.count > 1 ? "[" + std::to_string(i) + "]" : "") +
           (rest ? "+" + std::to_string(rest) : "");
  }
  char text[32];
  std::snprintf(text, sizeof text, "%p", at);
  return text;
}

std::string Machine::Impl::show(const Event& e) const {
  std::string line = "step " + std::to_string(e.step) + "  worker " + std::to_string(e.worker) + " (PE " +
                     std::to_string(workers[e.worker].pe) + ")  " + kKindNames[static_cast<int>(e.kind)];
  if (e.kind == Kind::yield) return line;
  const bool plain = e.kind == Kind::read || e.kind == Kind::write;
  if (!plain) line += std::string(" ") + kOrderNames[static_cast<int>(e.order)];
  line += "  " + where(e.at);
  if (e.kind == Kind::rmw) line += "  " + std::to_string(static_cast<std::int64_t>(e.before)) + " ->";
  if (!plain) line += "  " + std::to_string(static_cast<std::int64_t>(e.bits));
  if (e.behind > 0) line += "  (overwritten " + std::to_string(e.behind) + " times)";
  return line;
}

void Machine::Impl::prepare() {
  random = Random(schedule.seed);
  steps_before += step;
  step = same_in_a_row = 0;
  hash = 0xCBF29CE484222325ull;
  failure.clear();
  events.clear();
  live = static_cast<int>(workers.size());
  memory.reset(live, schedule.stale_of_256);
  lowest_rank = 0;
  const std::uint32_t span = std::max(1u, schedule.expected_steps);
  for (auto& at : change_at) at = random.below(span) + 1;
  stalled = -1;
  if (schedule.policy == Policy::stall) {
    stalled = static_cast<int>(random.below(static_cast<std::uint32_t>(live)));
    stall_begin = random.below(span);
    stall_end = stall_begin + span / 4 + random.below(2 * span);
  }
  for (std::size_t w = 0; w < workers.size(); ++w) {
    Fiber& fiber = workers[w];
    fiber.started = fiber.finished = false;
    fiber.rank = 1 + random.below(1u << 30);
    fiber.last = Event{0, static_cast<std::int8_t>(w), Kind::yield, Order::relaxed, 0, nullptr, 0, 0};
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack;
    fiber.start.uc_stack.ss_size = kStackBytes;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, main, 0);
  }
}

// Returns when all workers are finished, or through end().
void Machine::Impl::go() {
  if (live == 0 || _setjmp(finished) != 0) return;
  current = static_cast<int>(random.below(static_cast<std::uint32_t>(live)));
  enter(current);
}

Machine::Machine() : impl_(std::make_unique<Impl>()) { impl_->workers.reserve(kMaxWorkers); }
Machine::~Machine() {
  for (char* stack : impl_->stacks) munmap(stack, kStackBytes);
}

void Machine::clear_workers() { impl_->workers.clear(); }

void Machine::clear() {
  clear_workers();
  impl_->labels.clear();
  impl_->step = 0;
  impl_->steps_before = 0;
}

void Machine::add_worker(int pe, std::function<void()> body) {
  const std::size_t w = impl_->workers.size();
  if (w >= kMaxWorkers) {
    std::fprintf(stderr, "simulator: more than %d workers\n", kMaxWorkers);
    std::abort();
  }
  if (impl_->stacks.size() <= w) {
    void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) {
      std::perror("simulator: no memory for a stack");
      std::abort();
    }
    mprotect(stack, 4096, PROT_NONE);  // guard page: an overflow of the stack faults here
    impl_->stacks.push_back(static_cast<char*>(stack));
  }
  Fiber& fiber = impl_->workers.emplace_back();
  fiber.pe = pe;
  fiber.body = std::move(body);
  fiber.stack = impl_->stacks[w];
}

void Machine::name(const void* first, std::size_t stride, std::size_t count, std::string label) {
  impl_->labels.push_back({reinterpret_cast<std::uintptr_t>(first), stride, count, std::move(label)});
}

Verdict Machine::run(const Schedule& schedule) {
  Impl& m = *impl_;
  m.schedule = schedule;
  m.prepare();
  running = &m;
  m.go();
  running = nullptr;
  return {m.failure.empty(), m.failure, m.step, m.hash, m.memory.stale_reads()};
}

std::string Machine::trace(std::size_t last) const {
  const std::vector<Event>& events = impl_->events;
  std::string text;
  for (std::size_t i = events.size() > last ? events.size() - last : 0; i < events.size(); ++i) {
    text += impl_->show(events[i]) + "\n";
  }
  return text;
}

Schedule Schedule::from_seed(std::uint64_t seed, unsigned expected_steps, std::uint64_t max_steps) {
  static constexpr unsigned kStale[] = {0, 24, 96, 200};
  Random random(seed ^ 0x5C4ED01Eull);
  Schedule s;
  s.seed = seed;
  s.policy = static_cast<Policy>(random.below(4));
  s.stale_of_256 = kStale[random.below(4)];
  s.expected_steps = expected_steps;
  s.max_steps = max_steps;
  return s;
}

void fail(const std::string& what) {
  if (running == nullptr) {
    std::fprintf(stderr, "simulator: fail() outside a run: %s\n", what.c_str());
    std::abort();
  }
  running->end(what);
}

// ---- what core/sim_atomic.hpp calls ----------------------------------------------------------------------------------

std::uint64_t atomic_load(const Access& access, Order order) {
  if (running == nullptr) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, access.at, access.bytes);
    return bits;
  }
  Machine::Impl& m = *running;
  m.pass(false);
  const auto seen = m.memory.load(m.current, m.workers[m.current].pe, access, acquires(order), m.random);
  m.record(Kind::load, order, access.at, 0, seen.bits, seen.behind);
  m.check_scope(access.at);
  return seen.bits;
}

void atomic_store(const Access& access, std::uint64_t bits, Order order) {
  if (running == nullptr) {
    std::memcpy(access.at, &bits, access.bytes);
    return;
  }
  Machine::Impl& m = *running;
  m.pass(false);
  m.memory.store(m.current, m.workers[m.current].pe, access, bits, releases(order));
  m.record(Kind::store, order, access.at, 0, bits, 0);
  m.check_scope(access.at);
}

Pair pair_load(void* at, bool system, Order order) {
  if (running == nullptr) {
    Pair pair;
    std::memcpy(&pair, at, sizeof pair);
    return pair;
  }
  Machine::Impl& m = *running;
  m.pass(false);
  const auto seen = m.memory.load(m.current, m.workers[m.current].pe, {at, 16, system}, acquires(order), m.random);
  m.record(Kind::load, order, at, 0, seen.bits, seen.behind);
  m.check_scope(at);
  return {seen.bits, seen.second};
}

void pair_store(void* at, bool system, Pair pair, Order order) {
  if (running == nullptr) {
    std::memcpy(at, &pair, sizeof pair);
    return;
  }
  Machine::Impl& m = *running;
  m.pass(false);
  m.memory.store(m.current, m.workers[m.current].pe, {at, 16, system}, pair.first, releases(order), pair.second);
  m.record(Kind::store, order, at, 0, pair.first, 0);
  m.check_scope(at);
}

std::uint64_t rmw_begin(const Access& access, Order order) {
  if (running == nullptr) return atomic_load(access, order);
  Machine::Impl& m = *running;
  m.pass(false);
  return m.memory.rmw_begin(m.current, m.workers[m.current].pe, access, acquires(order)).bits;
}

void rmw_commit(const Access& access, std::uint64_t bits, Order order) {
  if (running == nullptr) return atomic_store(access, bits, order);
  Machine::Impl& m = *running;
  std::uint64_t before = 0;
  std::memcpy(&before, access.at, access.bytes);
  m.memory.rmw_commit(m.current, m.workers[m.current].pe, access, bits, releases(order), m.step);
  m.record(Kind::rmw, order, access.at, before, bits, 0);
  m.check_scope(access.at);
}

bool compare_exchange(const Access& access, std::uint64_t& expected, std::uint64_t desired, Order success,
                      Order failure, bool weak) {
  if (running == nullptr) {
    const std::uint64_t found = atomic_load(access, failure);
    if (found == expected) atomic_store(access, desired, success);
    return std::exchange(expected, found) == found;
  }
  Machine::Impl& m = *running;
  m.pass(false);
  const int pe = m.workers[m.current].pe;
  std::uint64_t newest = 0;
  std::memcpy(&newest, access.at, access.bytes);
  const bool may_win = newest == expected;
  Memory::Outcome seen;
  // It must fail, or it may fail: because it reads an overwritten value, or (weak) spuriously.
  const bool fails = !may_win || m.random.below(8) == 0;
  if (fails && m.memory.read_other(m.current, pe, access, expected, acquires(failure), m.random, seen)) {
    m.record(Kind::failed_exchange, failure, access.at, 0, seen.bits, seen.behind);
    m.check_scope(access.at);
    expected = seen.bits;
    return false;
  }
  if (weak && m.random.below(16) == 0) {
    m.record(Kind::failed_exchange, failure, access.at, 0, expected, 0);
    return false;
  }
  m.memory.rmw_begin(m.current, pe, access, acquires(success));
  m.memory.rmw_commit(m.current, pe, access, desired, releases(success), m.step);
  m.record(Kind::rmw, success, access.at, expected, desired, 0);
  m.check_scope(access.at);
  return true;
}

void plain_access(const void* at, std::size_t bytes, bool write) {
  if (running == nullptr) return;
  Machine::Impl& m = *running;
  const std::string race = m.memory.plain(m.current, at, bytes, write, m.step);
  m.record(write ? Kind::write : Kind::read, Order::relaxed, at, 0, 0, 0);
  if (race.empty()) return;
  m.end("data race on " + m.where(at) + " (" + std::to_string(bytes) + " bytes): worker " + std::to_string(m.current) +
        " (PE " + std::to_string(m.workers[m.current].pe) + ") " + (write ? "writes" : "reads") + " it at step " +
        std::to_string(m.step) + "; " + race);
}
void plain_write(const void* at, std::size_t bytes) { plain_access(at, bytes, true); }
void plain_read(const void* at, std::size_t bytes) { plain_access(at, bytes, false); }

std::uint64_t steps() { return running == nullptr ? 0 : running->steps_before + running->step; }

void yield() {
  if (running == nullptr) return;
  Machine::Impl& m = *running;
  m.record(Kind::yield, Order::relaxed, nullptr, 0, 0, 0);
  m.pass(true);
}

}  // namespace shoal::sim
