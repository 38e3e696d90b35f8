// Runs a batch of accepted items. If the task has operator(), a worker runs one item after another. If the task has range()
// and make(), the lanes share the elements of all items of the batch.
#pragma once
#include <bit>
#include <utility>

#include "shoal/worklist/out.hpp"

namespace shoal {

/// The type that range(item) returns; char for tasks without range().
template <class TaskT>
struct RangeOf {
  using Type = char;
};
template <FanOutTask TaskT>
struct RangeOf<TaskT> {
  using Type = decltype(std::declval<const TaskT&>().range(std::declval<const typename TaskT::Item&>()));
};

/// The lanes share the elements of a batch in turns. The first turn has at most kHub elements of each range. The next ones have what
/// longer ranges have beyond these, at most kLongTurn elements of all of them together.
#if defined(SHOAL_SIMULATE)
inline constexpr lane_t kHub = 2, kLongTurn = 16;  // short, for third turns; long enough to fill a sieve
#else
inline constexpr lane_t kHub = 1u << 12, kLongTurn = (1u << 22) - 1;
#endif

/// The number, within a turn, of the first element that comes from an item, and the number of that item, packed into one word.
/// Desk::start has one for each item that has elements, in the order of the items.
struct BatchStart {
  static constexpr lane_t kMostItems = 512, kElements = 1u << 22;  ///< a turn has fewer than kElements elements
  lane_t word;
  SHOAL_FN static BatchStart of(lane_t element, lane_t item) { return {element * kMostItems + item}; }
  SHOAL_FN lane_t element() const { return word / kMostItems; }
  SHOAL_FN lane_t item() const { return word % kMostItems; }
};
static_assert(std::uint64_t{BatchStart::kElements} * BatchStart::kMostItems <= std::uint64_t{1} << 32);
static_assert(kHub * BatchStart::kMostItems < BatchStart::kElements && kLongTurn < BatchStart::kElements);

/// The desk of a worker that does not sift.
template <class TaskT>
struct PlainDesk {
  typename TaskT::Item* item = nullptr;  ///< [items]
  lane_t items = 0;                      ///< at least kMaxFetch for one lane, size() for several
  typename RangeOf<TaskT>::Type* range =
      nullptr;                  ///< [size()] the range of each item, for tasks with range() on several lanes; else null
  BatchStart* start = nullptr;  ///< [size()] likewise
  BinTable* bins = nullptr;     ///< for tasks with priorities on several lanes; else null
  typename TaskT::Item* aside =
      nullptr;           ///< [size()] for blocks that pack items, and for warps that keep some; else null
  Gate* gate = nullptr;  ///< for blocks that send together (kSendsWhole); else null
  LaneCounters<std::uint64_t>* tally = nullptr;  ///< for blocks; else null
};
/// The desk: memory that the lanes of one worker share while they work on a batch. Tasks that do not refuse most items have no
/// sieve, as code that is rarely executed copies a desk.
template <class TaskT>
struct Desk : PlainDesk<TaskT> {};
template <RefusesMost TaskT>
struct Desk<TaskT> : PlainDesk<TaskT> {
  Sieve<typename TaskT::Item> sieve = {};  ///< for blocks
};

/// One lane per item: true if the item is to be run, false if it is stale.
/// @param counts  whether to count it
template <Worker W, class View>
SHOAL_FN bool live(Out<W, View>& out, const typename View::Item& item, bool counts = true) {
  using TaskT = typename View::Task;
  bool stale = false;
  if constexpr (HasStale<TaskT>) stale = out.view().task.stale(item);
  out.note_stale(counts && stale);
  out.note_run(counts && !stale);
  return !stale;
}

/// Whether make() may be called more than once for an element. If the task is self-contained it may, because no other worker
/// relies on what a pusher wrote before a push. Lanes without an element of their own then make the item of the last element
/// and discard it, so that no load is under a branch.
template <class TaskT>
inline constexpr bool kMakesFreely = SelfContained<TaskT>;

/// Worker-collective: exclusive_sum(), if x is 0 on all lanes but the first `n`.
template <Worker W>
SHOAL_FN Scan sum_of_first(const W& w, lane_t n, lane_t x) {
  if constexpr (requires { w.exclusive_sum(x, n); }) {
    return w.exclusive_sum(x, n);
  } else {
    return w.exclusive_sum(x);
  }
}

/// Whether a worker deals its lanes out to the items of a short batch (deal).
template <class W, class TaskT>
inline constexpr bool kDeals = W::kMaxLanes > 1 && !HasParts<W> && DealsOut<TaskT>;
/// Whether such batches follow each other in a loop of their own (expand).
template <class W, class View, class TaskT = typename View::Task>
inline constexpr bool kHops = kDeals<W, TaskT>&& kKeepsItems<W, TaskT>&& kJudgesApart<W, View>;

/// log2 of the least power of two that is not less than n.
SHOAL_FN inline lane_t log2_up(lane_t n) {
#if defined(__CUDA_ARCH__)
  return 32 - static_cast<lane_t>(__clz(static_cast<int>(n - 1)));
#else
  return static_cast<lane_t>(std::bit_width(n - 1));
#endif
}

/// A lane's element of a short batch.
template <class Item>
struct Dealt {
  Item item = {};     ///< what make() made of it
  bool has = false;   ///< whether the lane has an element
  bool more = false;  ///< whether the range of the lane's item has more elements than lanes
};
/// Worker-collective: deals the lanes out to the desk's first `n` items, 2^log_lanes to each. Lane k of an item makes element k of its
/// range. The lanes exchange nothing: they need no sum, no search and no range of another lane.
template <Worker W, class View>
SHOAL_FN Dealt<typename View::Item> deal(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n,
                                         lane_t log_lanes) {
  using TaskT = typename View::Task;
  SHOAL_TIMED(w, out.own(), Section::split);
  const TaskT& task = out.view().task;
  const lane_t lanes = lane_t{1} << log_lanes, i = w.lane() >> log_lanes, k = w.lane() & (lanes - 1);
  const auto from = desk.item[i < n ? i : 0];
  bool stale = false;
  if constexpr (HasStale<TaskT>) stale = task.stale(from);
  const auto range = task.range(from);
  const lane_t size = i < n ? static_cast<lane_t>(range.size()) : 0;
  Dealt<typename View::Item> dealt;
  dealt.has = k < size;
  if (dealt.has) dealt.item = task.make(from, range[k]);
  dealt.has = dealt.has && !stale;
  dealt.more = size > lanes && !stale;
  out.note_stale(i < n && k == 0 && stale);
  out.note_run(i < n && k == 0 && !stale);
  return dealt;
}

/// One lane per item: looks up the ranges of the desk's first `n` items. Returns how many elements this lane's item has, 0 if it is stale.
/// @param counts  whether to count the items
template <Worker W, class View>
SHOAL_FN lane_t look_up_ranges(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n,
                               bool counts) {
  SHOAL_TIMED(w, out.own(), Section::split);
  const lane_t i = w.lane();
  lane_t size = 0;
  if (i < n) {
    const auto item = desk.item[i];
    const auto range = out.view().task.range(item);  // before live(), so that the loads of both are in flight together
    if (live(out, item, counts)) size = static_cast<lane_t>(range.size());
    desk.range[i] = range;
  }
  return size;
}

/// How many elements a turn has, and how many items have some of them.
struct Turn {
  lane_t elements, items;
};
/// Worker-collective: numbers the elements of a turn, and writes Desk::start.
/// @param some  how many elements of this lane's item the turn has; 0 on all lanes but the first `n`
template <Worker W, class View>
SHOAL_FN Turn begin_turn(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n, lane_t some) {
  SHOAL_TIMED(w, out.own(), Section::split);
  // Both sums packed into one: the elements, and the items that have some.
  constexpr lane_t kItem = BatchStart::kElements;
  static_assert(BatchStart::kMostItems <= ~lane_t{0} / kItem);
  const Scan scan = sum_of_first(w, n, some + (some > 0 ? kItem : 0));
  if (some > 0) desk.start[scan.before / kItem] = BatchStart::of(scan.before % kItem, w.lane());
  w.sync();
  return {scan.total % kItem, scan.total / kItem};
}

/// Worker-collective: balanced fan-out. Lane i looks up the range of item i; then the lanes share all elements, and search
/// together for the item to which each element belongs. The first turn has up to kHub elements of each range. Usually these are all;
/// the next turns have what is left of longer ranges. All turns run the same code, because pushing is most of a kernel's code.
///
/// In a short batch, warps first deal their lanes out to the items, and the general turns have what longer ranges have beyond that. As
/// long as such batches only make items that the worker keeps, they follow each other here, in a loop that is a hop on road networks.
/// @param next  a Taking::MoreBatches
/// @return how many items are on the desk that have not run
/// Source: Merrill et al., PPoPP 2012 (scan and search). Differs: short batches (docs/decisions/0082-short-batches-are-dealt.md).
template <Worker W, class View, class Next>
SHOAL_FN lane_t expand(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n, Next& next) {
  static_assert(ActsTogether<W> && W::kMaxLanes <= BatchStart::kMostItems && W::kMaxLanes <= kLongTurn);
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  const auto& task = out.view().task;
  bool dealt = false;   // whether the lanes were dealt out to the items
  lane_t size = 0;      // elements of this lane's range, if its item is to be run
  bool looked = false;  // whether they have been looked up
  lane_t first = 0;     // a turn has elements [first, first + most) of each range
  for (lane_t most = kHub;;) {
    Judged<Item> one;  // if at most one element for each lane is to be pushed
    lane_t elements = 0;
    bool more = true;  // whether other turns may follow
    if (kDeals<W, TaskT> && !dealt && n <= out.view().deals) {
      if constexpr (kDeals<W, TaskT>) {
        lane_t log_lanes;
        for (;;) {
          log_lanes = log2_up(w.size()) - log2_up(n);
          const Dealt<Item> of = deal(w, out, desk, n, log_lanes);
          [[maybe_unused]] WholeSlot<Item> found{};
          if constexpr (kHops<W, View>) found = next.peek();
          one = out.judge_one(w, of.has, of.item);
          more = of.more;
          if constexpr (kHops<W, View>) {
            if (next.may_follow() && out.keep_one(w, one, more, desk.item, n)) {
              n = next.take_beside(n, found);
              if (n == 0 || n > out.view().deals) return n;
              continue;
            }
          }
          break;
        }
        first = lane_t{1} << log_lanes;
        dealt = true;
        more = w.any(more);
      }
    } else {
      if (!looked) size = look_up_ranges(w, out, desk, n, /*counts=*/!dealt);
      looked = true;
      const lane_t some = size <= first ? 0 : size - first < most ? size - first : most;
      const Turn turn = begin_turn(w, out, desk, n, some);
      elements = turn.elements;
      lane_t low = 0;
      const auto make_at = [&](lane_t at, lane_t k, bool has) {
        const auto start = [&](lane_t j) { return desk.start[j].element(); };
        // A warp starts a new search for each of its few elements: keeping the last result would cost it more.
        const BatchStart from = desk.start[w.search(turn.items, at, !HasParts<W> || k == 0, low, start)];
        if (!kMakesFreely<TaskT> && !has) return Item{};
        return task.make(desk.item[from.item()], desk.range[from.item()][first + (at - from.element())]);
      };
      if constexpr (kSifts<W, TaskT>) {
        out.push_sifted(w, desk.sieve, elements, make_at);
      } else if constexpr (!kDeals<W, TaskT>) {
        out.template push_numbered</*kTogether=*/true>(w, lane_t{0}, elements, make_at);
      } else if (elements > w.size()) {
        out.template push_numbered</*kTogether=*/true, /*kMany=*/true>(w, lane_t{0}, elements, make_at);
      } else {
        if (elements == 0) return 0;
        const bool has = w.lane() < elements;
        one = out.judge_one(w, has, make_at(has ? w.lane() : elements - 1, 0, has));
      }
    }
    if constexpr (kDeals<W, TaskT>) {
      if (elements <= w.size()) out.finish_one(w, one);
      if (!more) return 0;
      if (!looked) continue;
    }
    if (elements < most) return 0;
    const bool has_more = size > first && size - first > most;
    if (!w.any(has_more)) return 0;
    first += most;
    most = kLongTurn / w.count_before(has_more).total;
    if (w.lane() == 0) out.beat();
  }
}

/// Worker-collective: runs those of the desk's first `n` items that are not stale, and maybe what they make the worker keep.
/// @param next  as expand() has it
/// @return how many items are on the desk that have not run
template <Worker W, class View, class Next>
SHOAL_FN lane_t run_batch(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n, Next& next) {
  using TaskT = typename View::Task;
  const TaskT& task = out.view().task;
  if constexpr (FanOutTask<TaskT> && W::kMaxLanes > 1) {
    n = expand(w, out, desk, n, next);
  } else {
    for (lane_t i = 0; i < n; ++i) {
      if (i > 0 && w.lane() == 0) out.beat();
      const auto item = desk.item[i];
      lane_t run = 0;
      if (w.lane() == 0) run = live(out, item);
      if (!w.from_leader(run)) continue;
      if constexpr (FanOutTask<TaskT>) {
        auto range = task.range(item);
        for (std::int64_t e = 0; e < range.size(); ++e) out.emit(w, true, task.make(item, range[e]));
      } else {
        task(w, item, out);
      }
    }
    n = 0;
  }
  w.sync();
  return n;
}

}  // namespace shoal
