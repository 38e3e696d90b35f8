// Judging: how a worker finds out, of the items that it pushes or receives, which this PE keeps and which travel to other PEs. The task's
// functions are called in judge.hpp.
#pragma once
#include "shoal/worklist/judge.hpp"
#include "shoal/worklist/sending.hpp"

namespace shoal {

/// What is known of items that are pushed: nothing yet; that they are promising; or also the verdict on those that this PE owns, and
/// that the others are worth sending.
enum class Known { nothing, promising, own };

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

  /// Whether a worker votes on whether any item leaves this PE. If none does, as in most batches on road networks, it skips all that
  /// concerns other PEs. Only warps, for which a vote is almost free, with one item per lane: most batches with more send something.
  template <lane_t kSome>
  static constexpr bool kAsksWhetherLeaves = W::kMaxLanes > 1 && !HasParts<W> && kSome == 1 && !kAlone<View>;

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
  /// The same. False if it is certain that no lane has an item for another PE.
  template <lane_t kSome>
  SHOAL_FN bool find_owners(const W& w, const bool (&has)[kSome], const Item (&item)[kSome], pe_t (&owner)[kSome],
                            bool (&keep)[kSome], bool (&travels)[kSome]) {
    if constexpr (!kAsksWhetherLeaves<kSome>) {
      find_owners(has, item, owner, keep, travels);
      return view().n_pes > 1;
    } else if constexpr (!HasOwns<TaskT>) {
      find_owners(has, item, owner, keep, travels);
      return w.any(any_of(travels));
    } else {
      bool leaves[kSome], mine[kSome];
      for (lane_t k = 0; k < kSome; ++k) {
        owner[k] = view().me;
        keep[k] = has[k] && (view().n_pes == 1 || view().task.owns(view().me, item[k]));
        leaves[k] = has[k] && !keep[k];
        travels[k] = false;
      }
      if (!w.any(any_of(leaves))) return false;
      find_owners(leaves, item, owner, mine, travels);
      for (lane_t k = 0; k < kSome; ++k) keep[k] = keep[k] || mine[k];
      return true;
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
  /// what is accepted, and for what is to travel. False if it is certain that no lane has an item for another PE.
  template <Known kKnown, lane_t kSome>
  SHOAL_FN bool judge_own(const W& w, const bool (&has)[kSome], const Item (&item)[kSome], pe_t (&owner)[kSome],
                          bool (&keep)[kSome], bool (&travels)[kSome], PushCounts& counts) {
    bool leaves[kSome], promising[kSome];
    const bool may_leave = find_owners(w, has, item, owner, keep, leaves);
    counts.pushed += number_of(has);
    if (W::kMaxLanes == 1 && (tally().pushed + counts.pushed) % kPushesOfABeat == 0) {
      beat();
      carry_meanwhile(w);
    }
    SHOAL_TIMED(w, own(), Section::judge);
    if constexpr (kKnown == Known::promising) {
      for (lane_t k = 0; k < kSome; ++k) promising[k] = true;
    } else {
      look_at(w, may_leave, keep, leaves, item, promising);
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
    return may_leave;
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
