// Judging: decides which of the items that a lane has pushed are accepted, and which items for other PEs travel to them.
#pragma once
#include "shoal/worklist/changing.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Whether a pusher that judges (judge=remote) asks for its own items and for those of other PEs together. This is possible
/// only if the task has no worth_sending(), which would have to be asked before.
template <class W, class View, class TaskT = typename View::Task>
inline constexpr bool kJudgesAtOnce =
    AsksAt<TaskT> && !HasWorthSending<TaskT> && !HasWorthOfAnswer<TaskT> && !kAlone<View> && W::kMaxLanes > 1;

/// Whether a worker judges items apart from what follows, and deals with those for other PEs apart from this PE's own, out of line
/// (send_leaving), if it pushes one item per lane. Warps do so, as on road networks: in most batches none leaves, a vote on it is almost
/// free, and each hop is as short as on one PE.
template <class W, class View>
inline constexpr bool kJudgesApart = W::kMaxLanes > 1 && !HasParts<W> && !kJudgesAtOnce<W, View>;

/// Calls the task's promising() for those items of each lane for which `asks` is set. For the others the result has no meaning.
template <class W, class TaskT, lane_t kSome>
SHOAL_FN void look_if_promising(const W& w, const TaskT& task, const bool (&asks)[kSome],
                                const typename TaskT::Item (&item)[kSome], bool (&promising)[kSome]) {
  if constexpr (LooksTogether<TaskT> || LooksFirst<TaskT>) {
    typename LookOf<TaskT>::Type look[kSome];
    if constexpr (LooksTogether<TaskT>) {
      task.look(asks, item, look);
    } else {
      for (lane_t k = 0; k < kSome; ++k) look[k] = task.look(asks[k], item[k]);
    }
    w.keep_in_flight();
    for (lane_t k = 0; k < kSome; ++k) promising[k] = task.promising(item[k], look[k]);
  } else {
    for (lane_t k = 0; k < kSome; ++k) {
      promising[k] = true;
      if constexpr (HasPromising<TaskT>) promising[k] = !asks[k] || task.promising(item[k]);
    }
  }
}

/// Counts the verdict on an item, if it was judged. `judged` becomes whether the item was judged and accepted.
template <class Tally>
SHOAL_FN void count_verdict(Tally& tally, bool& judged, bool accepts) {
  tally.accepted += judged && accepts;
  tally.dropped += judged && !accepts;
  judged = judged && accepts;
}

/// Whether a worker fetches what it will load when it runs the items that it pushes now: if it may keep them (Queuing::keep), and pushes
/// one per lane.
template <class W, class TaskT, lane_t kSome>
inline constexpr bool kFetchesAhead = kKeepsItems<W, TaskT>&& FetchesAhead<TaskT>&& kSome == 1;

/// Judges the items that each lane keeps for this PE, and clears `keep` for those that are refused. For items that are to travel
/// to other PEs, it clears `travels` for those that are not worth sending; or, if kJudgesAtOnce holds and the pusher judges, for
/// those that their owners refuse. A lane asks for all of its items before it uses the first answer.
/// @param promising  for items with `keep`: the result of promising()
template <class W, class View, class Tally, lane_t kSome>
SHOAL_FN void judge_here(const W& w, const View& view, Tally& tally, const bool (&promising)[kSome],
                         bool (&keep)[kSome], bool (&travels)[kSome], const pe_t (&owner)[kSome],
                         const typename View::Item (&item)[kSome]) {
  using TaskT = typename View::Task;
  const TaskT& task = view.task;
  for (lane_t k = 0; k < kSome; ++k) {
    tally.dropped += keep[k] && !promising[k];
    keep[k] = keep[k] && promising[k];
  }
  if constexpr (AsksFirst<TaskT>) {
    [[maybe_unused]] typename PlaceOf<TaskT>::Type place{};
    if constexpr (kFetchesAhead<W, TaskT, kSome>) {
      place = task.locate(keep[0] && view.keeps > 0, item[0]);  // in flight together with what ask() loads
    }
    typename TaskT::Answer answer[kSome];
    bool at_once = false;
    if constexpr (kJudgesAtOnce<W, View>) {
      at_once = view.judge_remote;
      if (at_once) {
        for (lane_t k = 0; k < kSome; ++k) answer[k] = task.ask_at(keep[k] || travels[k], owner[k], item[k]);
      }
    }
    if (!at_once) {
      for (lane_t k = 0; k < kSome; ++k) {
        answer[k] = task.ask(keep[k] || (HasWorthOfAnswer<TaskT> && travels[k]), item[k]);
      }
    }
    w.keep_in_flight();
    for (lane_t k = 0; k < kSome; ++k) {
      const bool accepts = (keep[k] || (at_once && travels[k])) && task.accepts(item[k], answer[k]);
      if constexpr (HasWorthOfAnswer<TaskT>) travels[k] = travels[k] && task.worth_sending(item[k], answer[k]);
      count_verdict(tally, keep[k], accepts);
      if (at_once) count_verdict(tally, travels[k], accepts);
    }
    if constexpr (kFetchesAhead<W, TaskT, kSome>) task.prefetch(keep[0] && view.keeps > 0, item[0], place);
  } else {
    for (lane_t k = 0; k < kSome; ++k) count_verdict(tally, keep[k], keep[k] && task.accept(item[k]));
  }
  if constexpr (HasWorthSending<TaskT>) {
    for (lane_t k = 0; k < kSome; ++k) travels[k] = travels[k] && task.worth_sending(item[k]);
  }
}

/// Judges the items that are to travel, on their owners' data, and clears `travels` for those that are refused. To be called
/// after judge_here(), which may clear some of them, because judging may change the owner's data.
template <class W, class View, class Tally, lane_t kSome>
SHOAL_FN void judge_there(const W& w, const View& view, Tally& tally, bool (&travels)[kSome],
                          const typename View::Item (&item)[kSome]) {
  using TaskT = typename View::Task;
  const TaskT& task = view.task;
  if constexpr (AsksAt<TaskT>) {
    typename TaskT::Answer answer[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      answer[k] = task.ask_at(travels[k], owner_if(view, travels[k], item[k]), item[k]);
    }
    w.keep_in_flight();
    for (lane_t k = 0; k < kSome; ++k) {
      count_verdict(tally, travels[k], travels[k] && task.accepts(item[k], answer[k]));
    }
  } else {
    for (lane_t k = 0; k < kSome; ++k) {
      count_verdict(tally, travels[k], travels[k] && task.accept_at(task.owner(item[k]), item[k]));
    }
  }
}

}  // namespace shoal
