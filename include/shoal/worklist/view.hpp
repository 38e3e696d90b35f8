// The worklist of one PE as its workers see it: a ring of accepted items, channels from and to every other PE, spill,
// and the counters from which quiescence is found. docs/contract.md states what the worklist promises.
#pragma once
#include "shoal/queue/buckets.hpp"
#include "shoal/queue/channel.hpp"
#include "shoal/queue/combiner.hpp"
#include "shoal/queue/segments.hpp"
#include "shoal/queue/slot_ring.hpp"
#include "shoal/queue/spill.hpp"
#include "shoal/transport/transport.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/clocks.hpp"
#include "shoal/worklist/phase.hpp"
#include "shoal/world/counters.hpp"

namespace shoal {

class Wires;

/// An invalid result of owner(), which names no PE of the run, packed into a 64-bit value that is never 0.
struct RefusedOwner {
  static SHOAL_FN std::uint64_t pack(pe_t owner) { return std::uint64_t{1} << 32 | static_cast<std::uint32_t>(owner); }
  static pe_t owner(std::uint64_t word) { return static_cast<pe_t>(static_cast<std::uint32_t>(word)); }
};

/// The number of heartbeat words, which workers write as signs of life. Several workers may share a word; its value has no
/// meaning, only a change of it.
inline constexpr lane_t kBeats = 32;

/// One round of a discrete run, on one PE. The round takes the ring's tickets from `first` to before `limit`, all of which were filled
/// before it. Worker i has `share` of them, from first + i * share on; what the shares leave is claimed at the ring's head.
struct Round {
  ticket_t first = 0, limit = 0;
  lane_t share = 0;
  bool phase = true;  ///< whether a phase may have been ordered since the last round

  SHOAL_FN bool has_more_than_shares(lane_t workers) const { return limit - first > ticket_t{workers} * share; }
  /// Where the ring's head is to be when the round begins.
  SHOAL_FN ticket_t head(lane_t workers) const {
    return has_more_than_shares(workers) ? first + ticket_t{workers} * share : limit;
  }
};

/// Where the workers of all PEs meet between two rounds of a discrete run on GPUs (worklist/rounds_gpu.cuh).
struct RoundGate {
  PaddedWord<std::uint32_t, Scope::device> arrived;  ///< blocks of this PE that have finished the round
  PaddedWord<std::uint64_t, Scope::device> next;     ///< the next round, for which the PE's blocks wait
  PaddedWord<std::uint64_t, Scope::device> rounds;   ///< finished rounds, for the host
  PaddedWord<std::uint32_t, Scope::system> pes;      ///< on the first PE: other PEs that have finished the round
  PaddedWord<std::uint64_t, Scope::system> told;     ///< on the other PEs: what the first PE has decided
  PhaseOrders orders;                                ///< on the first PE
};

/// One PE's counters, in its own memory. Words that other PEs access have system scope.
struct PeControl {
  StateWord state;
  /// Stays that have ended (worklist/quiescence.hpp): an item was judged, run, dropped or moved on, and its pushes are counted.
  PaddedWord<std::uint64_t, Scope::system> completed;
  /// Seeds, and items put into spill; also one for each worker that pushed in a sweep.
  PaddedWord<std::uint64_t, Scope::system> entered;
  PaddedWord<std::int64_t, Scope::system> tokens;  ///< parts of phases, one per worker and phase (worklist/phases.hpp)
  /// Those of these parts whose workers have taken all parked items that the phase has reached. They may still run them.
  PaddedWord<std::int64_t, Scope::system> carried_out;
  PaddedWord<std::uint64_t, Scope::system> phase;  ///< the phase (worklist/phase.hpp) that every worker is to carry out
  Word<lane_t, Scope::system> nearest[kMostSlots];  ///< [slot] the smallest bucket parked in it, or a smaller one
  Word<std::uint64_t, Scope::system> refused;       ///< RefusedOwner of an item that was pushed here; 0: none
  Word<std::uint32_t, Scope::system> cause;         ///< the first RunState with which a worker of this PE ended the run
  Word<std::uint32_t, Scope::system> begun;         ///< 1 once the kernel has started; for the host
  RingCounters ring;
  RingCounters spill_free;
  lane_t chunk_items;    ///< items of a chunk of spill, for the host's reports
  lane_t segment_items;  ///< items of a segment, likewise; 0: the run uses channels
  lane_t log_channels;   ///< log2 of the number of channels from one PE to another, likewise
  RingCounters far[kMostSlots];
  Word<lane_t, Scope::device> parkers[kParkersKept];  ///< [bucket % kParkersKept] workers with items parked in it
  PaddedWord<std::uint64_t, Scope::device> seeds_taken;
  RoundGate gate;
  PaddedWord<std::uint64_t, Scope::system> beat[kBeats];  ///< Out::beat(); for the watchdog
  LaneCounters<PaddedWord<std::uint64_t, Scope::device>>
      counts;  ///< sums over the workers that have left; for the host
#if defined(SHOAL_CLOCKS)
  ClockWords clocks;
#endif
  struct ChannelEnds {
    ChannelSendCounters send;
    ChannelReceiveCounters receive;
  };
  /// Indexed by View::channel(), or by PE if the run uses segments. The last member, so that the entries that a run does not
  /// use need not be copied.
  ChannelEnds ends[kMaxPes];

  /// How many bytes, from the beginning of this struct, a run uses.
  static constexpr std::size_t bytes(pe_t n_pes, lane_t log_channels) {
    return sizeof(PeControl) - sizeof(ends) + (static_cast<std::size_t>(n_pes) << log_channels) * sizeof(ChannelEnds);
  }
};

/// One PE's view of the worklist. Trivially copyable; passed into kernels by value. "Here" means in this PE's memory.
template <class TaskT, class TransportT>
struct WorklistView {
  using Task = TaskT;
  using Item = typename TaskT::Item;
  using Sender = ChannelSender<Item, PutsSeveral<TransportT, Item>, !SelfContained<TaskT>>;
  using Receiver = ChannelReceiver<Item, PutsSeveral<TransportT, Item>, !SelfContained<TaskT>>;

  TaskT task;
  TransportT transport;
  pe_t me = 0;
  pe_t n_pes = 1;
  pe_t first_near = 0, end_near = 1;           ///< the range of PEs whose memory this one reaches, itself included
  PeControl* control[kMaxPes] = {};            ///< the counters of those PEs; control[me] is here
  SlotRing<Item, !SelfContained<TaskT>> ring;  ///< here
  SpillPool<Item> spill;                       ///< here
  /// outbox[q]: slots for items from this PE to PE q. They are in PE q's memory; if PE q is in another process, they are here,
  /// and a wire carries their items to PE q.
  RemoteSlot<Item>* outbox[kMaxPes] = {};
  RemoteSlot<Item>* inbox[kMaxPes] = {};  ///< inbox[q]: slots here for items from PE q
  ticket_t channel_capacity = 0;          ///< slots of one channel
  lane_t log_channels = 0;                ///< log2 of channels(); n_pes * channels() is at most kMaxPes
  SegmentShape segments;           ///< if on: outbox and inbox hold segments, first their SegmentEnds, then the items
  SegmentStart* starts = nullptr;  ///< [n_pes][segments] here, of the segments that this PE sends
  /// homes[q]: [segments] SegmentStarts of what PE q sends to this PE. In PE q's memory; if PE q is in another process, here.
  SegmentStart* homes[kMaxPes] = {};
  Wires* wires = nullptr;         ///< for CPU PEs of several processes; else null
  FarStore<Item> far;             ///< for tasks with priority(); buckets.lists is 0 if the run does not use priorities
  std::uint64_t* seen = nullptr;  ///< [n_workers] tasks with phases: the last phase that each worker has carried out
  lane_t n_workers = 0;           ///< workers of each PE
  // Words of 32 bits, since an instruction of a GPU reads such a parameter in place; a shorter one needs a load of its own.
  lane_t looks = 1;         ///< whether promising() is asked about items of this PE before they are judged
  lane_t judge_remote = 0;  ///< for tasks with accept_at() or ask_at(): whether the pusher judges
  lane_t keeps = 0;         ///< for workers that keep items (kKeepsItems): the most, at most w.size()
  lane_t deals = 0;         ///< for workers that deal (kDeals): the longest batch that they deal out; at most w.size()
  lane_t overlap = 0;       ///< the threshold may move when at most so many stays are left (worklist/phases.hpp)
  HeldSlot<Item>* held = nullptr;  ///< [n_workers * kHeldSlots] here; null if the run does not combine
  const Item* seeds = nullptr;     ///< [n_seeds] the items that this PE pushes first; counted in `entered`
  std::uint64_t n_seeds = 0;

  SHOAL_FN PeControl& here() const { return *control[me]; }
  /// The number, among all channels of this PE, of the channel between it and PE `pe` that worker `index` uses. There are
  /// channels() of them, over which the workers are spread by their index.
  SHOAL_FN lane_t channel(pe_t pe, lane_t index) const {
    return static_cast<lane_t>(pe) << log_channels | (index & (channels() - 1));
  }
  SHOAL_FN lane_t channels() const { return lane_t{1} << log_channels; }  ///< from one PE to another
  SHOAL_FN pe_t pe_of(lane_t channel) const { return static_cast<pe_t>(channel >> log_channels); }
  SHOAL_FN Sender sender(lane_t channel) const {
    return {slots_of(outbox, channel), channel_capacity, &here().ends[channel].send};
  }
  SHOAL_FN Receiver receiver(lane_t channel) const {
    return {slots_of(inbox, channel), channel_capacity, &here().ends[channel].receive,
            &control[pe_of(channel)]->ends[this->channel(me, channel)].send.credits};
  }
  SHOAL_FN SegmentSender<Item> segment_sender(pe_t to) const {
    SegmentEnd* const ends = ends_in(outbox[to]);
    return {ends, items_behind(ends), starts + (static_cast<ticket_t>(to) << segments.log_segments),
            &here().ends[to].send, segments};
  }
  SHOAL_FN SegmentReceiver<Item> segment_receiver(pe_t from) const {
    SegmentEnd* const ends = ends_in(inbox[from]);
    return {ends, items_behind(ends), homes[from], &here().ends[from].receive, segments};
  }
  /// One lane: whether an item for PE `to` might find a credit now, if worker `index` sends it.
  SHOAL_FN bool has_credits(pe_t to, lane_t index) const {
    return segments.on ? segment_sender(to).has_credits() : here().ends[channel(to, index)].send.credits.load() > 0;
  }
  SHOAL_FN bool is_pe(pe_t p) const { return static_cast<std::uint32_t>(p) < static_cast<std::uint32_t>(n_pes); }
  /// One lane: ends the run on every PE, because one of the values `owner`, which the task's owner() returned, is not a PE
  /// of the run. The host reports this error before any other.
  template <lane_t kSome>
  SHOAL_FN void refuse(const pe_t (&owner)[kSome]) const {
    for (pe_t one : owner) {
      if (!is_pe(one)) here().refused.store(RefusedOwner::pack(one));
    }
    stop_all(RunState::task_failed);
  }
  /// The same for one value; also for this PE, if the task's owns() says that another one owns the item.
  SHOAL_FN void refuse_owner(pe_t owner) const {
    here().refused.store(RefusedOwner::pack(owner));
    stop_all(RunState::task_failed);
  }
  /// Ends the run on every PE that this one reaches; the wires notify the others. Each PE keeps the first reason that one of
  /// its workers gave; the host reports the worst of the PEs' reasons. If a PE cannot be notified, its watchdog stops it,
  /// and the run reports that the transport failed.
  SHOAL_FN void stop_all(RunState why) const {
    const auto tell = [&](RunState state) {
      bool told = true;
      SHOAL_ROLLED
      for (pe_t q = first_near; q < end_near; ++q) {
        if (q != me) told &= transport.set(q, &control[q]->state, static_cast<std::uint32_t>(state));
      }
      return told;
    };
    if (!tell(why)) {
      why = RunState::transport_failed;
      tell(why);
    }
    std::uint32_t none = 0;
    here().cause.compare_swap(none, static_cast<std::uint32_t>(why));
    here().state.store_release(static_cast<std::uint32_t>(why));
  }

 private:
  SHOAL_FN RemoteSlot<Item>* slots_of(RemoteSlot<Item>* const (&boxes)[kMaxPes], lane_t channel) const {
    return boxes[pe_of(channel)] + (channel & (channels() - 1)) * channel_capacity;
  }
  static SHOAL_FN SegmentEnd* ends_in(RemoteSlot<Item>* box) { return reinterpret_cast<SegmentEnd*>(box); }
  SHOAL_FN Item* items_behind(SegmentEnd* ends) const { return reinterpret_cast<Item*>(ends + segments.segments()); }
};

/// The owner of an item, or this PE if the lane has no item.
template <class View>
SHOAL_FN pe_t owner_if(const View& view, bool has, const typename View::Item& item) {
  return has ? view.task.owner(item) : view.me;
}

/// The PE that comes `steps` after this one.
template <class View>
SHOAL_FN pe_t step_from(const View& view, lane_t steps) {
  return (view.me + static_cast<pe_t>(steps)) % view.n_pes;
}

/// A task without its priority(). Runs in FIFO order have kernels of their own, compiled for this type, which leave more
/// registers for everything else.
template <class TaskT>
struct InOrder : TaskT {
  void priority(const typename TaskT::Item&) const = delete;
};

/// The view of a PE that is the only one of its run. Its kernels are compiled without the code that sends and receives,
/// which on GPUs leaves more registers and shared memory for the rest (docs/decisions/0018-larger-drains.md).
template <class View>
struct ViewAlone : View {
  static constexpr pe_t me = 0;
  static constexpr pe_t n_pes = 1;
  static constexpr pe_t first_near = 0, end_near = 1;
};
/// Whether View is a ViewAlone.
template <class View>
inline constexpr bool kAlone = false;
template <class View>
inline constexpr bool kAlone<ViewAlone<View>> = true;

/// The view of a PE in kernels that only runs with priorities use: on several PEs, those that `auto` chooses among (kernels_gpu.cuh).
template <class View>
struct ViewByPriority : View {};
/// Whether a kernel with this view is used by runs with priorities only. Others find out from Buckets::lists.
template <class View>
inline constexpr bool kByPriority = kAlone<View>;
template <class View>
inline constexpr bool kByPriority<ViewByPriority<View>> = true;

}  // namespace shoal
