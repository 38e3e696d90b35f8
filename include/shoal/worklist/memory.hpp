// The memory of a worklist and the views of it: what workers use of the memory that WorklistParts allocates.
#pragma once
#include <algorithm>
#include <vector>

#include "shoal/worklist/parts.hpp"
#include "shoal/worklist/view.hpp"

namespace shoal {

template <class TaskT, class TransportT>
class WorklistMemory : public WorklistParts {
 public:
  using Item = typename TaskT::Item;
  using View = WorklistView<TaskT, TransportT>;

  /// As WorklistParts.
  WorklistMemory(const Machine& machine, const LaunchPlan& plan, TransportT transport, int workers)
      : WorklistParts(machine, plan, shape_of_task<TaskT>(), workers) {
    for (pe_t p = 0; p < machine.n_pes(); ++p) views_.push_back(view_of(p, transport));
  }

  /// To be called before a run: as WorklistParts::begin(); also sets the task of PE p.
  void begin(pe_t p, const TaskT& task, const std::vector<Item>& seeds) {
    WorklistParts::begin(p, seeds.data(), seeds.size());
    views_[p].ring.empty_below = counters()[p].ring.tail.load() + plan().capacity;
    views_[p].task = task;
    views_[p].seeds = static_cast<const Item*>(part(p).seeds.get());
    views_[p].n_seeds = seeds.size();
  }

  const std::vector<View>& views() const { return views_; }  ///< [PEs of this process]

 private:
  View view_of(pe_t p, TransportT transport) const {
    const Part& part = this->part(p);
    View view;
    view.transport = transport;
    view.me = number(p);
    view.n_pes = machine().all_pes();
    view.first_near = machine().first_pe();
    view.end_near = machine().first_pe() + machine().n_pes();
    view.wires = wires();
    view.channel_capacity = channel_capacity();
    view.log_channels = log_channels();
    view.segments = segments();
    view.n_workers = static_cast<lane_t>(workers());
    view.seen = static_cast<std::uint64_t*>(part.seen.get());
    view.looks = plan().looks;
    const bool persistent = plan().kernel == KernelKind::persistent;
    const bool keeps = plan().queue == QueueKind::priority || AnyOrder<TaskT>;
    view.keeps = keeps && persistent ? static_cast<lane_t>(plan().keeps) : 0;
    view.deals = static_cast<lane_t>(plan().deals);
    view.overlap = slots() > 0 && persistent && wires() == nullptr ? plan().overlap : 0;
    view.judge_remote = plan().judge_remote;
    view.held = static_cast<HeldSlot<Item>*>(part.held.get());
    view.starts = starts_of(part.starts, 0);
    for (pe_t q = 0; q < view.n_pes; ++q) {
      if (is_near(q)) view.control[q] = control(q - view.first_near);
      view.homes[q] = homes(p, q);
      view.inbox[q] = static_cast<RemoteSlot<Item>*>(inbox(p, q));
      view.outbox[q] = static_cast<RemoteSlot<Item>*>(outbox(p, q));
    }
    PeControl* const control = this->control(p);
    view.far = {buckets(),
                static_cast<FarChunk*>(part.far_chunks.get()),
                static_cast<FarBring*>(part.far_bring.get()),
                static_cast<Slot<std::uint32_t>*>(part.far_numbers.get()),
                free_capacity(),
                control->far};
    view.ring = {static_cast<Slot<Item>*>(part.ring.get()), plan().capacity, &control->ring,
                 static_cast<lane_t>(std::min<ticket_t>(32, plan().capacity / (8 * workers())))};
    view.spill.chunks = static_cast<Item*>(part.spill.get());
    view.spill.next = static_cast<std::uint32_t*>(part.next.get());
    view.spill.chunk_items = plan().chunk_items;
    view.spill.free = {static_cast<Slot<std::uint32_t>*>(part.free.get()), free_capacity(), &control->spill_free};
    view.spill.lists = static_cast<SpillList*>(part.lists.get());
    return view;
  }

  std::vector<View> views_;
};

}  // namespace shoal
