// The scheduler: the main loop of a worker, the same on CPUs and GPUs. A worker takes items, runs them, and pushes the items
// that follow. Worker 0 of a process's first PE also checks, when it finds nothing to do, whether the run is over.
#pragma once
#include "shoal/worklist/inbox.hpp"
#include "shoal/worklist/pe_worklist.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/quiescence.hpp"
#include "shoal/worklist/run_batch.hpp"
#include "shoal/worklist/taking.hpp"
#if !defined(SHOAL_SIMULATE) || defined(SHOAL_SIMULATE_WIRES)
#include "shoal/worklist/waves.hpp"
#endif

namespace shoal {

/// What a CPU worker is doing, as a trace records it.
enum class WorkerState : std::uint32_t {
  busy,     ///< takes items, and runs or sends them
  polling,  ///< found nothing, and polls again
  idle,     ///< has found nothing for a while: yields its core between polls
  away,     ///< before a round, and after it
  count
};

/// A worker's loop. One object per lane.
template <Worker W, class View>
class Scheduler : private Taking<W, View> {
  using Base = Taking<W, View>;
  using Base::brings;
  using Base::desk_;
  using Base::desk_size;
  using Base::index;
  using Base::now;
  using Base::out_;
  using Base::queue_desk;
  using Base::take_below;
  using Base::take_from_ring;
  using Base::take_parked;
  using Base::view;
  using Base::w_;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;

  using Base::Base;

  /// Worker-collective: works until the run is over.
  SHOAL_FN void run_persistent() {
    out_.begin(w_);
    work_until_the_end();
    view().transport.progress();  // issues whatever is held back before the queues are destroyed
    rarely([](Scheduler& self) { return self.leave(); });
    is(WorkerState::away);
  }
  SHOAL_FN void work_until_the_end() {
    SHOAL_TIMED(w_, out_.own(), Section::all);
    // GPU workers of one thread push all their seeds before the loop. When they pushed seeds inside the loop, runs hung,
    // most likely because the compiled code made a thread that had worked wait for the idle threads of its warp
    // (docs/decisions/0013-seeds.md).
    while (Out<W, View>::kOwes && begin_more</*kAll=*/true>()) rest();
    PhaseOrders orders;  // used only by the worker that detects the end, so it stays in memory and takes no registers
    Backoff backoff;
    for (lane_t steps = 1;; ++steps) {
      const bool worked = step(steps);
      carry(steps, worked);
      bool began = false;
      if constexpr (!Out<W, View>::kOwes) began = !worked && begin_more();
      if constexpr (HasIdle<TaskT>) now().parts_left = began ? kIdleParts : now().parts_left;
      if (!worked) rest();  // even if it took more seeds: the items that it has completed must be reported
      if (worked || began) {
        is(WorkerState::busy);
        backoff.reset();
      } else {
        is(backoff.spins() < Backoff::kShort ? WorkerState::polling : WorkerState::idle);
        if (index() == 0 && view().me == view().first_near && look_for_the_end(orders)) break;
        // A worker that holds tickets polls only its own slots, which disturbs no other worker. So it need not back off
        // for its first kEagerSpins polls, while items may be about to arrive.
        SHOAL_TIMED(w_, out_.own(), Section::idle);
        if (!W::kHoldsTickets || backoff.spins() > kEagerSpins)
          backoff.pause();
        else
          backoff.count();
      }
      if (steps % kStepsPerLetGo == 0) {
        out_.let_go(w_);
        if (!worked && now().list.keeps_chunk()) rarely([](Scheduler& self) { return self.let_go_of_chunk(); });
      }
      if (steps % (worked ? kStepsPerLook : kStepsPerIdleLook) == 0 && over()) break;
    }
  }

  /// Worker-collective: one round of a discrete run. Takes the ring's items with tickets below `limit`, the items that
  /// have arrived from other PEs, and the spilled items. Never waits for another PE.
  SHOAL_FN void run_round(ticket_t limit) {
    out_.begin(w_);
    while (begin_more() && !over()) {  // stops when this worker has spilled; the next round continues
    }
    carry_out_phase();
    for (lane_t batch = 1; take(limit) && (batch % kBatchesPerLook != 0 || !over()); ++batch) {
    }
    while (receive_any() && !over()) {
    }
    // Moves this worker's spilled items as long as they can move. Stops when the ring is full, because this worker would
    // then run all of them by itself.
    bool fits = !now().list.empty();
    while (fits && !over() && rarely([&fits](Scheduler& self) { return self.take_from_spill(&fits); })) {
    }
    // The next round relies on every slot below its limit being filled, so no slot may be owed an item after this one.
    for (Backoff backoff; !out_.settle() && !over();) backoff.pause();
    rest<false>();
    leave();  // inline, unlike in run_persistent(), because every worker does it in every round
    is(WorkerState::away);
  }

  SHOAL_FN Out<W, View>& out() { return out_; }

 private:
  /// Records the worker's state in the trace, if there is one.
  SHOAL_FN void is([[maybe_unused]] WorkerState state) {
    if constexpr (kMayCarry<W> && std::is_same_v<W, CpuThread>) {
      if (now().log != nullptr) now().log->now(static_cast<std::uint32_t>(state));
    }
  }
  /// Runs a step that is rarely needed. On GPUs, for workers of several lanes, the step is a function that is not inlined
  /// and that works on a copy of this object; afterwards the state that changes, now(), is copied back. As long as
  /// nothing takes the address of the state itself, the frequently executed code keeps it in registers. Constant members
  /// are not copied back, so the compiler still knows that the view is the kernel's parameter, and reads it as an operand
  /// of an instruction instead of with a load.
  template <class Step>
  SHOAL_FN bool rarely(Step step) {
    if constexpr (W::kHoldsTickets && W::kMaxLanes > 1) {
      Scheduler copy = *this;
      const bool done = out_of_line(copy, step);
      if constexpr (!HasParts<W>) now() = copy.now();
      out_.own() = copy.out_.own();
      return done;
    } else {
      return step(*this);
    }
  }
  template <class Step>
  static SHOAL_OUT_OF_LINE SHOAL_FN bool out_of_line(Scheduler& copy, Step step) {
    return step(copy);
  }

  /// True if the run is over: it is quiescent, and no worker has ended it with an error. Such an error cannot be missed: a
  /// worker that ends the run writes this PE's state before it completes its item, and quiescent() has acquired that
  /// completion.
  SHOAL_FN bool look_for_the_end(PhaseOrders& orders) {
    SHOAL_TIMED(w_, out_.own(), Section::end);
    if constexpr (kMayCarry<W>) {
      if (view().wires != nullptr) {
        if (!over_everywhere(view(), orders) || over()) return false;
        view().stop_all(RunState::done);
        return true;
      }
    }
    std::uint64_t created = 0;
    if (!seems_over(w_, view(), created)) return false;
    created = w_.from_leader(created);
    return !over() && rarely([created, &orders](Scheduler& self) { return self.end_or_go_on(created, orders); });
  }
  SHOAL_FN bool end_or_go_on(std::uint64_t created, PhaseOrders& orders) {
    if (order_phase(w_, view(), orders, created)) return false;
    if (w_.lane() == 0) view().stop_all(RunState::done);
    return true;
  }
  /// Takes a turn at carrying items to other processes (Out::carry).
  SHOAL_FN void carry([[maybe_unused]] lane_t steps, [[maybe_unused]] bool worked) {
    if constexpr (kMayCarry<W>) {
      if (!worked || steps % kStepsPerCarry == 0) out_.carry(worked);
    }
  }
  SHOAL_FN bool let_go_of_chunk() {
    SpillList list = now().list;
    view().spill.let_go(w_, list, out_.state());
    now().list = list;
    return true;
  }
  SHOAL_FN bool leave() {
    let_go_of_chunk();
    out_.leave(w_);
    return true;
  }
  SHOAL_FN bool over() {
    SHOAL_TIMED(w_, out_.own(), Section::look);
    lane_t state = 0;
    if (w_.lane() == 0) {
      // Acquires only if there is something to acquire: an acquiring load on a GPU invalidates the first-level cache,
      // which several workers share.
      state = out_.state().load();
      if (state != 0) state = out_.state().load_acquire();
      if constexpr (HasEnough<TaskT>) {
        if (state == 0 && view().task.enough()) {
          view().stop_all(RunState::enough);
          state = static_cast<lane_t>(RunState::enough);
        }
      }
    }
    return w_.from_leader(state) != 0;
  }

  /// Does one batch of work, from whichever queue has some. False if there was none, or if none of it could move.
  SHOAL_FN bool step(lane_t steps) {
    if (!out_.settle()) {
      if constexpr (W::kHoldsTickets) view().ring.poll(out_.hand());
      return false;
    }
    if (!now().list.empty()) {  // back-pressure: spilled items go first, and no new item is taken from the ring
      if constexpr (W::kHoldsTickets) view().ring.poll(out_.hand());
      // Spilled items that cannot move wait for credits of channels. Meanwhile this worker helps to drain its own PE's
      // channels.
      const bool moved = (!now().stuck || some_channel_has_credits(w_, view(), index())) &&
                         rarely([](Scheduler& self) { return self.take_from_spill(); });
      now().stuck = !moved;
      return ((now().stuck || looks(steps, moved)) && receive_some()) || moved;
    }
    // Now and then even while there is work: until this worker has carried out the phase, it parks items by the old
    // threshold.
    if (HasPriority<TaskT> && steps % 4 == 1) carry_out_phase();
    bool worked = take();
    if (worked) refresh();
    worked = (looks(steps, worked) && receive_some()) || worked;
    if constexpr (kPhased<TaskT>) {
      if constexpr (HasIdle<TaskT>) now().parts_left = worked ? kIdleParts : now().parts_left;
      if (!worked) worked = carry_out_phase() || (!now().seeds_left && look_once());
    }
    return worked;
  }

  /// Does this worker's part of a phase that was ordered since it last checked. False if there is none.
  SHOAL_FN bool carry_out_phase() {
    if constexpr (!kPhased<TaskT>) {
      return false;
    } else {
      if (!HasIdle<TaskT> && view().far.buckets.lists == 0) return false;
      std::uint64_t word = 0;
      SHOAL_TIMED(w_, out_.own(), Section::look);
      if (w_.lane() == 0) {
        word = view().here().phase.load();
        if (word != now().phase) word = view().here().phase.load_acquire();
      }
      word = w_.from_leader(word);
      if (word == now().phase) return false;
      return rarely([word](Scheduler& self) { return self.carry_out(word); });
    }
  }
  SHOAL_FN bool carry_out(std::uint64_t word) {
    SHOAL_TIMED(w_, out_.own(), Section::phase);
    if constexpr (kPhased<TaskT>) {
      if (w_.lane() == 0) view().seen[index()] = word;
      const std::uint64_t before = now().phase;
      now().phase = word;
      if constexpr (HasPriority<TaskT>) {
        if (index() == 0) forget_parkers(w_, view().here(), Phase::near(word));
        const std::uint32_t slots = slots_reached(view().far.buckets, before, word);
        now().brings = slots != 0;
        if (slots != 0) {  // take() runs the parked items, and then completes the token
          if (w_.lane() == 0) view().far.bringing[index()].slots = slots;
          return true;
        }
      }
      if constexpr (HasIdle<TaskT>) {
        if (Phase::sweeps(word)) sweep();
      }
      complete(1);
    }
    return true;
  }

  /// Calls idle() for all of this worker's parts. If it pushed anything, another sweep must follow, even if every item was
  /// refused: accept() may have changed data before it refused, and the next sweep must look at the result.
  SHOAL_FN void sweep() {
    const auto pushed_before = out_.pushed();
    for (lane_t part = 0; part < kIdleParts; ++part) look(part);
    if (!w_.any(out_.pushed() != pushed_before)) return;
    if (w_.lane() == 0) view().here().entered.fetch_add(1);
    complete(1);
  }

  /// Calls idle() for one part.
  SHOAL_FN void look(lane_t part) {
    out_.mute(true);
    view().task.idle(w_, out_, index() * kIdleParts + part, view().n_workers * kIdleParts);
    out_.mute(false);
    if (w_.lane() == 0) out_.note_idle_call();
  }

  /// After a batch: has the task bring some of what it remembers of other PEs up to date. What a block does at a time takes a few
  /// microseconds, however much there is. All blocks together go round.
  SHOAL_FN void refresh() {
    if constexpr (kRefreshes<W, View>) {
      if (view().n_pes == 1 || ++now().batches % kBatchesOfARefresh != 0) return;
      SHOAL_TIMED(w_, out_.own(), Section::refresh);
      const std::uint32_t turn = now().batches / kBatchesOfARefresh;
      refresh_out_of_line(w_, view(), turn * view().n_workers + index());
    }
  }
  static SHOAL_OUT_OF_LINE SHOAL_FN void refresh_out_of_line(W w, const View& view, std::uint32_t part) {
    view.task.refresh(w, view.me, part);
  }

  /// For a worker that finds nothing to run: calls idle() for the next of its parts. It goes through all parts once, and
  /// again only after it has worked. It reports its completed items only after the last part (rest()), so the run cannot
  /// be found quiescent before. Whatever these calls miss, a sweep finds.
  SHOAL_FN bool look_once() {
    if constexpr (!HasIdle<TaskT>) {
      return false;
    } else {
      if (now().parts_left == 0) return false;
      look(--now().parts_left);
      complete(0);
      return true;
    }
  }

  /// Whether idle() is still to be called for some parts before this worker reports its completed items.
  SHOAL_FN bool looks_on() {
    if constexpr (HasIdle<TaskT>) {
      return now().parts_left > 0;
    } else {
      return false;
    }
  }

  /// Whether this worker polls the channels in this step. A few polling workers are enough to find items as soon as they
  /// arrive. If all workers polled, their loads of the same words would delay the worker that drains.
  SHOAL_FN bool looks(lane_t steps, bool worked) const {
    const lane_t every = view().n_workers / kLookers + 1;
    return view().n_pes > 1 && (steps + index()) % (worked && every < 4 ? 4 : every) == 0;
  }

  /// Drains a few times, because more items may have arrived where there were some. Not more often, because this worker may
  /// hold the ticket of an item that waits in the ring.
  SHOAL_FN bool receive_some() {
    lane_t times = 0;
    while (times < kDrainsAtOnce && receive_any()) ++times;
    return times > 0;
  }

  /// Drains the first channel, or segment, in which it finds items that have arrived. False if it found or got none.
  SHOAL_FN bool receive_any() {
    if (view().n_pes == 1) return false;
    SHOAL_TIMED(w_, out_.own(), Section::receive);
    lane_t channel = 0;
    ticket_t head = 0;
    bool found = false;
    if (view().segments.on) {
      const FoundSegment at = find_segment(w_, view(), index());
      found = at.from >= 0, channel = static_cast<lane_t>(at.from), head = at.segment;
    } else {
      found = find_arrived(w_, view(), index(), channel, head);
    }
    return found && receive(channel, head);
  }

  /// Runs one batch: of parked items that the phase has reached, or else of items of the ring. False if there is none.
  /// @param limit  discrete runs: the ring's tickets below it were all filled before the round
  SHOAL_FN bool take(ticket_t limit = kNoLimit) {
    const bool parked = brings();
    bool shares = false;
    lane_t n;
    {
      SHOAL_TIMED(w_, out_.own(), parked ? Section::bring : Section::take);
      n = parked ? take_parked(shares) : limit == kNoLimit ? take_from_ring() : take_below(limit);
    }
    if (shares) {
      rarely([n](Scheduler& self) { return self.queue_desk(n); });
      complete(brings() ? 0 : 1);
      return true;
    }
    if (n > 0) run_items(n);
    if (n > 0 || parked) {
      // Parked items are counted as part of the phase, whose token is completed after the last of them.
      const lane_t done = !parked ? n : brings() ? 0 : 1;
      if (!parked && w_.lane() == 0) now().credit += n;
      complete(done);
    }
    return n > 0 || parked;
  }

  /// Drains the items that have arrived in `channel` from ticket `head` on and that no other worker has claimed. If the run uses
  /// segments, `channel` is the number of the sending PE, and `head` that of the segment.
  SHOAL_FN bool receive(lane_t channel, ticket_t head) {
    const Claim claim = copy_arrived(w_, view(), channel, head, desk_.item, desk_.items);
    if (claim.count == 0) return false;
    // This worker only judges the items; whichever worker takes them from the ring runs them. So receiving is quick, and an
    // item that runs for long does not block a channel.
    out_.take_in(w_, desk_.item + claim.skip, claim.count);
    complete(claim.count);
    return true;
  }

  /// Worker-collective: takes some items from this worker's spill and sends them, moves them to the ring, or, if the ring is
  /// full, runs them here. Returns whether any item left spill.
  /// @param fits  set to false if the ring was full and items were run here
  SHOAL_FN bool take_from_spill(bool* fits = nullptr) {
    lane_t n = 0;
    SpillList list = now().list;
    while (n < desk_size() && !list.empty())
      n += view().spill.pop(w_, list, desk_.item + n, desk_size() - n, out_.state());
    now().list = list;
    if (n == 0) return false;
    bool moved = false;
    const lane_t left = out_.unspill(w_, desk_.item, n, moved);
    if (left > 0) {
      if (w_.lane() == 0) out_.beat();
      run_items(left);
    }
    if (left > 0 && fits != nullptr) *fits = false;
    complete(n);
    return moved;  // false: all went back to spill, because their channels have no credits yet
  }

  /// For a worker that has nothing to do: pushes a share of the seeds that no worker has taken yet. False if none is left,
  /// or if this worker has spilled or owed items, which go first.
  /// @tparam kAll  pushes seeds even if this worker has spilled or owed items
  template <bool kAll = false>
  SHOAL_FN bool begin_more() {
    if (!now().seeds_left || (!kAll && (!now().list.empty() || !out_.settle()))) return false;
    return rarely([](Scheduler& self) { return self.take_seeds(); });
  }
  /// Worker-collective. False if no seed is left.
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
    out_.template push_numbered</*kTogether=*/false, /*kMany=*/true>(
        w_, static_cast<std::int64_t>(first), static_cast<std::int64_t>(end),
        [this](std::int64_t i) { return view().seeds[i]; });
    complete(end - first);
    return true;
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

  SHOAL_FN void run_items(lane_t n) {
    is(WorkerState::busy);
    SHOAL_TIMED(w_, out_.own(), Section::run);
    run_batch(w_, out_, desk_, n);
  }

  /// Completes `n` stays or tokens (quiescence.hpp) after the pushes that followed from them. These pushes are counted and
  /// all lanes have met, so the leader's next release covers them. The worker reports the completions only when it rests:
  /// a late report is safe, and a release has to wait for all stores before it.
  SHOAL_FN void complete(std::uint64_t n) {
    out_.flush(w_);
    w_.sync();
    if (w_.lane() == 0) now().finished += n;
  }

  /// For a worker that has nothing to do: sends the items that it holds back, returns its ring credits, and reports its
  /// completed items.
  /// @tparam kRelease  true: reports with release, because the count may be read at any time; false: nobody reads it
  ///   before the end of the round, which orders it
  template <bool kRelease = true>
  SHOAL_FN void rest() {
    SHOAL_TIMED(w_, out_.own(), Section::rest);
    out_.let_go(w_);
    if (w_.lane() == 0) {
      view().ring.release(now().credit);
      // Not while idle() is still to be called for some parts: their pushes would follow from work that is already reported.
      if (now().finished > 0 && !looks_on()) {
        if constexpr (kRelease)
          view().here().completed.fetch_add_release(now().finished);
        else
          view().here().completed.fetch_add(now().finished);
        now().finished = 0;
      }
    }
    view().transport.progress();
  }

  static constexpr lane_t kStepsPerCarry = 2;
  static constexpr ticket_t kNoLimit = ~ticket_t{0};
  static constexpr lane_t kIdleParts = 8;  ///< parts per worker; one call of idle() looks through one
  static constexpr lane_t kStepsPerLook = W::kHoldsTickets ? 16 : 4;   ///< steps between polls of the run's state
  static constexpr lane_t kBatchesPerLook = HasEnough<TaskT> ? 1 : 8;  ///< in a round: batches between these polls
  static constexpr lane_t kStepsPerIdleLook = 4;                       ///< the same while there is nothing to do
  static constexpr lane_t kStepsPerLetGo = 64;  ///< most steps that an item is held back, or an unused chunk is kept
  static constexpr lane_t kLookers = 32;        ///< about how many workers of a PE poll the channels in any step
  static constexpr lane_t kDrainsAtOnce = 4;
#if defined(SHOAL_SIMULATE)
  static constexpr lane_t kBatchesOfARefresh = 2;  // a simulation has few batches
#else
  static constexpr lane_t kBatchesOfARefresh = 4;
#endif
  static constexpr lane_t kSeedsOfALane = 32;  ///< most seeds per lane in a share: few enough that all workers get some
  static constexpr unsigned kEagerSpins = 2000;
};

}  // namespace shoal
