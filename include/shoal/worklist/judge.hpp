// Judging: which of the items that a lane has pushed are accepted, and which of those for other PEs are to travel.
#pragma once
#include "shoal/worklist/view.hpp"

namespace shoal {

/// Whether a pusher that judges asks for its own items and others together, since nothing has to be asked before.
template <class W, class View, class TaskT = typename View::Task>
inline constexpr bool kJudgesAtOnce =
    AsksAt<TaskT> && !HasWorthSending<TaskT> && !HasWorthOfAnswer<TaskT> && !kAlone<View> && W::kMaxLanes > 1;

/// Looks at those of several items of each lane that `asks` names. Of the others the result says nothing.
template <class W, class TaskT, lane_t kSome>
SHOAL_FN void look_if_promising(const W& w, const TaskT& task, const bool (&asks)[kSome],
                                const typename TaskT::Item (&item)[kSome], bool (&promising)[kSome]) {
  if constexpr (LooksFirst<TaskT>) {
    decltype(task.look(true, item[0])) look[kSome];
    for (lane_t k = 0; k < kSome; ++k) look[k] = task.look(asks[k], item[k]);
    w.keep_in_flight();
    for (lane_t k = 0; k < kSome; ++k) promising[k] = task.promising(item[k], look[k]);
  } else {
    for (lane_t k = 0; k < kSome; ++k) {
      promising[k] = true;
      if constexpr (HasPromising<TaskT>) promising[k] = !asks[k] || task.promising(item[k]);
    }
  }
}

/// Counts the verdict on an item that was judged, if it was, and keeps it.
template <class Tally>
SHOAL_FN void count_verdict(Tally& tally, bool& judged, bool accepts) {
  tally.accepted += judged && accepts;
  tally.dropped += judged && !accepts;
  judged = judged && accepts;
}

/// Judges each lane's own items, and clears those that are refused. Of others' items that are to travel it asks whether they
/// are worth it, or, if that is not a question and the pusher judges, whether their owners accept them. All items of the
/// lane are asked for before the first answer is used.
/// @param promising  of `keep`: whether promising() has let it through
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
  } else {
    for (lane_t k = 0; k < kSome; ++k) count_verdict(tally, keep[k], keep[k] && task.accept(item[k]));
  }
  if constexpr (HasWorthSending<TaskT>) {
    for (lane_t k = 0; k < kSome; ++k) travels[k] = travels[k] && task.worth_sending(item[k]);
  }
}

/// Judges each lane's items that are to travel on their owners' data, and clears those that are refused. After judge_here,
/// because judging may change the owner's data.
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
