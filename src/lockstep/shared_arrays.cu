#include "shared_arrays.cuh"

#include <cuda_runtime.h>

#include <cstring>
#include <exception>
#include <span>

#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/shared_memory.cuh"

namespace shoal {
namespace {

/// What a process sends about an array: whether there is one, and its handle.
struct Told {
  std::uint64_t is_there;
  cudaIpcMemHandle_t handle;
};

std::string bytes_of(const cudaIpcMemHandle_t& handle) {
  return {reinterpret_cast<const char*>(&handle), sizeof handle};
}

[[noreturn]] void cannot(const char* what, cudaError_t status) {
  cudaGetLastError();
  throw DeviceError(std::string(what) + ": " + cudaGetErrorString(status) +
                    ". GPUs of several processes use each other's memory through CUDA IPC, which containers may "
                    "forbid; use one process with --pes, or --device cpu");
}

}  // namespace

SharedArrays::~SharedArrays() {
  int before = 0;
  cudaGetDevice(&before);
  for (const auto& [where, address] : mapped_) {
    cudaSetDevice(where.first);
    cudaDeviceSynchronize();
    cudaIpcCloseMemHandle(address);
  }
  // Memory may be freed only when no process has it mapped. A process that fails leaves, and the others do not wait for it.
  static bool others_are_lost = false;
  if (told_ && !others_are_lost && std::uncaught_exceptions() == 0 && !world_.takes_leave(world_.process())) {
    try {
      world_.exchange({"arrays on GPUs given back"}, {});
    } catch (...) {
      others_are_lost = true;  // the next call reports the error
    }
  }
  for (const Array& array : arrays_) {
    cudaSetDevice(array.device);
    shared_device_free(array.data);
  }
  cudaSetDevice(before);
  cudaGetLastError();
}

void* SharedArrays::allocate(pe_t here, std::size_t bytes, const char* name) {
  DeviceGuard guard(devices_[here]);
  void* const data = shared_device_alloc(bytes, name);
  if (data != nullptr) arrays_.push_back({devices_[here], data});
  bytes_ += static_cast<std::int64_t>(bytes);
  return data;
}

/// The address at which kernels of `device` find an array of another process.
void* SharedArrays::map(int device, const std::string& handle) {
  void*& address = mapped_[{device, handle}];
  if (address != nullptr) return address;
  cudaIpcMemHandle_t raw;
  std::memcpy(&raw, handle.data(), sizeof raw);
  DeviceGuard guard(device);
  const cudaError_t status = cudaIpcOpenMemHandle(&address, raw, cudaIpcMemLazyEnablePeerAccess);
  if (status == cudaSuccess) return address;
  mapped_.erase({device, handle});
  cannot("memory of another process's GPU cannot be mapped", status);
}

PeerArrays SharedArrays::of_all(const std::vector<PeerArrays::List>& mine) {
  std::vector<Told> told;
  for (std::size_t p = 0; p < mine.size(); ++p) {
    DeviceGuard guard(devices_[p]);
    for (void* const data : mine[p]) {
      told.push_back({data != nullptr, {}});
      if (data == nullptr) continue;
      const cudaError_t status = cudaIpcGetMemHandle(&told.back().handle, data);
      if (status != cudaSuccess) cannot("memory of a GPU cannot be shared with other processes", status);
    }
  }
  const std::size_t each = mine.front().size();
  told_ = true;
  const auto all = world_.exchange({"arrays on GPUs"}, std::as_bytes(std::span(std::as_const(told))));
  const auto n_pes = static_cast<std::size_t>(world_.n_pes());
  std::vector<std::vector<PeerArrays::List>> at(mine.size(), std::vector<PeerArrays::List>(n_pes));
  for (std::size_t here = 0; here < mine.size(); ++here) {
    for (std::size_t pe = 0; pe < n_pes; ++pe) {
      const int process = world_.process_of(static_cast<pe_t>(pe));
      if (process == world_.process()) {
        at[here][pe] = mine[pe - static_cast<std::size_t>(world_.first_here())];
        continue;
      }
      const auto& its = all[static_cast<std::size_t>(process)];
      std::size_t first = pe;  // index among the PEs of its process
      while (first > 0 && world_.process_of(static_cast<pe_t>(first - 1)) == process) --first;
      for (std::size_t i = 0; i < each; ++i) {
        Told one;
        const std::size_t from = ((pe - first) * each + i) * sizeof one;
        if (from + sizeof one > its.size()) {
          throw TransportError("process " + std::to_string(process) + " reported fewer arrays on its GPUs");
        }
        std::memcpy(&one, its.data() + from, sizeof one);
        at[here][pe].push_back(one.is_there != 0 ? map(devices_[here], bytes_of(one.handle)) : nullptr);
      }
    }
  }
  return PeerArrays(std::move(at));
}

}  // namespace shoal
