// Discrete runs on GPUs: how the blocks of all PEs meet between two rounds. The kernels stay resident, as persistent ones do, so a
// round costs two barriers and one atomic of each block, and what one warp reads to decide what comes next. Launches of a kernel for
// each round, also by a CUDA graph that repeats itself, took longer (docs/decisions/0071-rounds-that-stay.md).
//
// The last block of a PE to arrive knows the next round: nothing else on this PE runs. The last block of the first PE also waits for
// the other PEs, and decides: go on, order a phase, or end the run. Nobody pushes meanwhile, so its sums are exact.
//
// A block that waits leaves when the run has been ended, by whomever. So no block waits for one that has left.
#pragma once
#include <cstdint>
#include <type_traits>

#include "shoal/worker/gpu.cuh"
#include "shoal/worklist/batch_share.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/quiescence.hpp"

namespace shoal::gpu {

/// What the workers of a PE must know of their next round, in one word, so that whoever waits for it learns all with one load. The
/// lowest bit changes with every round.
struct RoundWord {
  static constexpr ticket_t kOver = ~ticket_t{0} >> 12;  ///< as a limit: there is no next round
  static SHOAL_FN std::uint64_t after(std::uint64_t before, ticket_t limit, lane_t share, bool phase) {
    return limit << 12 | std::uint64_t{share} << 2 | static_cast<std::uint64_t>(phase) << 1 | (~before & 1);
  }
  static SHOAL_FN ticket_t limit(std::uint64_t word) { return word >> 12; }
  static SHOAL_FN lane_t share(std::uint64_t word) { return word >> 2 & 1023; }
  static SHOAL_FN bool phase(std::uint64_t word) { return (word >> 1 & 1) != 0; }
};
static_assert(GpuBlock::kMaxLanes < 1024, "a share is at most a batch");

/// One lane: waits until `word` is that of the round after `before`, and returns it. If the run is ended first, there is no next round.
template <class Counter>
__device__ std::uint64_t wait_for_round(const Counter& word, std::uint64_t before, const StateWord& state) {
  // Relaxed until it has changed: each load that acquires would empty the first-level cache, which other blocks share.
  const bool told = spin_wait(state, [&] { return ((word.load() ^ before) & 1) != 0; });
  return told ? word.load_acquire() : RoundWord::after(before, RoundWord::kOver, 0, false);
}

/// For the last block of a PE to finish a round, called by its first warp (or thread): lets the PE's blocks begin the next round once
/// all PEs have finished this one. All blocks wait meanwhile, so its loads are in flight together where they can be.
/// @param before       RoundGate::next of the round that has ended
/// @param limit        of that round
/// @param fetch, most  as for share_in_round()
template <class W, class View>
SHOAL_OUT_OF_LINE __device__ void end_round(W w, const View& view, std::uint64_t before, ticket_t limit, lane_t fetch,
                                            lane_t most) {
  PeControl& here = view.here();
  RoundGate& gate = here.gate;
  const bool first = view.me == view.first_near;
  lane_t state = here.state.load();
  Round next{limit, here.ring.tail.load()};
  std::uint64_t decided = 0;  // without limit and share, which differ from PE to PE
  if (w.lane() == 0) {
    gate.arrived.store(0);
    gate.rounds.fetch_add(1);
    if (!first) {
      view.control[view.first_near]->gate.pes.fetch_add_release(1);
      decided = wait_for_round(gate.told, before, here.state);
    } else if (view.end_near - view.first_near > 1) {
      const auto others = static_cast<std::uint32_t>(view.end_near - view.first_near - 1);
      spin_wait(here.state, [&] { return gate.pes.load_acquire() == others; });
      gate.pes.store(0);
      state = here.state.load();  // if the run was ended, others may not have come
    }
  }
  w.sync();
  if (first) {
    std::uint64_t completed = 0;
    for (pe_t q = view.first_near + static_cast<pe_t>(w.lane()); q < view.end_near; q += static_cast<pe_t>(w.size())) {
      completed += view.control[q]->completed.load();
    }
    const std::uint64_t created = created_everywhere(w, view);
    completed = w.sum(completed);
    bool over = w.from_leader(state) != 0, phase = false;
    if (!over && completed == created) {
      PhaseOrders orders = gate.orders;  // every lane changes its own
      phase = order_phase(w, view, orders, created);
      if (w.lane() == 0) gate.orders = orders;
      if (!phase && w.lane() == 0) view.stop_all(RunState::done);
      over = !phase;
    }
    decided = RoundWord::after(before, over ? RoundWord::kOver : 0, 0, phase);
    w.sync();
    if (w.lane() == 0) {
      for (pe_t q = view.first_near + 1; q < view.end_near; ++q) view.control[q]->gate.told.store_release(decided);
    }
  }
  next.share = share_in_round(next.limit - limit, view.n_workers, fetch, most);
  if (w.lane() == 0) {
    here.ring.head.store(next.head(view.n_workers));  // takes back tickets that were claimed beyond the round
    const bool over = RoundWord::limit(decided) == RoundWord::kOver;
    gate.next.store_release(
        RoundWord::after(before, over ? RoundWord::kOver : next.limit, next.share, RoundWord::phase(decided)));
  }
}

/// Every thread of every worker W calls this after a round (Scheduler::run_rounds): returns after all workers of all PEs have. False:
/// the run is over; true: `round` is the next one.
template <class W, class View>
__device__ bool meet_after_round(const View& view, lane_t fetch, Round& round) {
  // Of workers of one thread, not all lanes of the block's first warp need be workers.
  using First = std::conditional_t<std::is_same_v<W, GpuThread>, GpuThread, GpuWarp>;
  constexpr bool kWarps = std::is_same_v<W, GpuWarp>;
  __shared__ std::uint64_t next;
  __syncthreads();
  if (threadIdx.x < First::kMaxLanes) {
    const First w;
    RoundGate& gate = view.here().gate;
    const std::uint64_t before = gate.next.load();  // does not change before this block has arrived
    const bool last = w.lane() == 0 && gate.arrived.fetch_add_acq_rel(1) + 1 == gridDim.x;
    if (w.any(last)) end_round(w, view, before, round.limit, fetch, kWarps ? GpuWarp::kMaxFetch : fetch);
    if (w.lane() == 0) next = wait_for_round(gate.next, before, view.here().state);
  }
  __syncthreads();
  round = {round.limit, RoundWord::limit(next), RoundWord::share(next), RoundWord::phase(next)};
  return round.limit != RoundWord::kOver;
}

}  // namespace shoal::gpu
