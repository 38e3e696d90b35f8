// The memory of a worklist, without the types that only the task knows: allocates and initialises the counters, ring, channels and
// spill of every PE of this process. WorklistMemory (memory.hpp) makes the views from it.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/phases.hpp"
#include "shoal/worklist/stall.hpp"
#include "shoal/worklist/view.hpp"
#include "shoal/worklist/wires.hpp"
#include "shoal/world/machine.hpp"

namespace shoal {

/// What the memory of a worklist depends on of its task.
struct TaskShape {
  std::size_t item, slot, remote_slot, held_slot;  ///< bytes of an Item, and of what holds one
  bool priority, phased, combine;                  ///< whether the task has priority(), phases, and combine()
};
template <class TaskT>
constexpr TaskShape shape_of_task() {
  using Item = typename TaskT::Item;
  static_assert(offsetof(Slot<Item>, sequence) == 0 && offsetof(RemoteSlot<Item>, signal) == 0,
                "WorklistParts finds them there");
  return {.item = sizeof(Item),
          .slot = sizeof(Slot<Item>),
          .remote_slot = sizeof(RemoteSlot<Item>),
          .held_slot = sizeof(HeldSlot<Item>),
          .priority = HasPriority<TaskT>,
          .phased = kPhased<TaskT>,
          .combine = HasCombine<TaskT>};
}

/// The memory of the PEs of one process. Not a template, so that a program's task does not compile it again.
class WorklistParts {
 public:
  using Memory = std::shared_ptr<void>;
  /// The memory of one PE.
  struct Part {
    Memory control, ring, spill, next, free, lists, seen, held, far_chunks, far_bring, far_numbers, seeds, starts,
        homes;
    Memory inbox[kMaxPes];   // from PEs of this process; inboxes from other processes are in the world's heap
    Memory outbox[kMaxPes];  // to PEs of other processes, for the wires
    Memory staged;           // few seeds, on their way to a GPU
    std::size_t seed_room = 0;
  };

  /// @param workers  the most workers of each PE
  /// @throws CapacityError: not enough memory; if there are several processes, as Wires::Wires()
  WorklistParts(const Machine& machine, const LaunchPlan& plan, const TaskShape& task, int workers);
  WorklistParts(const WorklistParts&) = delete;
  WorklistParts& operator=(const WorklistParts&) = delete;
  ~WorklistParts();

  /// Initialises everything as before the first run. No worker may be running. All processes must call it at the same time.
  void reset();
  /// To be called before a run: sets the counters and seeds of PE p of this process. The counters of the queues continue from the last
  /// run. Copies to a GPU's memory may be complete only later: see Machine::wait_for_memory().
  /// @param seeds  [n_seeds] items; must stay as they are until the run has begun
  void begin(pe_t p, const void* seeds, std::size_t n_seeds);
  /// Reads the counters of every PE of this process, after a run. On GPUs the run has copied them to mirror() (gpu::launch).
  void read_counters();
  /// After an error outside of the workers: lets the other processes end the run, too. They would wait for this one's items.
  void tell_of_failure();

  /// The counters of every PE of this process, read while a run on CPU threads is in progress. The snapshots may be inconsistent, for
  /// instance between the two ends of a channel.
  /// @param closely  also inspects every slot, for a run that makes no progress
  std::vector<PeSnapshot> snapshots(bool closely = false) const;
  /// Ends a run on CPU threads on those PEs of this process on which it has not ended. May be called from any thread.
  void end_as(RunState why) const;

  // PE p is counted from 0 in this process, and PE q over all processes.
  const Part& part(pe_t p) const { return parts_[p]; }
  PeControl* control(pe_t p) const { return static_cast<PeControl*>(parts_[p].control.get()); }
  /// Host memory (page-locked, for GPUs) from which and to which the counters of PE p are copied, so that those of all PEs are under
  /// way together.
  PeControl* mirror(pe_t p) const { return static_cast<PeControl*>(mirrors_.get()) + p; }
  const std::vector<PeControl>& counters() const { return counters_; }  ///< [PEs of this process] as last read, or set
  const LaunchPlan& plan() const { return plan_; }
  const Machine& machine() const { return machine_; }
  Wires* wires() const { return wires_.get(); }       ///< null: this process is alone
  std::uint64_t chunks() const { return chunks_; }    ///< chunks of spill on each PE
  std::uint64_t workers() const { return workers_; }  ///< of each PE
  std::uint64_t slots() const { return slots_; }      ///< slots of parked items; 0: the run parks none
  const Buckets& buckets() const { return buckets_; }
  const SegmentShape& segments() const { return segments_; }
  lane_t log_channels() const { return log_channels_; }
  ticket_t channel_capacity() const { return plan_.channel_capacity >> log_channels_; }
  ticket_t free_capacity() const { return free_capacity_; }      ///< slots of the ring of free chunks
  pe_t number(pe_t p) const { return machine_.first_pe() + p; }  ///< the number, among all PEs, of PE p of this process
  bool is_near(pe_t q) const { return q >= number(0) && q < number(machine_.n_pes()); }
  /// [segments] What belongs to PE q of `starts`, which has SegmentStarts of all PEs; null if the run has no segments.
  SegmentStart* starts_of(const Memory& starts, pe_t q) const {
    auto* const first = static_cast<SegmentStart*>(starts.get());
    return first != nullptr ? first + (static_cast<ticket_t>(q) << segments_.log_segments) : nullptr;
  }
  /// View::inbox and View::outbox of PE p.
  void* inbox(pe_t p, pe_t q) const;
  void* outbox(pe_t p, pe_t q) const;
  /// View::homes of PE p.
  SegmentStart* homes(pe_t p, pe_t q) const;

 private:
  std::size_t control_bytes() const;
  std::size_t ends_bytes() const;
  std::size_t starts_bytes() const;
  std::size_t inbox_bytes() const;
  Part allocate(pe_t p) const;
  void clear_all();
  void lay_wires(pe_t p);
  void look_at_slots(pe_t p, std::vector<PeSnapshot>& pes) const;
  void look_at_segments(pe_t p, pe_t from, std::vector<PeSnapshot>& pes) const;

  const Machine& machine_;
  const LaunchPlan plan_;
  const TaskShape task_;
  const std::uint64_t workers_;
  Buckets buckets_;
  SegmentShape segments_;
  lane_t log_channels_ = 0;
  std::uint64_t slots_ = 0;
  std::uint64_t chunks_ = 0;
  ticket_t free_capacity_ = 0;
  std::unique_ptr<Wires> wires_;
  std::vector<Part> parts_;  // [PEs of this process], as counters_
  std::vector<PeControl> counters_;
  Memory mirrors_;
};

}  // namespace shoal
