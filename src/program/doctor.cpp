// Describes what the machine and the build offer.
#include <sched.h>
#include <sys/utsname.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "shoal/core/error.hpp"
#include "shoal/core/version.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/openshmem.hpp"
#include "shoal/world/processes.hpp"
#include "world/gpu_wire.hpp"
#if defined(SHOAL_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif
#if defined(SHOAL_HAVE_ZLIB)
#include <zlib.h>
#endif
#if defined(SHOAL_HAVE_ZSTD)
#include <zstd.h>
#endif
#if defined(SHOAL_HAVE_LIBZIP)
#include <zip.h>
#endif
#if defined(SHOAL_HAVE_METIS)
#include <metis.h>
#endif

namespace shoal {
namespace {

/// The engine openshmem, and the launcher for its processes.
Feature find_openshmem() {
  Feature found = {
      "openshmem", true,
      "CPU threads of several processes, on one host or many; their GPUs on one (bfs, sssp, pagerank, blocks) or, with "
      "NCCL, on many (bfs, pagerank)",
      ""};
  found.cure = why_no_openshmem();
  try {
    found.detail += "; " + find_launcher() + " starts them";
  } catch (const UsageError& error) {
    if (found.cure.empty()) found.cure = error.what();
  }
  found.found = found.cure.empty();
  return found;
}

/// The transport between GPUs of several hosts.
Feature find_nccl() {
  Feature found = {"NCCL", false, "GPUs of several hosts (bfs, pagerank)", why_no_gpu_wire()};
  found.found = found.cure.empty();
  if (found.found) found.detail += std::string(" (") + gpu_wire().name() + ")";
  return found;
}

/// The value of `key : value` in a file of /proc; empty if there is none.
std::string proc_field(const char* file, const std::string& key) {
  std::ifstream in(file);
  std::string text;
  while (std::getline(in, text)) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos || text.compare(0, key.size(), key) != 0) continue;
    const std::size_t begin = text.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : text.substr(begin);
  }
  return "";
}

std::int64_t memory_field(const std::string& key) {
  const std::string text = proc_field("/proc/meminfo", key);
  return text.empty() ? 0 : std::strtoll(text.c_str(), nullptr, 10) * 1024;
}

#if defined(SHOAL_HAVE_CUDA)
/// "13.0" for 13000.
std::string cuda_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}
#endif

/// The version in a line such as "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release Build". If there is
/// no such file, as under WSL, the newest CUDA that the driver supports; empty if there is no driver.
std::string driver_version() {
  std::istringstream words(proc_field("/proc/driver/nvidia/version", "NVRM version"));
  for (std::string word; words >> word;) {
    if (word.find('.') != std::string::npos && word.find_first_not_of("0123456789.") == std::string::npos) return word;
  }
#if defined(SHOAL_HAVE_CUDA)
  int version = 0;
  if (cudaDriverGetVersion(&version) == cudaSuccess && version > 0) return "for CUDA " + cuda_text(version);
#endif
  return "";
}

std::string build_text() {
  std::string text = "cpu";
#if defined(SHOAL_HAVE_CUDA)
  text += ", CUDA " + cuda_text(CUDART_VERSION);
#endif
#if defined(__SANITIZE_THREAD__)
  text += ", ThreadSanitizer";
#endif
#if defined(__SANITIZE_ADDRESS__)
  text += ", AddressSanitizer";
#endif
#if !defined(NDEBUG)
  text += ", not optimised";
#endif
  return text;
}

}  // namespace

int usable_threads() {
  int usable = static_cast<int>(std::thread::hardware_concurrency());
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) usable = CPU_COUNT(&set);
  std::ifstream quota_file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (quota_file >> quota >> period && quota != "max" && period > 0) {
    usable = std::min(usable, std::max(1, static_cast<int>(std::ceil(std::strtod(quota.c_str(), nullptr) / period))));
  }
  return std::max(1, usable);
}

MachineInfo describe_machine() {
  MachineInfo info;
  info.cpu = proc_field("/proc/cpuinfo", "model name");
  if (info.cpu.empty()) info.cpu = "unknown";
  info.hardware_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  info.usable_threads = usable_threads();
  info.memory_bytes = memory_field("MemTotal");
  info.available_bytes = memory_field("MemAvailable");
  utsname system{};
  if (uname(&system) == 0) info.system = std::string(system.sysname) + " " + system.release + " " + system.machine;
#if defined(__clang__)
  info.compiler = "clang " __clang_version__;
#else
  info.compiler = "g++ " __VERSION__;
#endif
  info.build = build_text();
  info.driver = driver_version();
  return info;
}

std::vector<Feature> list_engines() {
  std::string why;
  const bool gpus = !list_devices(&why).empty();
  return {{"self", true, "one PE, CPU or GPU", ""},
          {"threads", true, "PEs that are groups of CPU threads in this process", ""},
          {"peer", gpus, "GPUs of this process: NVLink and PCIe peer loads, stores and atomics", gpus ? "" : why},
          find_openshmem()};
}

std::vector<Feature> list_libraries() {
  std::vector<Feature> list = {
      {"zlib", false, "text graphs as .gz", "install zlib1g-dev and build again"},
      {"zstd", false, "text graphs as .zst", "install libzstd-dev and build again"},
      {"libzip", false, "SciPy .npz files", "install libzip-dev and build again"},
      {"METIS", false, "--partition metis", "install libmetis-dev and build again"},
  };
  const auto found = [&](std::size_t i, const std::string& version) {
    list[i].found = true;
    list[i].detail += " (" + version + ")";
    list[i].cure.clear();
  };
#if defined(SHOAL_HAVE_ZLIB)
  found(0, zlibVersion());
#endif
#if defined(SHOAL_HAVE_ZSTD)
  found(1, ZSTD_versionString());
#endif
#if defined(SHOAL_HAVE_LIBZIP)
  found(2, zip_libzip_version());
#endif
#if defined(SHOAL_HAVE_METIS)
  found(3, std::to_string(METIS_VER_MAJOR) + "." + std::to_string(METIS_VER_MINOR) + "." +
               std::to_string(METIS_VER_SUBMINOR) + ", " + std::to_string(IDXTYPEWIDTH) + "-bit");
#endif
  (void)found;
  list.push_back(find_nccl());
  return list;
}

std::string machine_to_json() {
  using Json = nlohmann::ordered_json;
  const MachineInfo machine = describe_machine();
  Json json = {{"version", kVersion},
               {"machine",
                {{"cpu", machine.cpu},
                 {"hardware_threads", machine.hardware_threads},
                 {"usable_threads", machine.usable_threads},
                 {"memory_bytes", machine.memory_bytes},
                 {"available_bytes", machine.available_bytes},
                 {"system", machine.system},
                 {"compiler", machine.compiler},
                 {"build", machine.build}}}};
  if (!machine.driver.empty()) json["machine"]["driver"] = machine.driver;
  json["devices"] = Json::array();
  std::string why;
  for (const DeviceInfo& d : list_devices(&why, /*free_bytes=*/true)) {
    json["devices"].push_back({{"index", d.index},
                               {"name", d.name},
                               {"architecture", d.architecture},
                               {"memory_bytes", d.memory_bytes},
                               {"free_bytes", d.free_bytes},
                               {"multiprocessors", d.multiprocessors},
                               {"reaches", d.reaches},
                               {"reaches_atomics", d.reaches_atomics}});
  }
  if (!why.empty()) json["no_devices_because"] = why;
  const auto features = [](const std::vector<Feature>& list) {
    Json out = Json::array();
    for (const Feature& f : list) {
      out.push_back({{"name", f.name}, {"found", f.found}, {"detail", f.detail}, {"cure", f.cure}});
    }
    return out;
  };
  json["engines"] = features(list_engines());
  json["libraries"] = features(list_libraries());
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace shoal
