// This process's ends of the wires to PEs of other processes, and the messages that the processes exchange during a run.
//
// Workers push an item for a PE of another process into segments (queue/segments.hpp) in their own process's memory. The carrier
// copies the items that may be read, whole ranges at a time, to the same segments in the receiver's memory, and then raises the
// receiver's `written`. Segments that the receiver's workers give back are reported in the opposite direction: as a count, which
// the sender's carrier writes into the `home` words that its workers read. Every such number only grows and has one writer, so
// it does no harm if a number is put twice or arrives late.
//
// No thread carries all the time: a worker that has nothing to do carries, and a worker that has work does so now and then. So
// no carrier takes a core from the workers, and messages get larger as the load grows.
//
// The end of a run is detected by two waves (worklist/waves.hpp), whose words also lie in the heap.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
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

/// What one process announces in a wave, or the result for all processes together.
struct WaveAnswer {
  std::uint64_t count = 0;            ///< first wave: items completed; second wave: items created; of all: the sum
  std::uint64_t nearest = kNoBucket;  ///< second wave: the nearest bucket that may be parked; of all: the smallest
};

class Wires {
 public:
  /// Allocates a part of the world's heap. All processes must construct one, with the same shape and item size, at the same point
  /// of the program.
  /// @param workers  workers of each PE of this process
  /// @throws CapacityError: the heap is too small; UsageError: the processes differ; also as World::exchange()
  Wires(World& world, const SegmentShape& shape, std::size_t item_bytes, int workers);
  ~Wires();
  Wires(const Wires&) = delete;
  Wires& operator=(const Wires&) = delete;

  /// The segments for items from PE `from` to PE `to` of this process: SegmentEnds, and then the items.
  SegmentEnd* inbox(pe_t to, pe_t from) const;
  std::size_t inbox_bytes() const { return inbox_bytes_; }
  std::uint64_t workers() const { return workers_; }  ///< workers on all PEs of all processes

  /// Registers the queue from PE `from` of this process to PE `to` of another process.
  /// @param ends    [segments] and then the items, in this process
  /// @param starts  [segments] in this process
  /// @param tail    the tickets given to the sender's workers
  void add_leaving(pe_t from, pe_t to, SegmentEnd* ends, SegmentStart* starts,
                   const Word<ticket_t, Scope::system>* tail);
  /// Registers the queue from PE `from` of another process to PE `to` of this process.
  /// @param homes  [segments] whose `home` the receiver's workers raise
  void add_arriving(pe_t from, pe_t to, SegmentStart* homes);
  /// Registers a PE of this process: the words that end its run, and say why.
  void add_pe(StateWord* state, Word<std::uint32_t, Scope::system>* cause) { pes_.push_back({state, cause}); }

  /// Sets everything to its state before the first run. Waits for the other processes. No worker may be running.
  void reset();
  /// Collective over all processes: throws if any of them gives a reason.
  /// @param why  why this process cannot take part; empty if it can
  /// @throws CapacityError  with the first reason
  void agree(const std::string& why);
  void begin_run();
  /// To be called after the workers of this process have left: notifies the other processes if the run did not end well.
  /// @throws TransportError: another process is gone
  void end_run();

  /// How many times items were put from PE `from` of this process to PE `to`, since reset(). To be called after a run.
  std::uint64_t messages(pe_t from, pe_t to) const;

  /// Carries whatever waits to be carried, unless another thread is doing so. May be called by any thread.
  void carry();
  /// Whether a worker should call carry() now. Always true if a put is only a copy. If puts go through a library, which takes more
  /// time (Heap::puts_cost), messages should be larger the more they cost. So a worker that has other work waits, after the last
  /// turn that put something, for kRest times as long as that turn took, and at least for kLeastRest, since a put may return before
  /// the library has sent anything. A worker without work carries at once, but not again within kIdleRest: so a wire that cannot
  /// keep up gets fewer and larger messages.
  bool is_due(bool has_work) const {
    if (!puts_cost_) return true;
    return clock_us() >= carried_at_.load() + (has_work ? std::max(kRest * took_.load(), kLeastRest) : kIdleRest);
  }
  /// Ends the run in this process if another process has ended it, and notifies the others if it has ended here, for any reason but
  /// `done`, which all processes find by themselves. May be called by any thread.
  void look_for_ends();
  /// True if another process ended the run, with an error or because its enough() was true.
  bool ended_elsewhere() const { return ended_elsewhere_.load() != 0; }

  /// For the watchdog, to be called now and then: sends this process's progress number to all other processes.
  /// @return the sum of the progress numbers of all processes
  std::uint64_t moved(std::uint64_t mine);
  /// For the watchdog: this process is about to end itself.
  void leave_for_good(const std::string& why) { world_.end(why); }

  // The waves. Only one worker of each process calls these functions; see over_everywhere() of worklist/waves.hpp.

  /// What this process has to do next: announce its completed or created sum, wait for other processes, or compare the sums.
  enum class Turn { to_say_completed, to_say_created, wait, to_compare };
  Turn turn();
  /// Announces this process's answer in the current wave to all other processes.
  void say(const WaveAnswer& mine);
  /// To be called at Turn::to_compare. @return true: both sums are equal; `all` is the result of the second wave
  bool compare(WaveAnswer& all);

 private:
  struct Loss;  // defined in the source file: it needs <mutex>, which a user's program would have to compile
  struct Statement;
  struct Leaving;
  struct Arriving;
  struct Pe {
    StateWord* state;
    Word<std::uint32_t, Scope::system>* cause;
  };
  /// A word that must be put after the items.
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

  // Shared by the workers of all PEs of this process.
  /// The last turn that put something: when it ended, and how long it took, in us.
  Word<std::uint64_t, Scope::system> carried_at_, took_;
  PaddedWord<std::uint32_t, Scope::system> busy_;  ///< 1: some thread carries
  Word<std::uint32_t, Scope::system> told_end_, ended_elsewhere_;
  std::uint64_t run_ = 0;
  // The next three belong to the worker that takes part in the waves.
  std::uint64_t said_ = 0;  ///< answers that this process has announced: odd ones in first waves, even ones in second
  std::uint64_t completed_ = 0;  ///< the sum of the first wave
  bool waits_ = false;           ///< whether some process may not have announced answer number said_ yet
  lane_t carries_ = 0;           ///< how many times a thread has carried
  const std::unique_ptr<Loss> loss_;
};

}  // namespace shoal
