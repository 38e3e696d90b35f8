// The memory of a worklist: allocates and initialises the counters, ring, channels and spill of every PE of this process,
// and makes the views through which workers use them.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <vector>

#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/ring_memory.hpp"
#include "shoal/worklist/view.hpp"
#include "shoal/worklist/wires.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

/// The shape of a plan's segments: each has about plan.batch_bytes bytes, and all together have the capacity of a channel.
/// There are at least four, as far as the capacity allows, so that some can be read while another is filled.
inline SegmentShape segments_of(const LaunchPlan& plan, std::size_t item_bytes) {
  SegmentShape shape;
  if (plan.batch_bytes <= 0) return shape;
  const auto most = std::max<std::uint64_t>(plan.channel_capacity / 4, 1);
  const auto items = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(plan.batch_bytes) / item_bytes, 1, most);
  shape.on = true;
  shape.wait = plan.batch_wait;
  shape.wait_us = plan.batch_wait_us;
  shape.log_items = static_cast<lane_t>(std::bit_width(items) - 1);
  shape.log_segments = static_cast<lane_t>(std::bit_width(plan.channel_capacity) - 1) - shape.log_items;
  return shape;
}

/// log2 of the number of channels from one PE to another. There are no more channels than slots, or than places for their
/// counters (kMaxPes). If the run uses segments, the result is 0.
inline lane_t log_channels_of(const LaunchPlan& plan, pe_t n_pes) {
  if (plan.batch_bytes > 0 || n_pes == 1) return 0;
  const auto most = std::min<ticket_t>({plan.channels, plan.channel_capacity, static_cast<ticket_t>(kMaxPes / n_pes)});
  return static_cast<lane_t>(std::bit_width(std::max<ticket_t>(most, 1)) - 1);
}

template <class TaskT, class TransportT>
class WorklistMemory {
 public:
  using Item = typename TaskT::Item;
  using View = WorklistView<TaskT, TransportT>;

  /// @param workers  the most workers of each PE
  /// @throws CapacityError: not enough memory; if there are several processes, as Wires::Wires()
  WorklistMemory(const Machine& machine, const LaunchPlan& plan, TransportT transport, int workers)
      : machine_(machine), plan_(plan), workers_(static_cast<std::uint64_t>(workers)), counters_(machine.n_pes()) {
    const bool prioritised = HasPriority<TaskT> && plan.queue == QueueKind::priority;
    buckets_ = {plan.threshold, 1 / plan.threshold_delta, prioritised ? plan.buckets : 0};
    slots_ = prioritised ? buckets_.slots() : 0;
    // Each worker needs more chunks, because it has some that are not full: one for its list, and one for each slot of
    // parked items. One more per worker is added because some workers spill much more than others.
    const std::uint64_t on_top = workers_ * (2 + slots_);
    if (plan.spill > 0) {
      chunks_ = (static_cast<std::uint64_t>(plan.spill) + plan.chunk_items - 1) / plan.chunk_items + on_top;
    }
    segments_ = segments_of(plan, sizeof(Item));
    log_channels_ = log_channels_of(plan, machine.all_pes());
    if (machine.world() != nullptr) {
      wires_ = std::make_unique<Wires>(*machine.world(), segments_, sizeof(Item), workers);
    }
    free_capacity_ = std::bit_ceil(std::max<ticket_t>(chunks_, 2));
    mirrors_ = machine.allocate_host(machine.n_pes() * sizeof(PeControl), "mirrors of counters");
    std::string failed;
    try {
      if (!machine.on_gpu()) {
        require_ring_memory({machine.n_pes(), static_cast<std::int64_t>(plan.capacity), sizeof(Slot<Item>)},
                            /*asked=*/false);
      }
      for (pe_t p = 0; p < machine.n_pes(); ++p) parts_.push_back(allocate(p));
    } catch (const std::exception& error) {
      if (!wires_) throw;
      failed = error.what();
    }
    if (wires_) wires_->agree(failed);
    for (pe_t p = 0; p < machine.n_pes(); ++p) views_.push_back(view_of(p, transport));
    for (pe_t p = 0; p < machine.n_pes(); ++p) lay_wires(p);
    clear_all();
  }

  /// Initialises everything as before the first run. No worker may be running. All processes must call it at the same time.
  void reset() {
    clear_all();
    if (wires_) wires_->reset();
  }

  /// To be called before a run: sets the task and seeds of PE p of this process. The counters of the queues continue from the
  /// last run. Copies to a GPU's memory may be complete only later: see Machine::wait_for_memory().
  void begin(pe_t p, const TaskT& task, const std::vector<Item>& seeds) {
    Part& part = parts_[p];
    PeControl& control = counters_[p];
    control.state.store(0);
    control.seeds_taken.store(0);
    control.ring.head.store(control.ring.tail.load());  // takes back tickets that were held when the last run ended
    control.entered.fetch_add(seeds.size());
    control.phase.store(0);
    control.carried_out.store(control.tokens.load());
    for (auto& slot : control.nearest) slot.store(kNoBucket);
    for (auto& count : control.parkers) count.store(0);
    control.refused.store(0);
    control.cause.store(0);
    control.begun.store(0);
    control.gate = {};
    for_lane_counters([](Merge, auto& word) { word.store(0); }, control.counts);
#if defined(SHOAL_CLOCKS)
    clear_clocks(control.clocks);
#endif
    std::memcpy(static_cast<void*>(mirror(p)), &control, control_bytes());
    machine_.copy_in_later(p, part.control.get(), mirror(p), control_bytes());
    if (part.seen) machine_.clear(p, part.seen.get(), workers_ * sizeof(std::uint64_t));
    if (seeds.size() > part.seed_room) {
      part.seeds = machine_.allocate(p, seeds.size() * sizeof(Item), "seeds", Machine::Contents::anything);
      part.seed_room = seeds.size();
    }
    if (!seeds.empty()) machine_.copy_in(p, part.seeds.get(), seeds.data(), seeds.size() * sizeof(Item));
    views_[p].ring.empty_below = control.ring.tail.load() + plan_.capacity;
    views_[p].task = task;
    views_[p].seeds = static_cast<const Item*>(part.seeds.get());
    views_[p].n_seeds = seeds.size();
  }

  /// Copies the counters of every PE of this process to the host, after a run or when it has failed.
  void read_counters() {
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      machine_.copy_out_later(p, mirror(p), parts_[p].control.get(), control_bytes());
    }
    machine_.wait_for_memory();
    for (pe_t p = 0; p < machine_.n_pes(); ++p) {
      std::memcpy(static_cast<void*>(&counters_[p]), mirror(p), control_bytes());
      // To a PE of another process, a message is what one turn carries of a segment, not what one update of `written` shows.
      for (pe_t q = 0; wires_ && q < machine_.all_pes(); ++q) {
        if (!is_near(q)) counters_[p].ends[q].send.messages.store(wires_->messages(number(p), q));
      }
    }
  }

  /// After an error outside of the workers: lets the other processes end the run, too. They would wait for this one's items.
  void tell_of_failure() {
    if (!wires_) return;
    const auto failed = static_cast<std::uint32_t>(RunState::task_failed);
    for (const View& view : views_) {
      std::uint32_t running = 0, none = 0;
      view.here().cause.compare_swap(none, failed);
      view.here().state.compare_swap_acq_rel(running, failed);
    }
    wires_->look_for_ends();
  }

  const std::vector<View>& views() const { return views_; }             ///< [PEs of this process], as counters()
  const std::vector<PeControl>& counters() const { return counters_; }  ///< as last read, or set
  Wires* wires() const { return wires_.get(); }                         ///< null: this process is alone
  std::uint64_t chunks() const { return chunks_; }                      ///< chunks of spill on each PE

 private:
  /// The bytes of a PeControl that a run uses.
  std::size_t control_bytes() const { return PeControl::bytes(machine_.all_pes(), log_channels_); }
  /// Host memory from which and to which the counters of PE p are copied, so that those of all PEs are under way together.
  PeControl* mirror(pe_t p) const { return static_cast<PeControl*>(mirrors_.get()) + p; }

  using Memory = std::shared_ptr<void>;
  /// The memory of one PE.
  struct Part {
    Memory control, ring, spill, next, free, lists, seen, held, far_chunks, far_bring, far_numbers, seeds, starts,
        homes;
    Memory inbox[kMaxPes];   // from PEs of this process; inboxes from other processes are in the world's heap
    Memory outbox[kMaxPes];  // to PEs of other processes, for the wires
    std::size_t seed_room = 0;
  };

  void clear_all() {
    const pe_t n = machine_.n_pes();
    for (pe_t p = 0; p < n; ++p) {
      const Part& part = parts_[p];
      // The ring starts empty. The ring of free chunks starts full: slot i holds chunk i.
      machine_.number_slots(p, part.ring.get(), sizeof(Slot<Item>), plan_.capacity, plan_.capacity);
      machine_.number_slots(p, part.free.get(), sizeof(Slot<std::uint32_t>), free_capacity_, free_capacity_, chunks_);
      const SpillList no_list;
      machine_.repeat(p, part.lists.get(), &no_list, sizeof(no_list), workers_);
      if (slots_ > 0) {
        const FarChunk no_chunk;
        machine_.repeat(p, part.far_chunks.get(), &no_chunk, sizeof(no_chunk), workers_ * slots_);
        const FarBring nothing;
        machine_.repeat(p, part.far_bring.get(), &nothing, sizeof(nothing), workers_);
        machine_.number_slots(p, part.far_numbers.get(), sizeof(Slot<std::uint32_t>), slots_ * free_capacity_,
                              free_capacity_);
      }
      if (part.held) machine_.clear(p, part.held.get(), workers_ * kHeldSlots * sizeof(HeldSlot<Item>));
      for (pe_t q = 0; q < machine_.all_pes(); ++q) {
        for (void* const box : {part.inbox[q].get(), part.outbox[q].get()}) {
          if (box != nullptr) machine_.clear(p, box, segments_.on ? ends_bytes() : inbox_bytes());
        }
      }
      if (part.starts) machine_.clear(p, part.starts.get(), starts_bytes());
      if (part.homes) machine_.clear(p, part.homes.get(), starts_bytes());
      PeControl& start = counters_[p];
      std::memset(static_cast<void*>(&start), 0, sizeof(start));
      start.chunk_items = plan_.chunk_items;
      start.segment_items = segments_.on ? static_cast<lane_t>(segments_.items()) : 0;
      start.log_channels = log_channels_;
      start.ring.credits.store(static_cast<std::int64_t>(plan_.capacity));
      start.spill_free.tail.store(chunks_);
      for (auto& end : start.ends) end.send.credits.store(static_cast<std::int64_t>(channel_capacity()));
    }
    machine_.wait_for_memory();
  }

  ticket_t channel_capacity() const { return plan_.channel_capacity >> log_channels_; }
  std::size_t ends_bytes() const { return segments_.segments() * sizeof(SegmentEnd); }
  std::size_t starts_bytes() const {
    return static_cast<std::size_t>(machine_.all_pes()) * segments_.segments() * sizeof(SegmentStart);
  }
  std::size_t inbox_bytes() const {
    return segments_.on ? ends_bytes() + segments_.capacity() * sizeof(Item)
                        : plan_.channel_capacity * sizeof(RemoteSlot<Item>);
  }

  Part allocate(pe_t p) const {
    const auto get = [&](std::size_t bytes, const char* what) {
      return machine_.allocate(p, bytes, what, Machine::Contents::anything);
    };
    Part part;
    part.control = get(sizeof(PeControl), "worklist counters");
    part.ring = get(plan_.capacity * sizeof(Slot<Item>), "worklist ring");
    part.spill = get(chunks_ * plan_.chunk_items * sizeof(Item), "spill");
    part.next = get(chunks_ * sizeof(std::uint32_t), "spill chains");
    part.free = get(free_capacity_ * sizeof(Slot<std::uint32_t>), "spill numbers");
    part.lists = get(workers_ * sizeof(SpillList), "spill lists");
    if (kPhased<TaskT>) part.seen = get(workers_ * sizeof(std::uint64_t), "phases");
    if (HasCombine<TaskT> && plan_.combine) {
      part.held = get(workers_ * kHeldSlots * sizeof(HeldSlot<Item>), "items to be combined");
    }
    if (slots_ > 0) {
      part.far_chunks = get(workers_ * slots_ * sizeof(FarChunk), "chunks of parked items");
      part.far_bring = get(workers_ * sizeof(FarBring), "parked items that are brought back");
      part.far_numbers = get(slots_ * free_capacity_ * sizeof(Slot<std::uint32_t>), "numbers of parked chunks");
    }
    for (pe_t q = 0; q < machine_.all_pes(); ++q) {
      Memory& box = is_near(q) ? part.inbox[q] : part.outbox[q];
      if (q != number(p)) box = get(inbox_bytes(), segments_.on ? "segments" : "channel");
    }
    if (segments_.on) part.starts = get(starts_bytes(), "segments");
    if (wires_) part.homes = get(starts_bytes(), "segments");
    return part;
  }

  View view_of(pe_t p, TransportT transport) const {
    const Part& part = parts_[p];
    View view;
    view.transport = transport;
    view.me = number(p);
    view.n_pes = machine_.all_pes();
    view.first_near = machine_.first_pe();
    view.end_near = machine_.first_pe() + machine_.n_pes();
    view.wires = wires_.get();
    view.channel_capacity = channel_capacity();
    view.log_channels = log_channels_;
    view.segments = segments_;
    view.n_workers = static_cast<lane_t>(workers_);
    view.seen = static_cast<std::uint64_t*>(part.seen.get());
    view.looks = plan_.looks;
    const bool keeps = plan_.queue == QueueKind::priority || AnyOrder<TaskT>;
    view.keeps = static_cast<std::uint8_t>(keeps && plan_.kernel == KernelKind::persistent ? plan_.keeps : 0);
    view.deals = static_cast<std::uint8_t>(plan_.deals);
    view.overlap = slots_ > 0 && plan_.kernel == KernelKind::persistent && !wires_ ? plan_.overlap : 0;
    view.judge_remote = plan_.judge_remote;
    view.held = static_cast<HeldSlot<Item>*>(part.held.get());
    view.starts = starts_of(part.starts, 0);
    for (pe_t q = 0; q < machine_.all_pes(); ++q) {
      if (is_near(q)) {
        const Part& its = parts_[q - machine_.first_pe()];
        view.control[q] = static_cast<PeControl*>(its.control.get());
        view.homes[q] = starts_of(its.starts, number(p));
        view.inbox[q] = static_cast<RemoteSlot<Item>*>(part.inbox[q].get());
        view.outbox[q] = static_cast<RemoteSlot<Item>*>(its.inbox[number(p)].get());
      } else {
        view.homes[q] = starts_of(part.homes, q);
        view.inbox[q] = reinterpret_cast<RemoteSlot<Item>*>(wires_->inbox(number(p), q));
        view.outbox[q] = static_cast<RemoteSlot<Item>*>(part.outbox[q].get());
      }
    }
    PeControl* control = view.control[number(p)];
    view.far = {buckets_,
                static_cast<FarChunk*>(part.far_chunks.get()),
                static_cast<FarBring*>(part.far_bring.get()),
                static_cast<Slot<std::uint32_t>*>(part.far_numbers.get()),
                free_capacity_,
                control->far};
    view.ring = {static_cast<Slot<Item>*>(part.ring.get()), plan_.capacity, &control->ring,
                 static_cast<lane_t>(std::min<ticket_t>(32, plan_.capacity / (8 * workers_)))};
    view.spill.chunks = static_cast<Item*>(part.spill.get());
    view.spill.next = static_cast<std::uint32_t*>(part.next.get());
    view.spill.chunk_items = plan_.chunk_items;
    view.spill.free = {static_cast<Slot<std::uint32_t>*>(part.free.get()), free_capacity_, &control->spill_free};
    view.spill.lists = static_cast<SpillList*>(part.lists.get());
    return view;
  }

  /// Tells the wires which queues lead from PE p of this process to PEs of other processes, and back.
  void lay_wires(pe_t p) {
    if (!wires_) return;
    const View& view = views_[p];
    wires_->add_pe(&view.here().state, &view.here().cause);
    for (pe_t q = 0; q < view.n_pes; ++q) {
      if (is_near(q)) continue;
      const auto queue = view.segment_sender(q);
      wires_->add_leaving(view.me, q, queue.ends, queue.starts, &queue.counters->tail);
      wires_->add_arriving(q, view.me, view.homes[q]);
    }
  }
  pe_t number(pe_t p) const { return machine_.first_pe() + p; }  ///< the number, among all PEs, of PE p of this process
  bool is_near(pe_t q) const { return q >= number(0) && q < number(machine_.n_pes()); }
  SegmentStart* starts_of(const Memory& starts, pe_t q) const {
    auto* const first = static_cast<SegmentStart*>(starts.get());
    return first != nullptr ? first + (static_cast<ticket_t>(q) << segments_.log_segments) : nullptr;
  }

  const Machine& machine_;
  const LaunchPlan plan_;
  const std::uint64_t workers_;
  Buckets buckets_;
  SegmentShape segments_;
  lane_t log_channels_ = 0;
  std::uint64_t slots_ = 0;       // slots of parked items; 0: the run parks none
  std::uint64_t chunks_ = 0;      // chunks of spill of a PE
  ticket_t free_capacity_ = 0;    // slots of the ring of free chunks
  std::unique_ptr<Wires> wires_;  // null: there are no other processes
  std::vector<Part> parts_;       // [PEs of this process], as views_ and counters_
  std::vector<View> views_;
  std::vector<PeControl> counters_;
  Memory mirrors_;
};

}  // namespace shoal
