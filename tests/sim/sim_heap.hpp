// The heap of one simulated process. Its puts arrive late and in pieces, may overtake each other between two fences or if they
// go to different processes, and may fail or be lost. A worker of the simulation, the network of that process, delivers them.
#pragma once
#include <algorithm>
#include <cstring>
#include <deque>
#include <utility>
#include <vector>

#include "harness.hpp"
#include "shoal/core/atomic.hpp"
#include "shoal/world/heap.hpp"

namespace shoal::sim {

inline constexpr int kMostProcesses = 3;
inline constexpr std::size_t kHeapBytes = 1 << 16;

/// See above. Between processes that are near each other, stores replace puts.
class SimHeap final : public Heap {
 public:
  SimHeap(int process, int processes, std::byte* memory) : Heap(process, processes, memory, kHeapBytes) {}

  std::vector<SimHeap*> all;  ///< [processes]
  bool near[kMostProcesses] = {};
  bool costly = false;  ///< puts_cost(): workers should carry less often
  std::int64_t puts = 0, fail_at = -1, lose_from = -1;
  std::uint64_t looks = 0, gone_at = ~std::uint64_t{0};  ///< from this poll on, the world reports a process as gone

  bool put(int process, std::size_t to, const void* from, std::size_t bytes) override {
    const std::int64_t number = puts++;
    if (number == fail_at) return false;
    if (near[process]) {
      plain_read(from, bytes);
      plain_write(all[process]->at(to), bytes);
      std::memcpy(all[process]->at(to), from, bytes);
      return true;
    }
    order_.fetch_add_release(1);
    plain_read(from, bytes);
    const auto* at = static_cast<const std::byte*>(from);
    for (std::size_t piece = 0, left = bytes; left > 0; left -= piece, at += piece, to += piece) {
      piece = std::min<std::size_t>(left, 4 * (1 + random_.below(6)));
      add(number, process, {to, false, 0, fences_, {at, at + piece}});
    }
    return true;
  }
  bool put_word(int process, std::size_t to, std::uint64_t value) override {
    const std::int64_t number = puts++;
    if (number == fail_at) return false;
    if (near[process]) {
      all[process]->word(to).store_release(value);
      return true;
    }
    order_.fetch_add_release(1);
    add(number, process, {to, true, value, fences_, {}});
    return true;
  }
  bool puts_cost() const override { return costly; }
  void fence() override { ++fences_; }
  /// Called outside of the simulation. Delivers all puts in flight.
  void quiet() override {
    while (!nothing_on_its_way()) arrive();
  }
  bool nothing_on_its_way() const {
    return std::all_of(std::begin(way_), std::end(way_), [](const auto& way) { return way.empty(); });
  }

  void prepare(Random& random) {
    puts = looks = 0, fail_at = lose_from = -1, gone_at = ~std::uint64_t{0};
    fences_ = 0;
    random_ = Random(random.next());
    lazy_ = random.below(3) * 4;
  }
  /// The body of the network's worker: delivers puts until over() is true. Puts that are still in flight then are not
  /// delivered.
  template <class Over>
  void bring(Over over) {
    while (!over()) {
      if (nothing_on_its_way() || random_.below(16) < lazy_) {
        yield();
      } else {
        arrive();
      }
    }
  }

 private:
  struct Put {
    std::size_t to;
    bool word;
    std::uint64_t value, fences;
    std::vector<std::byte> bytes;
  };

  SharedWord<std::uint64_t>& word(std::size_t to) const {
    return *reinterpret_cast<SharedWord<std::uint64_t>*>(at(to));
  }
  void add(std::int64_t number, int process, Put put) {
    if (lose_from < 0 || number < lose_from) way_[process].push_back(std::move(put));
  }
  /// Delivers a random put that no fence orders after another one, to a random process. What is visible to the putter is then
  /// visible to the network.
  void arrive() {
    int to = static_cast<int>(random_.below(kMostProcesses));
    while (way_[to].empty()) to = (to + 1) % kMostProcesses;
    auto& way = way_[to];
    std::uint32_t among = 1;
    while (among < way.size() && way[among].fences == way[0].fences) ++among;
    const auto which = way.begin() + random_.below(among);
    carried_ = std::move(*which);
    way.erase(which);
    order_.fetch_add_acq_rel(0);
    if (carried_.word) {
      all[to]->word(carried_.to).store_release(carried_.value);
    } else {
      plain_write(all[to]->at(carried_.to), carried_.bytes.size());
      std::memcpy(all[to]->at(carried_.to), carried_.bytes.data(), carried_.bytes.size());
    }
  }

  // Only `order_` is part of the simulated memory.
  std::deque<Put> way_[kMostProcesses];
  Put carried_;
  std::uint64_t fences_ = 0;
  std::uint32_t lazy_ = 0;
  Random random_{1};
  SharedWord<std::uint64_t> order_{};
};

}  // namespace shoal::sim
