// What this machine and this build have: CPU, memory, GPUs, engines, libraries.
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
  std::vector<bool> reaches;          ///< [devices] loads and stores into that device's memory work; true for itself
  std::vector<bool> reaches_atomics;  ///< [devices] atomics as well
};

/// The GPUs of this process. If there is none, `why_none` says why, and what would help.
/// @param free_bytes  also fills in DeviceInfo::free_bytes; this creates a context on every GPU, some hundred
///   milliseconds each
std::vector<DeviceInfo> list_devices(std::string* why_none = nullptr, bool free_bytes = false);

/// Threads that this process may use, at least 1: by the affinity mask and the CPU quota of its control group.
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
