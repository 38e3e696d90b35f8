// What the processes of a bulk-synchronous run give each other between two steps. Inside a process steps end at a barrier;
// where there are several processes, the thread that comes last speaks with the others while the rest of its process waits.
//
// Everything lies in the heap that the processes share (world/heap.hpp), and has one writer at a time: bytes that a process puts
// into the others, and numbered statements, two in turn, as on the boards (world/boards.hpp): who says n has heard n - 1 of
// all, who have therefore read n - 2. Processes that come to harm are found by World::watch() while the others wait.
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
  static constexpr std::size_t kRoom = 512;  ///< most bytes of a statement

  /// Takes part of the world's heap. All processes make one of the same size, at the same place of the program.
  /// @param bytes  for what is put; zero
  /// @param what   for errors: "bitmaps"
  /// @throws CapacityError; as World::exchange()
  Exchange(World& world, std::size_t bytes, const char* what);
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  int process() const { return world_.process(); }
  int processes() const { return world_.n_processes(); }
  const World& world() const { return world_; }
  std::byte* at(std::size_t offset) const { return heap_.at(bytes_at_ + offset); }  ///< here
  /// at(0) of the other processes that loads and stores get to. What is stored there is seen when meet() returns, or before.
  const std::vector<std::byte*>& near() const { return near_; }
  /// at(0) of process 0, if loads and stores of all processes get there; else null, in all of them. Everybody's bytes in one
  /// place, as threads have them: caches hold them once, and what is stored need not be stored for each process.
  std::byte* common() const { return common_; }
  /// Other processes that loads and stores do not get to.
  const std::vector<int>& far() const { return far_; }

  // During a run, which together() makes.

  /// Copies bytes into another process. What is put is there when meet() returns. Of any thread.
  void put(int process, std::size_t to, const void* from, std::size_t bytes);

  /// One thread of every process: says something, and waits until all have.
  /// @param heard  [processes] what all said; of this process as well
  /// @return false: this process or another has left the run, and `heard` is not complete
  /// @throws TransportError: a process has come to harm, or something could not be put
  template <class T>
  [[nodiscard]] bool meet(const T& mine, std::vector<T>& heard) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kRoom);
    heard.resize(static_cast<std::size_t>(processes()));
    return say_and_hear(&mine, heard.data(), sizeof(T));
  }
  /// The same without saying anything.
  [[nodiscard]] bool meet() { return say_and_hear(nullptr, nullptr, 0); }

  /// This process takes no further part in the run: the others leave it, too. Of any thread, more than once.
  void leave();

  /// Every process: run(report) is one in which they meet. Adds to `report` what all of them counted, and the seconds of the
  /// slowest; decisions are those of this process.
  /// @throws on all processes what the first throws that fails
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
  std::size_t base_ = 0, left_ = 0, bytes_at_ = 0;  ///< in the heap: statements, words of who has left, what is put
  std::vector<std::byte*> near_;
  std::byte* common_ = nullptr;
  std::vector<int> far_;
  std::uint64_t run_ = 0;
  std::uint64_t said_ = 0;                          ///< statements of this run
  Word<std::uint32_t, Scope::device> gone_, lost_;  ///< left the run; something could not be put
};

/// The same for runs that may have one process only: then exchange is null, and nobody is met.
template <class Run>
void run_together(Exchange* exchange, Report& report, Run&& run) {
  if (exchange == nullptr) return run(report);
  exchange->together(report, run);
}

}  // namespace shoal::lockstep
