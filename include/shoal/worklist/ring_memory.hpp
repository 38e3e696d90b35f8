// The memory of a worklist's rings and channels on CPU threads. Every slot is written before the first run, so all of it is really
// used: this host is asked for it before any is allocated.
#pragma once
#include <cstdint>

namespace shoal {

/// The rings and channels of the PEs of one process.
struct RingSizes {
  int pes = 1;
  std::int64_t capacity = 0;  ///< slots of a ring, not yet rounded up to a power of two
  double slot_bytes = 0;
};

double bytes_of(const RingSizes& rings);

/// The processes of a run on this host share its memory.
/// @param asked  the user gave the capacity; false: it was chosen, or it is not known who did
/// @throws CapacityError  there is less memory; names the bytes wanted and available, and a --capacity that fits
void require_ring_memory(const RingSizes& rings, bool asked);

}  // namespace shoal
