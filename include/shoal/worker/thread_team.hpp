// A team of CPU threads for runs: the threads are started once and sleep between runs; each group of them is a PE. Also
// the barrier at which threads meet.
#pragma once
#include <cstdint>
#include <memory>
#include <type_traits>

#include "shoal/core/atomic.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

/// n_pes groups of threads_per_pe threads. The thread that calls run() takes part as thread 0 of PE 0. The other
/// threads belong to the team; after a run they poll for the next one for some tens of microseconds (longer beside other processes that compute), and then sleep.
///
/// Only one run at a time, from any thread; a run inside a run is a UsageError. Not movable: threads hold its address.
class ThreadTeam {
 public:
  /// @param n_pes           [1, kMaxPes]
  /// @param threads_per_pe  [1, kMaxThreads / n_pes]; more threads than cores work, slowly
  /// @throws UsageError     a number out of its range (names it)
  /// @throws CapacityError  the system refused a thread (names how many were wanted and started); none is left behind
  ThreadTeam(pe_t n_pes, int threads_per_pe);
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;
  ~ThreadTeam();

  static constexpr int kMaxThreads = 4096;

  pe_t n_pes() const { return n_pes_; }
  int threads_per_pe() const { return threads_per_pe_; }
  int size() const { return static_cast<int>(n_pes_) * threads_per_pe_; }

  /// Calls f(pe, thread) once on every thread, thread in [0, threads_per_pe); returns when all calls have returned, and
  /// what they wrote is then visible to the caller. A call that throws does not stop the others. If they wait for each
  /// other at a barrier, the one that throws must cancel() the barrier first. run() rethrows the first exception.
  template <class F>
  void run(F&& f) {
    using Callee = std::remove_reference_t<F>;
    run_erased([](void* callee, pe_t pe, int thread) { (*static_cast<Callee*>(callee))(pe, thread); },
               const_cast<void*>(static_cast<const void*>(&f)));
  }

 private:
  using Call = void (*)(void* callee, pe_t pe, int thread);
  struct Threads;  // the threads that belong to the team, and the condition variables on which threads sleep

  void run_erased(Call call, void* callee);
  void call_one(int index) noexcept;
  void serve(int index);
  void stop();

  pe_t n_pes_;
  int threads_per_pe_;
  Call call_ = nullptr;  // call_ and callee_ are published by epoch_
  void* callee_ = nullptr;
  PaddedWord<std::uint32_t, Scope::device> epoch_;    // number of runs begun
  PaddedWord<std::uint32_t, Scope::device> pending_;  // threads of the team that have not returned from this run
  PaddedWord<std::uint32_t, Scope::device> running_;  // 1 while a run is in progress
  std::unique_ptr<Threads> threads_;
};

/// A barrier for a fixed number of threads. Waiters spin, then give way (core/spin.hpp), so it also works with more threads than cores.
/// Everything written before a thread arrives is visible to all threads after they leave.
class SpinBarrier {
 public:
  /// @param n  the number of threads that meet, at least 1
  explicit SpinBarrier(int n) : n_(static_cast<std::uint32_t>(n)) {
    arrived_.store(0);
    round_.store(0);
    cancelled_.store(0);
  }
  SpinBarrier(const SpinBarrier&) = delete;
  SpinBarrier& operator=(const SpinBarrier&) = delete;

  /// All n threads call this. @return false if the barrier was cancelled; the caller must then leave, and must not rely
  /// on anything that the other threads should have written.
  bool arrive_and_wait() {
    return arrive_and_wait([] {});
  }

  /// The same; the last thread to arrive runs `last()` while the others wait. `last` must not wait for the others. If it
  /// throws, the barrier is cancelled and this call throws the exception in that thread.
  template <class Last>
  bool arrive_and_wait(Last&& last) {
    const std::uint32_t round = round_.load();  // cannot change before this thread has arrived
    if (arrived_.fetch_add_acq_rel(1) + 1 == n_) {
      if (cancelled_.load() != 0) return false;
      try {
        last();
      } catch (...) {
        cancel();
        throw;
      }
      arrived_.store(0);
      round_.store_release(round + 1);
      return cancelled_.load() == 0;
    }
    Backoff backoff;
    while (round_.load_acquire() == round) {
      if (cancelled_.load() != 0) return false;
      backoff.pause();
    }
    return true;
  }

  /// Makes arrive_and_wait() return false in all threads that wait now or later. Any thread may call it; it cannot be undone.
  void cancel() { cancelled_.store(1); }
  /// Lets a thread that works for long between two meetings notice cancel().
  bool cancelled() const { return cancelled_.load() != 0; }

 private:
  std::uint32_t n_;
  PaddedWord<std::uint32_t, Scope::device> arrived_;
  PaddedWord<std::uint32_t, Scope::device> round_;  // polled by all waiters, so it has its own cache line
  PaddedWord<std::uint32_t, Scope::device> cancelled_;
};

}  // namespace shoal
