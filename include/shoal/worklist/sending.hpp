// Sending: how a worker gets items to other PEs: by channels, or gathered in segments. A block counts the items of all its lanes
// together, and sends them with those that it queues.
#pragma once
#include "shoal/worklist/queuing.hpp"
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

/// The table of worker `index`, if the run combines.
template <class View>
SHOAL_FN HeldSlot<typename View::Item>* held_by(const View& view, lane_t index) {
  return view.held + index * kHeldSlots;
}

/// The part of Out that sends. One object per lane.
template <Worker W, class View>
class Sending : public Queuing<W, View> {
  using Base = Queuing<W, View>;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  static constexpr bool kGathers = W::kMaxLanes == 1 && !kAlone<View>;  ///< see send_off()
  /// Whether dispatch() also queues what stays. With priorities it has been sorted before, and some of it is parked (append()).
  static constexpr bool kQueuesAtGate = kSendsWhole<W, View> && !HasPriority<TaskT>;

  using Base::Base;
  using Base::index;
  using Base::now;
  using Base::own;
  using Base::tally;
  using Base::view;

  /// Worker-collective: queues the accepted items that are still in this worker's buffer, and sends those for other PEs.
  /// To be called before the items that pushed them are reported as completed.
  SHOAL_FN void flush(const W& w) {
    send_off(w);
    if constexpr (W::kMaxLanes == 1) queue_buffered(w);
  }

  /// Worker-collective: sends the items that are held back to be combined. To be called before completed items are reported.
  SHOAL_FN void let_go(const W& w) {
    if constexpr (HasCombine<TaskT>) {
      if (view().n_pes == 1 || !now().holds) return;
      now().holds = false;
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

  /// Carries what waits to go to other processes, if a carrying turn is due (Wires::is_due) and no other worker has it.
  /// @param works  this worker has other work as well
  SHOAL_FN void carry([[maybe_unused]] bool works) {
    if constexpr (kMayCarry<W> && kGathers) {
      if (view().wires == nullptr) return;
      now().carried_at = tally().pushed;
      if (view().wires->is_due(works)) view().wires->carry();
    }
  }

  /// Worker-collective: sends `n` items that were taken from this worker's spill, or moves them to the ring if this PE owns
  /// them. Items without a credit go back to spill. Returns the number of items of this PE that found no free slot; they are
  /// at the front of `items`, and the caller must run them. `moved` says whether any item left spill for good.
  SHOAL_FN lane_t unspill(const W& w, Item* items, lane_t n, bool& moved) {
    lane_t to_run = 0;
    const auto spilled_before = tally().spilled;
    for (lane_t base = 0; base < n; base += w.size()) {
      const lane_t i = base + w.lane();
      bool has = i < n;
      const Item item = has ? items[i] : Item{};
      const pe_t owner = owner_of(has, item);
      const bool mine = has && owner == view().me;
      const Scan scan = w.count_before(mine);
      Tickets t;
      if (w.lane() == 0 && scan.total > 0 && !owes()) t = view().ring.reserve(scan.total, now().credit);
      t = from_leader(w, t);
      place_one(w, mine && scan.before < t.count, t.first + scan.before, item);
      if (mine && scan.before >= t.count)
        items[to_run + scan.before - t.count] = item;  // overwrites only items that were read
      to_run += scan.total - t.count;
      w.sync();
      if (view().n_pes > 1) send_one(w, has && !mine, owner, item);
    }
    send_off(w);
    moved = w.from_leader(static_cast<lane_t>(tally().spilled - spilled_before)) < n;
    return to_run;
  }

 protected:
  using Base::gate;
  using Base::note;
  using Base::owes;
  using Base::place;
  using Base::place_one;
  using Base::queue_buffered;
  using Base::to_spill;
  template <lane_t kSome>
  static constexpr lane_t kItemsOfAParcel = Base::template kItemsOfAParcel<kSome>;

  /// For blocks, in runs on several PEs: queues accepted items, if there are any in `keep`, and sends those for other PEs. The lanes count
  /// all of them together. Then one lane reserves tickets of the ring and, at the same time, one lane for each other PE
  /// reserves tickets of its channel. If each warp sent on its own, thousands of warps would add to the counters of a channel,
  /// for a few items at a time.
  template <lane_t kSome>
  SHOAL_FN void dispatch(const W& w, bool (&keep)[kSome], bool (&travels)[kSome], const Item (&item)[kSome]) {
    lane_t rank[kSome] = {};
    GateCount count;
    {
      SHOAL_TIMED(w, own(), Section::meet);
      count = count_at_gate(w, view(), gate(), keep, travels, item, rank);
    }
    if (count.stay == 0 && !count.any_leave) return;
    bool lacks;
    {
      SHOAL_TIMED(w, own(), Section::reserve);
      lacks = reserve_at_gate(w, view(), gate(), count, now().credit, index());
    }
    if (count.any_leave) {
      SHOAL_TIMED(w, own(), Section::send);
      send_through_gate(view(), gate(), index(), rank, travels, item);
    }
    if (count.stay > 0) {
      const Tickets t = gate().tickets[view().me];
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

  /// Sends items to their owners, with one reservation for each owner that occurs among the lanes.
  /// @param again  the items were held back or spilled before; they are not held back again
  template <lane_t kSome>
  SHOAL_FN void send(const W& w, const bool (&has)[kSome], const pe_t (&owner)[kSome], const Item (&item)[kSome],
                     bool again = false) {
    if (!w.any(any_of(has))) return;
    Parcel<Item, kItemsOfAParcel<kSome>> parcel;
    for (bool& one : parcel.has) one = false;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.owner[k] = owner[k], parcel.item[k] = item[k];
    if constexpr (HasCombine<TaskT>) {
      if (view().held != nullptr && !again) {
        now().holds = true;
        for (lane_t k = 0; k < kSome; ++k) {
          add_to<W>(tally().combined, hold_back(w, view().task, held(), parcel.has[k], parcel.item[k]));
          parcel.owner[k] = owner_of(parcel.has[k], parcel.item[k]);
        }
      }
    }
    if constexpr (kGathers) {
      if (view().segments.on) {
        for (lane_t k = 0; k < kSome; ++k) {
          if (!parcel.has[k]) continue;
          now().leaves[now().leaving] = parcel.item[k], now().leaves_for[now().leaving] = parcel.owner[k];
          if (++now().leaving == now().kLeaves) send_off(w);
        }
        return;
      }
    }
    SHOAL_TIMED(w, own(), Section::send);
    note(send_parcel(w, view(), now().list, index(), parcel));
  }

  /// One-lane workers: sends the items that were collected to be appended to segments together. They are not counted as
  /// created yet, so this must be called before the items that pushed them are completed.
  SHOAL_FN void send_off(const W& w) {
    if constexpr (kGathers) {
      if (now().leaving == 0) return;
      constexpr lane_t kLeaves = Changing<W, View>::kLeaves;
      Parcel<Item, kLeaves> parcel;
      for (lane_t k = 0; k < kLeaves; ++k) {
        parcel.has[k] = k < now().leaving;
        parcel.owner[k] = parcel.has[k] ? now().leaves_for[k] : 0;
        parcel.item[k] = parcel.has[k] ? now().leaves[k] : Item{};
      }
      now().leaving = 0;
      note(send_parcel(w, view(), now().list, index(), parcel));
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

  /// One lane: the owner of an item that was pushed earlier, or merged. If owner() names no PE of the run, ends the run and
  /// clears `has`, so the item goes nowhere and no table of PEs is accessed out of bounds.
  SHOAL_FN pe_t owner_of(bool& has, const Item& item) const {
    const pe_t owner[1] = {has && view().n_pes > 1 ? view().task.owner(item) : view().me};
    has = has && view().is_pe(owner[0]);
    if (!view().is_pe(owner[0])) view().refuse(owner);
    return owner[0];
  }

 private:
  /// This worker's table, if the run combines.
  SHOAL_FN HeldSlot<Item>* held() const { return held_by(view(), index()); }

  /// Sends an item that was held back or spilled before.
  SHOAL_FN void send_one(const W& w, bool has, pe_t owner, const Item& item) {
    send(w, {has}, {owner}, {item}, /*again=*/true);
  }

#if defined(SHOAL_SIMULATE_WIRES)
  static constexpr lane_t kPushesOfACarry = 4;  // a simulation's batches are short
#else
  /// Pushes between two turns of carrying: about two batches on a graph with long rows.
  static constexpr lane_t kPushesOfACarry = 1024;
#endif
};

}  // namespace shoal
