// The PEs of this process and their memory. A Machine is the result of resolving a run's options on this machine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/worker/thread_team.hpp"
#include "shoal/world/decision.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// The PEs are groups of CPU threads, or GPUs (one PE per GPU, unless the options let several PEs share one). GPUs of one host
/// load, store and use atomics in each other's memory; GPUs of several hosts cannot. Everything that runs on these PEs
/// shares one Machine object.
class Machine {
 public:
  /// Resolves the device, the engine, and the numbers of PEs and threads. If the GPUs cannot use each other's memory, it
  /// takes one GPU, unless the options ask for a number of PEs.
  /// @param one_gpu  the work is too small for several GPUs: take one, unless the options ask for a number of PEs
  /// @throws UsageError  the engine does not exist or does not fit; more PEs than the devices can take; a number of PEs was
  ///   asked for that needs several GPUs, and these cannot use each other's memory. The message says what is available
  /// @throws DeviceError a GPU was asked for and there is none (with the reason)
  explicit Machine(const Options& options, bool one_gpu = false);

  bool on_gpu() const { return on_gpu_; }
  pe_t n_pes() const { return n_pes_; }  ///< PEs of this process; members of Machine number them from 0
  int threads_per_pe() const { return threads_per_pe_; }        ///< CPU PEs
  bool threads_asked() const { return threads_asked_; }         ///< whether the options gave a number of threads
  const std::vector<int>& devices() const { return devices_; }  ///< [n_pes] for GPU PEs, else empty
  pe_t pes_per_gpu() const;  ///< GPU PEs: the largest number of PEs on one GPU, each of which uses a part of it; else 0
  /// The CPU threads, for CPU PEs only. The first call starts them.
  ThreadTeam& team() const;
  /// Limits the threads per PE, for work that cannot keep more of them busy. Call it before the first call of team().
  /// Does nothing on GPUs, or if the options gave a number of threads. @param threads  at least 1
  void limit_threads(int threads);

  /// Makes these PEs the PEs of this process in a world of several processes. The world must have the same number of PEs in
  /// this process, and must outlive this object. Does nothing more if the world has one process.
  /// @throws UsageError  the world has another number of PEs here
  void join(World& world);
  World* world() const { return world_; }  ///< null: this process is alone
  /// How a GPU's kernel reaches the memory of GPUs of other processes; Reach::memory if there are no such GPUs.
  World::Reach reach() const { return reach_; }
  pe_t first_pe() const { return first_pe_; }  ///< the number that PE 0 of this process has among all PEs
  pe_t all_pes() const { return world_ != nullptr ? all_pes_ : n_pes_; }

  /// What newly allocated memory contains.
  enum class Contents { zero, anything };
  /// Allocates memory of one PE. @throws CapacityError naming `what` and the bytes
  std::shared_ptr<void> allocate(pe_t pe, std::size_t bytes, const char* what,
                                 Contents contents = Contents::zero) const;
  /// Allocates uninitialised host memory that workers can load and store (pinned, for GPUs).
  std::shared_ptr<void> allocate_host(std::size_t bytes, const char* what) const;
  /// Copies bytes from a PE's memory to the host; returns when the copy is complete.
  void copy_out(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  /// Copies bytes from the host to a PE's memory; the host may change `from` afterwards. On GPUs, this and the next three
  /// functions may return before they are complete: see wait_for_memory().
  void copy_in(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  /// Sets `bytes` bytes to zero.
  void clear(pe_t pe, void* at, std::size_t bytes) const;
  /// Writes the same `bytes` bytes (a multiple of 4, up to 64) `n` times, one after another.
  void repeat(pe_t pe, void* to, const void* pattern, std::size_t bytes, std::uint64_t n) const;
  /// Initialises `n` slots as they must be before the first push (SlotRing). They form rings of `period` slots each: slot i
  /// waits for ticket i mod period. The first `full` slots, however, are full already: slot i holds the number i, in the 8
  /// bytes after the sequence word.
  /// @param slot_bytes  sizeof(Slot<T>): a multiple of 8, at least 16
  void number_slots(pe_t pe, void* slots, std::size_t slot_bytes, std::uint64_t n, std::uint64_t period,
                    std::uint64_t full = 0) const;
  /// The same as copy_in(), but complete only after wait_for_memory(), so the copies of several PEs are under way together. `from` is
  /// left alone until then. It is memory of allocate_host(), or any memory, but then copies may wait for each other.
  void copy_in_later(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  /// Waits until all of the above is complete on all PEs, and visible to kernels of every stream.
  void wait_for_memory() const;

  /// What the constructor decided, and why, for reports: {"pes", "4", "all GPUs"} ...
  const Decisions& chosen() const { return chosen_; }

 private:
  bool on_gpu_ = false;
  pe_t n_pes_ = 1;
  pe_t first_pe_ = 0, all_pes_ = 1;
  World* world_ = nullptr;
  World::Reach reach_ = World::Reach::memory;
  int threads_per_pe_ = 1;
  bool threads_asked_ = false;
  std::vector<int> devices_;
  Decisions chosen_;
  mutable std::shared_ptr<ThreadTeam> team_;
};

}  // namespace shoal
