// Bulk-synchronous steps of PEs that do not reach each other's memory, GPUs of several hosts. A step is a kernel of each PE, which
// ends where the data of others are needed; then the PEs tell each other some words, from which all processes plan the same next
// step, and before it they send each other what it reads. What goes between PEs, of one process as well, goes by the wire
// (world/gpu_wire.hpp). The CPU's form of the same thought is exchange.hpp.
//
//   apart.together(report, [&](Report& mine) {
//     for (Plan plan = first; !plan.done(); plan.next(apart.hear<Told>())) {
//       apart.exchange(what the step reads);
//       for (pe_t p = 0; p < apart.n_pes(); ++p) apart.launch(p, kernel, ...);  // writes a Told to apart.told(p)
//     }
//   });
#pragma once
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "peer_memory.cuh"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"
#include "team.cuh"

namespace shoal {

/// Bytes that go from a PE of this process to another, or come from there.
struct WirePart {
  pe_t here;  ///< of this process, counted from 0 here
  pe_t there;
  void* data;  ///< in the memory of `here`
  std::size_t bytes;
};

/// Not thread-safe. Every process makes one, and makes the same calls.
class Apart {
 public:
  static constexpr std::size_t kRoom = 256;  ///< bytes that a PE tells, at most; a multiple of 16

  /// Connects all PEs, which takes about a second.
  /// @param team   of PEs that are each alone (World::Reach::wire); must stay alive
  /// @param what   what runs, for errors: "shortest paths"
  /// @throws UsageError: there is no wire; TransportError: another process has come to harm, or they cannot be connected
  Apart(LockstepTeam& team, std::string what, World& world);
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  pe_t n_pes() const { return team_.n_pes(); }  ///< of this process

  /// Where the kernels of a step of PE p write what it tells, a T; all that is there is told again until it is written. Its member
  /// `failed` says whether the kernel was ended: not 0.
  template <class T>
  T* told(pe_t p) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kRoom - sizeof(u64));
    return reinterpret_cast<T*>(told_[static_cast<std::size_t>(p)] + all_at(world_.first_here() + p));
  }

  // All of these enqueue, on the streams of the team, in the order of the calls.

  /// Launches a lockstep kernel on PE p.
  void launch(pe_t p, const void* kernel, int blocks, int threads, std::size_t shared_bytes, const KernelArgs& args);
  /// Every process: sends parts and receives parts. Of each pair of PEs at most one part, and the sizes agree.
  void exchange(const std::vector<WirePart>& sent, const std::vector<WirePart>& received);

  /// Every process: what all PEs have told, when the kernels of the step have ended everywhere.
  /// @return [all PEs]
  /// @throws Interrupted: the work was called off, on all; DeviceError: a kernel was ended, or a device has come to harm;
  ///         TransportError: another process has, or the wire
  template <class T>
  std::vector<T> hear() {
    hear_all();
    std::vector<T> all(static_cast<std::size_t>(world_.n_pes()));
    for (std::size_t q = 0; q < all.size(); ++q) {
      std::memcpy(&all[q], heard_ + all_at(static_cast<pe_t>(q)), sizeof(T));
      if (all[q].failed != 0) ended(q);
    }
    return all;
  }
  /// Waits for all that was enqueued here. @throws as hear()
  void wait();

  /// Every process: run(report) is one in which they take steps. Adds to `report` what it does, with the seconds of the slowest.
  /// A process that fails ends the world; all others name it.
  template <class Run>
  void together(Report& report, Run&& run) {
    begin();
    Report mine;
    try {
      run(mine);
      wait();
    } catch (...) {
      fail(std::current_exception());
    }
    end(report, mine);
  }

 private:
  using u64 = std::uint64_t;
  struct Members;

  static std::size_t all_at(pe_t pe) { return static_cast<std::size_t>(pe) * kRoom; }
  void connect();
  void hear_all();
  void wait_for(cudaStream_t stream);
  void look();
  void check(const std::string& why);
  [[noreturn]] void ended(std::size_t pe) const;
  void part(void (*how)(void*));
  void begin();
  [[noreturn]] void fail(std::exception_ptr error);
  void end(Report& report, const Report& mine);

  LockstepTeam& team_;
  const std::string what_;
  World& world_;
  PeerMemory memory_;
  std::vector<std::byte*> told_;  ///< [PEs of this process] device memory: [all PEs][kRoom]
  std::shared_ptr<void> pinned_;
  std::byte* heard_ = nullptr;        ///< the same on the host, in `pinned_`
  std::shared_ptr<Members> members_;  ///< a thread that hangs in the wire may outlive this object
  bool flagged_ = false;              ///< this process has told that its work is called off
};

}  // namespace shoal
