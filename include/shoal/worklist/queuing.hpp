// Queuing: where a worker puts accepted items. They go into the ring of its PE, or are parked if they are beyond the threshold. Items
// that find no space go into this worker's spill.
//
// The kinds of workers differ in how an accepted item gets into the ring:
//
// | worker            | one reservation serves       | if a reserved slot is not empty yet (place())                  |
// |-------------------|------------------------------|----------------------------------------------------------------|
// | CpuThread         | kBuffer: queue_buffered()    | the thread waits                                               |
// | GpuThread         | the same                     | the slot is owed (settle()): its popper may be in the same warp|
// | GpuWarp, GpuBlock | kOffers per lane: append()   | the lanes wait, and empty the slots for which they hold tickets|
//
// Items that find no free slot, and items for other PEs, go through parcel.hpp. On GPUs that code is out of line, and the
// state that it changes is passed and returned by value: as long as nothing takes the address of a worker's state, the
// frequently executed code keeps the state in registers (Scheduler::rarely).
#pragma once
#include "shoal/worklist/changing.hpp"
#include "shoal/worklist/gate.hpp"
#include "shoal/worklist/parcel.hpp"
#include "shoal/worklist/parking.hpp"
#include "shoal/worklist/sieve.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

/// The part of Out that queues, and all of a worker's state that changes (changing.hpp). One object per lane.
template <Worker W, class View>
class Queuing {
 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  static constexpr bool kOwes = W::kHoldsTickets && W::kMaxLanes == 1;    ///< see place()
  static constexpr bool kSorts = W::kMaxLanes > 1 && HasPriority<TaskT>;  ///< whether it uses a BinTable
  static constexpr bool kPacks = kPacksItems<W, TaskT>;                   ///< see append_packed()
  static constexpr bool kKeeps = kKeepsItems<W, TaskT>;                   ///< see keep()

  /// `view` outlives this object (a kernel's __grid_constant__ parameter, or the run's own copy).
  /// @param index  this worker's number on its PE
  /// @param bins   shared by the lanes, if kSorts
  /// @param aside  [w.size()] likewise, if kPacks or kKeeps
  /// @param gate   likewise, if kSendsWhole
  /// @param state  [w.size()] one for each lane, if W has parts; else null
  /// @param tally  shared by the lanes, if W has parts; else null
  SHOAL_FN Queuing(const W& w, const View& view, SpillList list, lane_t index, BinTable* bins, Item* aside, Gate* gate,
                   Changing<W, View>* state, LaneTally<W>* tally)
      : view_at_(&view), bins_(bins), aside_(aside), gate_(gate), tally_(tally), index_(index) {
    if constexpr (HasParts<W>) {
      now_ = state + w.lane();
      now() = {};
    }
    now().list = list;
    if constexpr (kPhased<TaskT>) set_phase(view.seen[index]);
  }

  /// Worker-collective, to be called first: prepares the memory that the lanes share.
  SHOAL_FN void begin(const W& w) {
    if constexpr (HasParts<W>) {
      if (w.lane() == 0) tally() = {};
      w.sync();
    }
    if constexpr (kSorts) {
      for (lane_t b = w.lane(); b < 1 + kMostSlots; b += w.size()) bins_->count[b] = 0;
      if (w.lane() == 0) bins_->nearest = kNoBucket;
      w.sync();
    }
    if constexpr (kSendsWhole<W, View>) {
      for (lane_t p = w.lane(); p < static_cast<lane_t>(view().n_pes); p += w.size()) gate_->count[p] = 0;
      w.sync();
    }
  }

  /// Tasks with phases: this worker parks by the threshold of phase `word` from now on.
  SHOAL_FN void set_phase(std::uint64_t word) {
    now().phase = word;
    if constexpr (HasPriority<TaskT>) {
      now().far_from = view().far.buckets.template far_from<PriorityOf<TaskT>>(Phase::near(word));
    }
  }

  /// Worker-collective: takes parked items that the phase may have reached, and parks those again that are still beyond the
  /// threshold. Returns how many items are now in `items`. The caller must run them, or, if `shares` becomes true, put them
  /// into the ring, so that all workers of the PE run them.
  /// @param items  [most] shared by the lanes; `most` is w.size() if there are several
  SHOAL_FN lane_t bring(const W& w, Item* items, lane_t most, bool& shares) {
    if constexpr (HasPriority<TaskT>) {
      const Brought brought = bring_parked(w, view(), bins_, index_, now().phase, items, most);
      now().brings = brought.brings;
      shares = brought.shares;
      add_to<W>(tally().parked, brought.parked);
      add_to<W>(tally().stale, brought.stale);
      return brought.near;
    } else {
      return 0;
    }
  }

  /// Writes the items that place() could not write into those of their slots that are empty now. True if this worker owes no
  /// slot an item any more; only one-lane workers of a GPU ever do.
  SHOAL_FN bool settle() {
    if constexpr (kOwes) {
      lane_t left = 0;
      for (lane_t i = 0; i < now().owing; ++i) {
        if (!view().ring.try_put(now().owed[i].ticket, now().owed[i].item)) now().owed[left++] = now().owed[i];
      }
      now().owing = left;
    }
    return !owes();
  }

  SHOAL_FN const View& view() const { return *view_at_; }
  SHOAL_FN StateWord& state() const { return view().here().state; }
  /// The state of this worker that changes; all other members are constant.
  SHOAL_FN Changing<W, View>& now() {
    if constexpr (HasParts<W>) {
      return *now_;
    } else {
      return now_;
    }
  }
  SHOAL_FN const Changing<W, View>& now() const { return const_cast<Queuing*>(this)->now(); }
  /// The counts of this lane; of a block, those of all lanes together, to which they add with add_to().
  SHOAL_FN LaneTally<W>& tally() {
    if constexpr (HasParts<W>) {
      return *tally_;
    } else {
      return now_.tally;
    }
  }
  SHOAL_FN const LaneTally<W>& tally() const { return const_cast<Queuing*>(this)->tally(); }
  SHOAL_FN OwnOfLane<Item>& own() { return own_; }
  SHOAL_FN Hand<Item>& hand() { return own_.hand; }
  SHOAL_FN lane_t index() const { return index_; }
  /// How many items this worker keeps for its next batch.
  SHOAL_FN lane_t kept() const {
    if constexpr (kKeeps) {
      return now().kept;
    } else {
      return 0;
    }
  }

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

 protected:
  /// Puts accepted items into the ring, or into this worker's spill if there is no free slot. Parks those beyond the
  /// threshold.
  template <lane_t kSome>
  SHOAL_FN void append(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    if constexpr (W::kMaxLanes == 1) {
      if (!any_of(has)) return;  // in a graph search most pushes are refused
    }
    if constexpr (kSorts) {
      if (kByPriority<View> || view().far.buckets.lists > 0) {
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
        now().buffer[now().buffered++] = item[k];
        if (now().buffered == W::kBuffer) queue_buffered(w);
      }
    } else {
      Scan scan = count_before(w, has);
      if (scan.total == 0) return;
      if constexpr (kKeeps && AnyOrder<TaskT>) {
        const lane_t kept = room() < scan.total ? room() : scan.total;
        lane_t rank[kSome];
        for (lane_t k = 0; k < kSome; ++k) rank[k] = scan.before, scan.before += has[k];
        scan.before = rank[0] < kept ? 0 : rank[0] - kept;
        keep(kept, has, rank, item);
        scan.total -= kept;
        if (scan.total == 0) return;
      }
      Tickets t;
      {
        SHOAL_TIMED(w, own(), Section::reserve);
        if (w.lane() == 0 && !owes()) t = view().ring.reserve(scan.total, now().credit);
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

  /// Worker-collective: writes all accepted items, one of each lane with `has`, to items[0, n), for the worker's next batch. False, and
  /// nothing is done, if there are more than a worker keeps, if one may be beyond the threshold, or if `besides` is set on some lane.
  /// @param items  [w.size()] shared by the lanes; all lanes see what was written after the next collective
  SHOAL_FN bool keep_all(const W& w, const bool (&has)[1], const Item (&item)[1], bool besides, Item* items,
                         lane_t& n) {
    if constexpr (HasPriority<TaskT>) {
      if (kByPriority<View> || view().far.buckets.lists > 0) {
        besides = besides || (has[0] && may_be_far(view(), now().far_from, item[0]));
      }
    }
    const Scan scan = count_before(w, has);
    if (w.any(besides) || scan.total > view().keeps) return false;
    if (has[0]) plain_write(items[scan.before], item[0]);
    n = scan.total;
    return true;
  }

  /// One-lane workers: queues the accepted items that are still in this worker's buffer.
  SHOAL_FN void queue_buffered(const W& w) {
    if (now().buffered == 0) return;
    Tickets t;
    if (!owes()) t = view().ring.reserve(now().buffered, now().credit);
    for (lane_t i = 0; i < t.count; ++i) place_one(w, true, t.first + i, now().buffer[i]);
    for (lane_t i = t.count; i < now().buffered; ++i) to_spill(w, {true}, {now().buffer[i]});
    now().buffered = 0;
  }

  /// Worker-collective: the lanes with `waits` write their items into the slots of their reserved tickets. While a lane has
  /// to wait for its slot, all lanes keep emptying the slots for which they hold tickets, because another pusher may be
  /// waiting for these. A one-lane worker of a GPU does not wait here at all: the thread that must empty the slot may be in
  /// the same warp, and not be scheduled until this thread has finished. Instead the worker owes the slot its item: it writes
  /// the item later, in settle(), and reserves nothing more until then.
  template <lane_t kSome>
  SHOAL_FN void place(const W& w, bool (&waits)[kSome], const ticket_t (&ticket)[kSome], const Item (&item)[kSome]) {
    SHOAL_TIMED(w, own(), Section::place);
    if constexpr (!W::kHoldsTickets) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k]) view().ring.put(ticket[k], item[k], state());
      }
    } else if constexpr (kOwes) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k] && !view().ring.try_put(ticket[k], item[k])) now().owed[now().owing++] = {ticket[k], item[k]};
      }
    } else {
      view().ring.try_put_some(waits, ticket, item);
      Backoff backoff;
      while (w.any(any_of(waits))) {
        view().ring.poll(hand());
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

  SHOAL_FN Gate& gate() const { return *gate_; }

  /// The size of parcels for kSome items of each lane. Those of a block have one size, so that its kernel has one copy of what sends
  /// them and one of what spills them. Neither is needed often (Sending::dispatch). Blocks that sift have parcels of one item only.
  template <lane_t kSome>
  static constexpr lane_t kItemsOfAParcel = HasParts<W> && !kSifts<W, TaskT> ? W::kOffers : kSome;

  template <lane_t kSome>
  SHOAL_FN void to_spill(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    Parcel<Item, kItemsOfAParcel<kSome>> parcel;
    for (bool& one : parcel.has) one = false;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.item[k] = item[k];
    note(spill_parcel(w, view(), now().list, parcel));
  }

  SHOAL_FN void note(const Spilled& spilled) {
    now().list = spilled.list;
    add_to<W>(tally().spilled, spilled.items);
  }

  /// Whether this worker owes items to slots (place()).
  SHOAL_FN bool owes() const {
    if constexpr (kOwes) {
      return now().owing > 0;
    } else {
      return false;
    }
  }

 private:
  /// append() for blocks, with priorities. Usually only few of each lane's items were accepted, and sorting takes long, so
  /// the accepted items are first packed, one for each lane.
  template <lane_t kSome>
  SHOAL_FN void append_packed(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    const Scan scan = count_before(w, has);
    for (lane_t base = 0; base < scan.total; base += w.size()) {
      lane_t at = scan.before - base;  // wraps to a large number for items that are packed already
      for (lane_t k = 0; k < kSome; ++k) {
        if (has[k] && at < w.size()) plain_write(aside_[at], item[k]);
        at += has[k];
      }
      w.sync();
      bool one_has[1] = {base + w.lane() < scan.total};
      const Item one[1] = {one_has[0] ? plain_read(aside_[w.lane()]) : Item{}};
      append_near(w, one_has, one);  // contains a collective: all lanes have read before the next turn overwrites
    }
  }

  /// append() for workers of several lanes, with priorities: sorts the items for the ring and those for all slots of parked
  /// items together.
  template <lane_t kSome>
  SHOAL_FN void append_near(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    Unsorted<Item, kSome> of;
    for (lane_t k = 0; k < kSome; ++k) of.item[k] = item[k], of.has[k] = has[k];
    Parked parked;
    {
      SHOAL_TIMED(w, own(), Section::park);
      parked = park</*kToRing=*/true>(w, view(), *bins_, index_, now().phase, now().credit, of, room(), now().far_from);
    }
    add_to<W>(tally().parked, parked.items);
    now().credit = parked.credit;
    const lane_t stay = parked.stay, kept = stay < room() ? stay : room();
    keep(kept, of.has, of.rank, item);
    if (stay == kept) return;
    const Tickets t = bins_->tickets;  // the leader has reserved them
    bool fits[kSome];
    ticket_t ticket[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      fits[k] = of.has[k] && of.rank[k] - kept < t.count;
      ticket[k] = t.first + of.rank[k] - kept;
      has[k] = of.has[k] && !fits[k];
    }
    place(w, fits, ticket, item);
    if (t.count < stay - kept) to_spill(w, has, item);
  }

  /// How many more items this worker may keep.
  SHOAL_FN lane_t room() const {
    if constexpr (kKeeps) {
      return view().keeps - now().kept;
    } else {
      return 0;
    }
  }
  /// Worker-collective: keeps the first `n` of accepted items that may run now, and clears their `has`. The worker runs them in its next
  /// batch (Taking::take_more). That saves them the way through the ring, which is most of a hop on road networks
  /// (docs/decisions/0078-items-that-a-warp-keeps.md). What is kept is not counted: it belongs to the items that pushed it, whose
  /// completion is reported after it has run (Scheduler::rest). All lanes see the kept items after the next collective.
  /// @param n     at most room()
  /// @param rank  of an item with `has`: its number among all lanes' items
  template <lane_t kSome>
  SHOAL_FN void keep(lane_t n, bool (&has)[kSome], const lane_t (&rank)[kSome], const Item (&item)[kSome]) {
    if constexpr (kKeeps) {
      if (n == 0) return;
      for (lane_t k = 0; k < kSome; ++k) {
        if (!has[k] || rank[k] >= n) continue;
        plain_write(aside_[now().kept + rank[k]], item[k]);
        has[k] = false;
      }
      now().kept += n;
    }
  }

  /// One-lane workers: parks an item if it is beyond the threshold, and returns whether it did.
  SHOAL_FN bool parks(const Item& item) {
    if constexpr (HasPriority<TaskT> && W::kMaxLanes == 1) {
      if (view().far.buckets.lists == 0 || !park_one(view(), index_, now().phase, item)) return false;
      ++tally().parked;
      return true;
    } else {
      return false;
    }
  }

  const View* const view_at_;
  BinTable* const bins_;
  Item* const aside_;
  Gate* const gate_;
  LaneTally<W>* const tally_;
  const lane_t index_;

  OwnOfLane<Item> own_;
  /// Of a block: this lane's state, in shared memory. The last member: elsewhere, ptxas allocates registers differently from what was
  /// measured.
  std::conditional_t<HasParts<W>, Changing<W, View>*, Changing<W, View>> now_;
};

}  // namespace shoal
