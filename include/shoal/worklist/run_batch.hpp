// Runs a batch of accepted items. If the task has operator(), it runs one item after another. If it has range() and
// make(), all lanes share the elements of all items.
#pragma once
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

/// The desk: memory that the lanes of one worker share while they work on a batch.
template <class TaskT>
struct Desk {
  typename TaskT::Item* item = nullptr;  ///< [items]
  lane_t items = 0;                      ///< at least kMaxFetch for one lane, size() for several
  typename RangeOf<TaskT>::Type* range =
      nullptr;               ///< [size()] the range of each item, for tasks with range() on several lanes; else null
  lane_t* start = nullptr;   ///< [size()] likewise: the number of each item's first element
  BinTable* bins = nullptr;  ///< for tasks with priorities on several lanes; else null
};

/// One lane per item: whether the item is to be run; false if it is stale. Counts either case.
template <Worker W, class View>
SHOAL_FN bool live(Out<W, View>& out, const typename View::Item& item) {
  using TaskT = typename View::Task;
  bool stale = false;
  if constexpr (HasStale<TaskT>) stale = out.view().task.stale(item);
  out.note_stale(stale);
  out.note_run(!stale);
  return !stale;
}

/// The first elements of every range are shared by the lanes together; the rest of a range longer than this comes
/// afterwards, range by range.
inline constexpr lane_t kHub = 1u << 16;

/// Makes the item for element `e` of the batch, which belongs to the last item whose start is at most e.
template <class TaskT>
SHOAL_FN typename TaskT::Item batch_element(const TaskT& task, const Desk<TaskT>& desk, lane_t n, lane_t e) {
  lane_t low = 0, high = n;
  while (high - low > 1) {
    const lane_t middle = (low + high) / 2;
    if (desk.start[middle] <= e)
      low = middle;
    else
      high = middle;
  }
  return task.make(desk.item[low], desk.range[low][e - desk.start[low]]);
}

/// Balanced fan-out: lane i looks up the range of item i; then all lanes share all elements.
/// Source: Merrill et al., PPoPP 2012 (scan and search).
template <Worker W, class View>
SHOAL_FN void expand(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n) {
  const auto& task = out.view().task;
  const lane_t i = w.lane();
  lane_t size = 0;
  Scan scan;
  {
    SHOAL_TIMED(w, out.now(), Section::split);
    if (i < n) {
      const auto item = desk.item[i];
      const auto range = task.range(item);  // the loads of range() and of live() are in flight together
      if (live(out, item)) size = static_cast<lane_t>(range.size() < kHub ? range.size() : kHub);
      desk.range[i] = range;
    }
    scan = w.exclusive_sum(size);
    if (i < n) desk.start[i] = scan.before;
    w.sync();
  }
  out.push_numbered(w, 0, scan.total,
                    [&](std::int64_t e) { return batch_element(task, desk, n, static_cast<lane_t>(e)); });
  if (!w.any(size == kHub)) return;
  for (lane_t h = 0; h < n; ++h) {  // the rest of very long ranges, one after another
    const lane_t begin = desk.start[h], end = h + 1 < n ? desk.start[h + 1] : scan.total;
    if (end - begin != kHub) continue;
    if (w.lane() == 0) out.beat();
    const auto item = desk.item[h];
    const auto range = desk.range[h];
    out.push_numbered(w, kHub, range.size(), [&](std::int64_t e) { return task.make(item, range[e]); });
  }
}

/// Worker-collective: runs the desk's first `n` items, those that are not stale.
template <Worker W, class View>
SHOAL_FN void run_batch(const W& w, Out<W, View>& out, const Desk<typename View::Task>& desk, lane_t n) {
  using TaskT = typename View::Task;
  const TaskT& task = out.view().task;
  if constexpr (FanOutTask<TaskT> && W::kMaxLanes > 1) {
    expand(w, out, desk, n);
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
  }
  w.sync();
}

}  // namespace shoal
