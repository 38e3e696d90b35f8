// Out: the object through which a worker pushes items. push, push_each and emit judge an item if this PE owns it, and
// otherwise send it to its owner.
#pragma once
#include "shoal/worklist/judge.hpp"
#include "shoal/worklist/sending.hpp"
#include "shoal/worklist/sieve.hpp"
#if !defined(SHOAL_SIMULATE) || defined(SHOAL_SIMULATE_WIRES)
#include "shoal/worklist/wires.hpp"
#endif

namespace shoal {

/// Whether this kind of worker can call code that only the host has (wires, traces).
#if defined(SHOAL_SIMULATE_WIRES)
template <class W>
inline constexpr bool kMayCarry = std::is_base_of_v<CpuThread, W>;
#elif defined(SHOAL_SIMULATE) || defined(__CUDA_ARCH__)
template <class W>
inline constexpr bool kMayCarry = false;
#else
template <class W>
inline constexpr bool kMayCarry = std::is_same_v<W, CpuThread>;
#endif

/// What is known of items that are pushed: nothing yet; that they are promising; or also the verdict on those that this PE owns, and
/// that the others are worth sending.
enum class Known { nothing, promising, own };

/// A worker's means to push items. One object per lane.
template <Worker W, class View>
class Out : public Sending<W, View> {
  using Base = Sending<W, View>;
  using Base::append;
  using Base::dispatch;
  using Base::send;
  using Base::send_off;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  using Base::Base;
  using Base::index;
  using Base::kGathers;
  using Base::kQueuesAtGate;
  using Base::now;
  using Base::own;
  using Base::tally;
  using Base::view;

  /// Worker-collective: pushes one item, the leader's copy of `item` (every lane passes the same).
  SHOAL_FN void push(const W& w, const Item& item) { emit(w, w.lane() == 0, item); }

  /// Worker-collective: pushes make(e) for each element e of `range`.
  /// @param range  any number of elements, or none; the same on every lane
  /// @param make   element -> Item; runs once per element, on one lane; must not call a collective
  template <class Range, class Make>
  SHOAL_FN void push_each(const W& w, Range range, Make make) {
    push_numbered(w, std::int64_t{0}, static_cast<std::int64_t>(range.size()),
                  [&](std::int64_t i) { return make(range[i]); });
  }

  /// Worker-collective: pushes make(i) for each i in [begin, end), in turns of kOffers elements per lane. If there is at most
  /// one element per lane, a shorter path handles them: on road networks a batch has about a dozen elements. A block also takes
  /// this path for the elements that are left after full turns, because a turn costs a block more. Other workers check for it
  /// only at the beginning, since a warp's short batch is short from the start.
  /// @tparam kTogether  true: all lanes call make at the same time: make(i, k, true) for a lane's k-th element, or
  ///   make(end - 1, k, false) if it has none. So make may call what the lanes of a warp do together (ActsTogether). The k-th
  ///   elements of a warp's lanes are consecutive, and come before the lanes' next elements
  /// @param make  number -> Item
  template <bool kTogether = false, class Number, class Make>
  SHOAL_FN void push_numbered(const W& w, Number begin, Number end, Make make) {
    const auto make_at = [&](Number i, [[maybe_unused]] lane_t k) {
      if constexpr (kTogether) {
        return make(i < end ? i : end - 1, k, i < end);
      } else {
        return i < end ? make(i) : Item{};
      }
    };
    const auto few = [&](Number base) { return W::kOffers > 1 && end - base <= w.size(); };
    const auto push_few = [&](Number base) {
      const Number i = base + w.lane();
      emit(w, i < end, make_at(i, 0));
    };
    if (!HasParts<W> && few(begin)) {
      if (begin < end) push_few(begin);
      return;
    }
    for (Number base = begin; base < end;) {
      if (HasParts<W> && few(base)) {
        push_few(base);
        return;
      }
      bool has[W::kOffers];
      Item item[W::kOffers];
      {
        SHOAL_TIMED(w, own(), Section::make);
        for (lane_t k = 0; k < W::kOffers; ++k) {
          const Number i = base + element_of<kTogether>(w, k);
          has[k] = i < end;
          item[k] = make_at(i, k);
        }
        w.keep_in_flight();
      }
      emit_some(w, has, item);
      const Number turn = W::kOffers * w.size();
      base += turn;
      if (W::kMaxLanes > 1 && base % kElementsOfABeat < turn && w.lane() == 0) beat();
    }
  }

  /// push_numbered<true>() of the elements [0, end), for workers that sift (kSifts). The parts of the worker make items, and refuse
  /// what they can refuse, without waiting for one another. The worker meets when more than one item per lane is left in the sieve, or
  /// at the end, and pushes one for each lane at a time. A collective must follow before the next call.
  template <class Make>
  SHOAL_FN void push_sifted(const W& w, const Sieve<Item>& sieve, lane_t end, Make make) {
    const lane_t part = w.lane() / W::kSearchers, parts = w.size() / W::kSearchers;
    // If there are few elements, all parts take some.
    const lane_t most = W::kOffers * W::kSearchers, even = (end / w.size() + 1) * W::kSearchers;
    const lane_t turn = even < most ? even : most;
    lane_t at = part * turn;
    for (bool more = true; more;) {
      PushCounts counts;
      for (lane_t in_sieve = 0; at < end && in_sieve <= w.size();) {
        const lane_t stop = end - at < turn ? end : at + turn;
        in_sieve = sift(w, sieve, at, stop, end, counts, make);
        at += parts * turn;
        if (w.lane() == 0 && at % kElementsOfABeat < parts * turn) beat();
      }
      add_to<W, /*kFew=*/false>(tally(), counts);
      more = w.any(at < end);
      lane_t n = *sieve.count;
      const bool pushes = n > 0;
      while (n > w.size() || (!more && n > 0)) {
        const lane_t some = n < w.size() ? n : w.size();
        n -= some;
        const bool has = w.lane() < some;
        emit_some<1, kSifted>(w, {has}, {has ? plain_read(sieve.item[n + w.lane()]) : Item{}});
      }
      if (pushes && w.lane() == 0)
        *sieve.count = n;  // emit_some() contains a collective: all lanes have read the count
      if (more) w.sync();
    }
  }

  /// Worker-collective: each lane with `has` pushes its own item. Every item is counted as created before another worker
  /// can see it.
  SHOAL_FN void emit(const W& w, bool has, const Item& item) { emit_some(w, {has}, {item}); }

  /// emit() for several items of each lane. Their loads are in flight together, and one reservation serves all of them.
  template <lane_t kSome, Known kKnown = Known::nothing>
  SHOAL_FN void emit_some(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    pe_t owner[kSome];
    bool keep[kSome], travels[kSome];
    bool may_leave = view().n_pes > 1;
    if constexpr (kKnown == Known::own) {
      find_owners(has, item, owner, keep, travels);
    } else {
      PushCounts counts;
      may_leave = judge_own<kKnown>(w, has, item, owner, keep, travels, counts);
      add_to<W, /*kFew=*/true>(tally(), counts);
    }
    // Queues this PE's items before other PEs are asked about theirs, which takes long. If kQueuesAtGate, this happens below:
    // a kernel with two calls of append() would need more registers.
    if constexpr (!kQueuesAtGate) append(w, keep, item);
    if constexpr (kAsksWhetherLeaves<kSome>) {
      if (!may_leave) return;
    }
    if constexpr (HasRemoteJudge<TaskT> && !kJudgesAtOnce<W, View>) {
      if (view().judge_remote) {
        SHOAL_TIMED(w, own(), Section::judge_at);
        PushCounts counts;
        judge_there(w, view(), counts, travels, item);
        add_to<W, /*kFew=*/true>(tally(), counts);
      }
    }
    if constexpr (kSendsWhole<W, View>) {
      if (view().n_pes > 1 && view().held == nullptr && !view().segments.on) {
        for (bool& one : keep) one = one && kQueuesAtGate;  // otherwise append() has queued or parked it
        dispatch(w, keep, travels, item);
        return;
      }
      if constexpr (kQueuesAtGate) append(w, keep, item);
    }
    if (!may_leave) return;
    if constexpr (kQueuesAtGate) {
      // Asked again: to keep the owners up to here would take registers.
      for (lane_t k = 0; k < kSome; ++k) owner[k] = owner_if(view(), travels[k], item[k]);
    }
    send(w, travels, owner, item);
  }

  /// Worker-collective: judges items that have arrived for this PE, unless their pushers have judged them, and queues
  /// the accepted ones.
  /// @param items  [n] shared by the lanes
  SHOAL_FN void take_in(const W& w, const Item* items, lane_t n) {
    for (lane_t base = 0; base < n; base += w.size()) {
      const lane_t i = base + w.lane();
      bool keep[1] = {i < n};
      const Item item[1] = {keep[0] ? items[i] : Item{}};
      judge(w, keep, item);
      append(w, keep, item);
    }
  }

  /// Carries what waits to go to other processes, if a carrying turn is due (Wires::is_due) and no other worker has it.
  /// @param works  this worker has other work as well
  SHOAL_FN void carry([[maybe_unused]] bool works) {
    if constexpr (kMayCarry<W> && kGathers) {
      if (view().wires == nullptr) return;
      now().carried_at = tally().pushed;
      if (view().wires->is_due(works)) view().wires->carry();
    }
  }
  SHOAL_FN void note_stale(bool stale) { add_to<W>(tally().stale, stale); }
  SHOAL_FN void note_run(bool run) { add_to<W>(tally().run, run); }
  SHOAL_FN void note_idle_call() { add_to<W>(tally().idle_calls, 1); }
  /// One lane: shows the watchdog that its worker makes progress. The queues' counters do not show it while all of the
  /// worker's pushes are refused, while it runs the items of one batch, or while it runs items from its own spill. Not done
  /// in every push: a store for each batch would be one more word to which all workers of a PE write.
  SHOAL_FN void beat() const {
    if constexpr (HasIdle<TaskT>) {
      if (now().muted) return;
    }
    view().here().beat[index() % kBeats].fetch_add(1);
  }
  /// Turns beat() off while idle() runs. Pushes of idle() are no sign of progress: idle() may push for ever, and all of its
  /// items may be refused.
  SHOAL_FN void mute(bool muted) { now().muted = muted; }
  /// How many items this lane has pushed so far.
  SHOAL_FN auto pushed() const { return tally().pushed; }
  SHOAL_FN void note_waiting(ticket_t n) {
    if (n > tally().peak_ring) tally().peak_ring = static_cast<decltype(tally().peak_ring)>(n);
  }

  /// Worker-collective: whether a count of 32 bits may soon be full.
  SHOAL_FN bool counts_much(const W& w) const {
    if constexpr (kCountsIn32Bits) {
      return w.any(tally().pushed >= kCountsMuch);
    } else {
      return false;
    }
  }
  /// Worker-collective: adds this worker's counts of 32 bits to those of the PE, and begins anew.
  SHOAL_FN void report_counts(const W& w) {
    if constexpr (kCountsIn32Bits) {
      add_up(w, tally(), view().here());
      tally() = {};
    }
  }
  /// Worker-collective, the last call: adds this worker's counts to those of the PE, and returns its credits.
  SHOAL_FN void leave(const W& w) {
    if (w.lane() == 0) view().ring.release(now().credit);
#if defined(SHOAL_CLOCKS)
    if (w.lane() % 32 == 0) add_clocks(own().clocks, view().here().clocks);
#endif
    add_up(w, tally(), view().here());
  }

 private:
  /// What sift() finds out. If a task looks, one look at each item is quick, and few items are left to be judged. If it does not, own
  /// items are judged. Other PEs are asked later, unless one call asks for all items (kJudgesAtOnce): a part would wait for them in
  /// nearly every turn.
  static constexpr Known kSifted = HasPromising<TaskT> ? Known::promising : Known::own;

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

  /// One turn of a part: makes the items of the elements from `at` to before `stop`, refuses what it can, and puts the others into the
  /// sieve. Returns how many items are there then.
  /// @param end  of the elements of all parts
  template <class Make>
  SHOAL_FN lane_t sift(const W& w, const Sieve<Item>& sieve, lane_t at, lane_t stop, lane_t end, PushCounts& counts,
                       const Make& make) {
    Item item[W::kOffers];
    bool has[W::kOffers], passes[W::kOffers];
    {
      SHOAL_TIMED(w, own(), Section::make);
      for (lane_t k = 0; k < W::kOffers; ++k) {
        const lane_t i = at + k * W::kSearchers + w.lane() % W::kSearchers;
        has[k] = i < stop;
        item[k] = make(i < end ? i : end - 1, k, has[k]);
      }
      w.keep_in_flight();
    }
    if constexpr (kSifted == Known::own) {
      pe_t owner[W::kOffers];
      bool keep[W::kOffers], travels[W::kOffers];
      judge_own<Known::nothing>(w, has, item, owner, keep, travels, counts);
      for (lane_t k = 0; k < W::kOffers; ++k) passes[k] = keep[k] || travels[k];
    } else {
      look_over(w, has, item, passes, counts);
    }
    const Scan places = typename W::Part().take_places(sieve.count, number_of(passes));
    lane_t place = places.before;
    for (lane_t k = 0; k < W::kOffers; ++k) {
      if (passes[k]) plain_write(sieve.item[place], item[k]);
      place += passes[k];
    }
    return places.total;
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

  /// Whether a worker votes on whether any item leaves this PE. If none does, as in most batches on road networks, it skips all that
  /// concerns other PEs. Only warps, for which a vote is almost free, with one item per lane: most batches with more send something.
  template <lane_t kSome>
  static constexpr bool kAsksWhetherLeaves = W::kMaxLanes > 1 && !HasParts<W> && kSome == 1 && !kAlone<View>;
  /// Blocks always look: they refuse most items by it. CPU threads look as well, as the data is in their cache then.
  static constexpr bool kMayNotLook = W::kHoldsTickets && !HasParts<W>;

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
  /// The position of a lane's k-th element among those that are pushed in one turn (push_numbered).
  template <bool kTogether>
  SHOAL_FN static lane_t element_of(const W& w, lane_t k) {
    if constexpr (kTogether) {
      const lane_t part = w.lane() / W::kSearchers;
      return (part * W::kOffers + k) * W::kSearchers + w.lane() % W::kSearchers;
    } else {
      return k * w.size() + w.lane();
    }
  }

  /// Carries what waits to go to other processes in the middle of a long batch. The items of one batch may have a tenth of a
  /// graph's arcs, and the other processes would wait until all of them are pushed.
  SHOAL_FN void carry_meanwhile([[maybe_unused]] const W& w) {
    if constexpr (kMayCarry<W> && kGathers) {
      if (view().wires == nullptr || tally().pushed - now().carried_at < kPushesOfACarry) return;
      send_off(w);
      carry(/*works=*/true);
    }
  }

  static constexpr bool kCountsIn32Bits = std::is_same_v<LaneTally<W>, LaneCounters<std::uint32_t>>;
#if defined(SHOAL_SIMULATE)
  static constexpr lane_t kCountsMuch = 4;
#else
  /// Of one lane, which pushes at most as many again before the worker looks.
  static constexpr lane_t kCountsMuch = 1u << 31;
#endif
#if defined(SHOAL_SIMULATE_WIRES)
  static constexpr lane_t kPushesOfABeat = 2, kPushesOfACarry = 4;  // a simulation's batches are short
#else
  static constexpr lane_t kPushesOfABeat = 256;  ///< one-lane workers: pushes between two calls of beat()
  /// Pushes between two turns of carrying: about two batches on a graph with long rows.
  static constexpr lane_t kPushesOfACarry = 1024;
#endif
  /// Workers of several lanes: elements of a long range between two calls of beat(). This costs fewer registers than counting
  /// pushes. Shorter batches need no beat(), because the next batch changes a counter of a queue.
  static constexpr std::int64_t kElementsOfABeat = 1 << 16;
};

}  // namespace shoal
