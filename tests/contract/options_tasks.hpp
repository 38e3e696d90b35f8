// Tasks of the contract tests with priorities, idle, judging by the pusher and combining, and serial code that computes what
// each should leave behind. The same tasks run on CPU threads and on GPUs.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <utility>
#include <vector>

#include "shoal/core/atomic.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/transport/transport.hpp"
#include "shoal/world/machine.hpp"
#include "tasks.hpp"

namespace shoal::contract {

/// One array per PE, in the memory of that PE, initially zero. The host reads and fills it between runs.
template <class T>
class PerPe {
 public:
  PerPe(const Machine& machine, std::size_t count) : machine_(machine), count_(count) {
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      memory_.push_back(machine.allocate(p, (count + 1) * sizeof(T), "data of a test"));
    }
  }
  T* at(pe_t p) const { return static_cast<T*>(memory_[p].get()); }
  void fill(const T& value) { fill(std::vector<T>(count_, value)); }
  void fill(const std::vector<T>& values) {  ///< writes the same `count` values on every PE
    for (pe_t p = 0; p < machine_.n_pes(); ++p) machine_.copy_in(p, at(p), values.data(), count_ * sizeof(T));
  }
  std::vector<T> read(pe_t p) const {
    std::vector<T> values(count_);
    machine_.copy_out(p, values.data(), at(p), count_ * sizeof(T));
    see(p, values.data(), count_ * sizeof(T));
    return values;
  }

 private:
  const Machine& machine_;
  std::size_t count_;
  std::vector<std::shared_ptr<void>> memory_;
};

/// A graph with weights, small enough to be on every PE.
struct Roads {
  std::vector<std::uint32_t> offsets{0}, targets, weights;

  std::uint32_t size() const { return static_cast<std::uint32_t>(offsets.size()) - 1; }
  void arc(std::uint32_t to, std::uint32_t weight) { targets.push_back(to), weights.push_back(weight); }
  void close() { offsets.push_back(static_cast<std::uint32_t>(targets.size())); }

  static Roads random(std::uint32_t n, std::uint32_t degree, std::uint32_t most_weight, std::uint64_t seed) {
    Roads roads;
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t k = 0; k < degree; ++k) {
        const std::uint64_t h = mix(seed * 7919 + v * 64 + k);
        roads.arc(static_cast<std::uint32_t>(h % n), 1 + static_cast<std::uint32_t>((h >> 32) % most_weight));
      }
      roads.close();
    }
    return roads;
  }
  /// Every vertex has a direct arc to every later vertex, but the path through all vertices between them is shorter. A search
  /// that takes far vertices first runs each vertex about as often as there are vertices before it.
  static Roads detours(std::uint32_t n) {
    Roads roads;
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t to = n - 1; to > v; --to) roads.arc(to, 2 * (to - v) - 1);
      roads.close();
    }
    return roads;
  }
  /// Dijkstra's algorithm, serial.
  std::vector<std::uint32_t> distances_from(std::uint32_t source) const {
    using Entry = std::pair<std::uint32_t, std::uint32_t>;
    std::vector<std::uint32_t> distance(size(), ~0u);
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> queue;
    distance[source] = 0;
    queue.push({0, source});
    while (!queue.empty()) {
      const auto [d, v] = queue.top();
      queue.pop();
      for (std::uint32_t a = offsets[v]; d == distance[v] && a < offsets[v + 1]; ++a) {
        if (d + weights[a] >= distance[targets[a]]) continue;
        distance[targets[a]] = d + weights[a];
        queue.push({distance[targets[a]], targets[a]});
      }
    }
    return distance;
  }
};

struct PathItem {
  std::uint32_t v;  ///< the vertex, with the bit kAgain if idle() found it
  std::uint32_t distance;
  static constexpr std::uint32_t kAgain = 0x80000000u;
  SHOAL_FN std::uint32_t vertex() const { return v & ~kAgain; }
};

/// The shortest paths task without operator(). Vertex v is element v / n_pes of PE v % n_pes. `key` is that element number, so
/// vertices of different PEs may have the same key.
struct PathRules {
  static constexpr KernelSet kKernels = kAllKernels;
  using Item = PathItem;
  const std::uint32_t *offsets = nullptr, *targets = nullptr, *weights = nullptr;  ///< of the whole graph, on this PE
  SharedWord<std::uint32_t>* distance[kMaxPes] = {};  ///< of every PE, as pushers may judge
  std::uint32_t horizon = ~0u;                        ///< largest distance worth sending
  pe_t me = 0, n_pes = 1;

  SHOAL_FN std::uint32_t local(Item item) const { return item.vertex() / static_cast<std::uint32_t>(n_pes); }
  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.vertex() % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    return distance[pe][local(item)].fetch_min(item.distance) > item.distance;
  }
  SHOAL_FN bool accept(Item item) const { return accept_at(me, item); }
  SHOAL_FN bool stale(Item item) const { return distance[me][local(item)].load() < item.distance; }
  SHOAL_FN bool worth_sending(Item item) const { return item.distance <= horizon; }
  SHOAL_FN double priority(Item item) const { return item.distance; }
  SHOAL_FN std::uint64_t key(Item item) const { return local(item); }
  SHOAL_FN Item combine(Item a, Item b) const { return a.distance < b.distance ? a : b; }
};

struct Paths : PathRules {
  SHOAL_FN Numbers range(Item item) const { return {offsets[item.v + 1] - offsets[item.v]}; }
  SHOAL_FN Item make(Item item, std::int64_t i) const {
    const std::uint32_t a = offsets[item.v] + static_cast<std::uint32_t>(i);
    return {targets[a], item.distance + weights[a]};
  }
};

/// Shortest paths in which accept() only stores the lower distance for every `lazy`-th vertex, and returns false. idle() finds
/// those vertices whose distance is below the one that they last offered to their neighbours.
struct LazyPaths : PathRules {
  static constexpr KernelSet kVariants = variants(KernelSet::of(WorkerKind::block, KernelKind::persistent));
  SharedWord<std::uint32_t>* offered = nullptr;  ///< [vertices of this PE] the distance that was last passed on
  SharedWord<std::uint32_t>* looks = nullptr;    ///< [most_parts] how often idle() was called for each part
  std::uint32_t vertices = 0;                    ///< of this PE
  std::uint32_t lazy = 0;                        ///< 0: none
  std::uint32_t most_parts = 0;

  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    return PathRules::accept_at(pe, item) && (lazy == 0 || item.v % lazy != 0);
  }
  SHOAL_FN bool accept(Item item) const {
    if ((item.v & Item::kAgain) != 0) return offered[local(item)].load() > item.distance;
    return accept_at(me, item);
  }
  SHOAL_FN bool stale(Item item) const {
    return PathRules::stale(item) || offered[local(item)].load() <= item.distance;
  }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    if (w.lane() == 0) offered[local(item)].fetch_min(item.distance);
    const std::uint32_t first = offsets[item.vertex()];
    const PathRules& rules = *this;
    out.push_each(w, Numbers{offsets[item.vertex() + 1] - first}, [&](std::int64_t i) {
      return Item{rules.targets[first + i], item.distance + rules.weights[first + i]};
    });
  }
  template <class W, class Out>
  SHOAL_FN void idle(const W& w, Out& out, lane_t part, lane_t parts) const {
    if (w.lane() == 0 && parts <= most_parts) looks[part].fetch_add(1);
    const auto first = static_cast<std::uint32_t>(std::uint64_t{vertices} * part / parts);
    const auto last = static_cast<std::uint32_t>(std::uint64_t{vertices} * (part + 1) / parts);
    for (std::uint32_t base = first; base < last; base += w.size()) {
      const std::uint32_t i = base + w.lane();
      const std::uint32_t v = i * static_cast<std::uint32_t>(n_pes) + static_cast<std::uint32_t>(me);
      const bool mine = i < last && lazy > 0 && v % lazy == 0;
      const std::uint32_t now = mine ? distance[me][i].load() : ~0u;
      const bool raised = mine && now < offered[i].load();
      out.emit(w, raised, Item{v | Item::kAgain, now});
    }
  }
};

/// Every spray that runs pushes additions to many rows of a table that is spread over the PEs; most of them go to a few hot
/// rows.
struct Sprays {
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr KernelSet kVariants = variants();
  struct Item {
    std::uint32_t index;  ///< a row; from `rows` on, a spray
    std::uint32_t amount;
  };
  SharedWord<std::uint64_t>* table[kMaxPes] = {};  ///< of every PE: [rows / n_pes + 1]
  std::uint32_t rows = 1, updates = 0;             ///< updates: the number of additions of each spray
  pe_t me = 0, n_pes = 1;

  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.index % static_cast<std::uint32_t>(n_pes)); }
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    if (item.index >= rows) return true;
    table[pe][item.index / static_cast<std::uint32_t>(n_pes)].fetch_add(item.amount);
    return false;
  }
  SHOAL_FN bool accept(Item item) const { return accept_at(me, item); }
  SHOAL_FN std::uint64_t key(Item item) const { return item.index / static_cast<std::uint32_t>(n_pes); }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.index, a.amount + b.amount}; }
  SHOAL_FN Numbers range(Item) const { return {updates}; }
  SHOAL_FN Item make(Item item, std::int64_t i) const {
    const std::uint64_t h = mix(std::uint64_t{item.index} * 4099 + static_cast<std::uint64_t>(i));
    const std::uint32_t among = h % 4 == 0 ? rows : rows < 5 ? rows : 5;
    return {static_cast<std::uint32_t>((h >> 8) % among), static_cast<std::uint32_t>(h >> 48)};
  }
};

/// Amounts that flow down a graph without cycles. For an amount, accept() only adds it to what the vertex holds and returns
/// false; idle() finds the vertices that hold something. With `direct`, idle() itself passes the amounts on, so no item is ever
/// accepted. Otherwise idle() pushes an item that is accepted and passes them on when it runs.
struct Flow {
  static constexpr KernelSet kKernels = kAllKernels;
  static constexpr KernelSet kVariants = variants();
  struct Item {
    std::uint32_t v;
    std::uint32_t pass_on;  ///< 1: v passes on what it holds; 0: v is given `amount`
    std::uint64_t amount;
  };
  SharedWord<std::uint64_t>* held[kMaxPes] = {};  ///< of every PE
  SharedWord<std::uint64_t>* total = nullptr;     ///< [vertices / n_pes + 1] of this PE: passed on so far
  std::uint32_t vertices = 0;                     ///< of all PEs
  std::uint32_t direct = 0;
  pe_t me = 0, n_pes = 1;

  SHOAL_FN std::uint32_t pes() const { return static_cast<std::uint32_t>(n_pes); }
  SHOAL_FN pe_t owner(Item item) const { return static_cast<pe_t>(item.v % pes()); }
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    if (item.pass_on != 0) return true;
    held[pe][item.v / pes()].fetch_add(item.amount);
    return false;
  }
  SHOAL_FN bool accept(Item item) const { return accept_at(me, item); }
  SHOAL_FN std::uint64_t key(Item item) const { return item.v / pes(); }
  SHOAL_FN Item combine(Item a, Item b) const { return {a.v, 0, a.amount + b.amount}; }
  /// Neighbour k (0 or 1) of v; its number is lower than v. Vertex 0 has none. Because amounts flow to lower numbers, an idle()
  /// that goes through the vertices in ascending order never meets in the same call what it has passed on.
  SHOAL_FN static std::uint32_t next(std::uint32_t v, std::uint32_t k) {
    return k == 0 ? v - 1 : static_cast<std::uint32_t>(mix(v) % v);
  }
  /// Called by one lane. Takes out what v holds and counts it as passed on.
  SHOAL_FN std::uint64_t take(std::uint32_t v) const {
    std::uint64_t amount = held[me][v / pes()].load();
    while (amount > 0 && !held[me][v / pes()].compare_swap(amount, 0)) {
    }
    if (amount > 0) total[v / pes()].fetch_add(amount);
    return amount;
  }
  template <class W, class Out>
  SHOAL_FN void operator()(const W& w, Item item, Out& out) const {
    std::uint64_t amount = 0;
    if (w.lane() == 0) amount = take(item.v);
    amount = w.from_leader(amount);
    if (amount == 0 || item.v == 0) return;
    for (std::uint32_t k = 0; k < 2; ++k) out.push(w, Item{next(item.v, k), 0, amount});
  }
  template <class W, class Out>
  SHOAL_FN void idle(const W& w, Out& out, lane_t part, lane_t parts) const {
    const auto me32 = static_cast<std::uint32_t>(me);
    const std::uint32_t mine = vertices > me32 ? (vertices - me32 - 1) / pes() + 1 : 0;
    const auto first = static_cast<std::uint32_t>(std::uint64_t{mine} * part / parts);
    const auto last = static_cast<std::uint32_t>(std::uint64_t{mine} * (part + 1) / parts);
    for (std::uint32_t base = first; base < last; base += w.size()) {
      const std::uint32_t i = base + w.lane(), v = i * pes() + me32;
      const bool raised = i < last && held[me][i].load() > 0;
      if (direct == 0) {
        out.emit(w, raised, Item{v, 1, 0});
        continue;
      }
      const std::uint64_t amount = raised ? take(v) : 0;
      for (std::uint32_t k = 0; k < 2; ++k) {
        const bool gives = amount > 0 && v > 0;
        out.emit(w, gives, gives ? Item{next(v, k), 0, amount} : Item{});
      }
    }
  }
  /// Serial: what each vertex passes on if `given[v]` enters at v. Sums wrap at 64 bits, as in the task.
  static std::vector<std::uint64_t> totals(std::vector<std::uint64_t> given) {
    for (auto v = static_cast<std::uint32_t>(given.size()); v-- > 1;) {
      for (std::uint32_t k = 0; k < 2; ++k) given[next(v, k)] += given[v];
    }
    return given;
  }
};

}  // namespace shoal::contract
