// The transports and run shapes (PEs, threads, kernels, capacities) that the contract's suites run with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "cpu_machine.hpp"
#include "shoal/core/types.hpp"
#include "shoal/transport/direct.hpp"
#include "shoal/transport/faulty.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "under_tsan.hpp"

namespace shoal::contract {

// Each struct below is one transport of the suites: its type, its name, its planned faults, and how to make one.
struct Direct {
  using Transport = DirectTransport;
  static constexpr const char* kName = "direct";
  static FaultPlan plan() { return {}; }
  static Transport make(FaultState&) { return {}; }
};
struct Delayed {
  using Transport = FaultyTransport<>;
  static constexpr const char* kName = "delayed";
  static FaultPlan plan() { return {.seed = 7, .delay_percent = 25, .get_pause_microseconds = 0}; }
  static Transport make(FaultState& state) { return Transport(&state); }
};
struct Reordered {
  using Transport = FaultyTransport<>;
  static constexpr const char* kName = "reordered";
  static FaultPlan plan() { return {.seed = 11, .delay_percent = 5, .reorder = true}; }
  static Transport make(FaultState& state) { return Transport(&state); }
};

/// A plan with rings of `capacity` slots and channels of a quarter of that, but at least 2 slots. With `capacity` above 8, each
/// pair of PEs has two channels.
inline LaunchPlan small_plan(KernelKind kernel, ticket_t capacity) {
  LaunchPlan plan;
  plan.kernel = kernel;
  plan.capacity = capacity;
  plan.channel_capacity = capacity < 8 ? 2 : capacity / 4;
  plan.channels = capacity > 8 ? 2 : 1;
  plan.fetch = capacity == 2 ? 1 : capacity == 8 ? 3 : 16;
  plan.spill = 5 << 10;
  plan.stall_timeout_seconds = 20;  // a hang ends with an error that names its place, well before the test's time limit
  return plan;
}

/// The same plan with segments of 128 bytes in place of channels. With capacity 2 or 8, a sender also waits before it notifies
/// the receiver of a segment that is not full (batch_wait).
inline LaunchPlan segment_plan(KernelKind kernel, ticket_t capacity) {
  LaunchPlan plan = small_plan(kernel, capacity);
  plan.batch_bytes = 128;
  plan.batch_wait = capacity == 2 || capacity == 8 ? 2 : 0;
  return plan;
}

inline std::string describe(const Machine& machine, const LaunchPlan& plan) {
  return std::to_string(machine.n_pes()) + " PEs x " + std::to_string(machine.threads_per_pe()) + " threads, " +
         name(plan.kernel) + ", capacity " + std::to_string(plan.capacity) + ", fetch " + std::to_string(plan.fetch) +
         (plan.batch_bytes > 0 ? ", segments, wait " + std::to_string(plan.batch_wait) : "");
}

inline constexpr pe_t kMostPes = test::kUnderTsan ? 3 : 4;
inline const std::vector<ticket_t> kCapacities =
    test::kUnderTsan ? std::vector<ticket_t>{2, 8, 1024} : std::vector<ticket_t>{2, 4, 8, 1024};
inline constexpr KernelKind kKernels[] = {KernelKind::persistent, KernelKind::discrete};

/// Calls body(machine, plan) for every shape: PEs 1 to kMostPes, threads 1 and 2, both kernels, all capacities. On several PEs,
/// each shape runs with channels and again with segments.
template <class Body>
void for_each_shape(Body body) {
  for (pe_t pes = 1; pes <= kMostPes; ++pes) {
    for (int threads = 1; threads <= 2; ++threads) {
      const Machine machine = cpu_machine(pes, threads);
      for (const KernelKind kernel : kKernels) {
        for (const ticket_t capacity : kCapacities) {
          body(machine, small_plan(kernel, capacity));
          if (pes > 1) body(machine, segment_plan(kernel, capacity));
        }
      }
    }
  }
}

}  // namespace shoal::contract
