// Large pages for large arrays of the host: random reads then miss only in the caches, and not also in the TLB.
#pragma once
#include <cstddef>

namespace shoal {

inline constexpr std::size_t kWorthLargePages = std::size_t{4} << 20;  ///< bytes; smaller arrays need few pages anyway

/// Asks the system to use large pages for the part of [at, at + bytes) that is not touched yet. The system considers such requests
/// if /sys/kernel/mm/transparent_hugepage/enabled says `madvise` or `always`, and may refuse.
void want_large_pages(void* at, std::size_t bytes);

}  // namespace shoal
