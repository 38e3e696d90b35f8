#include "core/memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

namespace shoal {
namespace {

constexpr std::int64_t kAtLeast = std::int64_t{64} << 20;

/// The number that a one-number file of the kernel holds; `otherwise` if it is absent or says "max".
std::int64_t number_in(const std::string& file, std::int64_t otherwise) {
  std::ifstream in(file);
  std::int64_t value = 0;
  return in >> value ? value : otherwise;
}

}  // namespace

std::int64_t available_memory() {
  std::int64_t free = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  std::ifstream meminfo("/proc/meminfo");
  for (std::string line; std::getline(meminfo, line);) {
    std::istringstream words(line);
    std::string key;
    std::int64_t kib = 0;
    if (words >> key >> kib && key == "MemAvailable:") free = std::min(free, kib * 1024);
  }
  const std::int64_t limit = number_in("/sys/fs/cgroup/memory.max", -1);
  if (limit >= 0) free = std::min(free, limit - number_in("/sys/fs/cgroup/memory.current", 0));
  rlimit addresses{};
  if (::getrlimit(RLIMIT_AS, &addresses) == 0 && addresses.rlim_cur != RLIM_INFINITY) {
    const std::int64_t pages = number_in("/proc/self/statm", 0);  // the first number: all that is mapped
    free = std::min(free, static_cast<std::int64_t>(addresses.rlim_cur) - pages * ::sysconf(_SC_PAGESIZE));
  }
  return std::max(free, kAtLeast);
}

}  // namespace shoal
