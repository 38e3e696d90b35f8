// The memory pools of the devices, and which devices may access them.
#if defined(SHOAL_HAVE_CUDA)
#include "shoal/device/device_memory.cuh"

#include <array>
#include <cstdlib>
#include <mutex>
#include <set>

#include "shoal/device/peer_access.cuh"
#include "shoal/device/shared_memory.cuh"

namespace shoal {
namespace {

/// The pool of one device. Never destroyed: the CUDA runtime may shut down before static objects are destroyed.
struct Pool {
  std::once_flag once;
  cudaMemPool_t pool = nullptr;   ///< null: plain cudaMalloc
  cudaStream_t stream = nullptr;  ///< for allocating and freeing; nothing else runs in it
};

constexpr int kMostDevices = 64;

/// The pool of `device`, which must be current; the first call creates it. @throws DeviceError
Pool& pool_of(int device) {
  static auto& pools = *new std::array<Pool, kMostDevices>;
  if (device < 0 || device >= kMostDevices) {
    throw DeviceError("device " + std::to_string(device) + ": this build knows devices 0 to " +
                      std::to_string(kMostDevices - 1) + "; choose others with CUDA_VISIBLE_DEVICES");
  }
  Pool& mine = pools[device];
  std::call_once(mine.once, [&] {
    int has_pools = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&has_pools, cudaDevAttrMemoryPoolsSupported, device));
    if (has_pools == 0 || std::getenv("SHOAL_PLAIN_MALLOC") != nullptr) return;
    SHOAL_CUDA(cudaStreamCreateWithFlags(&mine.stream, cudaStreamNonBlocking));
    cudaMemPoolProps what{};
    what.allocType = cudaMemAllocationTypePinned;
    what.location = {.type = cudaMemLocationTypeDevice, .id = device};
    cudaMemPool_t pool = nullptr;
    SHOAL_CUDA(cudaMemPoolCreate(&pool, &what));
    std::uint64_t kept = kKeptBytes;
    SHOAL_CUDA(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    mine.pool = pool;
  });
  return mine;
}

int current_device() {
  int device = -1;
  SHOAL_CUDA(cudaGetDevice(&device));
  return device;
}

cudaError_t allocate(const Pool& pool, void** p, std::size_t bytes) {
  if (pool.pool == nullptr) return cudaMalloc(p, bytes);
  const cudaError_t status = cudaMallocFromPoolAsync(p, bytes, pool.pool, pool.stream);
  return status == cudaSuccess ? cudaStreamSynchronize(pool.stream) : status;  // from here on every stream may use it
}

/// Returns the freed memory that the pool keeps to the system. True if that was done, so that another try may succeed.
bool trim(const Pool& pool) {
  if (pool.pool == nullptr) return false;
  return cudaDeviceSynchronize() == cudaSuccess && cudaMemPoolTrimTo(pool.pool, 0) == cudaSuccess;
}

}  // namespace

std::size_t free_device_bytes() {
  std::size_t free_bytes = 0, total_bytes = 0;
  SHOAL_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
  const Pool& pool = pool_of(current_device());
  if (pool.pool == nullptr) return free_bytes;
  std::uint64_t reserved = 0, used = 0;
  SHOAL_CUDA(cudaMemPoolGetAttribute(pool.pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
  SHOAL_CUDA(cudaMemPoolGetAttribute(pool.pool, cudaMemPoolAttrUsedMemCurrent, &used));
  return free_bytes + (reserved - used);
}

namespace {

/// Allocates, after a failure once more with an emptied pool, and reports errors.
/// @param allocate  cudaError_t(pool, void**): asks for `bytes`
template <class Allocate>
void* alloc_with(std::size_t bytes, const char* name, Allocate&& allocate) {
  if (bytes == 0) return nullptr;
  void* p = nullptr;
  const int device = current_device();
  const Pool& pool = pool_of(device);
  const bool injected = AllocationFault::count++ == AllocationFault::fail_at;
  cudaError_t status = injected ? cudaErrorMemoryAllocation : allocate(pool, &p);
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    if (!injected && trim(pool)) status = allocate(pool, &p);
  }
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free_bytes = 0, total_bytes = 0;
    SHOAL_CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    const std::string what = name;
    const char* const smaller = what.starts_with("worklist ring") ? ", or a smaller --capacity"
                                : what.starts_with("spill")       ? ", or a smaller --spill"
                                                                  : "";
    throw CapacityError(what + " on device " + std::to_string(device) + ": " + std::to_string(bytes) +
                        " bytes wanted, " + std::to_string(free_device_bytes()) + " of " + std::to_string(total_bytes) +
                        " free" + (injected ? " (failure injected by a test)" : "") +
                        "; use more PEs or a smaller graph" + smaller);
  }
  cuda_check(status, name);
  ++AllocationFault::held;
  return p;
}

}  // namespace

void* device_alloc(std::size_t bytes, const char* name) {
  return alloc_with(bytes, name, [bytes](const Pool& pool, void** p) { return allocate(pool, p, bytes); });
}

void* shared_device_alloc(std::size_t bytes, const char* name) {
  bytes = (bytes + kSharedBlock - 1) / kSharedBlock * kSharedBlock;
  return alloc_with(bytes, name, [bytes](const Pool&, void** p) { return cudaMalloc(p, bytes); });
}

void shared_device_free(void* p) noexcept {
  if (p == nullptr) return;
  --AllocationFault::held;
  cudaFree(p);
}

void device_free(void* p) noexcept {
  if (p == nullptr) return;
  --AllocationFault::held;
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) return;  // the device is lost, and its memory with it
  const Pool& pool = pool_of(device);                 // exists since `p` was allocated: this does not throw
  if (pool.pool == nullptr) {
    cudaFree(p);
    return;
  }
  cudaDeviceSynchronize();
  cudaFreeAsync(p, pool.stream);
  // A pool returns memory beyond kKeptBytes to the system at the next synchronisation, which may take long. It is done here, so
  // that it does not happen within a run that is timed.
  cudaStreamSynchronize(pool.stream);
}

void reach_peer(int device, int peer) {
  static std::mutex mutex;
  static std::set<std::pair<int, int>> reached;
  const std::lock_guard lock(mutex);
  if (device == peer || reached.count({device, peer}) > 0) return;
  int can = 0;
  SHOAL_CUDA(cudaDeviceCanAccessPeer(&can, device, peer));
  if (can == 0) {
    throw DeviceError("device " + std::to_string(device) + " cannot reach the memory of device " +
                      std::to_string(peer) + "; run on one GPU (--pes 1)");
  }
  {
    DeviceGuard guard(peer);
    const Pool& pool = pool_of(peer);
    if (pool.pool != nullptr) {
      cudaMemAccessDesc access{};
      access.location = {.type = cudaMemLocationTypeDevice, .id = device};
      access.flags = cudaMemAccessFlagsProtReadWrite;
      SHOAL_CUDA(cudaMemPoolSetAccess(pool.pool, &access, 1));
    }
  }
  // This is for memory that is not from a pool, and for copies between the two devices.
  DeviceGuard guard(device);
  const cudaError_t status = cudaDeviceEnablePeerAccess(peer, 0);
  if (status == cudaErrorPeerAccessAlreadyEnabled) {
    cudaGetLastError();  // by other code of this process
  } else {
    cuda_check(status, "cudaDeviceEnablePeerAccess");
  }
  reached.insert({device, peer});
}

}  // namespace shoal
#endif
