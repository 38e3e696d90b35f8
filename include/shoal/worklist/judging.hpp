// Judging: how a worker finds out, of the items that it pushes or receives, which this PE keeps and which travel to other PEs. The task's
// functions are called in judge.hpp.
#pragma once
#include "shoal/worklist/judge.hpp"
#include "shoal/worklist/sending.hpp"

namespace shoal {

/// What is known of items that are pushed: nothing yet; that they are promising; or also the verdict on those that this PE owns, and
/// that the others are worth sending.
enum class Known { nothing, promising, own };

/// What send_leaving() did: on each lane, what it counted.
struct Sent {
  Spilled spilled;
  PushCounts counts;
  lane_t combined = 0;
  bool holds = false;  ///< whether the worker's table may hold items now
};
/// Worker-collective: each lane with `leaves` has pushed an item that another PE owns. Sends those that are worth sending and, if pushers
/// judge, that their owners would accept. Out of line on GPUs.
/// @param index  this worker's number
template <Worker W, class View>
SHOAL_OUT_OF_LINE SHOAL_FN Sent send_leaving(W w, const View& view, SpillList list, lane_t index, bool leaves,
                                             typename View::Item what) {
  using TaskT = typename View::Task;
  Sent sent{{list, 0}, {}, 0, false};
  const typename View::Item item[1] = {what};
  const pe_t owner[1] = {leaves ? view.task.owner(what) : view.me};
  bool keep[1] = {false}, promising[1] = {true}, travels[1] = {leaves && view.is_pe(owner[0]) && owner[0] != view.me};
  if (leaves && !travels[0]) view.refuse_owner(owner[0]);
  if constexpr (KnowsOthers<TaskT>) {
    look_if_promising(w, view.task, travels, item, promising);
    sent.counts.dropped += travels[0] && !promising[0];
    travels[0] = travels[0] && promising[0];
  }
  const bool before = travels[0];
  judge_here(w, view, sent.counts, promising, keep, travels, owner, item);
  sent.counts.withheld += before != travels[0];
  if constexpr (HasRemoteJudge<TaskT>) {
    if (view.judge_remote) judge_there(w, view, sent.counts, travels, item);
  }
  if (!w.any(travels[0])) return sent;
  Parcel<typename View::Item, 1> parcel{{what}, {owner[0]}, {travels[0]}};
  if constexpr (HasCombine<TaskT>) {
    if (view.held != nullptr) {
      sent.holds = true;
      sent.combined = hold_back(w, view.task, held_by(view, index), parcel.has[0], parcel.item[0]);
      parcel.owner[0] = owner_if(view, parcel.has[0], parcel.item[0]);
    }
  }
  sent.spilled = send_parcel(w, view, list, index, parcel);
  return sent;
}

/// The part of Out that judges. One object per lane.
template <Worker W, class View>
class Judging : public Sending<W, View> {
  using Base = Sending<W, View>;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  using Base::Base;
  using Base::beat;
  using Base::now;
  using Base::own;
  using Base::tally;
  using Base::view;

 protected:
  using Base::carry_meanwhile;

  /// The owner of each item with `has`; whether it is this PE (`keep`), or another (`travels`). An owner that is no PE ends the run.
  template <lane_t kSome>
  SHOAL_FN void find_owners(const bool (&has)[kSome], const Item (&item)[kSome], pe_t (&owner)[kSome],
                            bool (&keep)[kSome], bool (&travels)[kSome]) {
    bool astray = false;
    for (lane_t k = 0; k < kSome; ++k) {
      owner[k] = has[k] && view().n_pes > 1 ? view().task.owner(item[k]) : view().me;
      keep[k] = has[k] && owner[k] == view().me;
      travels[k] = has[k] && !keep[k];
      if (travels[k] && !view().is_pe(owner[k])) {
        astray = true;
        travels[k] = false;
      }
    }
    if (astray) {
      view().refuse(owner);
      for (pe_t& one : owner) one = view().is_pe(one) ? one : view().me;
    }
  }
  /// Asks promising() about items of this PE (`keep`), if the run does so (LaunchPlan::looks), and about those of others (`leaves`), if
  /// the task may be asked. `may_leave` is false if it is certain that no lane has one of these.
  template <lane_t kSome>
  SHOAL_FN void look_at(const W& w, bool may_leave, const bool (&keep)[kSome], const bool (&leaves)[kSome],
                        const Item (&item)[kSome], bool (&promising)[kSome]) {
    const bool own = !kMayNotLook || view().looks;
    if (!own && !may_leave) {
      for (bool& one : promising) one = true;
      return;
    }
    bool asks[kSome];
    for (lane_t k = 0; k < kSome; ++k) asks[k] = (own && keep[k]) || (KnowsOthers<TaskT> && leaves[k]);
    look_if_promising(w, view().task, asks, item, promising);
    for (lane_t k = 0; k < kSome; ++k) promising[k] = promising[k] || (!own && keep[k]);
  }
  /// Judges pushed items that this PE owns, and finds those for other PEs that are worth sending. `keep` and `travels` become true for
  /// what is accepted, and for what is to travel.
  template <Known kKnown, lane_t kSome>
  SHOAL_FN void judge_own(const W& w, const bool (&has)[kSome], const Item (&item)[kSome], pe_t (&owner)[kSome],
                          bool (&keep)[kSome], bool (&travels)[kSome], PushCounts& counts) {
    bool leaves[kSome], promising[kSome];
    find_owners(has, item, owner, keep, leaves);
    counts.pushed += number_of(has);
    if (W::kMaxLanes == 1 && (tally().pushed + counts.pushed) % kPushesOfABeat == 0) {
      beat();
      carry_meanwhile(w);
    }
    SHOAL_TIMED(w, own(), Section::judge);
    if constexpr (kKnown == Known::promising) {
      for (lane_t k = 0; k < kSome; ++k) promising[k] = true;
    } else {
      look_at(w, view().n_pes > 1, keep, leaves, item, promising);
    }
    for (lane_t k = 0; k < kSome; ++k) travels[k] = leaves[k] && (promising[k] || !KnowsOthers<TaskT>);
    if constexpr (KnowsOthers<TaskT>) {
      for (lane_t k = 0; k < kSome; ++k) {
        counts.dropped += leaves[k] && !travels[k];
        leaves[k] = travels[k];
      }
    }
    judge_here(w, view(), counts, promising, keep, travels, owner, item);
    if constexpr (!kJudgesAtOnce<W, View>) {
      if (view().n_pes > 1) {
        for (lane_t k = 0; k < kSome; ++k) counts.withheld += leaves[k] != travels[k];
      }
    }
  }
  /// Judges one pushed item of each lane if this PE owns it: `keep` becomes true for what is accepted. Returns whether another PE owns it.
  SHOAL_FN bool judge_mine(const W& w, bool has, const Item (&item)[1], bool (&keep)[1], PushCounts& counts) {
    SHOAL_TIMED(w, own(), Section::judge);
    keep[0] = has && (view().n_pes == 1 || owns(item[0]));
    const bool leaves = has && !keep[0];
    counts.pushed += has;
    bool promising[1], none[1] = {false};
    const pe_t me[1] = {view().me};
    look_at(w, /*may_leave=*/false, keep, none, item, promising);
    judge_here(w, view(), counts, promising, keep, none, me, item);
    return leaves;
  }
  /// Finds the items that are promising, or that this PE must not look at. Counts the others as refused. Owners are not computed if the
  /// task may look at all items: a warp spends most of its time here, and has no registers for four owners and what follows from them.
  template <lane_t kSome>
  SHOAL_FN void look_over(const W& w, const bool (&has)[kSome], const Item (&item)[kSome], bool (&passes)[kSome],
                          PushCounts& counts) {
    SHOAL_TIMED(w, own(), Section::judge);
    bool asks[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      const bool theirs = !KnowsOthers<TaskT> && owner_if(view(), has[k] && view().n_pes > 1, item[k]) != view().me;
      asks[k] = has[k] && !theirs;
    }
    look_if_promising(w, view().task, asks, item, passes);
    for (lane_t k = 0; k < kSome; ++k) {
      passes[k] = has[k] && (passes[k] || !asks[k]);
      const bool refused = has[k] && !passes[k];
      counts.pushed += refused;
      counts.dropped += refused;
    }
  }

  SHOAL_FN bool owns(const Item& item) const {
    if constexpr (HasOwns<TaskT>) {
      return view().task.owns(view().me, item);
    } else {
      return view().task.owner(item) == view().me;
    }
  }

  /// Judges each lane's items with `has`, and clears it for those that are refused.
  template <lane_t kSome>
  SHOAL_FN void judge(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    if constexpr (HasRemoteJudge<TaskT>) {
      if (view().judge_remote) return;
    }
    bool promising[kSome];
    bool none[kSome] = {};
    // All of these loads are in flight before the first atomic.
    look_at(w, /*may_leave=*/false, has, none, item, promising);
    pe_t me[kSome];
    for (pe_t& one : me) one = view().me;
    PushCounts counts;
    judge_here(w, view(), counts, promising, has, none, me, item);
    add_to<W, /*kFew=*/true>(tally(), counts);
  }

 private:
  /// Blocks always look: they refuse most items by it. CPU threads look as well, as the data is in their cache then.
  static constexpr bool kMayNotLook = W::kHoldsTickets && !HasParts<W>;
#if defined(SHOAL_SIMULATE_WIRES)
  static constexpr lane_t kPushesOfABeat = 2;  // a simulation's batches are short
#else
  static constexpr lane_t kPushesOfABeat = 256;  ///< one-lane workers: pushes between two calls of beat()
#endif
};

}  // namespace shoal
