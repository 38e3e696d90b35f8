// The scheduler: the main loop of a worker, the same on CPUs and GPUs. A worker takes items, runs them, and pushes the items
// that follow. Worker 0 of a process's first PE also checks, when it finds nothing to do, whether the run is over.
#pragma once
#include "shoal/worklist/pe_worklist.hpp"
#include "shoal/worklist/phasing.hpp"
#include "shoal/worklist/quiescence.hpp"
#include "shoal/worklist/run_batch.hpp"
#if !defined(SHOAL_SIMULATE) || defined(SHOAL_SIMULATE_WIRES)
#include "shoal/worklist/waves.hpp"
#endif

namespace shoal {

/// What a CPU worker is doing, as a trace records it.
enum class WorkerState : std::uint32_t {
  busy,     ///< takes items, and runs or sends them
  polling,  ///< found nothing, and polls again
  idle,     ///< has found nothing for a while: gives way between polls
  away,     ///< before a round, and after it
  count
};

/// A worker's loop. One object per lane.
template <Worker W, class View>
class Scheduler : private Phasing<W, View> {
  using Base = Phasing<W, View>;
  using Base::begin_of_share;
  using Base::brings;
  using Base::carry_out;
  using Base::complete;
  using Base::desk_;
  using Base::index;
  using Base::kIdleParts;
  using Base::kPolls;
  using Base::look_once;
  using Base::looks;
  using Base::looks_on;
  using Base::note_completed;
  using Base::now;
  using Base::out_;
  using Base::queue_desk;
  using Base::receive_any;
  using Base::receive_some;
  using Base::take_from_ring;
  using Base::take_from_spill;
  using Base::take_in_round;
  using Base::take_more;
  using Base::take_parked;
  using Base::take_seeds;
  using Base::view;
  using Base::w_;

 public:
  using TaskT = typename View::Task;
  using Item = typename View::Item;
  using typename Base::MoreBatches;

  using Base::Base;

  /// Worker-collective: works until the run is over.
  SHOAL_FN void run_persistent() {
    Scheduler copy =
        *this;  // workers of one lane do not need it; without it, ptxas compiled other code than was measured
    copy_ = &copy;
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
      bool busy = step(steps);
      carry(steps, busy);
      if (!busy) {
        if constexpr (!Out<W, View>::kOwes) busy = begin_more();
        if constexpr (HasIdle<TaskT>) now().parts_left = busy ? kIdleParts : now().parts_left;
        rest();  // even if it took more seeds: the items that it has completed must be reported
      }
      if (busy) {
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
      // From here on, spins tell whether it was busy: a variable would be kept in memory.
      if (steps % kStepsPerLetGo == 0) {
        out_.let_go(w_);
        if (kKeepsItems<W, TaskT> && backoff.spins() == 0 && w_.lane() == 0)
          out_.beat();  // kept items change no counter
        if ((backoff.spins() > 0 && now().list.keeps_chunk()) || out_.counts_much(w_)) {
          rarely([](Scheduler& self) { return self.tidy_up(); });
        }
      }
      if (steps % (backoff.spins() == 0 ? kStepsPerLook : kStepsPerIdleLook) == 0 && over()) break;
    }
  }

  /// Worker-collective: the rounds of a discrete run, for workers that stay between two rounds.
  /// @param round  the first round
  /// @param meet   (view, round) -> bool, called by all lanes after each round: waits until all workers of all PEs have finished it. True:
  ///   sets the next round; false: the run is over
  template <class Meet>
  SHOAL_FN void run_rounds(Round round, Meet meet) {
    if constexpr (kCopies) {
      Scheduler copy = *this;
      copy_ = &copy;
      go_round(round, meet);
    } else {
      go_round(round, meet);
    }
  }
  /// Worker-collective: one round, for workers that leave after it.
  SHOAL_FN void run_round(const Round& round) {
    run_rounds(round, [](const View&, Round&) { return false; });
  }

  SHOAL_FN Out<W, View>& out() { return out_; }

 private:
  template <class Meet>
  SHOAL_FN void go_round(Round& round, Meet& meet) {
    out_.begin(w_);
    do {
      run_in(round);
      if (out_.counts_much(w_)) rarely([](Scheduler& self) { return self.tidy_up(); });
    } while (meet(view(), round));
    rarely([](Scheduler& self) { return self.leave(); });
    is(WorkerState::away);
  }
  /// One round. Takes the ring's items of the round, the items that have arrived from other PEs, and the spilled items. Never waits for
  /// another PE. This worker's share of the ring leaves it before the worker pushes anything: others may wait for its slots, and a push
  /// may wait for theirs.
  SHOAL_FN void run_in(const Round& round) {
    ticket_t mine = begin_of_share(round);
    for (lane_t batch = 0;; ++batch) {
      const bool took = take(&round, &mine);
      if (batch == 0) {
        while (begin_more() && !over()) {  // stops when this worker has spilled; the next round continues
        }
        if (round.phase) carry_out_phase();
      } else if (!took) {
        break;
      }
      if (took && (batch + 1) % kBatchesPerLook == 0 && over()) break;
    }
    while (receive_any() && !over()) {
    }
    // Moves this worker's spilled items as long as they can move. Stops when the ring is full, because this worker would
    // then run all of them by itself.
    bool fits = !now().list.empty();
    while (fits && !over()) {
      fits = rarely([](Scheduler& self) { return self.run_from_spill(); });
    }
    // The next round relies on every slot below its limit being filled, so no slot may be owed an item after this one.
    for (Backoff backoff; !out_.settle() && !over();) backoff.pause();
    rest<false>();
  }

  /// Records the worker's state in the trace, if there is one.
  SHOAL_FN void is([[maybe_unused]] WorkerState state) {
    if constexpr (kMayCarry<W> && std::is_same_v<W, CpuThread>) {
      if (now().log != nullptr) now().log->now(static_cast<std::uint32_t>(state));
    }
  }
  /// Runs a step that is rarely needed. On GPUs, for workers of several lanes, the step is a function that is not inlined
  /// and that works on a copy of this object; afterwards the state that changes is copied back. As long as nothing takes the address
  /// of the state itself, the frequently executed code keeps it in registers. Constant members are not copied back, so the compiler
  /// still knows that the view is the kernel's parameter, and reads it as an operand of an instruction instead of with a load. There
  /// is one copy, so that no call has to store the constant members again: that would be much of the main loop's code.
  template <class Step>
  SHOAL_FN auto rarely(Step step) {
    if constexpr (kCopies) {
      if constexpr (!HasParts<W>) copy_->now() = now();
      copy_->out_.own() = out_.own();
      const auto done = out_of_line(*copy_, step);
      if constexpr (!HasParts<W>) now() = copy_->now();
      out_.own() = copy_->out_.own();
      return done;
    } else {
      return step(*this);
    }
  }
  template <class Step>
  static SHOAL_OUT_OF_LINE SHOAL_FN auto out_of_line(Scheduler& copy, Step step) {
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
    const Left left = what_is_left(w_, view(), created);
    if (left == Left::much) return false;
    created = w_.from_leader(created);
    return !over() &&
           rarely([left, created, &orders](Scheduler& self) { return self.end_or_go_on(left, created, orders); });
  }
  SHOAL_FN bool end_or_go_on(Left left, std::uint64_t created, PhaseOrders& orders) {
    if (order_phase(w_, view(), orders, created, left)) return false;
    if (w_.lane() == 0) view().stop_all(RunState::done);
    return true;
  }
  /// Takes a turn at carrying items to other processes (Out::carry).
  SHOAL_FN void carry([[maybe_unused]] lane_t steps, [[maybe_unused]] bool worked) {
    if constexpr (kMayCarry<W>) {
      if (!worked || steps % kStepsPerCarry == 0) out_.carry(worked);
    }
  }
  /// Gives an unused chunk back, and adds counts of 32 bits to those of the PE.
  SHOAL_FN bool tidy_up() {
    SpillList list = now().list;
    view().spill.let_go(w_, list, out_.state());
    now().list = list;
    out_.report_counts(w_);
    return true;
  }
  SHOAL_FN bool leave() {
    tidy_up();
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
    // Now and then even while there is work: until this worker has carried out the phase, it parks items by the old
    // threshold.
    if (HasPriority<TaskT> && now().list.empty() && out_.kept() == 0 && steps % 4 == 1) carry_out_phase();
    // A worker runs what it keeps at once: its other duties take an eighth of the time of a hop, a fifth with several PEs.
    bool worked = take();
    if (worked) refresh();
    worked = ((now().stuck || looks(steps, worked)) && receive_some()) || worked;
    if constexpr (kPhased<TaskT>) {
      if constexpr (HasIdle<TaskT>) now().parts_left = worked ? kIdleParts : now().parts_left;
      if (!worked && now().list.empty()) worked = carry_out_phase() || (!now().seeds_left && look_once());
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

  /// Runs one batch: of items kept, spilled, or parked that the phase has reached, or of items of the ring. False if there is none, or
  /// if the spilled items cannot move. All batches run the same code, as this is most of a kernel. In a persistent run, batches of what
  /// this one makes the worker keep follow.
  /// @param round  discrete runs: the round, else null
  /// @param mine   then the rest of this worker's share (take_in_round)
  SHOAL_FN bool take(const Round* round = nullptr, ticket_t* mine = nullptr) {
    lane_t n = 0;
    // Kept items come first, since nothing that this worker has completed is reported before they have run.
    if (out_.kept() == 0) {
      // Back-pressure: spilled items go next, and no new item is taken from the ring.
      const bool spilled = round == nullptr && !now().list.empty();
      const bool parked = !spilled && brings();
      bool shares = false;
      if (spilled) {
        if constexpr (W::kHoldsTickets) view().ring.poll(out_.hand());
        // Spilled items that cannot move wait for credits of channels. Meanwhile this worker helps to drain its own PE's
        // channels.
        if (now().stuck && !some_channel_has_credits(w_, view(), index())) return false;
        n = rarely([](Scheduler& self) { return self.take_from_spill(); });
        if (n == 0) return !now().stuck;
      } else {
        SHOAL_TIMED(w_, out_.own(), parked ? Section::bring : Section::take);
        n = parked ? take_parked(shares) : round == nullptr ? take_from_ring() : take_in_round(*round, *mine);
        if (n == 0 && !parked) return false;
      }
      if (shares) rarely([n](Scheduler& self) { return self.queue_desk(n); });
      // Parked items are counted as part of the phase, whose token is completed after the last of them.
      const lane_t done = !parked ? n : brings() ? 0 : 1;
      if (shares || n == 0) {
        complete(done);
        return true;
      }
      note_completed(done);
      if (!parked && !spilled && w_.lane() == 0) now().credit += n;
    }
    MoreBatches next{*this, round == nullptr};
    do {
      if (n == 0) n = take_more();
      n = run_items(n, next);
    } while (n > 0 || (out_.kept() > 0 && next.may_follow()));
    return true;
  }
  /// Discrete runs: moves spilled items. False if the ring was full, and items were run here, or if none could move.
  SHOAL_FN bool run_from_spill() {
    const lane_t n = take_from_spill();
    if (n == 0) return !now().stuck;
    note_completed(n);
    MoreBatches next{*this, false};
    run_items(n, next);
    return false;
  }

  /// For a worker that has nothing to do: pushes a share of the seeds that no worker has taken yet. False if none is left,
  /// or if this worker has spilled or owed items, which go first.
  /// @tparam kAll  pushes seeds even if this worker has spilled or owed items
  template <bool kAll = false>
  SHOAL_FN bool begin_more() {
    if (!now().seeds_left || (!kAll && (!now().list.empty() || !out_.settle()))) return false;
    return rarely([](Scheduler& self) { return self.take_seeds(); });
  }
  /// Runs the desk's first `n` items. They are noted as completed before (Taking::note_completed).
  /// Returns how many items are on the desk then that have not run.
  SHOAL_FN lane_t run_items(lane_t n, MoreBatches& next) {
    is(WorkerState::busy);
    SHOAL_TIMED(w_, out_.own(), Section::run);
    n = run_batch(w_, out_, desk_, n, next);  // all lanes have met after it
    out_.flush(w_);
    return n;
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
      // Not while idle() is still to be called for some parts: their pushes would follow from work that is already reported. Nor while
      // items are kept, as they belong to this work.
      if (now().finished > 0 && !looks_on() && out_.kept() == 0) {
        if constexpr (kRelease)
          view().here().completed.fetch_add_release(now().finished);
        else
          view().here().completed.fetch_add(now().finished);
        now().finished = 0;
      }
    }
    view().transport.progress();
  }

  static constexpr bool kCopies = W::kHoldsTickets && W::kMaxLanes > 1;  ///< whether rarely() works on a copy
  Scheduler* copy_ = nullptr;

  static constexpr lane_t kStepsPerCarry = 2;
  static constexpr lane_t kStepsPerLook = W::kHoldsTickets ? 16 : 4;   ///< steps between polls of the run's state
  static constexpr lane_t kBatchesPerLook = HasEnough<TaskT> ? 1 : 8;  ///< in a round: batches between these polls
  static constexpr lane_t kStepsPerIdleLook = kPolls > 1 ? 1 : 4;      ///< the same while there is nothing to do
  static constexpr lane_t kStepsPerLetGo = 64;  ///< most steps that an item is held back, or an unused chunk is kept
#if defined(SHOAL_SIMULATE)
  static constexpr lane_t kBatchesOfARefresh = 2;  // a simulation has few batches
#else
  static constexpr lane_t kBatchesOfARefresh = 4;
#endif
  static constexpr unsigned kEagerSpins = 2000;
};

}  // namespace shoal
