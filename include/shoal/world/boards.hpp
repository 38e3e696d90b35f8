// What the processes of a run tell each other outside of a run of a worklist. Each process has a board, on which it alone
// writes and which all read: numbered statements, a sign of life, and why it ended the run for all. Every word has one
// writer, so that a board may also be copied to the other processes, by anything that keeps the order of two words.
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
  /// The most bytes of a statement.
  static constexpr std::size_t kRoom = 1 << 14;

  /// Boards in memory that all processes share.
  /// @param memory  bytes_of(processes) bytes, zero before the first process begins; must outlive this object
  Boards(int process, int processes, void* memory)
      : process_(process), boards_(static_cast<Board*>(memory), static_cast<std::size_t>(processes)) {}
  virtual ~Boards() = default;
  Boards(const Boards&) = delete;
  Boards& operator=(const Boards&) = delete;
  static std::size_t bytes_of(int processes) { return static_cast<std::size_t>(processes) * sizeof(Board); }

  int process() const { return process_; }
  int processes() const { return static_cast<int>(boards_.size()); }

  /// Makes statement `number` of this process: 1, 2, and so on. It takes the place of statement number - 2, so the caller
  /// must have heard number - 1 of all processes (models/waves.pml).
  void say(std::uint64_t number, std::span<const std::byte> statement);
  /// @return false: process `p` has not made statement `number` yet; otherwise `statement` is set
  bool hear(int p, std::uint64_t number, std::vector<std::byte>& statement) const;

  /// A number that changes while this process works.
  void beat(std::uint64_t number);
  std::uint64_t beat_of(int p) const { return board(p).beat.load(); }

  /// This process ends the run for all. The first reason stays. At most about a thousand bytes are told.
  void end(const std::string& why);
  /// Why process `p` ended the run; empty if it did not.
  std::string ended(int p) const;

  /// This process knows that the run has ended, and is about to leave.
  void take_leave();
  bool takes_leave(int p) const { return board(p).leaves.load() != 0; }

  /// Called again and again while this process waits to hear something.
  virtual void progress() {}
  /// For how many seconds a call of what copies to other processes has not come back; 0: none is out. To a host that is cut off,
  /// one may never come back.
  virtual double longest_call() const { return 0; }
  /// What the processes share besides; null: nothing.
  virtual Heap* heap() { return nullptr; }
  /// All processes have come to the end: nobody will say or hear anything more.
  virtual void all_over() {}

 protected:
  /// For engines in which processes do not share the memory: copies these bytes of the own board to the same place at
  /// every other process.
  virtual void put(const void* bytes, std::size_t n) { (void)bytes, (void)n; }
  /// The same for a word, which nobody may see before what was put earlier.
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
    Place places[2];  ///< used in turn
  };

  const Board& board(int p) const { return boards_[static_cast<std::size_t>(p)]; }
  Board& own() { return boards_[static_cast<std::size_t>(process_)]; }

  const int process_;
  const std::span<Board> boards_;
};

}  // namespace shoal
