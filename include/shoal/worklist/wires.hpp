// This process's ends of the wires to PEs of other processes, and what the processes tell each other during a run.
//
// Workers push an item for such a PE into segments (queue/segments.hpp) that lie here, in the sender's memory. The carrier copies
// what may be read of them, whole ranges at a time, to the same segments at the receiver, and then raises the receiver's
// `written`. What the receiver's workers give back comes home in the same way: as a count, which the sender's carrier turns into
// the words that its workers look at. Every number only grows and has one writer, so it may be put again, and come late.
//
// Nobody carries all the time: a worker that has nothing to do carries, and a worker that works does now and then. So no thread
// takes a core from the workers, and messages grow with the load.
//
// The end of a run is found by two waves (worklist/waves.hpp), which are words here, too.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "shoal/core/atomic.hpp"
#include "shoal/core/clock.hpp"
#include "shoal/core/spin.hpp"
#include "shoal/core/types.hpp"
#include "shoal/queue/buckets.hpp"
#include "shoal/queue/segments.hpp"
#include "shoal/world/heap.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// What one process says in a wave, and what is true of all processes together.
struct WaveAnswer {
  std::uint64_t count = 0;            ///< first wave: items completed; second wave: items created; together: the sum
  std::uint64_t nearest = kNoBucket;  ///< second wave: the nearest bucket that may be parked; together: the smallest
};

class Wires {
 public:
  /// Takes part of the world's heap. All processes make one with the same shape and item size, at the same place of the program.
  /// @param n_here   the PEs of this process
  /// @param workers  of each PE here
  /// @throws CapacityError; UsageError: processes differ; as World::exchange()
  Wires(World& world, const SegmentShape& shape, std::size_t item_bytes, int workers);
  ~Wires();
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  /// Segments for what comes from PE `from` to PE `to`, which is here: SegmentEnds, and then the items.
  SegmentEnd* inbox(pe_t to, pe_t from) const;
  std::size_t inbox_bytes() const { return inbox_bytes_; }
  std::uint64_t workers() const { return workers_; }  ///< of all PEs of all processes

  /// What goes from PE `from`, which is here, to PE `to`, which is elsewhere.
  /// @param ends    [segments] and then the items, here
  /// @param starts  [segments] here
  /// @param tail    of the sender's workers
  void add_leaving(pe_t from, pe_t to, SegmentEnd* ends, SegmentStart* starts,
                   const Word<ticket_t, Scope::system>* tail);
  /// What comes from PE `from`, which is elsewhere, to PE `to`, which is here.
  /// @param homes  [segments] whose `home` this PE's workers raise
  void add_arriving(pe_t from, pe_t to, SegmentStart* homes);
  /// A PE that is here.
  void add_pe(StateWord* state, Word<std::uint32_t, Scope::system>* cause) { pes_.push_back({state, cause}); }

  /// Everything as before the first run. Waits for the other processes. No worker may be running.
  void reset();
  void begin_run();
  /// After the workers of this process have left: tells the others if the run did not end well.
  /// @throws TransportError: another process is gone
  void end_run();

  /// How often something was put for PE `to` from PE `from`, which is here, since reset(). After a run.
  std::uint64_t messages(pe_t from, pe_t to) const;

  /// Carries what waits to be carried, if nobody else does at the moment. Of any thread.
  void carry();
  /// For a worker, before it carries. Always true where a put is a copy. Where a put takes a library's time, messages are to grow
  /// with what they cost. So a worker that has other work lets as much time pass since the last turn that put something as that
  /// turn took, times kRest, and at least kLeastRest: a call may come back before the library has sent anything. One without work
  /// carries at once, but not again within kIdleRest: a wire that cannot keep up gets fewer and larger messages.
  bool is_due(bool has_work) const {
    if (!puts_cost_) return true;
    return clock_us() >= carried_at_.load() + (has_work ? std::max(kRest * took_.load(), kLeastRest) : kIdleRest);
  }
  /// Ends the run here if another process has ended it, and tells the others if it has ended here. Of any thread.
  void look_for_ends();
  /// True: another process ended the run, with an error or because it was enough.
  bool ended_elsewhere() const { return ended_elsewhere_.load() != 0; }

  /// For the watchdog, now and then: gives this process's sign of progress to all. @return that of all together
  std::uint64_t moved(std::uint64_t mine);
  /// For the watchdog: this process is about to end itself.
  void leave_for_good(const std::string& why) { world_.end(why); }

  // Waves, of one worker of this process. Every process says its answers in turn; see over_everywhere() of worklist/waves.hpp.

  enum class Turn { to_say_completed, to_say_created, wait, to_compare };
  Turn turn();
  void say(const WaveAnswer& mine);
  /// At Turn::to_compare. @return true: both sums are equal; `all` is the second wave's
  bool compare(WaveAnswer& all);

 private:
  struct Statement;
  struct Leaving;
  struct Arriving;
  struct Pe {
    StateWord* state;
    Word<std::uint32_t, Scope::system>* cause;
  };
  /// A word that is to be put after the items.
  struct Late {
    int process;
    std::size_t to;
    std::uint64_t value;
  };

  int processes() const { return world_.n_processes(); }
  pe_t n_here() const { return world_.n_here(); }
  pe_t first_of(int process) const { return first_[static_cast<std::size_t>(process)]; }
  std::size_t inbox_at(pe_t to, pe_t from) const;
  std::size_t given_at(pe_t from, pe_t to) const;
  std::size_t statement_at(int process, std::uint64_t number) const;
  std::size_t column(pe_t of, pe_t other) const;
  Word<std::uint64_t, Scope::system>& word(std::size_t offset) const {
    return *reinterpret_cast<Word<std::uint64_t, Scope::system>*>(heap_.at(offset));
  }
  Statement& statement(int process, std::uint64_t number) const;
  void carry_items(Leaving& way);
  void take_home(Leaving& way);
  void tell_end(RunState why);
  void fail();

  World& world_;
  Heap& heap_;
  const SegmentShape shape_;
  const std::size_t item_bytes_, inbox_bytes_;
  std::vector<pe_t> first_;  ///< [processes + 1]
  std::size_t most_here_ = 0, columns_ = 0;
  std::size_t statements_ = 0, ended_ = 0, moved_ = 0, given_ = 0, inboxes_ = 0, base_ = 0, bytes_ = 0;
  std::uint64_t workers_ = 0;
  std::vector<Pe> pes_;
  std::vector<Leaving> leaving_;
  std::vector<Arriving> arriving_;
  std::vector<Late> late_;

  static constexpr std::uint64_t kRest = 4;
  static constexpr std::uint64_t kLeastRest = 100, kIdleRest = 40;  ///< microseconds
  const bool puts_cost_;

  // Of workers of all PEs of this process.
  Word<std::uint64_t, Scope::system> carried_at_,
      took_;                                       ///< the last turn that put something: when, and how long, in us
  PaddedWord<std::uint32_t, Scope::system> busy_;  ///< 1: somebody carries
  Word<std::uint32_t, Scope::system> told_end_, ended_elsewhere_;
  std::uint64_t run_ = 0;
  std::uint64_t said_ =
      0;  ///< statements of waves: odd ones in first waves, even ones in second; one worker's, as the next
  std::uint64_t completed_ = 0;  ///< the sum of the first wave
  bool waits_ = false;           ///< for the last statement of all
  lane_t carries_ = 0;           ///< so often somebody has carried
  std::mutex mutex_;             ///< guards the next
  std::string lost_;             ///< why another process ended the run for good
};

}  // namespace shoal
