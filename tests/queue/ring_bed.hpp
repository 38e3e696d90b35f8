// A ring for tests: its memory, a given first ticket, pushing in batches, and both ways of popping.
#pragma once
#include <cstdint>
#include <vector>

#include "shoal/queue/slot_ring.hpp"

namespace shoal::test {

enum class Pop { claim, hold };

template <class T>
class SlotBed {
 public:
  SlotBed(ticket_t capacity, ticket_t start) : slots_(capacity) {
    ring = {slots_.data(), capacity, &counters};
    ring.reset_counters();
    counters.tail.store(start);
    counters.head.store(start);
    for (ticket_t t = start; t < start + capacity; ++t) slots_[t & (capacity - 1)].sequence.store(t);
  }
  /// Worker-collective at the end: makes written tickets visible.
  void commit(Tickets) {}
  bool try_write(ticket_t t, const T& value) { return ring.try_put(t, value); }
  void popped(lane_t n, lane_t& credit) { credit += n; }

  RingCounters counters{};
  SlotRing<T> ring;

 private:
  std::vector<Slot<T>> slots_;
};

/// A summary, independent of their order, of the items of one producer that were popped: their count, the sum of their numbers,
/// and the sum of hashes.
struct Tally {
  std::uint64_t count = 0, sum = 0, mix = 0;

  void add(std::uint64_t producer, std::uint64_t number) {
    ++count;
    sum += number;
    mix += hash(producer << 40 ^ number);
  }
  void add(const Tally& other) {
    count += other.count;
    sum += other.sum;
    mix += other.mix;
  }
  bool operator==(const Tally&) const = default;

  /// The finaliser of SplitMix64. It is a bijection, so different items have different hashes.
  static std::uint64_t hash(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
};

}  // namespace shoal::test
