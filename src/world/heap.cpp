#include "shoal/world/heap.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

std::size_t Heap::allocate(std::size_t bytes, const char* what) {
  const std::size_t wanted = (std::max<std::size_t>(bytes, 1) + kCacheLine - 1) / kCacheLine * kCacheLine;
  std::size_t at = 0, largest = 0;
  auto next = parts_.begin();
  for (; next != parts_.end() && next->offset - at < wanted; ++next) {  // to the first gap that is large enough
    largest = std::max(largest, next->offset - at);
    at = next->offset + next->bytes;
  }
  if (at + wanted > bytes_) {
    largest = std::max(largest, bytes_ - at);
    throw CapacityError(
        std::string("memory for ") + what + " needs " + std::to_string(wanted) + " bytes per process, but only " +
        std::to_string(largest) + " of the " + std::to_string(bytes_) +
        " bytes of shared heap are free in one piece; set SHMEM_SYMMETRIC_HEAP_SIZE to more (or, for segments, use a "
        "smaller --capacity)");
  }
  parts_.insert(next, {at, wanted});
  std::memset(this->at(at), 0, wanted);
  return at;
}

void Heap::release(std::size_t offset) {
  std::erase_if(parts_, [&](const Part& part) { return part.offset == offset; });
}

}  // namespace shoal
