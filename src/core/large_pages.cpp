#include "shoal/core/large_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

namespace shoal {

void want_large_pages(void* at, std::size_t bytes) {
#if defined(MADV_HUGEPAGE)
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = (reinterpret_cast<std::uintptr_t>(at) + page - 1) / page * page;
  const auto end = (reinterpret_cast<std::uintptr_t>(at) + bytes) / page * page;
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // advice: it may be refused
#else
  (void)at, (void)bytes;
#endif
}

}  // namespace shoal
