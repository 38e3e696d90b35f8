// The PEs of this process and their memory: what a run's options mean on this machine.
#pragma once
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/types.hpp"
#include "shoal/runtime/options.hpp"
#include "shoal/runtime/thread_team.hpp"

namespace shoal {

/// Groups of CPU threads, or GPUs that reach each other. Made from options; shared by everything that runs on it.
class Machine {
 public:
  /// Resolves device, engine, pes and threads.
  /// @throws UsageError  an engine that does not exist or does not fit, more PEs than devices, GPUs that do not reach
  ///                     each other; the line says what there is
  /// @throws DeviceError a GPU was asked for and there is none (with the reason)
  explicit Machine(const Options& options);

  bool on_gpu() const { return on_gpu_; }
  pe_t n_pes() const { return n_pes_; }
  const std::string& engine() const { return engine_; }
  int threads_per_pe() const { return threads_per_pe_; }        ///< CPU PEs
  const std::vector<int>& devices() const { return devices_; }  ///< [n_pes] for GPU PEs, else empty
  /// The CPU threads; started at the first call. CPU PEs only.
  ThreadTeam& team() const;

  /// Zeroed memory of one PE. @throws CapacityError naming `what` and the bytes
  std::shared_ptr<void> allocate(pe_t pe, std::size_t bytes, const char* what) const;
  /// Zeroed host memory that the PE's workers can load and store (pinned for GPUs).
  std::shared_ptr<void> allocate_host(std::size_t bytes, const char* what) const;
  void copy_in(pe_t pe, void* to, const void* from, std::size_t bytes) const;
  void copy_out(pe_t pe, void* to, const void* from, std::size_t bytes) const;

  /// What was resolved and why, for reports: {"pes", "4: all GPUs"} ...
  const std::vector<std::pair<std::string, std::string>>& chosen() const { return chosen_; }

 private:
  bool on_gpu_ = false;
  pe_t n_pes_ = 1;
  int threads_per_pe_ = 1;
  std::string engine_;
  std::vector<int> devices_;
  std::vector<std::pair<std::string, std::string>> chosen_;
  mutable std::shared_ptr<ThreadTeam> team_;
};

}  // namespace shoal
