// Bulk-synchronous steps of PEs that cannot access each other's memory: GPUs of several hosts. A step is one kernel on each PE,
// which ends where it needs data of others. The PEs then send each other a few words, from which all processes plan the same next
// step; before that step they send each other the data that it reads. Everything between PEs, even between PEs of one process, goes
// over the wire (world/gpu_wire.hpp). The counterpart for CPU threads is exchange.hpp.
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

/// Bytes that go from a PE of this process to another PE, or arrive from there.
struct WirePart {
  pe_t here;  ///< PE of this process, counted from 0 within it
  pe_t there;
  void* data;  ///< in the memory of `here`
  std::size_t bytes;
};

/// Not thread-safe. Every process constructs one, and makes the same calls.
class Apart {
 public:
  static constexpr std::size_t kRoom = 256;  ///< most bytes that a PE can report per step; a multiple of 16

  /// Connects all PEs, which takes about a second.
  /// @param team   a team whose PEs are each alone (World::Reach::wire); must stay alive
  /// @param what   the name of the computation, for errors: "shortest paths"
  /// @throws UsageError: there is no wire; TransportError: another process has failed, or the PEs cannot be connected
  Apart(LockstepTeam& team, std::string what, World& world);
  ~Apart();
  Apart(const Apart&) = delete;
  Apart& operator=(const Apart&) = delete;

  pe_t n_pes() const { return team_.n_pes(); }  ///< of this process

  /// Where the kernels of a step of PE p write the PE's report, a T. A report that is not overwritten is sent again. Its member
  /// `failed` must be not 0 if the kernel was stopped.
  template <class T>
  T* told(pe_t p) const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= kRoom - sizeof(u64));
    return reinterpret_cast<T*>(told_[static_cast<std::size_t>(p)] + all_at(world_.first_here() + p));
  }

  // All of these enqueue work on the team's streams, in the order of the calls.

  /// Launches a lockstep kernel on PE p.
  void launch(pe_t p, const void* kernel, int blocks, int threads, std::size_t shared_bytes, const KernelArgs& args);
  /// Called by every process: sends parts and receives parts. Between each ordered pair of PEs there is at most one part, and both
  /// sides give the same size.
  void exchange(const std::vector<WirePart>& sent, const std::vector<WirePart>& received);

  /// Called by every process: returns the reports of all PEs, once the kernels of the step have ended everywhere.
  /// @return [all PEs]
  /// @throws Interrupted: the work was called off, on all processes; DeviceError: a kernel was stopped, or a device has failed;
  ///         TransportError: another process or the wire has failed
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
  /// Waits for everything that this process enqueued. @throws as hear()
  void wait();

  /// Called by every process: run(report) is a run in which they take steps. Adds its counts to `report`, with the seconds of the
  /// slowest process. A process that fails ends the world; the errors of all others name it.
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
  std::shared_ptr<Members> members_;  ///< shared, since a thread that hangs in the wire may outlive this object
  bool flagged_ = false;              ///< this process has reported that its work is called off
};

}  // namespace shoal
