// Machines whose PEs are CPU threads, for tests.
#pragma once
#include "shoal/world/machine.hpp"

namespace shoal {

inline Machine cpu_machine(pe_t pes, int threads) {
  Options options;
  options.device = DeviceKind::cpu;
  options.pes = pes;
  options.threads = threads;
  return Machine(options);
}

}  // namespace shoal
