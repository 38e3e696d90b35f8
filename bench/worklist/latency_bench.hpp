// What the benches of latencies share: a clock that workers and the host can read, and the head of a result file.
#pragma once
#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/machine.hpp"

namespace shoal::bench {

/// The time in nanoseconds: of the GPU's global timer in kernels, of the host's steady clock elsewhere.
SHOAL_FN inline std::uint64_t now_ns() {
#if defined(__CUDA_ARCH__)
  std::uint64_t t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
#else
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
          .count());
#endif
}

/// The head of a result: benchmark, machine, date (UTC), and the kind and number of workers.
inline nlohmann::ordered_json result_head(const std::string& benchmark, const Machine& machine, const LaunchPlan& plan,
                                          int workers_per_pe) {
  char date[32];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
  const bool on_gpu = machine.on_gpu();
  return {{"benchmark", benchmark},
          {on_gpu ? "gpu" : "cpu", on_gpu ? list_devices().front().name : describe_machine().cpu},
          {"date", date},
          {"device", on_gpu ? "gpu" : "cpu"},
          {"pes", machine.n_pes()},
          {"workers_per_pe", workers_per_pe},
          {"worker", name(plan.worker)},
          {"kernel", name(plan.kernel)}};
}

/// @throws UsageError
inline void write_result(const nlohmann::ordered_json& result, const std::string& path) {
  std::ofstream file(path);
  file << result << "\n";
  if (!file) throw UsageError(path + " could not be written");
}

}  // namespace shoal::bench
