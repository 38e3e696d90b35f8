#include "shoal/worklist/ring_memory.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "core/memory.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

double bytes_of(const RingSizes& rings) {
  const auto slots = static_cast<double>(std::bit_ceil(static_cast<std::uint64_t>(rings.capacity)));
  const double channel = std::min(slots / 4, 0x1p18);
  return rings.pes * rings.slot_bytes * (slots + (rings.pes - 1) * channel);
}

void require_ring_memory(const RingSizes& rings, bool asked) {
  const double wanted = bytes_of(rings);
  if (wanted < 0x1p26) return;  // available_memory() never says less
  const auto had = static_cast<double>(available_memory(processes_on_this_host()));
  if (wanted <= had) return;
  RingSizes fits = rings;
  fits.capacity = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(rings.capacity)));
  while (bytes_of(fits) > had / 2 && fits.capacity > 2)
    fits.capacity /= 2;  // the other half is for the graph and for spill
  const auto mb = [](double bytes) { return grouped(static_cast<std::int64_t>(bytes / 0x1p20)); };
  throw CapacityError((asked ? "--capacity " + std::to_string(rings.capacity) + " makes rings that take about "
                             : "rings of " + std::to_string(rings.capacity) + " slots take about ") +
                      mb(wanted) + " MB of memory, " + mb(had) + " MB are available; use --capacity " +
                      std::to_string(fits.capacity) + " or less" + (asked ? ", or leave it out" : ""));
}

}  // namespace shoal
