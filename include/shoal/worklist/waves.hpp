// Termination detection across processes, none of which can read the counters of another. It takes two waves. In the first wave
// every process announces how many items its PEs have completed. Only when all processes have done so, each reads how many
// items its PEs have created, and announces that in the second wave. If both sums are equal, then at some moment between the
// two waves no item was left anywhere.
//
// The argument is that of worklist/quiescence.hpp, with a wave in place of a pass over memory. An item is counted as created
// before anybody can see it, and before it is in a segment that waits to be carried. It is counted as completed after
// everything that it pushed was counted. So completed never exceeds created, and a completed sum can equal a created sum that
// is read later only if nothing changed in between. Values that depend on the moment, such as the nearest parked bucket, are
// read in the second wave: from the quiescent moment on they do not change. All processes get the same sums, so each decides
// by itself, and all decide the same. models/waves.pml checks this, with ten wrong variants.
//
// No thread waits for a wave: a worker of each process polls now and then how far the waves are, and announces what is due.
#pragma once
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/quiescence.hpp"
#include "shoal/worklist/wires.hpp"

namespace shoal {

/// True if no item is left on the PEs of this process, as far as it can tell. This is only a hint: waves may begin at any time,
/// and their sums differ if an item is left.
template <class View>
bool seems_quiet(const View& view) {
  // taken_over: created here, or received from other processes, except what was sent to other processes
  std::uint64_t completed = 0, taken_over = 0;
  for (pe_t q = view.first_near; q < view.end_near; ++q) completed += view.control[q]->completed.load_acquire();
  for (pe_t q = view.first_near; q < view.end_near; ++q) {
    const PeControl& c = *view.control[q];
    taken_over += c.entered.load() + c.ring.tail.load() + static_cast<std::uint64_t>(c.tokens.load());
    for (pe_t r = 0; r < view.n_pes; ++r) {
      const bool near = r >= view.first_near && r < view.end_near;
      taken_over += near ? c.ends[r].send.tail.load() : c.ends[r].receive.drain.load();
    }
  }
  return completed == taken_over;
}

/// True if a segment from another process has items that this PE can claim. A hint.
template <class View>
bool something_arrived(const View& view) {
  for (pe_t q = 0; q < view.n_pes; ++q) {
    if (q >= view.first_near && q < view.end_near) continue;
    ticket_t segment = 0;
    const auto queue = view.segment_receiver(q);
    for (lane_t ahead = 0; ahead < queue.shape.segments() && ahead < 4; ++ahead) {
      if (queue.waiting(ahead, segment)) return true;
    }
  }
  return false;
}

/// To be called repeatedly by one thread of this process: takes this process's part in the waves, and begins the next phase on
/// the PEs of this process if one is due.
/// @param orders  belongs to that thread, and to this run
/// @return true: no item is left on any PE of any process, and no phase is due
template <class View>
bool over_everywhere(const View& view, PhaseOrders& orders) {
  Wires& wires = *view.wires;
  switch (wires.turn()) {
    case Wires::Turn::wait:
      return false;
    case Wires::Turn::to_say_completed: {
      if (!seems_quiet(view)) return false;
      std::uint64_t completed = 0;
      for (pe_t q = view.first_near; q < view.end_near; ++q) {
        completed += view.transport.get(q, &view.control[q]->completed);
      }
      wires.say({completed, kNoBucket});
      return false;
    }
    case Wires::Turn::to_say_created: {
      std::uint64_t created = 0;  // reads the newest values; quiescent() says why
      for (pe_t q = view.first_near; q < view.end_near; ++q) created += created_at<true>(view, q);
      lane_t nearest = kNoBucket;
      if constexpr (kPhased<typename View::Task>) nearest = nearest_parked(CpuThread{}, view, orders.word);
      wires.say({created, nearest});
      return false;
    }
    case Wires::Turn::to_compare:
      break;
  }
  WaveAnswer all;
  if (!wires.compare(all)) return false;
  if constexpr (kPhased<typename View::Task>) {
    const std::uint64_t before = orders.word;
    if (next_phase<typename View::Task>(orders, view.far.buckets, static_cast<lane_t>(all.nearest), all.count,
                                        wires.workers())) {
      begin_phase(CpuThread{}, view, before, orders.word);
      return false;
    }
  }
  return true;
}

}  // namespace shoal
