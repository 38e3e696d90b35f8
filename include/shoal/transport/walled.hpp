// The engine `walled`, for tests: it simulates processes by threads of one process. Each simulated process has a heap that the
// others reach only by copying into it. A put stays in flight for a while, and large puts arrive in pieces. Later puts to the same
// process may overtake earlier ones unless a fence is between them. Puts can be lost, and can fail. Each simulated process
// delivers its own puts, whenever it puts more or waits, so that this engine orders nothing that the worklist does not order.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "shoal/core/atomic.hpp"
#include "shoal/core/clock.hpp"
#include "shoal/core/types.hpp"
#include "shoal/world/boards.hpp"
#include "shoal/world/heap.hpp"

namespace shoal {

/// The faults and delays to inject.
struct WalledPlan {
  std::uint64_t seed = 1;
  int late_percent = 0;        ///< percentage of puts that stay in flight for a while, 0 to 100
  bool reorder = false;        ///< puts arrive in any order between two fences
  std::uint64_t delay_us = 0;  ///< every put is in flight for at least so long, as between hosts
  std::int64_t fail_at = -1;   ///< the put with this number is not carried out and reports failure; -1: none
  std::int64_t lose_from =
      -1;  ///< the put with this number and all later ones are reported as done and never carried out; -1: none
  int at_process = 0;  ///< the process whose puts, numbered from 0, fail or are lost
  bool gates = false;  ///< processes can also access each other's heaps by loads and stores
  int hosts = 1;       ///< with gates: only between processes of one host, whose numbers are equal modulo `hosts`
};

/// The memory of all simulated processes. Must outlive their worlds.
class WalledMemory {
 public:
  WalledMemory(int processes, std::size_t heap_bytes)
      : processes_(processes),
        heap_bytes_(heap_bytes / kCacheLine * kCacheLine),
        boards_(lines(Boards::bytes_of(processes))) {
    for (int p = 0; p < processes; ++p) heaps_.push_back(std::make_unique<Line[]>(heap_bytes_ / kCacheLine));
    boards_memory_ = std::make_unique<Line[]>(boards_);
  }
  int processes() const { return processes_; }
  std::size_t heap_bytes() const { return heap_bytes_; }
  std::byte* heap(int process) const { return heaps_[static_cast<std::size_t>(process)][0].bytes; }
  void* boards() const { return boards_memory_.get(); }

 private:
  struct alignas(kCacheLine) Line {
    std::byte bytes[kCacheLine] = {};
  };
  static std::size_t lines(std::size_t bytes) { return (bytes + kCacheLine - 1) / kCacheLine; }
  const int processes_;
  const std::size_t heap_bytes_, boards_;
  std::vector<std::unique_ptr<Line[]>> heaps_;
  std::unique_ptr<Line[]> boards_memory_;
};

class WalledHeap : public Heap {
 public:
  WalledHeap(WalledMemory& memory, int process, const WalledPlan& plan)
      : Heap(process, memory.processes(), memory.heap(process), memory.heap_bytes()),
        memory_(memory),
        plan_(plan),
        random_(plan.seed * 0x9E3779B97F4A7C15ull + static_cast<std::uint64_t>(process)),
        on_the_way_(static_cast<std::size_t>(memory.processes())) {}

  bool put(int process, std::size_t to, const void* from, std::size_t bytes) override {
    return send([&] {
      Put one{to, false, 0, fences_, due(), {}};
      const auto* at = static_cast<const std::byte*>(from);
      for (std::size_t piece, left = bytes; left > 0; left -= piece, at += piece, one.to += piece) {
        piece = plan_.reorder && left > 8 ? std::min(left, 4 * (1 + draw() % 16)) : left;
        one.bytes.assign(at, at + piece);
        way_to(process).push_back(one);
      }
    });
  }
  bool put_word(int process, std::size_t to, std::uint64_t value) override {
    return send([&] { way_to(process).push_back({to, true, value, fences_, due(), {}}); });
  }
  void fence() override {
    const std::lock_guard lock(mutex_);
    ++fences_;
  }
  void quiet() override {
    if (const std::uint64_t left = time_left(); left > 0) std::this_thread::sleep_for(std::chrono::microseconds(left));
    const std::lock_guard lock(mutex_);
    deliver(/*all=*/true);
  }
  void progress() override {
    const std::lock_guard lock(mutex_);
    deliver();
  }

  std::byte* reach(int process) override {
    return plan_.gates && process % plan_.hosts == this->process() % plan_.hosts ? memory_.heap(process) : nullptr;
  }

  std::int64_t puts() const { return puts_; }
  std::int64_t overtaken() const { return overtaken_; }  ///< puts that arrived after a later one

 private:
  struct Put {
    std::size_t to;
    bool word;
    std::uint64_t value;
    std::uint64_t fences;  ///< number of fences before it
    std::uint64_t due;     ///< clock_us() at which it may arrive
    std::vector<std::byte> bytes;
  };
  using Way = std::deque<Put>;
  enum class Fate { arrives, lost, fails };

  Way& way_to(int process) { return on_the_way_[static_cast<std::size_t>(process)]; }
  std::uint64_t draw() {
    std::uint64_t x = random_ += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
  }
  std::uint64_t due() const { return plan_.delay_us > 0 ? clock_us() + plan_.delay_us : 0; }
  /// Microseconds until every put in flight may arrive.
  std::uint64_t time_left() {
    const std::lock_guard lock(mutex_);
    std::uint64_t last = 0;
    for (const Way& way : on_the_way_) last = way.empty() ? last : std::max(last, way.back().due);
    const std::uint64_t now = last > 0 ? clock_us() : 0;
    return last > now ? last - now : 0;
  }
  Fate fate() {
    const std::int64_t number = puts_++;
    if (process() != plan_.at_process) return Fate::arrives;
    if (number == plan_.fail_at) return Fate::fails;
    return plan_.lose_from >= 0 && number >= plan_.lose_from ? Fate::lost : Fate::arrives;
  }

  /// Decides the fate of the next put, and calls set_off() if it is to arrive. @return whether the put is reported as done
  template <class SetOff>
  bool send(SetOff set_off) {
    const std::lock_guard lock(mutex_);
    const Fate its = fate();
    if (its == Fate::arrives) {
      set_off();
      deliver();
    }
    return its != Fate::fails;
  }

  /// Delivers some of the puts that are in flight to each process, or, if `all`, every put that may arrive by now.
  void deliver(bool all = false) {
    const std::uint64_t now = plan_.delay_us > 0 ? clock_us() : 0;
    for (int process = 0; process < processes(); ++process) {
      Way& way = way_to(process);
      const auto may_arrive = [&](std::size_t i) { return i < way.size() && way[i].due <= now; };
      while (may_arrive(0) && (all || static_cast<int>(draw() % 100) >= plan_.late_percent)) {
        std::size_t among = 1;
        while (plan_.reorder && may_arrive(among) && way[among].fences == way[0].fences) ++among;
        const std::size_t which = draw() % among;
        overtaken_ += static_cast<std::int64_t>(which);
        arrive(process, way[which]);
        way.erase(way.begin() + static_cast<std::ptrdiff_t>(which));
      }
    }
  }
  void arrive(int process, const Put& put) {
    std::byte* const at = memory_.heap(process) + put.to;
    if (put.word) {
      reinterpret_cast<Word<std::uint64_t, Scope::system>*>(at)->store_release(put.value);
    } else {
      std::memcpy(at, put.bytes.data(), put.bytes.size());
    }
  }

  WalledMemory& memory_;
  const WalledPlan plan_;
  std::mutex mutex_;  // of this simulated process alone: threads of others never lock it
  std::uint64_t random_;
  std::uint64_t fences_ = 0;
  std::int64_t puts_ = 0, overtaken_ = 0;
  std::vector<Way> on_the_way_;  // [processes]
};

/// The boards of one simulated process, with its heap.
class WalledBoards : public Boards {
 public:
  WalledBoards(WalledMemory& memory, int process, const WalledPlan& plan = {})
      : Boards(process, memory.processes(), memory.boards()), heap_(memory, process, plan) {}
  Heap* heap() override { return &heap_; }
  void progress() override { heap_.progress(); }

 private:
  WalledHeap heap_;
};

}  // namespace shoal
