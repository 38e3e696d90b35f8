// Tasks of the contract tests with priorities, idle, judging by the pusher and combining, and what serial code says each
// should leave behind. The same tasks run on CPU threads and on GPUs.
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

/// One array per PE, in its memory, zero at first; read and filled by the host between runs.
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
  void fill(const std::vector<T>& values) {  ///< the same on every PE; `count` of them
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
  /// Every later vertex is reached directly, and nearer through all between: whoever takes the far ones first runs each
  /// vertex about as often as there are vertices before it.
  static Roads detours(std::uint32_t n) {
    Roads roads;
    for (std::uint32_t v = 0; v < n; ++v) {
      for (std::uint32_t to = n - 1; to > v; --to) roads.arc(to, 2 * (to - v) - 1);
      roads.close();
    }
    return roads;
  }
  /// Serial (Dijkstra).
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
  std::uint32_t v;  ///< with kAgain: found by idle()
  std::uint32_t distance;
  static constexpr std::uint32_t kAgain = 0x80000000u;
  SHOAL_FN std::uint32_t vertex() const { return v & ~kAgain; }
};

/// Shortest paths, but for how an item is run. Vertex v is number v / n_pes of PE v % n_pes; `key` is that number, alike on
/// several PEs.
struct PathRules {
  static constexpr KernelSet kKernels = kAllKernels;
  using Item = PathItem;
  const std::uint32_t *offsets = nullptr, *targets = nullptr, *weights = nullptr;  ///< of the whole graph, on this PE
  SharedWord<std::uint32_t>* distance[kMaxPes] = {};                               ///< of every PE: pushers may judge
  std::uint32_t horizon = ~0u;                                                     ///< what is farther does not travel
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

/// The same, but accept only writes a lower distance down for every `lazy`-th vertex, and idle() finds those of them
/// whose distance is below what they have offered to their neighbours.
struct LazyPaths : PathRules {
  SharedWord<std::uint32_t>* offered = nullptr;  ///< [vertices of this PE] the distance that was last passed on
  SharedWord<std::uint32_t>* looks = nullptr;    ///< [most_parts] how often each part was looked through
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

/// Every spray that runs adds to many rows of a table that is spread over the PEs, most of them to few hot rows.
struct Sprays {
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    std::uint32_t index;  ///< a row, or a spray: `rows` and beyond
    std::uint32_t amount;
  };
  SharedWord<std::uint64_t>* table[kMaxPes] = {};  ///< of every PE: [rows / n_pes + 1]
  std::uint32_t rows = 1, updates = 0;             ///< updates: of each spray
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

/// Amounts that flow down a graph without cycles: accept only adds up what a vertex was given, and idle() finds the vertices
/// that hold something. `direct`: idle() itself passes it on, so that no item is ever accepted; else an item does that.
struct Flow {
  static constexpr KernelSet kKernels = kAllKernels;
  struct Item {
    std::uint32_t v;
    std::uint32_t pass_on;  ///< 1: v passes on what it holds; 0: v is given `amount`
    std::uint64_t amount;
  };
  SharedWord<std::uint64_t>* held[kMaxPes] = {};  ///< of every PE
  SharedWord<std::uint64_t>* total = nullptr;     ///< [vertices / n_pes + 1] here: what each vertex passed on so far
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
  /// Neighbour k of v, 0 or 1, with a lower number; none of vertex 0. Low numbers last: a look in order of the vertices
  /// never finds on its way what it has caused.
  SHOAL_FN static std::uint32_t next(std::uint32_t v, std::uint32_t k) {
    return k == 0 ? v - 1 : static_cast<std::uint32_t>(mix(v) % v);
  }
  /// One lane: what v holds, taken out; it counts as passed on.
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
  /// Serial: what each vertex passes on when `given[v]` enters at v. Wraps, as the words do.
  static std::vector<std::uint64_t> totals(std::vector<std::uint64_t> given) {
    for (auto v = static_cast<std::uint32_t>(given.size()); v-- > 1;) {
      for (std::uint32_t k = 0; k < 2; ++k) given[next(v, k)] += given[v];
    }
    return given;
  }
};

}  // namespace shoal::contract
