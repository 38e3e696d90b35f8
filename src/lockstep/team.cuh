// The host side of lockstep kernels (lockstep.cuh): control blocks on every device, one cooperative launch on all devices, and
// errors as exceptions. The devices may belong to several processes of one host, which then meet before and after each launch.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "lockstep.cuh"
#include "peer_memory.cuh"
#include "shoal/world/world.hpp"

namespace shoal {

/// Pointers to a kernel's arguments, in order.
using KernelArgs = std::array<void*, 4>;

/// Launches lockstep kernels on one device for each PE. Not thread-safe; a team runs one kernel at a time.
class LockstepTeam {
 public:
  /// Allocates control blocks and enables access to all peers' memory.
  /// @param devices  [n_pes] CUDA device of each PE of this process, 1 to lockstep::kPeers PEs in all; PEs with the same device
  ///                 share it
  /// @param what     the name of the computation, for errors: "shortest paths"
  /// @param world    the world of several processes, all of which construct a team and call run() equally often; null: there is one
  ///                 process
  /// @param reach    wire: each PE is alone in its view, and its kernels meet no other PE (apart.cuh)
  /// @throws UsageError (number of PEs), DeviceError (a device without cooperative launches, or that cannot access a peer's
  ///         memory), CapacityError, and as World::exchange()
  LockstepTeam(const std::vector<int>& devices, std::string what, double deadline_seconds = 30, World* world = nullptr,
               World::Reach reach = World::Reach::memory);
  ~LockstepTeam();
  LockstepTeam(LockstepTeam&&) noexcept;

  // Below, PEs are those of this process, counted from 0.
  pe_t n_pes() const;    ///< of this process
  pe_t all_pes() const;  ///< of all that meet at barriers
  int device(pe_t p) const;
  cudaStream_t stream(pe_t p) const;  ///< kernels run on it; ordered after the legacy stream
  const lockstep::View& view(pe_t p) const;
  const lockstep::Outcome& outcome(pe_t p) const;  ///< of the last run()

  /// Loads `kernel` on every device (nothing may be loaded while PEs wait for each other), allows its shared memory, and determines
  /// how many of its blocks can be resident at once, counting all PEs of a device together.
  /// @param most_per_sm  limit for the blocks of a multiprocessor, if fewer than fit are wanted; 0: as many as fit
  /// @return [n_pes] number of blocks to launch
  /// @throws DeviceError if not even one block fits
  std::vector<int> prepare(const void* kernel, int threads, std::size_t shared_bytes, int most_per_sm = 0);

  /// Launches `kernel` on every PE at once and waits for all. Called by every process.
  /// @param args  [n_pes]
  /// @return seconds from the first launch until the last PE was done; with several processes, those of the slowest
  /// @throws DeviceError: a launch failed, a kernel faulted, or a PE waited longer than the deadline (names PE, device and
  ///         barrier); with several processes, all throw. A code that the kernel passed to stop() is no error here: see
  ///         outcome().end. Interrupted: the work was called off (core/interrupt.hpp); kernels left at their next barrier.
  ///         TransportError: another process has failed; kernels left likewise
  double run(const void* kernel, const std::vector<int>& blocks, int threads, std::size_t shared_bytes,
             const std::vector<KernelArgs>& args);

  /// prepare() for a kernel that runs as one cluster of blocks on each PE: determines the cluster's size, a power of two.
  /// @param most  the largest size, a power of two
  /// @return at most that many blocks; 0 when some device cannot hold a cluster of this kernel at all
  int prepare_cluster(const void* kernel, int threads, std::size_t shared_bytes, int most);
  /// run() with one cluster of `blocks` blocks on each PE.
  double run_cluster(const void* kernel, int blocks, int threads, std::size_t shared_bytes,
                     const std::vector<KernelArgs>& args);

 private:
  struct Pe;
  using Launch = std::function<cudaError_t(std::size_t)>;
  double launch_all(const Launch& launch);
  double launch_here(const Launch& launch, bool& stopped);
  double launch_with_others(const Launch& launch);
  bool watch();
  void call_off();
  void wait_all(const char* what);
  void clear_control();
  std::vector<std::unique_ptr<Pe>> pes_;
  std::string what_;
  double deadline_seconds_ = 0;
  World* world_ = nullptr;
  PeerMemory memory_;  ///< of the control blocks
};

}  // namespace shoal
