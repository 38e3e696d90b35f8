// Large pages for large arrays of the host: what is read at random then misses caches only, and not the translation of addresses.
#pragma once
#include <cstddef>

namespace shoal {

inline constexpr std::size_t kWorthLargePages = std::size_t{4} << 20;  ///< bytes; smaller arrays need few pages anyway

/// Asks the system for large pages where host memory is not touched yet. It gives them on request where
/// /sys/kernel/mm/transparent_hugepage/enabled says `madvise` or `always`, and may refuse.
void want_large_pages(void* at, std::size_t bytes);

}  // namespace shoal
