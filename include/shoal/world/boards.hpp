// How the processes of a run communicate while no worklist runs. Each process has a board that it alone writes and all
// processes read. A board holds numbered statements, a sign of life, and the reason if the process ended the run for all.
// Every word has one writer. So processes without shared memory can use copies of the boards, which need only a transport
// that keeps the order of two stores.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "shoal/core/atomic.hpp"

namespace shoal {

class Heap;

class Boards {
 public:
  /// The largest size of a statement, in bytes.
  static constexpr std::size_t kRoom = 1 << 14;

  /// Boards in memory that all processes share, or copies of them that put() and put_in_order() keep up to date.
  /// @param memory  bytes_of(processes) bytes, zero before the first process begins; must outlive this object
  Boards(int process, int processes, void* memory)
      : process_(process), boards_(static_cast<Board*>(memory), static_cast<std::size_t>(processes)) {}
  virtual ~Boards() = default;
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;
  static std::size_t bytes_of(int processes) { return static_cast<std::size_t>(processes) * sizeof(Board); }

  int process() const { return process_; }
  int processes() const { return static_cast<int>(boards_.size()); }

  /// Publishes statement `number` of this process: 1, 2, and so on. It overwrites statement number - 2, so the caller must
  /// have heard statement number - 1 of every process before (models/waves.pml).
  void say(std::uint64_t number, std::span<const std::byte> statement);
  /// Reads a statement of process `p`; does not wait.
  /// @return false: process `p` has not made statement `number` yet; otherwise `statement` is set
  bool hear(int p, std::uint64_t number, std::vector<std::byte>& statement) const;

  /// Publishes a sign of life: a number that changes while this process works.
  void beat(std::uint64_t number);
  std::uint64_t beat_of(int p) const { return board(p).beat.load(); }

  /// This process ends the run for all. Only the first call counts. At most about a thousand bytes of `why` are passed on.
  void end(const std::string& why);
  /// The reason why process `p` ended the run; empty if it did not.
  std::string ended(int p) const;

  /// Tells the others that this process knows that the run has ended, and is about to exit.
  void take_leave();
  bool takes_leave(int p) const { return board(p).leaves.load() != 0; }

  /// Called repeatedly while this process waits for a statement, so that the transport can make progress.
  virtual void progress() {}
  /// Seconds since the oldest pending call of the transport began; 0: no call is pending. A call that sends to an
  /// unreachable host may never return.
  virtual double longest_call() const { return 0; }
  /// The memory that the processes share besides the boards; null: none.
  virtual Heap* heap() { return nullptr; }
  /// Called when all processes have come to the end: nobody will say or hear anything more.
  virtual void all_over() {}

 protected:
  /// For engines in which processes do not share memory: copies these bytes of this process's board to the same place at
  /// every other process.
  virtual void put(const void* bytes, std::size_t n) { (void)bytes, (void)n; }
  /// The same for one word. No process may see it before it sees everything that was put earlier.
  virtual void put_in_order(std::uint64_t* word) { (void)word; }

 private:
  template <class T>
  using SharedWord = Word<T, Scope::system>;
  template <class T>
  static T* plain(SharedWord<T>& word) {
    static_assert(sizeof(word) == sizeof(T));
    return reinterpret_cast<T*>(&word);
  }
  struct Place {
    SharedWord<std::uint64_t> number;
    std::uint64_t size;
    std::byte statement[kRoom];
  };
  struct Board {
    SharedWord<std::uint64_t> beat;
    SharedWord<std::uint64_t> ended;  ///< bytes of `why`; 0: not ended
    char why[1024];
    SharedWord<std::uint64_t> leaves;
    Place places[2];  ///< used alternately
  };

  const Board& board(int p) const { return boards_[static_cast<std::size_t>(p)]; }
  Board& own() { return boards_[static_cast<std::size_t>(process_)]; }

  const int process_;
  const std::span<Board> boards_;
};

}  // namespace shoal
