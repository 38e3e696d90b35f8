// The simulated memory: the histories of atomic words, the views of workers, and the race detector. machine.hpp describes the
// memory model.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "machine.hpp"

namespace shoal::sim {

/// A map from addresses to small numbers that is emptied in constant time.
class AddressMap {
 public:
  AddressMap() : cells_(1024) {}
  void clear();
  /// Returns the number stored for `address`. If there is none, stores `fresh` first.
  std::uint32_t find_or_add(std::uintptr_t address, std::uint32_t fresh);
  std::uint32_t size() const { return used_; }

 private:
  struct Cell {
    std::uintptr_t address = 0;
    std::uint32_t number = 0, generation = 0;
  };
  void grow();
  std::vector<Cell> cells_;
  std::uint32_t used_ = 0, generation_ = 1;
};

/// The view of a worker: clock[w] tells how much of what worker w did is visible, and floor[l] is the oldest entry of word l
/// that the worker may still read. One array, [kMaxWorkers clocks][floors], so that a join is one loop.
using View = std::vector<std::uint32_t>;

class Memory {
 public:
  struct Outcome {
    std::uint64_t bits = 0, second = 0;  ///< second: the second half of a 16-byte access
    std::uint32_t word = 0;
    std::uint32_t behind = 0;  ///< the number of newer entries in the history
  };

  void reset(int workers, unsigned stale_of_256);
  Outcome load(int worker, int pe, const Access& access, bool acquire, Random& random);
  Outcome store(int worker, int pe, const Access& access, std::uint64_t bits, bool release, std::uint64_t second = 0);
  Outcome rmw_begin(int worker, int pe, const Access& access, bool acquire);
  Outcome rmw_commit(int worker, int pe, const Access& access, std::uint64_t bits, bool release, std::uint32_t step);
  /// A compare-exchange that fails: if `worker` may read an entry that differs from `expected`, reads it and returns true.
  bool read_other(int worker, int pe, const Access& access, std::uint64_t expected, bool acquire, Random& random,
                  Outcome& out);
  /// A plain access. Returns a description of the race that it is part of, or "".
  std::string plain(int worker, const void* at, std::size_t bytes, bool write, std::uint32_t step);
  /// Describes how the last access violated the scope of its word; "" if it did not.
  const std::string& scope_error() const { return scope_error_; }
  std::uint64_t stale_reads() const { return stale_reads_; }

 private:
  struct Entry {
    std::uint64_t bits, second;
    std::uint32_t view, view_length;  ///< a range of pool_
  };
  struct WordHistory {
    int pe = -1;
    bool system = false;
    std::vector<Entry> entries;
  };
  struct Shadow {  ///< the accesses to four bytes
    std::uint32_t write_clock = 0, write_step = 0;
    int writer = -1;
    std::array<std::uint32_t, kMaxWorkers> read_clock{}, read_step{};
  };

  std::uint32_t word_of(int pe, const Access& access);
  Outcome read(int worker, std::uint32_t word, std::uint32_t index, bool acquire);
  std::uint32_t floor(int worker, std::uint32_t word) const;
  void raise(int worker, std::uint32_t word, std::uint32_t index);
  void join(View& view, const Entry& entry) const;
  void append(int worker, std::uint32_t word, std::uint64_t bits, std::uint64_t second, bool release,
              const Entry* continued);

  int workers_ = 0;
  unsigned stale_of_256_ = 0;
  std::vector<WordHistory> words_;
  AddressMap word_at_, shadow_at_;
  std::vector<Shadow> shadows_;
  std::array<View, kMaxWorkers> views_;
  std::array<unsigned, kMaxWorkers> stale_run_{};
  std::vector<std::uint32_t> pool_;
  std::uint64_t stale_reads_ = 0;
  std::string scope_error_;
};

}  // namespace shoal::sim
