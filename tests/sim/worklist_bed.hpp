// The common part of the scenarios with a whole worklist: the memory of several PEs with tiny capacities, the workers on it,
// and checks of that memory after a run. A scenario adds the task and its own checks.
#pragma once
#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bed_shape.hpp"
#include "harness.hpp"
#include "lanes.hpp"
#include "number_ring.hpp"
#include "shoal/transport/direct.hpp"
#include "shoal/worklist/schedule.hpp"

namespace shoal::sim {

inline constexpr lane_t kChunkItems = 2;  ///< items of a spill chunk: so few that small cases fill chunks as well
inline constexpr lane_t kBedDesk = 5;     ///< the most items that any worker takes at once

/// The bucket up to which items of a PE may run, from the newest value of its phase word. Not a simulated access.
inline lane_t near_on(const PeControl& control) {
  std::uint64_t word;
  std::memcpy(&word, &control.phase, sizeof word);
  return Phase::near(word);
}

/// Returns "" if each item was judged and run as often as expected (0 or 1 times), otherwise a description of the first that
/// was not.
/// @param nodes  each has judge and run (expected), and judged and ran (counted)
template <class Nodes>
std::string treated_wrongly(const Nodes& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const auto& node = nodes[i];
    if (node.judged == node.judge && node.ran == node.run) continue;
    return "item " + std::to_string(i) + " was judged " + std::to_string(node.judged) + " times and run " +
           std::to_string(node.ran) + " times; right would be " + std::to_string(node.judge) + " and " +
           std::to_string(node.run);
  }
  return {};
}

/// How the PEs of a bed are connected: here by shared memory only. wires_sim.cpp has several processes.
struct OneProcess {
  template <class View>
  void lay(View&) {}
  void worker_left(pe_t) {}
  int device_of(pe_t pe) const { return pe; }
};

template <class Item, class Joined = OneProcess>
class WorklistBed {
 public:
  WorklistBed() {
    for (auto& control : control_) control = std::make_unique<PeControl>();
  }

  BedShape shape;
  std::vector<Item> seeds[kBedPes];
  Joined joined;

  PeControl& control(pe_t p) const { return *control_[p]; }

  /// Sets the memory to its state before a run. `seeds` must be final.
  void prepare(Machine& machine) {
    rounds_ = 0;
    orders_ = {};
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      prepare(p);
      name(machine, p);
    }
  }

  /// Adds the workers of all PEs. Later rounds use the same tasks.
  /// @param task_of  returns the task of a PE
  /// @param at_the_end  called by each lane at the end of a persistent run that ended well
  template <class TaskT>
  void add_workers(Machine& machine, std::function<TaskT(pe_t)> task_of, std::function<void()> at_the_end) {
    using View = WorklistView<TaskT, DirectTransport>;
    auto views = std::make_shared<std::vector<View>>();
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      views->push_back(view_of<View>(p, task_of(p)));
      joined.lay(views->back());
    }
    add_ = [this, views, at_the_end](Machine& m) {
      for (pe_t p = 0; p < shape.n_pes; ++p) {
        for (lane_t w = 0; w < shape.workers; ++w) {
          for (lane_t lane = 0; lane < shape.lanes; ++lane) {
            m.add_worker(joined.device_of(p), [this, views, at_the_end, p, w, lane] {
              const View& view = (*views)[p];
              if (shape.kind == 0) work(SimThread{}, view, w, at_the_end);
              if (shape.kind == 1) work(SimHolder{}, view, w, at_the_end);
              if (shape.kind == 2) work(SimLane<2>(pe_[p].two[w], lane), view, w, at_the_end);
              if (shape.kind == 3) work(SimLane<3>(pe_[p].three[w], lane), view, w, at_the_end);
              joined.worker_left(p);
            });
          }
        }
      }
    };
    order_ = [this, views](std::uint64_t created) { return order_phase(CpuThread{}, (*views)[0], orders_, created); };
    add_(machine);
  }

  /// Discrete runs: does what the host does between two rounds (worklist/launch_cpu.hpp). Returns true if there is another
  /// round.
  bool next_round(Machine& machine) {
    if (!shape.discrete || control(0).state.load() != 0 || ++rounds_ > kMostRounds) return false;
    std::uint64_t created = 0, completed = 0;
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      PeControl& c = control(p);
      created += c.entered.load() + c.ring.tail.load() + static_cast<std::uint64_t>(c.tokens.load());
      for (pe_t i = 0; i < shape.n_pes << shape.log_channels; ++i) created += c.ends[i].send.tail.load();
      completed += c.completed.load();
    }
    if (created == completed && !order_(created)) return false;
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      pe_[p].round = {pe_[p].round.limit, control(p).ring.tail.load(), shape.fetch};
      control(p).ring.head.store(pe_[p].round.head(shape.workers));
    }
    machine.clear_workers();
    add_(machine);
    return true;
  }

  /// Does what worklist/memory.hpp does between two runs on the same memory, after one that ended well.
  void prepare_again() {
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      PeControl& c = control(p);
      c.state.store(0), c.cause.store(0);
      c.seeds_taken.store(0);
      c.ring.head.store(c.ring.tail.load());
      c.entered.fetch_add(seeds[p].size());
      c.phase.store(0);
      c.carried_out.store(c.tokens.load());
      for (auto& nearest : c.nearest) nearest.store(kNoBucket);
      for (auto& count : c.parkers) count.store(0);
      pe_[p].seen.assign(shape.workers, 0);
    }
  }

  /// How the run ended: `done`, or the state of the first PE that ended differently.
  RunState ended() const {
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      const auto state = static_cast<RunState>(control(p).state.load());
      if (state != (shape.discrete ? RunState::running : RunState::done)) return state;
    }
    return RunState::done;
  }
  /// How many items the workers say that they ran.
  std::int64_t runs() const {
    std::int64_t sum = 0;
    for (pe_t p = 0; p < shape.n_pes; ++p) sum += static_cast<std::int64_t>(control(p).counts.run.load());
    return sum;
  }
  /// Returns what is wrong with the memory after a run that ended well, or "".
  std::string judge() const {
    if (rounds_ > kMostRounds) return "no end after " + std::to_string(kMostRounds) + " rounds";
    std::int64_t pushed = 0, ended = 0;
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      const auto& counts = control(p).counts;
      pushed += static_cast<std::int64_t>(counts.pushed.load());
      for (const auto* count : {&counts.withheld, &counts.combined, &counts.accepted, &counts.dropped}) {
        ended += static_cast<std::int64_t>(count->load());
      }
    }
    if (pushed != ended)
      return std::to_string(pushed) + " items were pushed, and " + std::to_string(ended) + " judged or withheld";
    for (pe_t p = 0; p < shape.n_pes; ++p) {
      const std::string of = " of PE " + std::to_string(p);
      const auto credits = control(p).ring.credits.load();
      if (credits != static_cast<std::int64_t>(shape.capacity)) {
        return "ring credits" + of + " were lost or made: " + std::to_string(credits);
      }
      const auto free = control(p).spill_free.tail.load() - control(p).spill_free.head.load();
      if (free != shape.chunks) {
        return "spill chunks" + of + " were lost, or items left in them: " + std::to_string(free) + " free";
      }
      for (lane_t i = 0; i < shape.workers * kHeldSlots; ++i) {
        if (pe_[p].held[i].full != 0) return "an item" + of + " is still held back";
      }
      for (const std::vector<Item>& sieve : pe_[p].sieves) {
        const Item nothing[kBeyondSieve] = {};
        if (std::memcmp(sieve.data() + sieve.size() - kBeyondSieve, nothing, sizeof nothing) != 0)
          return "a sieve" + of + " overflowed";
      }
      if (control(p).counts.parked.load() > 0 && shape.buckets.lists == 0)
        return "an item" + of + " was parked without priorities";
    }
    return {};
  }

 private:
  static constexpr int kMostRounds = 400;
  static constexpr std::size_t kBeyondSieve = 64;  ///< items behind each sieve, which nobody may write

  struct Pe {
    std::vector<Slot<Item>> ring;
    std::vector<Item> chunks;
    std::vector<std::uint32_t> chains;
    std::vector<Slot<std::uint32_t>> free, far_numbers;
    std::vector<FarChunk> filling;
    std::vector<FarBring> bringing;
    std::vector<BinTable> bins;
    std::vector<Gate> gates;
    std::vector<std::uint64_t> seen;
    std::vector<HeldSlot<Item>> held;
    std::vector<RemoteSlot<Item>> inbox[kBedPes];
    std::vector<SegmentStart> segment_starts;
    std::vector<SegmentEnd> ends[kBedPes];  ///< followed by the items
    std::vector<SpillList> lists;
    std::vector<std::vector<Item>> desks;
    std::vector<std::vector<Span<const std::uint32_t>>> ranges;
    std::vector<std::vector<Item>> packs, sieves;
    std::vector<lane_t> sifted;
    std::vector<std::vector<std::uint64_t>> states;  ///< of each worker, Changing of all lanes
    std::vector<LaneCounters<std::uint64_t>> tallies;
    std::vector<std::vector<BatchStart>> starts;
    std::vector<Meeting<2>> two;
    std::vector<Meeting<3>> three;
    Round round;
  };

  void prepare(pe_t p) {
    PeControl& c = control(p);
    Pe& pe = pe_[p];
    c.state.store(0), c.cause.store(0);
    c.completed.store(0);
    c.entered.store(seeds[p].size());
    c.tokens.store(0), c.carried_out.store(0);
    c.phase.store(0);
    for (auto& nearest : c.nearest) nearest.store(kNoBucket);
    for (auto& count : c.parkers) count.store(0);
    c.seeds_taken.store(0);
    for_lane_counters([](Merge, auto& word) { word.store(0); }, c.counts);
    pe.ring.assign(shape.capacity, Slot<Item>{});
    c.ring.tail.store(0);
    c.ring.head.store(0);
    c.ring.credits.store(static_cast<std::int64_t>(shape.capacity));
    for (ticket_t i = 0; i < shape.capacity; ++i) pe.ring[i].sequence.store(i);
    pe.chunks.assign(shape.chunks * kChunkItems, {});
    pe.chains.assign(shape.chunks, 0);
    pe.free.clear(), pe.far_numbers.clear();
    fill_ring(pe.free, c.spill_free, kNumbers, shape.chunks);
    for (lane_t slot = 0; slot < shape.buckets.slots(); ++slot) {
      fill_ring(pe.far_numbers, c.far[slot], kNumbers, 0);
      c.far[slot].credits.store(0);
    }
    pe.filling.assign(shape.workers * shape.buckets.slots(), FarChunk{});
    pe.bringing.assign(shape.workers, FarBring{});
    pe.bins.assign(shape.workers, BinTable{});
    pe.gates.assign(shape.workers, Gate{});
    pe.seen.assign(shape.workers, 0);
    pe.held.assign(shape.workers * kHeldSlots, HeldSlot<Item>{});
    for (pe_t i = 0; i < shape.n_pes << shape.log_channels; ++i) {
      c.ends[i].send.tail.store(0);
      c.ends[i].send.credits.store(static_cast<std::int64_t>(shape.channel_capacity));
      c.ends[i].send.messages.store(0);
      c.ends[i].receive.drain.store(0);
      c.ends[i].receive.home.store(0);
      for (auto& read : c.ends[i].receive.read) read.store(0);
    }
    for (pe_t q = 0; q < shape.n_pes; ++q) {
      pe.inbox[q].assign(shape.channel_capacity << shape.log_channels, RemoteSlot<Item>{});
      const auto behind = (shape.channel_capacity * sizeof(Item) + sizeof(SegmentEnd) - 1) / sizeof(SegmentEnd);
      pe.ends[q].assign(shape.segments.segments() + behind, SegmentEnd{});
    }
    pe.segment_starts.assign(kBedPes * shape.segments.segments(), SegmentStart{});
    pe.lists.assign(shape.workers, SpillList{});
    pe.desks.assign(shape.workers, std::vector<Item>(kBedDesk));
    pe.ranges.assign(shape.workers, std::vector<Span<const std::uint32_t>>(shape.lanes));
    pe.packs.assign(shape.workers, std::vector<Item>(shape.lanes));
    const lane_t room = Sieve<Item>::capacity(shape.lanes, SimLane<3>::kOffers);
    pe.sieves.assign(shape.workers, std::vector<Item>(room + kBeyondSieve));
    pe.sifted.assign(shape.workers, 0);
    pe.tallies.assign(shape.workers, {});
    pe.states.assign(shape.workers, std::vector<std::uint64_t>(shape.lanes * kWordsOfState));
    pe.starts.assign(shape.workers, std::vector<BatchStart>(shape.lanes));
    pe.two.assign(shape.workers, {});
    pe.three.assign(shape.workers, {});
    pe.round = {};
  }

  void name(Machine& machine, pe_t p) {
    PeControl& c = control(p);
    Pe& pe = pe_[p];
    const std::string at = "PE" + std::to_string(p) + ".";
    machine.name(&c.state, 8, 1, at + "state");
    machine.name(&c.completed, 8, 1, at + "completed");
    machine.name(&c.entered, 8, 1, at + "entered");
    machine.name(&c.tokens, 8, 1, at + "tokens");
    machine.name(&c.carried_out, 8, 1, at + "carried out");
    machine.name(&c.phase, 8, 1, at + "phase");
    machine.name(c.parkers, sizeof c.parkers[0], kParkersKept, at + "parkers");
    machine.name(c.nearest, sizeof c.nearest[0], kMostSlots, at + "nearest");
    machine.name(&c.ring.tail, 8, 1, at + "ring.tail");
    machine.name(&c.ring.head, 8, 1, at + "ring.head");
    machine.name(&c.ring.credits, 8, 1, at + "ring.credits");
    machine.name(&c.spill_free.tail, 8, 1, at + "free.tail");
    machine.name(&c.spill_free.head, 8, 1, at + "free.head");
    machine.name(&c.spill_free.credits, 8, 1, at + "free.credits");
    for (lane_t slot = 0; slot < shape.buckets.slots(); ++slot) {
      machine.name(&c.far[slot].tail, 8, 1, at + "far" + std::to_string(slot) + ".tail");
      machine.name(&c.far[slot].head, 8, 1, at + "far" + std::to_string(slot) + ".head");
    }
    machine.name(pe.ring.data(), sizeof pe.ring[0], pe.ring.size(), at + "ring.slot");
    machine.name(pe.free.data(), sizeof pe.free[0], pe.free.size(), at + "free.slot");
    machine.name(pe.far_numbers.data(), sizeof pe.free[0], pe.far_numbers.size(), at + "far.slot");
    for (pe_t q = 0; q < shape.n_pes; ++q) {
      const std::string to = "channel" + std::to_string(p) + std::to_string(q) + ".";
      const std::string from = "channel" + std::to_string(q) + std::to_string(p) + ".";
      for (lane_t k = 0; k < lane_t{1} << shape.log_channels; ++k) {
        const auto i = static_cast<lane_t>(q) << shape.log_channels | k;
        const std::string of = shape.log_channels > 0 ? std::to_string(k) + "." : "";
        machine.name(&c.ends[i].send.tail, 8, 1, to + of + "tail");
        machine.name(&c.ends[i].send.credits, 8, 1, to + of + "credits");
        machine.name(&c.ends[i].receive.drain, 8, 1, from + of + "drain");
        machine.name(c.ends[i].receive.read, sizeof c.ends[i].receive.read[0], kMostShares, from + of + "read");
        machine.name(&c.ends[i].receive.home, 8, 1, from + of + "home");
      }
      machine.name(pe.inbox[q].data(), sizeof pe.inbox[q][0], pe.inbox[q].size(), from + "slot");
      for (ticket_t s = 0; s < shape.segments.segments(); ++s) {
        SegmentStart& start = pe.segment_starts[static_cast<ticket_t>(q) * shape.segments.segments() + s];
        const std::string of = "segment" + std::to_string(s) + ".";
        machine.name(&start.filled, 8, 1, to + of + "filled");
        machine.name(&start.told, 8, 1, to + of + "told");
        machine.name(&start.home, 8, 1, to + of + "home");
        machine.name(&pe.ends[q][s].written, 8, 1, from + of + "written");
        machine.name(&pe.ends[q][s].claimed, 8, 1, from + of + "claimed");
        machine.name(&pe.ends[q][s].read, 8, 1, from + of + "read");
      }
    }
    machine.name(&c.counts, sizeof c.counts.pushed, sizeof c.counts / sizeof c.counts.pushed, at + "counts");
  }

  template <class View, class TaskT>
  View view_of(pe_t p, const TaskT& task) {
    View view;
    Pe& pe = pe_[p];
    view.task = task;
    view.me = p;
    view.n_pes = view.end_near = shape.n_pes;
    view.starts = pe_[p].segment_starts.data();
    for (pe_t q = 0; q < shape.n_pes; ++q) {
      view.control[q] = control_[q].get();
      view.outbox[q] = pe_[q].inbox[p].data();
      view.inbox[q] = pe.inbox[q].data();
      if (!shape.segments.on) continue;
      view.homes[q] = pe_[q].segment_starts.data() + static_cast<ticket_t>(p) * shape.segments.segments();
      view.outbox[q] = reinterpret_cast<RemoteSlot<Item>*>(pe_[q].ends[p].data());
      view.inbox[q] = reinterpret_cast<RemoteSlot<Item>*>(pe.ends[q].data());
    }
    view.segments = shape.segments;
    view.ring = {pe.ring.data(), shape.capacity, &control(p).ring};
    view.ring.advance = shape.advance;
    if (shape.knows_empty) view.ring.empty_below = control(p).ring.tail.load() + shape.capacity;
    view.looks = shape.looks;
    view.keeps = shape.keeps;
    view.deals = shape.deals;
    view.overlap = shape.overlap;
    view.spill.chunks = pe.chunks.data();
    view.spill.next = pe.chains.data();
    view.spill.chunk_items = kChunkItems;
    view.spill.free = {pe.free.data(), pe.free.size(), &control(p).spill_free};
    view.channel_capacity = shape.channel_capacity;
    view.log_channels = shape.log_channels;
    view.far = {shape.buckets, pe.filling.data(), pe.bringing.data(), pe.far_numbers.data(), kNumbers, control(p).far};
    view.seen = pe.seen.data();
    view.n_workers = shape.workers;
    view.judge_remote = shape.judge_remote;
    view.held = shape.combine ? pe.held.data() : nullptr;
    view.seeds = seeds[p].data();
    view.n_seeds = seeds[p].size();
    return view;
  }

  template <class W, class View>
  void work(const W& w, const View& view, lane_t index, const std::function<void()>& at_the_end) {
    Pe& pe = pe_[view.me];
    using Range = typename RangeOf<typename View::Task>::Type;
    Range* range = nullptr;
    if constexpr (FanOutTask<typename View::Task>) range = pe.ranges[index].data();
    Desk<typename View::Task> desk{pe.desks[index].data(),  kBedDesk,          range,
                                   pe.starts[index].data(), &pe.bins[index],   pe.packs[index].data(),
                                   &pe.gates[index],        &pe.tallies[index]};
    if constexpr (RefusesMost<typename View::Task>) desk.sieve = {&pe.sifted[index], pe.sieves[index].data()};
    Changing<W, View>* state = nullptr;
    if constexpr (HasParts<W>) {
      static_assert(sizeof(*state) <= kWordsOfState * sizeof(std::uint64_t));
      state = reinterpret_cast<Changing<W, View>*>(pe.states[index].data());
    }
    Scheduler<W, View> scheduler(w, view, pe.lists[index], desk, shape.fetch, index, state);
    if (shape.discrete) {
      scheduler.run_round(pe.round);
      if (w.lane() == 0) pe.lists[index] = scheduler.out().now().list;
      return;
    }
    scheduler.run_persistent();
    if (control(view.me).state.load() != static_cast<std::uint32_t>(RunState::done)) return;
    if (scheduler.out().now().list.top != kNoChunk) fail("the run ended while this worker had items in its spill");
    if (scheduler.out().hand().has) fail("the run ended while this worker had an item in its hand");
    if (scheduler.out().kept() > 0) fail("the run ended while this worker kept items");
    at_the_end();
  }

  static constexpr std::size_t kWordsOfState = 32;
  static constexpr std::uint32_t kNumbers = 128;  ///< slots of the rings of chunk numbers

  int rounds_ = 0;
  PhaseOrders orders_;
  std::function<void(Machine&)> add_;
  std::function<bool(std::uint64_t)> order_;
  std::unique_ptr<PeControl> control_[kBedPes];
  Pe pe_[kBedPes];
};

}  // namespace shoal::sim
