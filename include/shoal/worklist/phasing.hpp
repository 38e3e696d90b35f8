// Phasing: what a worker does in a phase (worklist/phases.hpp). It finds the parked items that the threshold has reached, or calls
// idle() for its parts of the PE's data.
#pragma once
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/receiving.hpp"

namespace shoal {

/// The part of a Scheduler that carries out phases. One object per lane.
template <Worker W, class View>
class Phasing : public Receiving<W, View> {
  using Base = Receiving<W, View>;

 public:
  using Base::Base;
  using TaskT = typename Base::TaskT;

 protected:
  using Base::complete;
  using Base::index;
  using Base::now;
  using Base::out_;
  using Base::view;
  using Base::w_;

  static constexpr lane_t kIdleParts = 8;  ///< parts per worker; one call of idle() looks through one

  /// Does this worker's part of the phase `word`.
  SHOAL_FN bool carry_out(std::uint64_t word) {
    SHOAL_TIMED(w_, out_.own(), Section::phase);
    if constexpr (kPhased<TaskT>) {
      if (w_.lane() == 0) view().seen[index()] = word;
      const std::uint64_t before = now().phase;
      out_.set_phase(word);
      if constexpr (HasPriority<TaskT>) {
        if (index() == 0) forget_parkers(w_, view().here(), Phase::near(word));
        const std::uint32_t slots = slots_reached(view().far.buckets, before, word);
        now().brings = slots != 0;
        if (slots != 0) {  // Scheduler::take() runs the parked items, and then completes the token
          if (w_.lane() == 0) view().far.bringing[index()].slots = slots;
          return true;
        }
      }
      if constexpr (HasIdle<TaskT>) {
        if (Phase::sweeps(word)) sweep();
      }
      if (w_.lane() == 0) view().here().carried_out.fetch_add_release(1);
      complete(1);
    }
    return true;
  }

  /// For a worker that finds nothing to run: calls idle() for the next of its parts. It goes through all parts once, and
  /// again only after it has worked. It reports its completed items only after the last part (Scheduler::rest), so the run cannot
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

 private:
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
};

}  // namespace shoal
