// The PEs of this process and their memory. A Machine is what a run's options mean on this machine.
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

/// The PEs are groups of CPU threads, or GPUs that use each other's memory, with atomics (one PE per GPU, unless the
/// options let several share one), or GPUs of several hosts, which do not. Made from options; everything that runs on it shares it.
class Machine {
 public:
  /// Resolves device, engine, pes and threads. Of GPUs that cannot use each other's memory it takes one, unless a number
  /// was asked for.
  /// @param one_gpu  the work is too small for several GPUs: take one, unless a number was asked for
  /// @throws UsageError  an engine that does not exist or does not fit, more PEs than devices, several GPUs that cannot
  ///   use each other's memory; the message says what there is
  /// @throws DeviceError a GPU was asked for and there is none (with the reason)
  explicit Machine(const Options& options, bool one_gpu = false);

  bool on_gpu() const { return on_gpu_; }
  pe_t n_pes() const { return n_pes_; }  ///< of this process, numbered from 0 here
  const std::string& engine() const { return engine_; }
  int threads_per_pe() const { return threads_per_pe_; }        ///< CPU PEs
  bool threads_asked() const { return threads_asked_; }         ///< a number of threads was among the options
  const std::vector<int>& devices() const { return devices_; }  ///< [n_pes] for GPU PEs, else empty
  pe_t pes_per_gpu() const;  ///< GPU PEs: the most PEs on one GPU, each of which uses its part of it; else 0
  /// The CPU threads, for CPU PEs only. The first call starts them.
  ThreadTeam& team() const;
  /// Limits the threads per PE, for work that cannot keep more of them busy. Call it before the first call of team().
  /// Does nothing on GPUs, or if a number of threads was asked for. @param threads  at least 1
  void limit_threads(int threads);

  /// Makes these the PEs of this process in a world of several, which must have as many here, and outlive this object.
  void join(World& world);
  World* world() const { return world_; }  ///< null: this process is alone
  /// How the kernel of a GPU gets to the memory of GPUs of other processes; memory where there are none.
  World::Reach reach() const { return reach_; }
  pe_t first_pe() const { return first_pe_; }  ///< the number of PE 0 among all PEs
  pe_t all_pes() const { return world_ != nullptr ? all_pes_ : n_pes_; }

  /// What fresh memory contains.
  enum class Contents { zero, anything };
  /// Memory of one PE. @throws CapacityError naming `what` and the bytes
  std::shared_ptr<void> allocate(pe_t pe, std::size_t bytes, const char* what,
                                 Contents contents = Contents::zero) const;
  /// Uninitialised host memory that workers can load and store (pinned, for GPUs).
  std::shared_ptr<void> allocate_host(std::size_t bytes, const char* what) const;
  /// To the host; returns when they are there.
  void copy_out(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  /// From the host, which may change `from` afterwards. In a GPU's memory, this and the next three functions may return
  /// before they are done: see wait_for_memory().
  void copy_in(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  /// Sets `bytes` bytes to zero.
  void clear(pe_t pe, void* at, std::size_t bytes) const;
  /// Writes the same `bytes` bytes (a multiple of 4, up to 64) `n` times.
  void repeat(pe_t pe, void* to, const void* pattern, std::size_t bytes, std::uint64_t n) const;
  /// Initialises `n` slots in all, in rings of `period` slots each, as before the first push (SlotRing): slot i waits
  /// for ticket i mod period. Only the first `full` slots are filled: with their own number, as 8 bytes after the
  /// sequence.
  /// @param slot_bytes  sizeof(Slot<T>): a multiple of 8, at least 16
  void number_slots(pe_t pe, void* slots, std::size_t slot_bytes, std::uint64_t n, std::uint64_t period,
                    std::uint64_t full = 0) const;
  /// Waits until all of the above is done, on all PEs, and visible to kernels of every stream.
  void wait_for_memory() const;

  /// What was resolved and why, for reports: {"pes", "4", "all GPUs"} ...
  const Decisions& chosen() const { return chosen_; }

 private:
  bool on_gpu_ = false;
  pe_t n_pes_ = 1;
  pe_t first_pe_ = 0, all_pes_ = 1;
  World* world_ = nullptr;
  World::Reach reach_ = World::Reach::memory;
  int threads_per_pe_ = 1;
  bool threads_asked_ = false;
  std::string engine_;
  std::vector<int> devices_;
  Decisions chosen_;
  mutable std::shared_ptr<ThreadTeam> team_;
};

}  // namespace shoal
