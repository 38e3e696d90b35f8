// A transport for tests. It wraps another transport and makes its operations late, reordered, lost or failed.
//
// It changes only what a network may change. A delayed or overtaken operation is still carried out by the
// thread that asked for it, so everything that this thread did before is visible with it. The state is behind a
// pointer, so that the transport itself is trivially copyable and a test can read what happened. CPU threads only.
//
// Source: LAGraph's "brutal" memory allocator (fail the k-th call, for every k). Differs: delays and reorders as well.
#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <type_traits>

#include "shoal/transport/direct.hpp"
#include "shoal/transport/transport.hpp"

namespace shoal {

/// The faults to inject. Operations are the put_signal, add and raise calls of all threads, numbered from 0 in the order in which
/// they are made.
struct FaultPlan {
  std::uint64_t seed = 1;
  int delay_percent = 0;       ///< percentage of operations before or after which the thread pauses, 0 to 100
  int pause_microseconds = 0;  ///< longest pause of a delayed operation; 0: the thread only yields, once to eight times
  bool reorder = false;  ///< each thread holds one operation back, and issues it after its next one or in progress()
  std::int64_t fail_at = -1;       ///< the operation with this number is not carried out and reports failure; -1: none
  pe_t deaf = -1;                  ///< no `set` to this PE is carried out, and each reports failure; -1: none
  int get_pause_microseconds = 0;  ///< pause before every `get`: slows quiescence detection
};

/// The state that the transports of all PEs of a run share. Must outlive the runs that use it; only one run at a time.
class FaultState {
 public:
  explicit FaultState(const FaultPlan& plan = {}) : plan_(plan) {}
  FaultState(const FaultState&) = delete;
  FaultState& operator=(const FaultState&) = delete;

  const FaultPlan& plan() const { return plan_; }
  /// Sets a new plan, and numbers operations from 0 again. Call it only between runs. Operations that a run which ended with an
  /// error left held back are dropped: their addresses may be invalid.
  void arm(const FaultPlan& plan) {
    const std::lock_guard lock(mutex_);
    plan_ = plan;
    operations_ = 0, failed_ = 0, lost_ = 0, overtaken_ = 0;
    for (auto& [thread, record] : records_) record = {record.random, 0, false, {}};
  }
  /// The next `n` puts of the calling thread are reported as done and never carried out, as if lost by the network.
  void lose_puts(int n) { mine().puts_to_lose = n; }

  std::int64_t operations() const { return operations_; }  ///< calls since arm()
  std::int64_t failed() const { return failed_; }
  std::int64_t lost() const { return lost_; }
  std::int64_t overtaken() const { return overtaken_; }  ///< operations issued after a later one of their thread

 private:
  template <class>
  friend class FaultyTransport;

  /// An operation that waits for the next one of its thread.
  struct Held {
    bool (*issue)(const void* inner, const Held& held) = nullptr;  ///< null: nothing is held
    pe_t pe = 0;
    void* to = nullptr;
    std::uint64_t number = 0;  ///< the signal of a put, the summand of an add, the least value of a raise
    alignas(16) std::array<std::byte, 64> value;
  };
  struct Thread {
    std::uint64_t random = 0;
    int puts_to_lose = 0;
    bool failed_late = false;  ///< an operation failed after it had been reported as done
    Held held;
  };

  /// The calling thread's record. The lock is taken only when the thread comes from another state, so that further calls do not order
  /// anything between threads.
  Thread& mine() {
    thread_local std::uint64_t owner = 0;
    thread_local Thread* record = nullptr;
    if (owner != id_) {
      const std::lock_guard lock(mutex_);
      const auto [at, fresh] = records_.try_emplace(std::this_thread::get_id());
      if (fresh) at->second.random = plan_.seed * 0x9E3779B97F4A7C15ull + records_.size();
      record = &at->second;
      owner = id_;
    }
    return *record;
  }
  static std::uint64_t draw(Thread& thread) {
    std::uint64_t x = thread.random += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
  void pause_sometimes(Thread& thread) const {
    if (plan_.delay_percent == 0) return;
    const std::uint64_t r = draw(thread);
    if (static_cast<int>(r % 100) >= plan_.delay_percent) return;
    if (plan_.pause_microseconds > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds((r >> 32) % plan_.pause_microseconds + 1));
    } else {
      for (std::uint64_t i = (r >> 32) % 8 + 1; i > 0; --i) std::this_thread::yield();
    }
  }
  static std::uint64_t fresh_id() {
    static std::atomic<std::uint64_t> last{0};
    return ++last;
  }

  const std::uint64_t id_ = fresh_id();
  FaultPlan plan_;
  std::mutex mutex_;
  std::map<std::thread::id, Thread> records_;
  // All accesses are relaxed: a counter must not order what the transport under test does not order.
  struct Count {
    std::atomic<std::int64_t> n{0};
    operator std::int64_t() const { return n.load(std::memory_order_relaxed); }
    void operator=(std::int64_t v) { n.store(v, std::memory_order_relaxed); }
    std::int64_t next() { return n.fetch_add(1, std::memory_order_relaxed); }
  };
  Count operations_, failed_, lost_, overtaken_;
};

/// @tparam Inner  the transport that carries out the operations
template <class Inner = DirectTransport>
class FaultyTransport {
 public:
  FaultyTransport() = default;  ///< no faults
  explicit FaultyTransport(FaultState* state, Inner inner = {}) : state_(state), inner_(inner) {}

  template <class T>
  bool put_signal(pe_t pe, RemoteSlot<T>* slot, const T& value, ticket_t signal) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= sizeof(FaultState::Held::value));
    FaultState::Held operation{&issue_put<T>, pe, slot, signal, {}};
    std::memcpy(operation.value.data(), &value, sizeof(T));
    return carry(operation, /*is_put=*/true);
  }
  bool add(pe_t pe, SharedWord<std::int64_t>* word, std::int64_t n) const {
    return carry({&issue_add, pe, word, static_cast<std::uint64_t>(n), {}}, /*is_put=*/false);
  }
  bool raise(pe_t pe, SharedWord<ticket_t>* word, ticket_t least) const {
    return carry({&issue_raise, pe, word, least, {}}, /*is_put=*/true);
  }
  template <class T>
  T get(pe_t pe, const SharedWord<T>* word) const {
    if (state_ != nullptr && state_->plan_.get_pause_microseconds > 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(state_->plan_.get_pause_microseconds));
    }
    return inner_.get(pe, word);
  }
  /// Never delayed, and fails only for the `deaf` PE: runs use it to tell PEs that something failed.
  template <class T>
  bool set(pe_t pe, SharedWord<T>* word, T value) const {
    return (state_ == nullptr || pe != state_->plan_.deaf) && inner_.set(pe, word, value);
  }
  /// Issues the operation that this thread holds back. If it fails, the thread's next operation reports the failure.
  void progress() const {
    if (state_ != nullptr) {
      FaultState::Thread& thread = state_->mine();
      thread.failed_late |= !release(thread);
    }
    inner_.progress();
  }

 private:
  using Held = FaultState::Held;

  template <class T>
  static bool issue_put(const void* inner, const Held& held) {
    T value;
    std::memcpy(&value, held.value.data(), sizeof(T));
    return static_cast<const Inner*>(inner)->put_signal(held.pe, static_cast<RemoteSlot<T>*>(held.to), value,
                                                        held.number);
  }
  static bool issue_raise(const void* inner, const Held& held) {
    return static_cast<const Inner*>(inner)->raise(held.pe, static_cast<SharedWord<ticket_t>*>(held.to), held.number);
  }
  static bool issue_add(const void* inner, const Held& held) {
    return static_cast<const Inner*>(inner)->add(held.pe, static_cast<SharedWord<std::int64_t>*>(held.to),
                                                 static_cast<std::int64_t>(held.number));
  }

  bool carry(const Held& operation, bool is_put) const {
    if (state_ == nullptr) return operation.issue(&inner_, operation);
    FaultState::Thread& thread = state_->mine();
    if (state_->operations_.next() == state_->plan_.fail_at) {
      state_->failed_.next();
      return false;
    }
    if (is_put && thread.puts_to_lose > 0) {
      --thread.puts_to_lose;
      state_->lost_.next();
      return true;
    }
    state_->pause_sometimes(thread);
    if (state_->plan_.reorder && thread.held.issue == nullptr) {
      thread.held = operation;
      return true;
    }
    bool done = operation.issue(&inner_, operation);
    state_->pause_sometimes(thread);
    if (thread.held.issue != nullptr) {
      state_->overtaken_.next();
      done &= release(thread);
    }
    done &= !thread.failed_late;
    thread.failed_late = false;
    return done;
  }
  bool release(FaultState::Thread& thread) const {
    if (thread.held.issue == nullptr) return true;
    const Held held = thread.held;
    thread.held.issue = nullptr;
    return held.issue(&inner_, held);
  }

  FaultState* state_ = nullptr;
  Inner inner_;
};
static_assert(Transport<FaultyTransport<>>);
static_assert(std::is_trivially_copyable_v<FaultyTransport<>>, "a transport passes into workers by value");

}  // namespace shoal
