// The GPUs that the CUDA runtime finds. This is the only file that looks for GPUs; in a build without CUDA it reports that.
#include "shoal/world/devices.hpp"

#include <filesystem>

#include "device_ids.hpp"

#if defined(SHOAL_HAVE_CUDA)
#include <cuda_runtime_api.h>
#endif

namespace shoal {
namespace {

constexpr const char* kNone = "no GPU in this machine";

/// Whether there is any device file of a GPU that CUDA could use, from the driver or from a virtual machine's host.
bool any_gpu() {
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev", error)) {
    const std::string name = entry.path().filename().string();
    if (name == "dxg" || name.rfind("nvhost", 0) == 0) return true;  // WSL; boards with the GPU in the processor
    if (name.rfind("nvidia", 0) == 0 && name.size() > 6 && name[6] >= '0' && name[6] <= '9') return true;
  }
  return false;
}

}  // namespace

#if defined(SHOAL_HAVE_CUDA)

namespace {

/// 0 if it is unknown.
std::int64_t free_bytes_of(int device) {
  int before = 0;
  cudaGetDevice(&before);
  std::size_t free_bytes = 0, total_bytes = 0;
  if (cudaSetDevice(device) != cudaSuccess || cudaMemGetInfo(&free_bytes, &total_bytes) != cudaSuccess) free_bytes = 0;
  cudaSetDevice(before);
  return static_cast<std::int64_t>(free_bytes);
}

}  // namespace

std::vector<DeviceInfo> list_devices(std::string* why_none, bool free_bytes) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0) {
    cudaGetLastError();  // the error is reported here, and must not appear in a later call
    if (why_none != nullptr) {
      *why_none = !any_gpu() ? kNone
                  : status == cudaErrorInsufficientDriver
                      ? "the NVIDIA driver is missing or older than the CUDA runtime of this build; update the driver"
                      : std::string("no GPU is visible (") + cudaGetErrorString(status) +
                            "); check nvidia-smi and CUDA_VISIBLE_DEVICES";
    }
    return {};
  }
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    DeviceInfo info;
    info.index = i;
    cudaDeviceProp properties;
    if (cudaGetDeviceProperties(&properties, i) == cudaSuccess) {
      info.name = properties.name;
      info.architecture = "sm_" + std::to_string(properties.major) + std::to_string(properties.minor);
      info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
      info.multiprocessors = properties.multiProcessorCount;
    } else {
      info.name = "unknown (its properties cannot be read)";
    }
    if (free_bytes) info.free_bytes = free_bytes_of(i);
    for (int j = 0; j < count; ++j) {
      int reaches = i == j, atomics = i == j;
      if (i != j) {
        if (cudaDeviceCanAccessPeer(&reaches, i, j) != cudaSuccess) reaches = 0;
        if (cudaDeviceGetP2PAttribute(&atomics, cudaDevP2PAttrNativeAtomicSupported, i, j) != cudaSuccess) atomics = 0;
      }
      info.reaches.push_back(reaches != 0);
      info.reaches_atomics.push_back(reaches != 0 && atomics != 0);
    }
    devices.push_back(std::move(info));
  }
  cudaGetLastError();
  return devices;
}

std::string device_ids() {
  int count = 0;
  std::string ids;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int i = 0; i < count; ++i) {
    char id[32] = "";
    if (cudaDeviceGetPCIBusId(id, sizeof id, i) != cudaSuccess) id[0] = 0;
    ids += (i > 0 ? ", " : "") + std::string(id);
  }
  cudaGetLastError();
  return ids;
}

#else

std::string device_ids() { return ""; }

std::vector<DeviceInfo> list_devices(std::string* why_none, bool) {
  if (why_none != nullptr) {
    *why_none = any_gpu()
                    ? "this build has no GPU side; install the CUDA toolkit (12.4 or later) and build with preset gpu"
                    : kNone;
  }
  return {};
}

#endif

}  // namespace shoal
