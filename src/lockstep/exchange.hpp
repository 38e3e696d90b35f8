// Data exchange between the processes of a bulk-synchronous run, between two steps. Within a process a step ends at a barrier. With
// several processes, the last thread to arrive there talks to the other processes while the rest of its process waits.
//
// Everything is in the heap that the processes share (world/heap.hpp), and each part has one writer at a time: bytes that a process
// puts into the others, and numbered statements. As on the boards (world/boards.hpp), each process has two places for statements,
// used in turn: a process that makes statement n has heard n - 1 from all, so all have read n - 2, and its place is free. While
// processes wait for each other, World::watch() detects those that have failed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/world/heap.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"

namespace shoal::lockstep {

class Exchange {
 public:
  static constexpr std::size_t kRoom = 512;  ///< largest size of a statement in bytes

  /// Takes part of the world's heap. All processes construct one of the same size, at the same point of the program.
  /// @param bytes  size of the area for put(); zeroed
  /// @param what   the name of the area, for errors: "bitmaps"
  /// @throws CapacityError; as World::exchange()
  Exchange(World& world, std::size_t bytes, const char* what);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int process() const { return world_.process(); }
  int processes() const { return world_.n_processes(); }
  const World& world() const { return world_; }
  std::byte* at(std::size_t offset) const { return heap_.at(bytes_at_ + offset); }  ///< in this process
  /// at(0) of the other processes whose memory this process can load from and store to. What they store is visible no later than
  /// when meet() returns.
  const std::vector<std::byte*>& near() const { return near_; }
  /// at(0) of process 0 if all processes can load from and store to it; otherwise null, in all of them. It gives all processes one
  /// copy of the bytes, as threads have it: caches hold it once, and data need not be stored once per process.
  std::byte* common() const { return common_; }
  /// Other processes whose memory cannot be accessed with loads and stores.
  const std::vector<int>& far() const { return far_; }

  // The following calls are legal during a run that together() makes.

  /// Copies bytes into another process. They are there when meet() returns. Any thread may call it.
  void put(int process, std::size_t to, const void* from, std::size_t bytes);

  /// Called by one thread of every process: makes a statement, and waits for those of all processes.
  /// @param heard  [processes] the statements of all, including this process
  /// @return false: this process or another has left the run, and `heard` is incomplete
  /// @throws TransportError: a process has failed, or something could not be put
  template <class T>
  [[nodiscard]] bool meet(const T& mine, std::vector<T>& heard) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kRoom);
    heard.resize(static_cast<std::size_t>(processes()));
    return say_and_hear(&mine, heard.data(), sizeof(T));
  }
  /// The same without a statement.
  [[nodiscard]] bool meet() { return say_and_hear(nullptr, nullptr, 0); }

  /// This process takes no further part in the run, and the others leave it as well. Any thread may call it, more than once.
  void leave();

  /// Called by every process: run(report) is a run in which processes meet. Adds to `report` the sums of what all processes
  /// counted, and the time of the slowest; decisions are those of this process.
  /// @throws on all processes, the exception of the first process that failed
  template <class Run>
  void together(Report& report, Run&& run) {
    begin();
    Report mine;
    std::exception_ptr error;
    try {
      run(mine);
    } catch (...) {
      leave();
      error = std::current_exception();
    }
    end(report, mine, error);
  }

 private:
  struct Statement;

  bool say_and_hear(const void* mine, void* heard, std::size_t bytes);
  bool hear(int process, std::uint64_t number);
  Statement& statement(int process, std::uint64_t number) const;
  std::size_t statement_at(int process, std::uint64_t number) const;
  std::size_t left_at(int process) const;
  void begin();
  void end(Report& report, const Report& mine, std::exception_ptr error);

  World& world_;
  Heap& heap_;
  std::size_t base_ = 0, left_ = 0, bytes_at_ = 0;  ///< in the heap: statements, words of who has left, area of put()
  std::vector<std::byte*> near_;
  std::byte* common_ = nullptr;
  std::vector<int> far_;
  std::uint64_t run_ = 0;
  std::uint64_t said_ = 0;                          ///< number of statements made in this run
  Word<std::uint32_t, Scope::device> gone_, lost_;  ///< this process left the run; something could not be put
};

/// The same for a run that may have only one process: exchange is then null, and there are no others to meet.
template <class Run>
void run_together(Exchange* exchange, Report& report, Run&& run) {
  if (exchange == nullptr) return run(report);
  exchange->together(report, run);
}

}  // namespace shoal::lockstep
