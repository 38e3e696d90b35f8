// Out: the object through which a worker pushes items. push, push_each and emit judge an item if this PE owns it, and
// otherwise send it to its owner.
#pragma once
#include "shoal/worklist/judging.hpp"
#include "shoal/worklist/sieve.hpp"

namespace shoal {

/// Where an item comes from that no item of a batch has pushed (Out::admit).
enum class Comes {
  seed,   ///< from outside: this PE may own it, or another one
  parked  ///< this PE accepted it before it was parked
};

/// One item of each lane that was pushed (Out::judge_one).
template <class Item>
struct Judged {
  Item item[1];
  bool keep[1];         ///< whether this PE has accepted it; or whether there is one, if it is judged later
  bool leaves = false;  ///< whether another PE owns it
};

/// A worker's means to push items. One object per lane.
template <Worker W, class View>
class Out : public Judging<W, View> {
  using Base = Judging<W, View>;
  using Base::append;
  using Base::dispatch;
  using Base::find_owners;
  using Base::judge;
  using Base::judge_mine;
  using Base::look_over;
  using Base::note;
  using Base::send;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  using Base::Base;
  using Base::beat;
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
  /// @tparam kMany  the caller knows that there is more than one element per lane
  /// @param make  number -> Item
  template <bool kTogether = false, bool kMany = false, class Number, class Make>
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
    if constexpr (!HasParts<W> && !kMany) {
      if (few(begin)) {
        if (begin < end) push_few(begin);
        return;
      }
    }
    for (Number base = begin; base < end;) {
      if constexpr (HasParts<W>) {
        if (few(base)) {
          push_few(base);
          return;
        }
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
    if constexpr (kLeavesApart<kSome>) {
      Judged<Item> one = judge_one(w, has[0], item[0]);
      finish_one(w, one);
      return;
    }
    pe_t owner[kSome];
    bool keep[kSome], travels[kSome];
    const bool several = view().n_pes > 1;
    if constexpr (kKnown == Known::own) {
      find_owners(has, item, owner, keep, travels);
    } else {
      PushCounts counts;
      this->template judge_own<kKnown>(w, has, item, owner, keep, travels, counts);
      add_to<W, /*kFew=*/true>(tally(), counts);
    }
    // Queues this PE's items before other PEs are asked about theirs, which takes long. If kQueuesAtGate, this happens below:
    // a kernel with two calls of append() would need more registers.
    if constexpr (!kQueuesAtGate) append(w, keep, item);
    // A PE that is alone has nobody to ask. Blocks keep this code nevertheless: without it they would be compiled differently from what was
    // measured.
    if constexpr (HasRemoteJudge<TaskT> && !(kAlone<View> && !HasParts<W>)&&!kJudgesAtOnce<W, View>) {
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
    if (!several) return;
    if constexpr (kQueuesAtGate) {
      // Asked again: to keep the owners up to here would take registers.
      for (lane_t k = 0; k < kSome; ++k) owner[k] = owner_if(view(), travels[k], item[k]);
    }
    send(w, travels, owner, item);
  }

  /// Worker-collective: emit() in two steps. The first one judges, as far as that is done apart from what follows (kJudgesApart).
  SHOAL_FN Judged<Item> judge_one(const W& w, bool has, const Item& item) {
    Judged<Item> one{{item}, {has}, false};
    if constexpr (kJudgesApart<W, View>) {
      PushCounts counts;
      one.leaves = judge_mine(w, has, one.item, one.keep, counts);
      add_to<W, /*kFew=*/true>(tally(), counts);
    }
    return one;
  }
  /// The second step: queues, parks or keeps what was accepted, and sends what leaves.
  SHOAL_FN void finish_one(const W& w, Judged<Item>& one) {
    if constexpr (!kJudgesApart<W, View>) {
      emit(w, one.keep[0], one.item[0]);
    } else {
      append(w, one.keep, one.item);
      if (view().n_pes == 1 || !w.any(one.leaves)) return;
      SHOAL_TIMED(w, own(), Section::send);
      const Sent sent = send_leaving(w, view(), now().list, this->index(), one.leaves, one.item[0]);
      note(sent.spilled);
      add_to<W, /*kFew=*/true>(tally(), sent.counts);
      if constexpr (HasCombine<TaskT>) {
        add_to<W>(tally().combined, sent.combined);
        now().holds = now().holds || sent.holds;
      }
    }
  }
  /// In place of the second step: writes what was accepted to items[0, n), for the worker's next batch. False, and nothing is done, if
  /// something else has to be done on some lane: if an item leaves or may be beyond the threshold, if there are more than a worker keeps,
  /// or if `besides` is set.
  SHOAL_FN bool keep_one(const W& w, const Judged<Item>& one, bool besides, Item* items, lane_t& n) {
    return this->keep_all(w, one.keep, one.item, besides || one.leaves, items, n);
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

  /// Worker-collective: queues, or sends, one item of each lane with `has` that no item of a batch has pushed. `how` is the same on
  /// every lane. For code that is rare: on GPUs a kernel has one copy, out of line, so it must not be called on the state that a worker
  /// keeps in registers (Scheduler::rarely).
  SHOAL_FN void admit(const W& w, Comes how, bool has, const Item& item) {
    if constexpr (W::kMaxLanes > 1) {
      admit_out_of_line(*this, w, how, has, item);
    } else {
      admit_here(w, how, has, item);
    }
  }

  SHOAL_FN void note_stale(bool stale) { add_to<W>(tally().stale, stale); }
  SHOAL_FN void note_run(bool run) { add_to<W>(tally().run, run); }
  SHOAL_FN void note_idle_call() { add_to<W>(tally().idle_calls, 1); }
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
  static SHOAL_OUT_OF_LINE SHOAL_FN void admit_out_of_line(Out& out, W w, Comes how, bool has, Item item) {
    out.admit_here(w, how, has, item);
  }
  /// Sends leaving items by send(), also where batches send by the gate or apart: seeds are mostly this PE's own.
  SHOAL_FN void admit_here(const W& w, Comes how, bool has, const Item& what) {
    const Item item[1] = {what};
    bool keep[1] = {has}, travels[1] = {false};
    if (how == Comes::seed) {
      pe_t owner[1];
      PushCounts counts;
      this->template judge_own<Known::nothing>(w, {has}, item, owner, keep, travels, counts);
      add_to<W, /*kFew=*/true>(tally(), counts);
    }
    append(w, keep, item);
    if (how == Comes::parked || view().n_pes == 1) return;
    if constexpr (HasRemoteJudge<TaskT> && !kJudgesAtOnce<W, View>) {
      if (view().judge_remote) {
        PushCounts counts;
        judge_there(w, view(), counts, travels, item);
        add_to<W, /*kFew=*/true>(tally(), counts);
      }
    }
    const pe_t owner[1] = {owner_if(view(), travels[0], what)};
    send(w, travels, owner, item);
  }
  /// Whether emit_some() judges apart from what follows. For a PE that is alone it need not.
  template <lane_t kSome>
  static constexpr bool kLeavesApart = kSome == 1 && kJudgesApart<W, View> && !kAlone<View>;

  /// What sift() finds out. If a task looks, one look at each item is quick, and few items are left to be judged. If it does not, own
  /// items are judged. Other PEs are asked later, unless one call asks for all items (kJudgesAtOnce): a part would wait for them in
  /// nearly every turn.
  static constexpr Known kSifted = HasPromising<TaskT> ? Known::promising : Known::own;

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
      this->template judge_own<Known::nothing>(w, has, item, owner, keep, travels, counts);
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

  static constexpr bool kCountsIn32Bits = std::is_same_v<LaneTally<W>, LaneCounters<std::uint32_t>>;
#if defined(SHOAL_SIMULATE)
  static constexpr lane_t kCountsMuch = 4;
#else
  /// Of one lane, which pushes at most as many again before the worker looks.
  static constexpr lane_t kCountsMuch = 1u << 31;
#endif
  /// Workers of several lanes: elements of a long range between two calls of beat(). This costs fewer registers than counting
  /// pushes. Shorter batches need no beat(), because the next batch changes a counter of a queue.
  static constexpr std::int64_t kElementsOfABeat = 1 << 16;
};

}  // namespace shoal
