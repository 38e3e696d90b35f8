// The host side of lockstep kernels (lockstep.cuh): control blocks on every device, one cooperative launch on all of
// them, and what went wrong as an exception. The devices may belong to several processes of one host, which then meet before
// and after each launch.
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

/// Pointers to the arguments of a kernel, in their order.
using KernelArgs = std::array<void*, 4>;

/// What launches lockstep kernels on one device for each PE. Not thread-safe; kernels of one team run one at a time.
class LockstepTeam {
 public:
  /// Allocates control blocks and opens the way to all peers' memory.
  /// @param devices  [n_pes] CUDA device of each PE of this process, 1 to lockstep::kPeers PEs in all; those of one device
  ///                 share it
  /// @param what     what runs, for errors: "shortest paths"
  /// @param world    of several processes, which all make a team, and call run() as often; null: there is one
  /// @param reach    wire: each PE is alone in its view, and meets no other (apart.cuh)
  /// @throws UsageError (numbers of PEs), DeviceError (no cooperative launches, a device that cannot reach
  ///         a peer's memory), CapacityError, and as World::exchange()
  LockstepTeam(const std::vector<int>& devices, std::string what, double deadline_seconds = 30, World* world = nullptr,
               World::Reach reach = World::Reach::memory);
  ~LockstepTeam();
  LockstepTeam(LockstepTeam&&) noexcept;

  // PEs of this process are counted from 0 here.
  pe_t n_pes() const;    ///< of this process
  pe_t all_pes() const;  ///< of all that meet
  int device(pe_t p) const;
  cudaStream_t stream(pe_t p) const;  ///< kernels run on it; ordered after the legacy stream
  const lockstep::View& view(pe_t p) const;
  const lockstep::Outcome& outcome(pe_t p) const;  ///< of the last run()

  /// Loads `kernel` on every device (nothing may be loaded while PEs wait for each other), allows its shared memory, and
  /// finds out how many of its blocks are resident at once, of all PEs of a device together.
  /// @param most_per_sm  fewer blocks on a multiprocessor than fit; 0: as many as fit
  /// @return [n_pes] blocks to launch
  /// @throws DeviceError if not even one block fits
  std::vector<int> prepare(const void* kernel, int threads, std::size_t shared_bytes, int most_per_sm = 0);

  /// Launches `kernel` on every PE at once and waits for all. Every process.
  /// @param args  [n_pes]
  /// @return seconds from the first launch until the last PE was done; of several processes, those of the slowest
  /// @throws DeviceError: a launch failed, a kernel faulted, or a PE waited longer than the deadline (names PE, device
  ///         and barrier); of several processes on all. A code that the kernel gave to stop() is no error here:
  ///         outcome().end tells it. Interrupted: the work was called off (core/interrupt.hpp); kernels left at their next
  ///         barrier. TransportError: another process has come to harm, likewise
  double run(const void* kernel, const std::vector<int>& blocks, int threads, std::size_t shared_bytes,
             const std::vector<KernelArgs>& args);

  /// prepare() for a kernel that runs on one cluster of blocks on each PE: its size, a power of two.
  /// @param most  a power of two: blocks at most
  /// @return at most that many; 0 when some device holds no cluster of the kernel at all
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
