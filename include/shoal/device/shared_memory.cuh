// Memory of a GPU that other processes of the host map into theirs (CUDA IPC): kernels then load and store there as in a
// peer's memory.
#pragma once
#include <cstddef>

namespace shoal {

/// What is mapped are whole blocks of the driver's, in which nothing else shall lie.
inline constexpr std::size_t kSharedBlock = std::size_t{2} << 20;

/// Like device_alloc(), but memory that cudaIpcGetMemHandle() takes: a cudaMalloc of its own, of whole blocks. No pool has
/// that, so it takes long.
/// @throws CapacityError as device_alloc()
void* shared_device_alloc(std::size_t bytes, const char* name);
/// Frees what shared_device_alloc() returned, with its device current; null is ignored. No other process may have it mapped.
void shared_device_free(void* p) noexcept;

}  // namespace shoal
