// Out: what a worker pushes with. push, push_each and emit judge an item if this PE owns it, and otherwise send it to
// its owner.
//
// The kinds of workers differ in how an accepted item gets into the ring:
//
// | worker            | one reservation serves       | if a reserved slot is not empty yet (place())                  |
// |-------------------|------------------------------|----------------------------------------------------------------|
// | CpuThread         | kBuffer items: flush()       | the thread waits                                               |
// | GpuThread         | the same                     | the slot is owed (settle()): its popper may be in the same warp|
// | GpuWarp, GpuBlock | kOffers per lane: append()   | the lanes wait, and empty the slots for which they hold tickets|
//
// Items that find no free slot, and items for other PEs, go through parcel.hpp. On GPUs that code is out of line, and
// what it changes goes there and back by value: as long as nothing takes the address of a worker's state, the code that
// runs all the time keeps the state in registers (Scheduler::rarely).
#pragma once
#include "shoal/worklist/changing.hpp"
#include "shoal/worklist/gate.hpp"
#include "shoal/worklist/judge.hpp"
#include "shoal/worklist/parcel.hpp"
#include "shoal/worklist/parking.hpp"
#include "shoal/worklist/view.hpp"
#if !defined(SHOAL_SIMULATE) || defined(SHOAL_SIMULATE_WIRES)
#include "shoal/worklist/wires.hpp"
#endif

namespace shoal {

/// Whether this kind of worker can call what only the host has.
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

/// What a worker pushes with, and all of its state that changes (changing.hpp). One object per lane.
template <Worker W, class View>
class Out {
 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  static constexpr bool kOwes = W::kHoldsTickets && W::kMaxLanes == 1;    ///< see place()
  static constexpr bool kGathers = W::kMaxLanes == 1 && !kAlone<View>;    ///< see send_off()
  static constexpr bool kSorts = W::kMaxLanes > 1 && HasPriority<TaskT>;  ///< whether it uses a BinTable
  static constexpr bool kPacks = kPacksItems<W, TaskT>;                   ///< see append_packed()
  static constexpr bool kDispatches = kSendsWhole<W, View>;               ///< see dispatch()

  /// `view` outlives this object (a kernel's __grid_constant__ parameter, or the run's own copy).
  /// @param index  this worker's number on its PE
  /// @param bins   shared by the lanes, if kSorts
  /// @param pack   [w.size()] likewise, if kPacks
  /// @param gate   likewise, if kDispatches
  SHOAL_FN Out(const View& view, SpillList list, lane_t index, BinTable* bins, Item* pack, Gate* gate)
      : view_at_(&view), bins_(bins), pack_(pack), gate_(gate), index_(index) {
    now_.list = list;
    if constexpr (kPhased<TaskT>) now_.phase = view.seen[index];
  }

  /// Worker-collective: pushes one item, made by the leader's copy of `item` (every lane passes the same).
  SHOAL_FN void push(const W& w, const Item& item) { emit(w, w.lane() == 0, item); }

  /// Worker-collective: pushes make(e) for each element e of `range`.
  /// @param range  [0, 2^31) elements; may be empty; the same on every lane
  /// @param make   element -> Item; runs once per element, on one lane; must not call a collective
  template <class Range, class Make>
  SHOAL_FN void push_each(const W& w, Range range, Make make) {
    push_numbered(w, std::int64_t{0}, static_cast<std::int64_t>(range.size()),
                  [&](std::int64_t i) { return make(range[i]); });
  }

  /// Worker-collective: pushes make(i) for each i in [begin, end), kOffers of each lane at a time. Few elements, at most one
  /// for each lane, take a shorter path: the batches of a road have a dozen elements. What is left after full turns takes it
  /// only in blocks, where a turn costs more; a warp's batch is short from the beginning, and looks only there.
  /// @tparam kTogether  true: all lanes call make(i, k, true) at the same time, each for its k-th element, and those that have
  ///   none make(end - 1, k, false). It may call what the lanes of a warp do together (ActsTogether): their elements lie side
  ///   by side, and the k-th ones of all lanes before the next ones
  /// @tparam kMany  true: as a rule there are many elements, so there is no shorter path, which would be one more copy of all
  ///   that follows from a push
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
    const auto few = [&](Number base) { return !kMany && W::kOffers > 1 && end - base <= w.size(); };
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
        SHOAL_TIMED(w, now_, Section::make);
        for (lane_t k = 0; k < W::kOffers; ++k) {
          const Number i = base + element_of<kTogether>(w, k);
          has[k] = i < end;
          item[k] = make_at(i, k);
        }
        w.keep_in_flight();
      }
      emit_some(w, has, item);
      base += W::kOffers * w.size();
      if (W::kMaxLanes > 1 && base % kElementsOfABeat == 0 && w.lane() == 0) beat();
    }
  }

  /// Worker-collective: each lane with `has` pushes its own item. Every item is counted as created before it can be
  /// seen.
  SHOAL_FN void emit(const W& w, bool has, const Item& item) { emit_some(w, {has}, {item}); }

  /// The same for several items of each lane. Their loads are in flight together, and one reservation serves all of
  /// them.
  template <lane_t kSome>
  SHOAL_FN void emit_some(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    pe_t owner[kSome];
    bool keep[kSome], leaves[kSome], promising[kSome], astray = false;
    for (lane_t k = 0; k < kSome; ++k) {
      owner[k] = has[k] && view().n_pes > 1 ? view().task.owner(item[k]) : view().me;
      keep[k] = has[k] && owner[k] == view().me;
      leaves[k] = has[k] && !keep[k];
      if (leaves[k] && !view().is_pe(owner[k])) {
        astray = true;
        leaves[k] = false;
      }
      now_.tally.pushed += has[k];
    }
    if (W::kMaxLanes == 1 && now_.tally.pushed % kPushesOfABeat == 0) {
      beat();
      carry_meanwhile(w);
    }
    if (astray) {
      view().refuse(owner);
      for (pe_t& one : owner) one = view().is_pe(one) ? one : view().me;
    }
    bool travels[kSome];
    {
      SHOAL_TIMED(w, now_, Section::judge);
      bool asks[kSome];
      for (lane_t k = 0; k < kSome; ++k) asks[k] = keep[k] || (KnowsOthers<TaskT> && leaves[k]);
      look_if_promising(w, view().task, asks, item, promising);
      for (lane_t k = 0; k < kSome; ++k) travels[k] = leaves[k] && (promising[k] || !KnowsOthers<TaskT>);
      judge_here(w, view(), now_.tally, promising, keep, travels, owner, item);
    }
    if (view().n_pes == 1) {
      append(w, keep, item);
      return;
    }
    if constexpr (!kJudgesAtOnce<W, View>) {
      for (lane_t k = 0; k < kSome; ++k) now_.tally.withheld += leaves[k] != travels[k];
    }
    // Before other PEs are asked, which takes long; not in two places of a kernel, which would cost it registers.
    if constexpr (!kDispatches) append(w, keep, item);
    if constexpr (HasRemoteJudge<TaskT> && !kJudgesAtOnce<W, View>) {
      if (view().judge_remote) {
        SHOAL_TIMED(w, now_, Section::judge_at);
        judge_there(w, view(), now_.tally, travels, item);
      }
    }
    if constexpr (kDispatches) {
      if (view().held == nullptr && !view().segments.on) {
        dispatch(w, keep, travels, item);
        return;
      }
      append(w, keep, item);
      for (lane_t k = 0; k < kSome; ++k) owner[k] = owner_if(view(), travels[k], item[k]);  // not remembered till here
    }
    send(w, travels, owner, item);
  }

  /// Worker-collective, before everything else: prepares the memory that the lanes share.
  SHOAL_FN void begin(const W& w) {
    if constexpr (kSorts) {
      for (lane_t b = w.lane(); b < 1 + kMostSlots; b += w.size()) bins_->count[b] = 0;
      if (w.lane() == 0) bins_->nearest = kNoBucket;
      w.sync();
    }
    if constexpr (kDispatches) {
      for (lane_t p = w.lane(); p < static_cast<lane_t>(view().n_pes); p += w.size()) gate_->count[p] = 0;
      w.sync();
    }
  }

  /// Worker-collective: takes parked items that the phase has reached, and parks again those that it has not. Returns
  /// the number of items that are now in `items`, and are to be run: by this worker, or, if it `shares` them, by all.
  /// @param items  [most] shared by the lanes; `most` is w.size() if there are several
  SHOAL_FN lane_t bring(const W& w, Item* items, lane_t most, bool& shares) {
    if constexpr (HasPriority<TaskT>) {
      const Brought brought = bring_parked(w, view(), bins_, index_, now_.phase, items, most);
      now_.brings = brought.brings;
      shares = brought.shares;
      now_.tally.parked += brought.parked;
      now_.tally.stale += brought.stale;
      return brought.near;
    } else {
      return 0;
    }
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

  /// Worker-collective: the lanes with `has` queue an accepted item.
  SHOAL_FN void keep(const W& w, bool has, const Item& item) {
    bool one_has[1] = {has};
    const Item one[1] = {item};
    append(w, one_has, one);
  }

  /// Worker-collective: queues the accepted items that are still in this worker's buffer, and sends those for other PEs.
  /// Called before its items are completed.
  SHOAL_FN void flush(const W& w) {
    send_off(w);
    if constexpr (W::kMaxLanes == 1) {
      if (now_.buffered == 0) return;
      Tickets t;
      if (!owes()) t = view().ring.reserve(now_.buffered, now_.credit);
      for (lane_t i = 0; i < t.count; ++i) place_one(w, true, t.first + i, now_.buffer[i]);
      for (lane_t i = t.count; i < now_.buffered; ++i) to_spill(w, {true}, {now_.buffer[i]});
      now_.buffered = 0;
    }
  }

  /// Worker-collective: sends the items that are held back for combining. Called before completed items are reported.
  SHOAL_FN void let_go(const W& w) {
    if constexpr (HasCombine<TaskT>) {
      if (view().n_pes == 1 || !now_.holds) return;
      now_.holds = false;
      HeldSlot<Item>* const held = this->held();
      for (lane_t base = 0; base < kHeldSlots; base += w.size()) {
        const lane_t i = base + w.lane();
        bool has = i < kHeldSlots && held[i].full != 0;
        const Item item = has ? plain_read(held[i].item) : Item{};
        if (has) held[i].full = 0;
        const pe_t owner = owner_of(has, item);
        send_one(w, has, owner, item);
      }
      send_off(w);
      w.sync();
    }
  }

  /// Fills those slots owed by place() that are empty now. True if none is owed; only one-lane workers of a GPU owe
  /// slots.
  SHOAL_FN bool settle() {
    if constexpr (kOwes) {
      lane_t left = 0;
      for (lane_t i = 0; i < now_.owing; ++i) {
        if (!view().ring.try_put(now_.owed[i].ticket, now_.owed[i].item)) now_.owed[left++] = now_.owed[i];
      }
      now_.owing = left;
    }
    return !owes();
  }

  /// Worker-collective: sends items from this worker's spill, or moves them to the ring. Returns the number of items of
  /// this PE that found no free slot; they are at the front of `items`, and the caller must run them. `moved` says
  /// whether any item left spill.
  SHOAL_FN lane_t unspill(const W& w, Item* items, lane_t n, bool& moved) {
    lane_t to_run = 0;
    const auto spilled_before = now_.tally.spilled;
    for (lane_t base = 0; base < n; base += w.size()) {
      const lane_t i = base + w.lane();
      bool has = i < n;
      const Item item = has ? items[i] : Item{};
      const pe_t owner = owner_of(has, item);
      const bool mine = has && owner == view().me;
      const Scan scan = w.count_before(mine);
      Tickets t;
      if (w.lane() == 0 && scan.total > 0 && !owes()) t = view().ring.reserve(scan.total, now_.credit);
      t = from_leader(w, t);
      place_one(w, mine && scan.before < t.count, t.first + scan.before, item);
      if (mine && scan.before >= t.count)
        items[to_run + scan.before - t.count] = item;  // overwrites only items that were read
      to_run += scan.total - t.count;
      w.sync();
      if (view().n_pes > 1) send_one(w, has && !mine, owner, item);
    }
    send_off(w);
    moved = w.from_leader(static_cast<lane_t>(now_.tally.spilled - spilled_before)) < n;
    return to_run;
  }

  SHOAL_FN const View& view() const { return *view_at_; }
  SHOAL_FN StateWord& state() const { return view().here().state; }
  /// Takes a turn at carrying what goes to other processes.
  /// @param works  this worker has other work as well
  SHOAL_FN void carry([[maybe_unused]] bool works) {
    if constexpr (kMayCarry<W> && kGathers) {
      if (view().wires == nullptr) return;
      now_.carried_at = now_.tally.pushed;
      if (view().wires->is_due(works)) view().wires->carry();
    }
  }
  /// What changes of this worker; all else is constant.
  SHOAL_FN Changing<W, View>& now() { return now_; }
  SHOAL_FN const Changing<W, View>& now() const { return now_; }
  SHOAL_FN lane_t index() const { return index_; }
  SHOAL_FN void note_stale(bool stale) { now_.tally.stale += stale; }
  SHOAL_FN void note_run(bool run) { now_.tally.run += run; }
  SHOAL_FN void note_idle_call() { ++now_.tally.idle_calls; }
  /// This lane: shows the watchdog that its worker is working. The queues do not show it while all of its pushes are
  /// refused, while it runs the items of one batch, or while it runs what comes back from its own spill. Not part of
  /// what every push does: a store for each batch would be one more word that all workers of a PE write.
  SHOAL_FN void beat() const {
    if constexpr (HasIdle<TaskT>) {
      if (now_.muted) return;
    }
    view().here().beat[index_ % kBeats].store(std::uint64_t{now_.tally.pushed} + now_.tally.run);
  }
  /// Pushes of idle() are no sign that the run moves: idle() may push for ever, and all of it be refused.
  SHOAL_FN void mute(bool muted) { now_.muted = muted; }
  /// What this lane has pushed so far.
  SHOAL_FN auto pushed() const { return now_.tally.pushed; }
  SHOAL_FN void note_waiting(ticket_t n) {
    if (n > now_.tally.peak_ring) now_.tally.peak_ring = static_cast<decltype(now_.tally.peak_ring)>(n);
  }

  /// Worker-collective, the last call: adds this worker's counts to those of the PE, and returns its credits.
  SHOAL_FN void leave(const W& w) {
    if (w.lane() == 0) view().ring.release(now_.credit);
#if defined(SHOAL_CLOCKS)
    if (w.lane() % 32 == 0) add_clocks(now_.clocks, view().here().clocks);
#endif
    add_up(w, now_.tally, view().here());
  }

 private:
  /// This lane alone: the owner of an item that was pushed before, or merged. If that is no PE of the run, the run ends
  /// and `has` is cleared, so the item goes nowhere and no table of PEs is accessed out of bounds.
  SHOAL_FN pe_t owner_of(bool& has, const Item& item) const {
    const pe_t owner[1] = {has && view().n_pes > 1 ? view().task.owner(item) : view().me};
    has = has && view().is_pe(owner[0]);
    if (!view().is_pe(owner[0])) view().refuse(owner);
    return owner[0];
  }

  /// Judges each lane's items with `has`, and clears it for those that are refused.
  template <lane_t kSome>
  SHOAL_FN void judge(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    if constexpr (HasRemoteJudge<TaskT>) {
      if (view().judge_remote) return;
    }
    bool promising[kSome];
    // All of these loads are in flight before the first atomic.
    look_if_promising(w, view().task, has, item, promising);
    bool none[kSome] = {};
    pe_t me[kSome];
    for (pe_t& one : me) one = view().me;
    judge_here(w, view(), now_.tally, promising, has, none, me, item);
  }
  /// Where a lane's k-th element lies among those that are pushed together (push_numbered).
  template <bool kTogether>
  SHOAL_FN static lane_t element_of(const W& w, lane_t k) {
    if constexpr (kTogether) {
      const lane_t part = w.lane() / W::kSearchers;
      return (part * W::kOffers + k) * W::kSearchers + w.lane() % W::kSearchers;
    } else {
      return k * w.size() + w.lane();
    }
  }

  /// Puts accepted items into the ring, or into this worker's spill if there is no free slot. Parks those beyond the
  /// threshold.
  template <lane_t kSome>
  SHOAL_FN void append(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    if constexpr (W::kMaxLanes == 1) {
      if (!any_of(has)) return;  // most pushes of a search are refused
    }
    if constexpr (kSorts) {
      // A GPU that is alone has other kernels for runs in order (kernels_gpu.cuh).
      if (kAlone<View> || view().far.buckets.lists > 0) {
        if constexpr (kPacks && kSome > 1) {
          append_packed(w, has, item);
        } else {
          append_near(w, has, item);
        }
        return;
      }
    }
    if constexpr (W::kMaxLanes == 1) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (!has[k] || parks(item[k])) continue;
        now_.buffer[now_.buffered++] = item[k];
        if (now_.buffered == W::kBuffer) flush(w);
      }
    } else {
      const Scan scan = count_before(w, has);
      if (scan.total == 0) return;
      Tickets t;
      {
        SHOAL_TIMED(w, now_, Section::reserve);
        if (w.lane() == 0 && !owes()) t = view().ring.reserve(scan.total, now_.credit);
        t = from_leader(w, t);
      }
      bool fits[kSome];
      ticket_t ticket[kSome];
      lane_t before = scan.before;
      for (lane_t k = 0; k < kSome; ++k) {
        fits[k] = has[k] && before < t.count;
        ticket[k] = t.first + before;
        before += has[k];
      }
      place(w, fits, ticket, item);
      if (t.count == scan.total) return;
      for (lane_t k = 0; k < kSome; ++k) has[k] = has[k] && ticket[k] - t.first >= t.count;
      to_spill(w, has, item);
    }
  }

  /// Blocks, in order, among several PEs: queues accepted items, and sends those for others. The lanes meet once for all
  /// of them: one lane reserves tickets of the ring, and one for each other PE tickets of its channel, at the same time. If
  /// each warp sent on its own, thousands of warps would add to the counters of a channel, a few items at a time.
  template <lane_t kSome>
  SHOAL_FN void dispatch(const W& w, bool (&keep)[kSome], bool (&travels)[kSome], const Item (&item)[kSome]) {
    lane_t rank[kSome] = {};
    GateCount count;
    {
      SHOAL_TIMED(w, now_, Section::meet);
      count = count_at_gate(w, view(), *gate_, keep, travels, item, rank);
    }
    if (count.stay == 0 && !count.any_leave) return;
    bool lacks;
    {
      SHOAL_TIMED(w, now_, Section::reserve);
      lacks = reserve_at_gate(w, view(), *gate_, count, now_.credit, index_);
    }
    if (count.any_leave) {
      SHOAL_TIMED(w, now_, Section::send);
      send_through_gate(view(), *gate_, index_, rank, travels, item);
    }
    if (count.stay > 0) {
      const Tickets t = gate_->tickets[view().me];
      bool now[kSome];
      ticket_t ticket[kSome];
      lane_t before = count.before;
      for (lane_t k = 0; k < kSome; ++k) {
        now[k] = keep[k] && before < t.count;
        ticket[k] = t.first + before;
        before += keep[k];
        keep[k] = keep[k] && !now[k];
      }
      place(w, now, ticket, item);
    }
    if (!lacks) return;
    for (lane_t k = 0; k < kSome; ++k) keep[k] = keep[k] || travels[k];
    to_spill(w, keep, item);
  }

  /// The same, blocks, with priorities. As a rule few of several items of each lane were accepted, and sorting takes long:
  /// so they are packed first, one for each lane.
  template <lane_t kSome>
  SHOAL_FN void append_packed(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    const Scan scan = count_before(w, has);
    for (lane_t base = 0; base < scan.total; base += w.size()) {
      lane_t at = scan.before - base;  // of the items that were packed before, it is no place
      for (lane_t k = 0; k < kSome; ++k) {
        if (has[k] && at < w.size()) plain_write(pack_[at], item[k]);
        at += has[k];
      }
      w.sync();
      bool one_has[1] = {base + w.lane() < scan.total};
      const Item one[1] = {one_has[0] ? plain_read(pack_[w.lane()]) : Item{}};
      append_near(w, one_has, one);  // has a collective, so all lanes have read what is packed over next
    }
  }

  /// The same, several lanes, with priorities: items for the ring and those for all slots are sorted together.
  template <lane_t kSome>
  SHOAL_FN void append_near(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    Unsorted<Item, kSome> of;
    for (lane_t k = 0; k < kSome; ++k) of.item[k] = item[k], of.has[k] = has[k];
    Parked parked;
    {
      SHOAL_TIMED(w, now_, Section::park);
      parked = park</*kToRing=*/true>(w, view(), *bins_, index_, now_.phase, now_.credit, of);
    }
    now_.tally.parked += parked.items;
    now_.credit = parked.credit;
    const lane_t stay = bins_->stay;
    if (stay == 0) return;
    const Tickets t = bins_->tickets;
    bool fits[kSome];
    ticket_t ticket[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      fits[k] = of.has[k] && of.rank[k] < t.count;
      ticket[k] = t.first + of.rank[k];
      has[k] = of.has[k] && !fits[k];
    }
    place(w, fits, ticket, item);
    if (t.count < stay) to_spill(w, has, item);
  }

  /// This lane, which is a worker: parks an item if it is beyond the threshold.
  SHOAL_FN bool parks(const Item& item) {
    if constexpr (HasPriority<TaskT> && W::kMaxLanes == 1) {
      if (view().far.buckets.lists == 0 || !park_one(view(), index_, now_.phase, item)) return false;
      ++now_.tally.parked;
      return true;
    } else {
      return false;
    }
  }

  /// Worker-collective: the lanes with `waits` fill the slots of their reserved tickets. While a lane has to wait, all
  /// lanes keep emptying the slots for which they hold tickets, because another pusher may be waiting for these. A
  /// one-lane worker of a GPU does not wait here at all: the thread that must empty the slot may be in the same warp,
  /// parked until this thread has finished. The worker owes the slot its item instead, reserves nothing more until it
  /// has filled the slot, and does that in settle().
  template <lane_t kSome>
  SHOAL_FN void place(const W& w, bool (&waits)[kSome], const ticket_t (&ticket)[kSome], const Item (&item)[kSome]) {
    SHOAL_TIMED(w, now_, Section::place);
    if constexpr (!W::kHoldsTickets) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k]) view().ring.put(ticket[k], item[k], state());
      }
    } else if constexpr (kOwes) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k] && !view().ring.try_put(ticket[k], item[k])) now_.owed[now_.owing++] = {ticket[k], item[k]};
      }
    } else {
      view().ring.try_put_some(waits, ticket, item);
      Backoff backoff;
      while (w.any(any_of(waits))) {
        view().ring.poll(now_.hand);
        view().ring.try_put_some(waits, ticket, item);
        if (any_of(waits) && state().load() != 0) {
          for (bool& one : waits) one = false;
        }
        backoff.pause();
      }
    }
  }
  SHOAL_FN void place_one(const W& w, bool waits, ticket_t ticket, const Item& item) {
    bool one_waits[1] = {waits};
    const ticket_t one_ticket[1] = {ticket};
    const Item one[1] = {item};
    place(w, one_waits, one_ticket, one);
  }

  /// Sends items to their owners, with one reservation for each owner that occurs among the lanes.
  template <lane_t kSome>
  SHOAL_FN void send(const W& w, const bool (&has)[kSome], const pe_t (&owner)[kSome], const Item (&item)[kSome],
                     bool again = false) {
    if (!w.any(any_of(has))) return;
    Parcel<Item, kSome> parcel;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.owner[k] = owner[k], parcel.item[k] = item[k];
    if constexpr (HasCombine<TaskT>) {
      if (view().held != nullptr && !again) {
        now_.holds = true;
        for (lane_t k = 0; k < kSome; ++k) {
          now_.tally.combined += hold_back(w, view().task, held(), parcel.has[k], parcel.item[k]);
          parcel.owner[k] = owner_of(parcel.has[k], parcel.item[k]);
        }
      }
    }
    if constexpr (kGathers) {
      if (view().segments.on) {
        for (lane_t k = 0; k < kSome; ++k) {
          if (!parcel.has[k]) continue;
          now_.leaves[now_.leaving] = parcel.item[k], now_.leaves_for[now_.leaving] = parcel.owner[k];
          if (++now_.leaving == now_.kLeaves) send_off(w);
        }
        return;
      }
    }
    SHOAL_TIMED(w, now_, Section::send);
    note(send_parcel(w, view(), now_.list, index_, parcel));
  }

  /// One-lane workers: sends the items that wait to be appended to segments together. They are not counted as created yet,
  /// so this must come before what pushed them is completed.
  SHOAL_FN void send_off(const W& w) {
    if constexpr (kGathers) {
      if (now_.leaving == 0) return;
      constexpr lane_t kLeaves = Changing<W, View>::kLeaves;
      Parcel<Item, kLeaves> parcel;
      for (lane_t k = 0; k < kLeaves; ++k) {
        parcel.has[k] = k < now_.leaving;
        parcel.owner[k] = parcel.has[k] ? now_.leaves_for[k] : 0;
        parcel.item[k] = parcel.has[k] ? now_.leaves[k] : Item{};
      }
      now_.leaving = 0;
      note(send_parcel(w, view(), now_.list, index_, parcel));
    }
  }

  /// Carries what goes to other processes where a batch takes long: items of many arcs may be a tenth of a graph, and the
  /// others would wait for all of it.
  SHOAL_FN void carry_meanwhile([[maybe_unused]] const W& w) {
    if constexpr (kMayCarry<W> && kGathers) {
      if (view().wires == nullptr || now_.tally.pushed - now_.carried_at < kPushesOfACarry) return;
      send_off(w);
      carry(/*works=*/true);
    }
  }

  /// Sends an item that has been held back, or spilled.
  SHOAL_FN void send_one(const W& w, bool has, pe_t owner, const Item& item) {
    send(w, {has}, {owner}, {item}, /*again=*/true);
  }

  template <lane_t kSome>
  SHOAL_FN void to_spill(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    Parcel<Item, kSome> parcel;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.item[k] = item[k];
    note(spill_parcel(w, view(), now_.list, parcel));
  }
  SHOAL_FN void note(const Spilled& spilled) {
    now_.list = spilled.list;
    now_.tally.spilled += spilled.items;
  }
  /// Whether slots are owed their items (place()).
  SHOAL_FN bool owes() const {
    if constexpr (kOwes) {
      return now_.owing > 0;
    } else {
      return false;
    }
  }
  /// This worker's table, if the run combines.
  SHOAL_FN HeldSlot<Item>* held() const { return view().held + index_ * kHeldSlots; }

#if defined(SHOAL_SIMULATE_WIRES)
  static constexpr lane_t kPushesOfABeat = 2, kPushesOfACarry = 4;  // its batches are short
#else
  static constexpr lane_t kPushesOfABeat = 256;  ///< one-lane workers: a sign of life every so many pushes
  static constexpr lane_t kPushesOfACarry =
      1024;  ///< two batches of a graph of long rows, which make a turn at carrying
#endif
  /// Others: after every so many elements of a long range, which costs fewer registers. Shorter batches need none,
  /// because the next batch moves a queue.
  static constexpr std::int64_t kElementsOfABeat = 1 << 16;

  const View* const view_at_;
  BinTable* const bins_;
  Item* const pack_;
  Gate* const gate_;
  const lane_t index_;
  Changing<W, View> now_;
};

}  // namespace shoal
