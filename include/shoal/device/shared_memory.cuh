// GPU memory that other processes of the host map into their address spaces (CUDA IPC): their kernels then load and store there as
// in a peer's memory.
#pragma once
#include <cstddef>

namespace shoal {

/// Bytes. CUDA IPC maps whole allocation blocks of the driver, so sizes are rounded up to this: no other data must be in them.
inline constexpr std::size_t kSharedBlock = std::size_t{2} << 20;

/// Like device_alloc(), but returns memory that cudaIpcGetMemHandle() accepts: each call is a cudaMalloc, of whole blocks, and
/// not from a pool, so it takes long.
/// @throws CapacityError as device_alloc()
void* shared_device_alloc(std::size_t bytes, const char* name);
/// Frees memory that shared_device_alloc() returned; its device must be current. Null is ignored. No other process may have it
/// mapped.
void shared_device_free(void* p) noexcept;

}  // namespace shoal
