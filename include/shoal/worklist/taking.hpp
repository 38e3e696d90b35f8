// Taking: where a worker gets its next batch from. Items come from the ring, from its spill, or from parked items that the phase has
// reached, and lie on the desk then. Also how it takes seeds, and counts what it has completed.
#pragma once
#include "shoal/worklist/batch_share.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/run_batch.hpp"

namespace shoal {

/// The part of a Scheduler that takes items. One object per lane. All state of the worker that changes is in Out::now(), own() and tally().
template <Worker W, class View>
class Taking {
 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;

  /// @param desk   memory shared by the lanes of `w`
  /// @param fetch  items taken at a time: 1 to min(kMaxFetch, size()) with several lanes, 1 to kMaxFetch with one
  /// @param index  this worker's number on its PE; worker 0 of a process's first PE detects the end of the run
  /// @param state  [w.size()] for workers with parts, likewise; else null
  SHOAL_FN Taking(const W& w, const View& view, SpillList list, Desk<TaskT> desk, lane_t fetch, lane_t index,
                  Changing<W, View>* state = nullptr)
      : w_(w),
        out_(w, view, list, index, desk.bins, desk.aside, desk.gate, state, tally_on(desk)),
        desk_(desk),
        fetch_(fetch) {
    now().seeds_left = std::uint64_t{index} * w.size() < view.n_seeds;
    if constexpr (W::kMaxLanes > 1) now().share = least_share(fetch_, kSifts<W, TaskT>);
  }

 protected:
  /// How often a worker polls its slots before it turns to its other duties, which have several times the instructions of a poll. On
  /// road networks each hop begins with an item for which some warp waits (docs/decisions/0075-from-a-push-to-a-run.md). With several
  /// PEs there are more of these duties. With priorities, a warp must not learn late that the threshold has moved.
  static constexpr lane_t kPolls = W::kMaxLanes != 32 ? 1 : HasPriority<TaskT> || kAlone<View> ? 8 : 16;

  SHOAL_FN const View& view() const { return out_.view(); }
  SHOAL_FN lane_t index() const { return out_.index(); }
  SHOAL_FN Changing<W, View>& now() { return out_.now(); }
  SHOAL_FN const Changing<W, View>& now() const { return out_.now(); }

  /// Whether parked items that the phase has reached may be left for this worker to run.
  SHOAL_FN bool brings() {
    if constexpr (HasPriority<TaskT>) {
      return now().brings;
    } else {
      return false;
    }
  }
  /// Takes parked items to the desk. There may be none left, and then brings() is false.
  SHOAL_FN lane_t take_parked(bool& shares) {
    if constexpr (W::kHoldsTickets) view().ring.poll(out_.hand());
    if (w_.lane() == 0) out_.beat();
    return out_.bring(w_, desk_.item, desk_size(), shares);
  }
  /// Moves the desk's first `n` items to the ring, where all workers of the PE find them.
  SHOAL_FN bool queue_desk(lane_t n) {
    for (lane_t base = 0; base < n; base += w_.size()) {
      const lane_t i = base + w_.lane();
      out_.admit(w_, Comes::parked, i < n, i < n ? desk_.item[i] : Item{});
    }
    w_.sync();
    return true;
  }

  /// Worker-collective: takes some items from this worker's spill, and sends them or moves them to the ring. Returns how many found the
  /// ring full: they are on the desk, and the caller must run them. now().stuck tells whether none has left spill, as their channels
  /// have no credits yet.
  SHOAL_FN lane_t take_from_spill() {
    lane_t n = 0;
    SpillList list = now().list;
    while (n < desk_size() && !list.empty())
      n += view().spill.pop(w_, list, desk_.item + n, desk_size() - n, out_.state());
    now().list = list;
    bool moved = false;
    const lane_t left = n == 0 ? 0 : out_.unspill(w_, desk_.item, n, moved);
    now().stuck = !moved;
    if (left > 0 && w_.lane() == 0) out_.beat();
    complete(n - left);
    return left;
  }

  /// Worker-collective: pushes a share of the seeds, one for each lane at a time. False if none is left.
  SHOAL_FN bool take_seeds() {
    const std::uint64_t n = view().n_seeds, lanes = w_.size();
    const std::uint64_t fair = n / (lanes * view().n_workers);
    const std::uint64_t share = lanes * (fair < 1 ? 1 : fair < kSeedsOfALane ? fair : kSeedsOfALane);
    std::uint64_t first = n;
    if (w_.lane() == 0 && view().here().seeds_taken.load() < n) first = view().here().seeds_taken.fetch_add(share);
    first = w_.from_leader(first);
    now().seeds_left = first < n;
    if (!now().seeds_left) return false;
    const std::uint64_t end = n - first < share ? n : first + share;
    if (view().n_pes == 1 && !seeds_are_mine(first, end)) return false;
    for (std::uint64_t base = first; base < end; base += lanes) {
      const std::uint64_t i = base + w_.lane();
      out_.admit(w_, Comes::seed, i < end, i < end ? view().seeds[i] : Item{});
    }
    complete(end - first);
    return true;
  }

  /// Persistent runs: takes items to the desk, from the slots for which this worker holds tickets (GPUs), or by claiming
  /// tickets (CPU threads).
  SHOAL_FN lane_t take_from_ring() {
    if constexpr (W::kHoldsTickets) {
      Hand<Item>& hand = out_.hand();
      if (!has_claimed()) {  // claims tickets once for each batch, and then only polls their slots
        const bool wants = w_.lane() < share() && !hand.holds && !hand.has;
        const Scan scan = w_.count_before(wants);
        if (scan.total > 0) {
          ticket_t first = 0;
          if (w_.lane() == 0) first = claim_ahead(scan.total);
          first = share_from(w_.from_leader(first));
          if (wants) {
            hand.ticket = first + scan.before;
            hand.holds = true;
          }
        }
        set_claimed(true);
      }
      Scan filled;
      for (lane_t polls = index() == 0 ? 1 : kPolls;; --polls) {  // worker 0 detects the end, so it has other duties
        view().ring.poll(hand);
        filled = w_.count_before(hand.has);
        if (filled.total > 0) break;
        if (polls == 1) return 0;
      }
      if (hand.has) desk_.item[filled.before] = hand.value;
      hand.has = false;
      set_claimed(false);
      w_.sync();
      return filled.total;
    } else {
      Tickets t;
      if (w_.lane() == 0) {
        ticket_t waiting;
        t = view().ring.claim(fetch_, waiting);
        out_.note_waiting(waiting);
      }
      return take_tickets(from_leader(t));
    }
  }

  /// Workers that keep items: takes the kept items to the desk, and those that lie in this worker's slots, as far as they fill the lanes.
  /// Claims no tickets. Returns how many items are on the desk.
  SHOAL_FN lane_t take_more() {
    if constexpr (!kKeepsItems<W, TaskT>) {
      return 0;
    } else {
      SHOAL_TIMED(w_, out_.own(), Section::take);
      static_assert(W::kHoldsTickets);
      view().ring.poll(out_.hand());
      const lane_t kept = now().kept;
      now().kept = 0;
      const lane_t all = fill_up(kept, [&] {
        if (w_.lane() < kept) desk_.item[w_.lane()] = plain_read(desk_.aside[w_.lane()]);
      });
      note_from_ring(all - kept);
      return all;
    }
  }
  /// The batches that may follow a batch at once (expand): those of the items that it has made the worker keep.
  class MoreBatches {
   public:
    /// @param some  whether any may
    SHOAL_FN MoreBatches(Taking& of, bool some) : of_(of), some_(some) {}

    /// Whether one more may. To be asked once for each.
    SHOAL_FN bool may_follow() { return some_ && ++batches_ < kBatchesOfKept; }
    /// Loads what take_beside() will look at, so that a batch need not wait for it. Only in runs on several PEs: the kernel for one PE
    /// has neither the registers nor the predicates for it, and took 1.04 to 1.12 of the time on roads.
    SHOAL_FN WholeSlot<Item> peek() {
      if constexpr (kPeeks) return of_.view().ring.peek(of_.out_.hand());
      return {};
    }
    /// Worker-collective: takes items that lie in the worker's slots to the desk, where `n` items lie already. Returns how many are there
    /// then. @param found  what peek() has returned
    SHOAL_FN lane_t take_beside(lane_t n, [[maybe_unused]] const WholeSlot<Item>& found) {
      if constexpr (kPeeks) {
        of_.view().ring.poll(of_.out_.hand(), found);
      } else {
        of_.view().ring.poll(of_.out_.hand());
      }
      const lane_t all = of_.fill_up(n, [] {});
      of_.note_from_ring(all - n);
      return all;
    }

   private:
    static constexpr bool kPeeks = !kAlone<View>;
#if defined(SHOAL_SIMULATE)
    static constexpr lane_t kBatchesOfKept = 2;
#else
    static constexpr lane_t kBatchesOfKept = 32;  ///< most batches in a step of the main loop
#endif

    Taking& of_;
    const bool some_;
    lane_t batches_ = 0;
  };

  /// Discrete runs: takes items of the round to the desk, first this worker's share.
  /// @param mine  the first ticket of the share; afterwards it is used up
  SHOAL_FN lane_t take_in_round(const Round& round, ticket_t& mine) {
    if (mine < round.limit) {
      const Tickets share = of_round(round, mine, round.share);
      mine = round.limit;
      return take_tickets(share);
    }
    if (!round.has_more_than_shares(view().n_workers)) return 0;
    Tickets t;
    if (w_.lane() == 0 && view().here().ring.head.load() < round.limit) {
      t = of_round(round, view().ring.claim_ahead(fetch_), fetch_);
    }
    return take_tickets(from_leader(t));
  }
  SHOAL_FN ticket_t begin_of_share(const Round& round) const { return round.first + ticket_t{index()} * round.share; }

  /// Leader: counts `n` stays or tokens (quiescence.hpp) as completed. The worker reports them only when it rests: a late report is
  /// safe, and a release has to wait for all stores before it. Until then the pushes that follow from them must have been counted, and
  /// all lanes must have met, so that the leader's release covers them.
  SHOAL_FN void note_completed(std::uint64_t n) {
    if (w_.lane() == 0) now().finished += n;
  }
  /// Worker-collective: the same, after these pushes.
  SHOAL_FN void complete(std::uint64_t n) {
    out_.flush(w_);
    w_.sync();
    note_completed(n);
  }

  /// The most items of the desk that are run at a time.
  SHOAL_FN lane_t desk_size() const { return W::kMaxLanes == 1 ? W::kMaxFetch : w_.size(); }

  const W w_;
  Out<W, View> out_;
  const Desk<TaskT> desk_;

 private:
  /// Counts `n` items that were taken from the ring, and the credits for their slots.
  SHOAL_FN void note_from_ring(lane_t n) {
    if (n == 0) return;  // most batches of a worker that keeps items have no others
    note_completed(n);
    if (w_.lane() == 0) now().credit += n;
  }
  /// Worker-collective: writes those items that were polled to the desk, after the first `n` ones, as far as they fill the lanes; none if
  /// this worker has spilled. Returns how many items are there then.
  /// @param write  () writes the first ones, after all lanes have met
  template <class Write>
  SHOAL_FN lane_t fill_up(lane_t n, Write write) {
    Hand<Item>& hand = out_.hand();
    const bool spilled = !now().list.empty();
    const lane_t room = w_.size() - n;
    const Scan filled = w_.count_before(hand.has && !spilled);
    write();
    if (hand.has && !spilled && filled.before < room) {
      desk_.item[n + filled.before] = hand.value;
      hand.has = false;
    }
    if (filled.total > 0) set_claimed(false);
    w_.sync();
    return n + (filled.total < room ? filled.total : room);
  }
  SHOAL_FN static LaneTally<W>* tally_on([[maybe_unused]] const Desk<TaskT>& desk) {
    if constexpr (HasParts<W>) {
      return desk.tally;
    } else {
      return nullptr;
    }
  }
  /// How many tickets this worker claims for a batch. They are consecutive, so items that a few pushers append go to a few
  /// workers. While many items wait, a worker takes a full batch. While few wait, it takes a smaller one, so that more
  /// workers share the items and each finishes sooner.
  SHOAL_FN lane_t share() const {
    if constexpr (W::kMaxLanes > 1) {
      return now().share;
    } else {
      return fetch_;
    }
  }
  SHOAL_FN bool has_claimed() const {
    if constexpr (W::kMaxLanes > 1) {
      return now().claimed;
    } else {
      return false;
    }
  }
  SHOAL_FN void set_claimed(bool claimed) {
    if constexpr (W::kMaxLanes > 1) now().claimed = claimed;
  }
  /// Leader only: claims `n` tickets to hold. Returns the first of them, with the next share packed into the bits above it,
  /// so that one broadcast hands both to all lanes.
  SHOAL_FN ticket_t claim_ahead(lane_t n) {
    if constexpr (W::kMaxLanes == 1) {
      return view().ring.claim_ahead(n);
    } else {
      const ticket_t tail = view().ring.counters->tail.load(), first = view().ring.claim_ahead(n);
      const ticket_t waiting = tail > first ? tail - first : 0;
      out_.note_waiting(waiting);
      return first | ticket_t{next_share(waiting, view().n_workers, fetch_, W::kMaxLanes > 32, kSifts<W, TaskT>)}
                         << kTicketBits;
    }
  }
  /// Every lane: unpacks a result of claim_ahead(). Keeps the share, and returns the ticket.
  SHOAL_FN ticket_t share_from(ticket_t claimed) {
    if constexpr (W::kMaxLanes == 1) {
      return claimed;
    } else {
      now().share = static_cast<lane_t>(claimed >> kTicketBits);
      return claimed & ((ticket_t{1} << kTicketBits) - 1);
    }
  }

  /// Worker-collective, for runs on one PE, in which pushes do not call owner(): checks the owner of each seed. A user gives the
  /// seeds, and one may be a vertex that the graph does not have. The run then ends before the task accesses data for it.
  SHOAL_FN bool seeds_are_mine(std::uint64_t first, std::uint64_t end) const {
    bool astray = false;
    for (std::uint64_t i = first + w_.lane(); i < end; i += w_.size()) {
      const pe_t owner[1] = {view().task.owner(view().seeds[i])};
      if (view().is_pe(owner[0])) continue;
      view().refuse(owner);
      astray = true;
    }
    return !w_.any(astray);
  }

  /// At most `n` tickets from `first` on, but none beyond the round.
  SHOAL_FN Tickets of_round(const Round& round, ticket_t first, lane_t n) {
    const ticket_t left = first < round.limit ? round.limit - first : 0;
    if (w_.lane() == 0) out_.note_waiting(left);
    return {first, left < n ? static_cast<lane_t>(left) : n};
  }
  SHOAL_FN Tickets from_leader(const Tickets& t) const { return {w_.from_leader(t.first), w_.from_leader(t.count)}; }

  /// @param t  the same on every lane
  SHOAL_FN lane_t take_tickets(const Tickets& t) {
    if (t.count == 0) return 0;
    bool aborted = false;
    for (lane_t i = w_.lane(); i < t.count; i += w_.size()) {
      aborted |= !view().ring.take(t.first + i, desk_.item[i], out_.state());
    }
    if (w_.any(aborted)) return 0;
    w_.sync();
    return t.count;
  }

  static constexpr lane_t kSeedsOfALane = 32;  ///< most seeds per lane in a share: few enough that all workers get some
  static constexpr int kTicketBits = 54;       ///< bits of a ticket: at 100 G items a second, they last two days

  const lane_t fetch_;
};

}  // namespace shoal
