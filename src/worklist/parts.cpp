#include "shoal/worklist/parts.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <string>

#include "shoal/worklist/ring_memory.hpp"

namespace shoal {
namespace {

/// The shape of a plan's segments: each has about plan.batch_bytes bytes, and all together have the capacity of a channel.
/// There are at least four, as far as the capacity allows, so that some can be read while another is filled.
SegmentShape segments_of(const LaunchPlan& plan, std::size_t item_bytes) {
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

/// So many bytes of seeds, or fewer, are copied to page-locked memory first: a copy from other memory waits for those before it.
constexpr std::size_t kStagedBytes = 1 << 16;

/// log2 of the number of channels from one PE to another. There are no more channels than slots, or than places for their
/// counters (kMaxPes). If the run uses segments, the result is 0.
lane_t log_channels_of(const LaunchPlan& plan, pe_t n_pes) {
  if (plan.batch_bytes > 0 || n_pes == 1) return 0;
  const auto most = std::min<ticket_t>({plan.channels, plan.channel_capacity, static_cast<ticket_t>(kMaxPes / n_pes)});
  return static_cast<lane_t>(std::bit_width(std::max<ticket_t>(most, 1)) - 1);
}

}  // namespace

WorklistParts::WorklistParts(const Machine& machine, const LaunchPlan& plan, const TaskShape& task, int workers)
    : machine_(machine),
      plan_(plan),
      task_(task),
      workers_(static_cast<std::uint64_t>(workers)),
      counters_(machine.n_pes()) {
  const bool prioritised = task.priority && plan.queue == QueueKind::priority;
  buckets_ = {plan.threshold, 1 / plan.threshold_delta, prioritised ? plan.buckets : 0};
  slots_ = prioritised ? buckets_.slots() : 0;
  // Each worker needs more chunks, because it has some that are not full: one for its list, and one for each slot of
  // parked items. One more per worker is added because some workers spill much more than others.
  const std::uint64_t on_top = workers_ * (2 + slots_);
  if (plan.spill > 0) {
    chunks_ = (static_cast<std::uint64_t>(plan.spill) + plan.chunk_items - 1) / plan.chunk_items + on_top;
  }
  segments_ = segments_of(plan, task.item);
  log_channels_ = log_channels_of(plan, machine.all_pes());
  if (machine.world() != nullptr) {
    wires_ = std::make_unique<Wires>(*machine.world(), segments_, task.item, workers);
  }
  free_capacity_ = std::bit_ceil(std::max<ticket_t>(chunks_, 2));
  mirrors_ = machine.allocate_host(machine.n_pes() * sizeof(PeControl), "mirrors of counters");
  std::string failed;
  try {
    if (!machine.on_gpu()) {
      require_ring_memory({machine.n_pes(), static_cast<std::int64_t>(plan.capacity), static_cast<double>(task.slot)},
                          /*asked=*/false);
    }
    for (pe_t p = 0; p < machine.n_pes(); ++p) parts_.push_back(allocate(p));
  } catch (const std::exception& error) {
    if (!wires_) throw;
    failed = error.what();
  }
  if (wires_) wires_->agree(failed);
  for (pe_t p = 0; p < machine.n_pes(); ++p) lay_wires(p);
  clear_all();
}

WorklistParts::~WorklistParts() = default;

void WorklistParts::reset() {
  clear_all();
  if (wires_) wires_->reset();
}

void WorklistParts::begin(pe_t p, const void* seeds, std::size_t n_seeds) {
  Part& part = parts_[p];
  PeControl& control = counters_[p];
  control.state.store(0);
  control.seeds_taken.store(0);
  control.ring.head.store(control.ring.tail.load());  // takes back tickets that were held when the last run ended
  control.entered.fetch_add(n_seeds);
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
  if (n_seeds > part.seed_room) {
    part.seeds = machine_.allocate(p, n_seeds * task_.item, "seeds", Machine::Contents::anything);
    part.seed_room = n_seeds;
  }
  const std::size_t bytes = n_seeds * task_.item;
  if (bytes == 0) return;
  if (machine_.on_gpu() && bytes <= kStagedBytes) {
    if (!part.staged) part.staged = machine_.allocate_host(kStagedBytes, "seeds");
    std::memcpy(part.staged.get(), seeds, bytes);
    seeds = part.staged.get();
  }
  machine_.copy_in_later(p, part.seeds.get(), seeds, bytes);
}

void WorklistParts::read_counters() {
  for (pe_t p = 0; p < machine_.n_pes() && !machine_.on_gpu(); ++p) {
    machine_.copy_out(p, mirror(p), parts_[p].control.get(), control_bytes());
  }
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    std::memcpy(static_cast<void*>(&counters_[p]), mirror(p), control_bytes());
    // To a PE of another process, a message is what one turn carries of a segment, not what one update of `written` shows.
    for (pe_t q = 0; wires_ && q < machine_.all_pes(); ++q) {
      if (!is_near(q)) counters_[p].ends[q].send.messages.store(wires_->messages(number(p), q));
    }
  }
}

void WorklistParts::end_as(RunState why) const {
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    std::uint32_t running = 0;
    control(p)->state.compare_swap_acq_rel(running, static_cast<std::uint32_t>(why));
  }
}

void WorklistParts::tell_of_failure() {
  if (!wires_) return;
  const auto failed = static_cast<std::uint32_t>(RunState::task_failed);
  for (pe_t p = 0; p < machine_.n_pes(); ++p) {
    std::uint32_t running = 0, none = 0;
    control(p)->cause.compare_swap(none, failed);
    control(p)->state.compare_swap_acq_rel(running, failed);
  }
  wires_->look_for_ends();
}

void* WorklistParts::inbox(pe_t p, pe_t q) const {
  return is_near(q) ? parts_[p].inbox[q].get() : wires_->inbox(number(p), q);
}
void* WorklistParts::outbox(pe_t p, pe_t q) const {
  return is_near(q) ? parts_[q - machine_.first_pe()].inbox[number(p)].get() : parts_[p].outbox[q].get();
}
SegmentStart* WorklistParts::homes(pe_t p, pe_t q) const {
  return is_near(q) ? starts_of(parts_[q - machine_.first_pe()].starts, number(p)) : starts_of(parts_[p].homes, q);
}

/// The bytes of a PeControl that a run uses.
std::size_t WorklistParts::control_bytes() const { return PeControl::bytes(machine_.all_pes(), log_channels_); }
std::size_t WorklistParts::ends_bytes() const { return segments_.segments() * sizeof(SegmentEnd); }
std::size_t WorklistParts::starts_bytes() const {
  return static_cast<std::size_t>(machine_.all_pes()) * segments_.segments() * sizeof(SegmentStart);
}
std::size_t WorklistParts::inbox_bytes() const {
  return segments_.on ? ends_bytes() + segments_.capacity() * task_.item : plan_.channel_capacity * task_.remote_slot;
}

WorklistParts::Part WorklistParts::allocate(pe_t p) const {
  const auto get = [&](std::size_t bytes, const char* what) {
    return machine_.allocate(p, bytes, what, Machine::Contents::anything);
  };
  Part part;
  part.control = get(sizeof(PeControl), "worklist counters");
  part.ring = get(plan_.capacity * task_.slot, "worklist ring");
  part.spill = get(chunks_ * plan_.chunk_items * task_.item, "spill");
  part.next = get(chunks_ * sizeof(std::uint32_t), "spill chains");
  part.free = get(free_capacity_ * sizeof(Slot<std::uint32_t>), "spill numbers");
  part.lists = get(workers_ * sizeof(SpillList), "spill lists");
  if (task_.phased) part.seen = get(workers_ * sizeof(std::uint64_t), "phases");
  if (task_.combine && plan_.combine) {
    part.held = get(workers_ * kHeldSlots * task_.held_slot, "items to be combined");
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

void WorklistParts::clear_all() {
  const pe_t n = machine_.n_pes();
  for (pe_t p = 0; p < n; ++p) {
    const Part& part = parts_[p];
    // The ring starts empty. The ring of free chunks starts full: slot i holds chunk i.
    machine_.number_slots(p, part.ring.get(), task_.slot, plan_.capacity, plan_.capacity);
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
    if (part.held) machine_.clear(p, part.held.get(), workers_ * kHeldSlots * task_.held_slot);
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

/// Tells the wires which queues lead from PE p of this process to PEs of other processes, and back.
void WorklistParts::lay_wires(pe_t p) {
  if (!wires_) return;
  wires_->add_pe(&control(p)->state, &control(p)->cause);
  for (pe_t q = 0; q < machine_.all_pes(); ++q) {
    if (is_near(q)) continue;
    wires_->add_leaving(number(p), q, static_cast<SegmentEnd*>(outbox(p, q)), starts_of(parts_[p].starts, q),
                        &control(p)->ends[q].send.tail);
    wires_->add_arriving(q, number(p), homes(p, q));
  }
}

}  // namespace shoal
