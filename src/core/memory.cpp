#include "core/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "shoal/core/text.hpp"

namespace shoal {
namespace {

constexpr std::int64_t kAtLeast = std::int64_t{64} << 20;

/// The number that follows `word` in the first line that begins with it; `otherwise` if there is none.
std::int64_t field_of(const std::string& file, const std::string& word, std::int64_t otherwise) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string key;
    std::int64_t value = 0;
    if (words >> key >> value && key == word) return value;
  }
  return otherwise;
}

/// The number at the beginning of a file of the kernel; `otherwise` if the file is absent or says "max".
std::int64_t number_in(const std::string& file, std::int64_t otherwise) {
  std::ifstream in(file);
  std::int64_t value = 0;
  return in >> value ? value : otherwise;
}

/// Bytes that the limits of this process's control group and of its parent groups leave (cgroups version 2). Inactive file pages
/// do not count as used, because the system can reclaim them.
std::int64_t left_by_control_groups() {
  std::int64_t left = std::numeric_limits<std::int64_t>::max();
  std::ifstream in("/proc/self/cgroup");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("0::/")) continue;
    // In a container the path may be the host's, which is not visible there: then the root is the container's group.
    for (std::filesystem::path group = line.substr(4);; group = group.parent_path()) {
      const std::string folder = ("/sys/fs/cgroup" / group / "").string();
      const std::int64_t limit = number_in(folder + "memory.max", -1);
      if (limit >= 0) {
        const std::int64_t held = number_in(folder + "memory.current", 0);
        left = std::min(left,
                        limit - std::max<std::int64_t>(held - field_of(folder + "memory.stat", "inactive_file", 0), 0));
      }
      if (group.empty()) break;
    }
  }
  return left;
}

}  // namespace

std::int64_t available_memory(int processes) {
  std::int64_t free = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  free = std::min(free, field_of("/proc/meminfo", "MemAvailable:", free >> 10) * 1024);
  free = std::min(free, left_by_control_groups()) / processes;
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    const std::int64_t pages = number_in("/proc/self/statm", 0);  // the first number: all mapped pages
    free = std::min(free, static_cast<std::int64_t>(addresses.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE));
  }
  return std::max(free, kAtLeast);
}

std::int64_t most_memory() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::int64_t>(usage.ru_maxrss) * 1024;
}

std::string too_large(std::int64_t vertices, std::int64_t arcs, std::int64_t bytes, std::int64_t available_bytes) {
  return counted(vertices, "vertex", "vertices") + " and " + counted(arcs, "arc", "arcs") + " take about " +
         grouped((bytes >> 20) + 1) + " MB of memory, " + grouped(available_bytes >> 20) + " MB are available; " +
         (arcs < vertices / 4 ? "renumber the vertices without gaps, or " : "") + "use a machine with more memory";
}

}  // namespace shoal
