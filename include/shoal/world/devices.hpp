// What this machine and this build offer: CPU, memory, GPUs, engines, libraries.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace shoal {

/// One GPU as the CUDA runtime numbers it.
struct DeviceInfo {
  int index = 0;
  std::string name;
  std::string architecture;  ///< sm_90
  std::int64_t memory_bytes = 0;
  std::int64_t free_bytes = 0;  ///< at the time of the call, if it was asked for
  int multiprocessors = 0;
  std::vector<bool> reaches;          ///< [devices] whether loads from and stores to that device work; true for itself
  std::vector<bool> reaches_atomics;  ///< [devices] whether atomics work there, too
};

/// The GPUs that this process sees. If there are none, sets `*why_none` to the reason and what would help.
/// @param free_bytes  also fill in DeviceInfo::free_bytes; this creates a context on every GPU, which takes some hundred
///   milliseconds each
std::vector<DeviceInfo> list_devices(std::string* why_none = nullptr, bool free_bytes = false);

/// How many threads this process may use, by its affinity mask and the CPU quota of its control group; at least 1.
int usable_threads();

/// The host.
struct MachineInfo {
  std::string cpu;           ///< model name
  int hardware_threads = 0;  ///< of the machine
  int usable_threads = 0;    ///< of this process
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;
  std::string system;    ///< kernel name and release
  std::string compiler;  ///< what compiled the library
  std::string build;     ///< "cpu" or "cpu, CUDA 13.0"; sanitizers are named
  std::string driver;    ///< of NVIDIA: "580.95.05", or "for CUDA 13.0" if only that is known; empty: there is none
};
MachineInfo describe_machine();

/// An engine or an optional library.
struct Feature {
  std::string name;
  bool found = false;
  std::string detail;  ///< what it is used for, and its version where there is one
  std::string cure;    ///< if not found: what to install or do
};
std::vector<Feature> list_engines();
std::vector<Feature> list_libraries();

/// One JSON object: version, machine, devices, engines, libraries.
std::string machine_to_json();

}  // namespace shoal
