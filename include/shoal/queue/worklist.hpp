// The worklist: where items wait, on all PEs together. docs/contract.md states what it promises.
//
// Per PE: one ring of accepted items, one channel from every other PE, and spill. A worker's `Out` is its door: push,
// push_each and emit judge an item if this PE owns it, and send it to its owner if not.
#pragma once
#include "shoal/core/span.hpp"
#include "shoal/queue/buckets.hpp"
#include "shoal/queue/channel.hpp"
#include "shoal/queue/combiner.hpp"
#include "shoal/queue/phase.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/queue/spill.hpp"
#include "shoal/transport/transport.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {

/// What the workers of one PE counted, added up when they leave. Touched by this PE and read by the host afterwards.
struct PeTally {
  std::uint64_t pushed, withheld, accepted, dropped, stale, run, spilled, parked, combined, idle_calls, peak_ring;
};

/// One PE's counters, in its own memory. Words that others read have system scope.
struct PeControl {
  StateWord state;
  PaddedWord<std::uint64_t, Scope::system>
      completed;                                     ///< items judged, run, dropped or moved on, after their own pushes
  PaddedWord<std::uint64_t, Scope::system> entered;  ///< seeds, and items put into spill
  PaddedWord<std::int64_t, Scope::system> tokens;    ///< parts of phases, one per worker and phase (runtime/phases.hpp)
  PaddedWord<std::uint64_t, Scope::system> phase;    ///< the phase that every worker is to carry out
  Word<lane_t, Scope::system> nearest[kMostSlots];   ///< smallest bucket parked in each slot, or less
  RingCounters ring;
  RingCounters spill_free;
  RingCounters far[kMostSlots];
  PaddedWord<std::uint64_t, Scope::device> seeds_taken;
  ChannelSendCounters send[kMaxPes];
  ChannelReceiveCounters receive[kMaxPes];
  PaddedWord<std::uint64_t, Scope::device> tally[sizeof(PeTally) / sizeof(std::uint64_t)];
};

/// One PE's view of the worklist. Trivially copyable; passes into kernels by value.
template <class TaskT, class TransportT>
struct WorklistView {
  using Task = TaskT;
  using Item = typename TaskT::Item;

  TaskT task;
  TransportT transport;
  pe_t me = 0;
  pe_t n_pes = 1;
  PeControl* control[kMaxPes] = {};             ///< every PE's counters; control[me] is here
  SlotRing<Item, !kSelfContained<TaskT>> ring;  ///< here
  SpillPool<Item> spill;                        ///< here
  RemoteSlot<Item>* outbox[kMaxPes] = {};       ///< outbox[q]: slots at PE q for items from here
  RemoteSlot<Item>* inbox[kMaxPes] = {};        ///< inbox[q]: slots here for items from PE q
  ticket_t channel_capacity = 0;
  FarStore<Item> far;              ///< tasks with priority(): lists = 0 when the run does not use it
  std::uint64_t* seen = nullptr;   ///< [n_workers] phased tasks: the phase that each worker has carried out
  lane_t n_workers = 0;            ///< on every PE
  bool judge_remote = false;       ///< tasks with accept_at(): the pusher judges
  HeldSlot<Item>* held = nullptr;  ///< [n_workers * kHeldSlots] here; null when the run does not combine
  const Item* seeds = nullptr;     ///< [n_seeds] what this PE pushes at the start; counted in `entered`
  std::uint64_t n_seeds = 0;

  SHOAL_FN PeControl& here() const { return *control[me]; }
  SHOAL_FN ChannelSender<Item> sender(pe_t to) const { return {outbox[to], channel_capacity, &here().send[to]}; }
  SHOAL_FN ChannelReceiver<Item> receiver(pe_t from) const {
    return {inbox[from], channel_capacity, &here().receive[from], &control[from]->send[me].room};
  }
  /// Ends the run on every PE; the first reason wins only per PE, the host reports the worst. A PE that cannot be told is
  /// stopped by its watchdog, and the others report that the transport failed.
  SHOAL_FN void stop_all(RunState why) const {
    const auto tell = [&](RunState state) {
      bool told = true;
      for (pe_t q = 0; q < n_pes; ++q) {
        if (q != me) told &= transport.set(q, &control[q]->state, static_cast<std::uint32_t>(state));
      }
      here().state.store_release(static_cast<std::uint32_t>(state));
      return told;
    };
    if (!tell(why)) tell(RunState::transport_failed);
  }
};

/// A worker's door to the worklist. One object per lane; leader-only fields are valid on lane 0.
template <Worker W, class View>
class Out {
 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  static constexpr bool kOwes = W::kHoldsTickets && W::kMaxLanes == 1;  ///< see place()
  /// What one lane counts in one run: a GPU lane has few registers, and cannot reach 2^32.
  using Tally = std::conditional_t<W::kHoldsTickets, std::uint32_t, std::uint64_t>;

  /// `view` outlives this object (a kernel's __grid_constant__ parameter, or the run's own copy).
  /// @param index  this worker's number on its PE
  SHOAL_FN Out(const View& view, SpillList list, lane_t index) : view_at_(&view), list_(list) {
    if constexpr (HasPriority<TaskT>) {
      if (view.far.buckets.lists > 0) far_ = view.far.filling + index * view.far.buckets.slots();
      phase_ = view.seen[index];
    }
    if constexpr (HasCombine<TaskT>) held_ = view.held != nullptr ? view.held + index * kHeldSlots : nullptr;
  }

  /// Worker-collective: pushes one item, made by the leader's copy of `item` (every lane passes the same).
  SHOAL_FN void push(const W& w, const Item& item) { emit(w, w.lane() == 0, item); }

  /// Worker-collective: pushes make(e) for each element e of `range`.
  /// @param range  [0, 2^31) elements; may be empty; the same on every lane
  /// @param make   element -> Item; runs once per element, on one lane; must not call a collective
  template <class Range, class Make>
  SHOAL_FN void push_each(const W& w, Range range, Make make) {
    for (std::int64_t base = 0; base < range.size(); base += W::kOffers * w.size()) {
      bool has[W::kOffers];
      Item item[W::kOffers];
      for (lane_t k = 0; k < W::kOffers; ++k) {
        const std::int64_t i = base + k * w.size() + w.lane();
        has[k] = i < range.size();
        item[k] = has[k] ? make(range[i]) : Item{};
      }
      emit_some(w, has, item);
    }
  }

  /// Worker-collective: each lane with `has` pushes its own item. Every item is counted as created before it can be seen.
  SHOAL_FN void emit(const W& w, bool has, const Item& item) { emit_some(w, {has}, {item}); }

  /// The same for several items of a lane: their look-ups are in flight together, and one reservation serves them all.
  template <lane_t kSome>
  SHOAL_FN void emit_some(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    pe_t owner[kSome];
    bool keep[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      owner[k] = has[k] && view().n_pes > 1 ? view().task.owner(item[k]) : view().me;
      keep[k] = has[k] && owner[k] == view().me;
      pushed_ += has[k];
      dropped_ += keep[k];
    }
    if constexpr (HasPromising<TaskT>) {
      for (lane_t k = 0; k < kSome; ++k) keep[k] = keep[k] && view().task.promising(item[k]);
    }
    for (lane_t k = 0; k < kSome; ++k) {
      keep[k] = keep[k] && view().task.accept(item[k]);
      accepted_ += keep[k];
      dropped_ -= keep[k];
    }
    append(w, keep, item);
    if (view().n_pes == 1) return;
    bool travels[kSome];
    for (lane_t k = 0; k < kSome; ++k) {
      travels[k] = has[k] && owner[k] != view().me;
      if constexpr (HasWorthSending<TaskT>) {  // before it is judged: who judges may change the owner's data
        if (travels[k] && !view().task.worth_sending(item[k])) {
          travels[k] = false;
          ++withheld_;
        }
      }
      if constexpr (HasRemoteJudge<TaskT>) {
        if (view().judge_remote && travels[k]) {
          travels[k] = view().task.accept_at(owner[k], item[k]);
          accepted_ += travels[k];
          dropped_ += !travels[k];
        }
      }
    }
    send(w, travels, owner, item);
  }

  /// Worker-collective: takes note of a phase and brings the parked items that it has reached; those that are stale are
  /// dropped.
  SHOAL_FN void move_on(const W& w, std::uint64_t phase) {
    const std::uint64_t before = phase_;
    phase_ = phase;
    if constexpr (HasPriority<TaskT>) {
      const Buckets& buckets = view().far.buckets;
      if (buckets.lists == 0) return;
      const lane_t passed = Phase::near(phase) - Phase::near(before);
      for (lane_t i = 1; i <= (passed < buckets.lists ? passed : buckets.lists); ++i) {
        bring(w, 2 + (Phase::near(before) + i) % buckets.lists);
      }
      if (Phase::turn(phase) != Phase::turn(before)) bring(w, Phase::turn(before));
    }
  }

  /// This lane alone: judges an item that arrived for this PE, unless its pusher has done so.
  SHOAL_FN bool judge(const Item& item) {
    if constexpr (HasRemoteJudge<TaskT>) {
      if (view().judge_remote) return true;
    }
    bool keep = true;
    if constexpr (HasPromising<TaskT>) keep = view().task.promising(item);
    keep = keep && view().task.accept(item);
    accepted_ += keep;
    dropped_ += !keep;
    return keep;
  }

  /// Worker-collective: the lanes with `has` queue an item that was judged and is to be run.
  SHOAL_FN void keep(const W& w, bool has, const Item& item) {
    bool one_has[1] = {has};
    const Item one[1] = {item};
    append(w, one_has, one);
  }

  /// Worker-collective: makes everything that this worker still holds visible. Before its items are completed.
  SHOAL_FN void flush(const W& w) {
    if constexpr (W::kMaxLanes == 1 && W::kBuffer > 1) {
      if (buffered_ == 0) return;
      Tickets t;
      if (owing_ == 0) t = view().ring.reserve(buffered_, credit_);
      for (lane_t i = 0; i < t.count; ++i) place_one(w, true, t.first + i, buffer_[i]);
      for (lane_t i = t.count; i < buffered_; ++i) to_spill(w, {true}, {buffer_[i]});
      buffered_ = 0;
    }
  }

  /// Worker-collective: sends what is held back to be combined. Before completed items are told.
  SHOAL_FN void let_go(const W& w) {
    if constexpr (HasCombine<TaskT>) {
      if (!holds_) return;
      holds_ = false;
      for (lane_t base = 0; base < kHeldSlots; base += w.size()) {
        const lane_t i = base + w.lane();
        const bool has = i < kHeldSlots && held_[i].full != 0;
        const Item item = has ? plain_read(held_[i].item) : Item{};
        if (has) held_[i].full = 0;
        send_one(w, has, has ? view().task.owner(item) : view().me, item);
      }
      w.sync();
    }
  }

  /// Fills what slots it can of those that place() left. True when none is owed (always, but for one-lane workers of a GPU).
  SHOAL_FN bool settle() {
    if constexpr (kOwes) {
      lane_t left = 0;
      for (lane_t i = 0; i < owing_; ++i) {
        if (!view().ring.try_put(owed_[i].ticket, owed_[i].item)) owed_[left++] = owed_[i];
      }
      owing_ = left;
    }
    return owing_ == 0;
  }

  /// Worker-collective: sends again, or moves to the ring, items that come from this worker's spill. Returns how many
  /// local ones found no room; they stand at the front of `items` and are to be run now. `moved`: did anything change?
  SHOAL_FN lane_t unspill(const W& w, Item* items, lane_t n, bool& moved) {
    lane_t to_run = 0;
    const Tally spilled_before = spilled_;
    for (lane_t base = 0; base < n; base += w.size()) {
      const lane_t i = base + w.lane();
      const bool has = i < n;
      const Item item = has ? items[i] : Item{};
      const pe_t owner = has ? view().task.owner(item) : view().me;
      const bool mine = has && owner == view().me;
      const Scan scan = w.count_before(mine);
      Tickets t;
      if (w.lane() == 0 && scan.total > 0 && owing_ == 0) t = view().ring.reserve(scan.total, credit_);
      t = {w.from_leader(t.first), w.from_leader(t.count)};
      place_one(w, mine && scan.before < t.count, t.first + scan.before, item);
      if (mine && scan.before >= t.count) items[to_run + scan.before - t.count] = item;  // never beyond what was read
      to_run += scan.total - t.count;
      w.sync();
      if (view().n_pes > 1) send_one(w, has && !mine, owner, item);
    }
    moved = w.from_leader(static_cast<lane_t>(spilled_ - spilled_before)) < n;
    return to_run;
  }

  /// Becomes what the copy `other` has become (Scheduler::rarely).
  SHOAL_FN void take_back(const Out& other) {
    list_ = other.list_;
    hand_ = other.hand_;
    credit_ = other.credit_;
    peak_ = other.peak_;
    pushed_ = other.pushed_, withheld_ = other.withheld_, accepted_ = other.accepted_, dropped_ = other.dropped_;
    stale_ = other.stale_, run_ = other.run_, spilled_ = other.spilled_, parked_ = other.parked_;
    combined_ = other.combined_, idle_calls_ = other.idle_calls_;
    phase_ = other.phase_;
    holds_ = other.holds_;
  }

  SHOAL_FN const View& view() const { return *view_at_; }
  SHOAL_FN StateWord& state() const { return view().here().state; }
  SHOAL_FN SpillList& list() { return list_; }
  SHOAL_FN lane_t& credit() { return credit_; }
  SHOAL_FN Hand<Item>& hand() { return hand_; }
  SHOAL_FN void note_stale(bool stale) { stale_ += stale; }
  SHOAL_FN void note_run(bool run) { run_ += run; }
  SHOAL_FN void note_idle_call() { ++idle_calls_; }
  /// Of this lane, so far.
  SHOAL_FN Tally pushed() const { return pushed_; }
  SHOAL_FN void note_waiting(ticket_t n) { peak_ = n > peak_ ? n : peak_; }

  /// Worker-collective: adds this worker's counts to the PE's and hands its credits back. The last call.
  SHOAL_FN void leave(const W& w) {
    if (w.lane() == 0) view().ring.release(credit_);
    const std::uint64_t counts[] = {pushed_, withheld_, accepted_, dropped_,  stale_,
                                    run_,    spilled_,  parked_,   combined_, idle_calls_};
    std::uint64_t any = peak_;
    for (std::uint64_t count : counts) any |= count;
    if (!w.any(any != 0)) return;  // after a round in which it found nothing
    lane_t i = 0;
    for (std::uint64_t count : counts) {
      const std::uint64_t total = w.sum(count);
      if (w.lane() == 0 && total > 0) view().here().tally[i].fetch_add(total);
      ++i;
    }
    if (w.lane() == 0) {
      std::uint64_t peak = view().here().tally[i].load();
      while (peak < peak_ && !view().here().tally[i].compare_swap(peak, peak_)) {
      }
    }
    pushed_ = withheld_ = accepted_ = dropped_ = stale_ = run_ = spilled_ = parked_ = combined_ = idle_calls_ = 0;
  }

 private:
  /// Puts accepted items into the ring, or into this worker's spill where there is no room; parks those that are to wait.
  template <lane_t kSome>
  SHOAL_FN void append(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    if constexpr (HasPriority<TaskT>) {
      if (view().far.buckets.lists > 0) park_far(w, has, item);
    }
    if constexpr (W::kMaxLanes == 1 && W::kBuffer > 1) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (!has[k]) continue;
        buffer_[buffered_++] = item[k];
        if (buffered_ == W::kBuffer) flush(w);
      }
    } else {
      const Scan scan = count_before(w, has);
      if (scan.total == 0) return;
      Tickets t;
      if (w.lane() == 0 && owing_ == 0) t = view().ring.reserve(scan.total, credit_);
      t = from_leader(w, t);
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

  /// Worker-collective: the lanes with `waits` fill the slots of their reserved tickets. While one has to wait, all lanes
  /// keep emptying the slots that they hold tickets for: another pusher may wait for those.
  /// A one-lane worker of a GPU does not wait here at all: the lane that is to empty the slot may be of the same warp, parked
  /// until this one is through. It owes the slot its item, reserves nothing more until it has paid, and pays in settle().
  template <lane_t kSome>
  SHOAL_FN void place(const W& w, bool (&waits)[kSome], const ticket_t (&ticket)[kSome], const Item (&item)[kSome]) {
    if constexpr (!W::kHoldsTickets) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k]) view().ring.put(ticket[k], item[k], state());
      }
    } else if constexpr (kOwes) {
      for (lane_t k = 0; k < kSome; ++k) {
        if (waits[k] && !view().ring.try_put(ticket[k], item[k])) owed_[owing_++] = {ticket[k], item[k]};
      }
    } else {
      view().ring.try_put_some(waits, ticket, item);
      Backoff backoff;
      while (w.any(any_of(waits))) {
        view().ring.poll(hand_);
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

  /// Sends items to their owners, one reservation for each owner that occurs among the lanes.
  template <lane_t kSome>
  SHOAL_FN void send(const W& w, const bool (&has)[kSome], const pe_t (&owner)[kSome], const Item (&item)[kSome],
                     bool again = false) {
    if (!w.any(any_of(has))) return;
    Parcel<kSome> parcel;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.owner[k] = owner[k], parcel.item[k] = item[k];
    if constexpr (HasCombine<TaskT>) {
      if (held_ != nullptr && !again) {
        holds_ = true;
        for (lane_t k = 0; k < kSome; ++k) {
          combined_ += hold_back(w, view().task, held_, parcel.has[k], parcel.item[k]);
          if (parcel.has[k]) parcel.owner[k] = view().task.owner(parcel.item[k]);
        }
      }
    }
    SpillList list = list_;  // copies: see Scheduler::rarely
    spilled_ += send_out(w, view(), list, parcel);
    list_ = list;
  }

  /// Sends an item that has been held back, or spilled.
  SHOAL_FN void send_one(const W& w, bool has, pe_t owner, const Item& item) {
    send(w, {has}, {owner}, {item}, /*again=*/true);
  }

  /// What is to be sent, or spilled.
  template <lane_t kSome>
  struct Parcel {
    Item item[kSome];
    pe_t owner[kSome];
    bool has[kSome];
  };
  /// Leader: how many found no room in their channel and went to spill.
  template <lane_t kSome>
  static SHOAL_OUT_OF_LINE SHOAL_FN lane_t send_out(W w, const View& view, SpillList& list, Parcel<kSome>& parcel) {
    lane_t spilled = 0;
    for (lane_t k = 0; k < kSome; ++k) {
      bool has = parcel.has[k];
      while (w.any(has)) {
        const pe_t to = static_cast<pe_t>(w.smallest(has ? static_cast<lane_t>(parcel.owner[k]) : ~lane_t{0}));
        const bool now = has && parcel.owner[k] == to;
        const Scan scan = w.count_before(now);
        const ChannelSender<Item> channel = view.sender(to);
        Tickets t;
        if (w.lane() == 0) t = channel.reserve(scan.total);
        t = from_leader(w, t);
        if (now && scan.before < t.count && !channel.put(view.transport, to, t.first + scan.before, parcel.item[k])) {
          view.stop_all(RunState::transport_failed);
        }
        if (t.count < scan.total) spilled += spill_one(w, view, list, now && scan.before >= t.count, parcel.item[k]);
        has = has && !now;
      }
    }
    return spilled;
  }

  /// Parks the items that are beyond the threshold and clears their `has`.
  template <lane_t kSome>
  SHOAL_FN void park_far(const W& w, bool (&has)[kSome], const Item (&item)[kSome]) {
    const Buckets& buckets = view().far.buckets;
    const lane_t near = Phase::near(phase_);
    lane_t bucket[kSome], slot_of[kSome];  // slot_of: kNoBucket where there is nothing to park
    for (lane_t k = 0; k < kSome; ++k) {
      bucket[k] = has[k] ? buckets.of(static_cast<double>(view().task.priority(item[k]))) : 0;
      const bool far = has[k] && bucket[k] > near;
      slot_of[k] = far ? buckets.slot_of(bucket[k], near, Phase::turn(phase_)) : kNoBucket;
      has[k] = has[k] && !far;
      parked_ += far;
    }
    for (;;) {
      const lane_t slot = w.smallest(least_of(slot_of));
      if (slot == kNoBucket) return;
      bool now[kSome];
      lane_t nearest = kNoBucket;
      for (lane_t k = 0; k < kSome; ++k) {
        now[k] = slot_of[k] == slot;
        if (!now[k]) continue;
        slot_of[k] = kNoBucket;
        if (bucket[k] < nearest) nearest = bucket[k];
      }
      nearest = w.smallest(nearest);
      bool news = false;
      const bool fits = view().far.park(w, view().spill, far_, slot, now, item, nearest, state(), news);
      if (w.lane() == 0 && news) view().here().nearest[slot].fetch_min(nearest);
      if (fits) continue;
      if (w.lane() == 0) view().stop_all(RunState::worklist_full);
      return;
    }
  }
  SHOAL_FN void bring(const W& w, lane_t slot) {
    view().far.empty(w, view().spill, far_, slot, state(), [&](bool has, const Item& item) {
      if constexpr (HasStale<TaskT>) {
        const bool stale = has && view().task.stale(item);
        stale_ += stale;
        has = has && !stale;
      }
      keep(w, has, item);
    });
  }

  template <lane_t kSome>
  SHOAL_FN void to_spill(const W& w, const bool (&has)[kSome], const Item (&item)[kSome]) {
    Parcel<kSome> parcel;
    for (lane_t k = 0; k < kSome; ++k) parcel.has[k] = has[k], parcel.item[k] = item[k];
    SpillList list = list_;  // copies: see Scheduler::rarely
    spilled_ += spill_out(w, view(), list, parcel);
    list_ = list;
  }
  /// Leader: how many items it were.
  template <lane_t kSome>
  static SHOAL_FN lane_t spill_out(W w, const View& view, SpillList& list, Parcel<kSome>& parcel) {
    lane_t spilled = 0;
    for (lane_t k = 0; k < kSome; ++k) spilled += spill_one(w, view, list, parcel.has[k], parcel.item[k]);
    return spilled;
  }
  static SHOAL_FN lane_t spill_one(const W& w, const View& view, SpillList& list, bool has, const Item& item) {
    const Scan scan = w.count_before(has);
    if (w.lane() == 0) view.here().entered.fetch_add(scan.total);
    if (!view.spill.push(w, list, has, item, view.here().state) && w.lane() == 0) {
      view.stop_all(RunState::worklist_full);
    }
    return w.lane() == 0 ? scan.total : 0;
  }

  template <lane_t kSome>
  static SHOAL_FN Scan count_before(const W& w, const bool (&has)[kSome]) {
    if constexpr (kSome == 1) {
      return w.count_before(has[0]);
    } else {
      lane_t n = 0;
      for (bool one : has) n += one;
      return w.exclusive_sum(n);
    }
  }
  template <lane_t kSome>
  static SHOAL_FN bool any_of(const bool (&has)[kSome]) {
    bool any = false;
    for (bool one : has) any |= one;
    return any;
  }
  template <lane_t kSome>
  static SHOAL_FN lane_t least_of(const lane_t (&of)[kSome]) {
    lane_t least = kNoBucket;
    for (lane_t one : of) least = one < least ? one : least;
    return least;
  }
  static SHOAL_FN Tickets from_leader(const W& w, Tickets t) {
    return {w.from_leader(t.first), w.from_leader(t.count)};
  }

  const View* view_at_;
  SpillList list_;
  Hand<Item> hand_;
  lane_t credit_ = 0;  ///< leader: ring slots that this worker emptied and may fill
  lane_t buffered_ = 0;
  ticket_t peak_ = 0;  ///< leader
  Tally pushed_ = 0, withheld_ = 0, accepted_ = 0, dropped_ = 0, stale_ = 0, run_ = 0, spilled_ = 0, parked_ = 0,
        combined_ = 0, idle_calls_ = 0;
  std::uint64_t phase_ = 0;         ///< the last phase that this worker took note of
  HeldSlot<Item>* held_ = nullptr;  ///< this worker's table, if the run combines
  bool holds_ = false;              ///< something may be in it; the same on every lane
  FarChunk* far_ = nullptr;         ///< this worker's chunks of parked items
  Item buffer_[W::kBuffer];
  struct Owed {
    ticket_t ticket;
    Item item;
  };
  lane_t owing_ = 0;
  Owed owed_[kOwes ? W::kBuffer : 1];
};

}  // namespace shoal
