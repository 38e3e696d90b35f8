// The end of a run across processes, none of which sees the counters of another: two waves. In the first every process says
// how many items its PEs have completed. Only when all have said it does each read how many its PEs have created, and says
// that in the second. If both sums are equal, then at a moment between the two no item was left anywhere.
//
// This is the argument of worklist/quiescence.hpp, with a wave in place of a pass over memory: an item is counted as created
// before anybody can see it, also before it is in a segment that waits to be carried, and as completed after everything
// that it pushed was counted. So completed never exceeds created, and what is read as completed first and as created later
// can only be equal if nothing changed in between. What depends on the moment, such as the nearest bucket that is parked, is
// read in the second wave: from the quiet moment on it does not change. All processes get the same sums, so each decides by
// itself, and all decide the same. models/waves.pml checks this, with ten wrong variants.
//
// Nobody waits: a worker of each process looks now and then how far the waves are, and says what is due.
#pragma once
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/quiescence.hpp"
#include "shoal/worklist/wires.hpp"

namespace shoal {

/// True if nothing is left to do on the PEs of this process, as far as it can tell. A hint: waves may begin at any time, and
/// fail if something is left.
template <class View>
bool seems_quiet(const View& view) {
  std::uint64_t completed = 0, taken_over = 0;  // created here, or come from elsewhere, and not gone elsewhere
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

/// True if a segment from another process has something to claim, for a PE of this process. A hint.
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

/// For one thread of this process, again and again: takes its part in waves, and begins the next phase here if one is due.
/// @param orders  the same thread's, of this run
/// @return true: no item is left anywhere, and no phase either
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
      std::uint64_t created = 0;  // the newest: quiescent() says why
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
