#include "gpu_wire.hpp"

#include <dlfcn.h>

#include "engine_file.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

const GpuWireTable& gpu_wire() {
  const std::string file = engine_file("shoal_gpu_wire.so");
  void* const object = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const char* const why = ::dlerror();
    throw UsageError("NCCL, for GPUs of several hosts, cannot be loaded: " + std::string(why != nullptr ? why : file) +
                     "; install it (Debian: libnccl-dev; Python: nvidia-nccl-cu13) and build with CUDA again; or set "
                     "SHOAL_ENGINES to the folder of shoal_gpu_wire.so");
  }
  const auto table = reinterpret_cast<GpuWireTableOf*>(::dlsym(object, kGpuWireSymbol));
  if (table == nullptr || table()->version != GpuWireTable::kVersion) {
    throw UsageError(file + " belongs to another version of shoal; build it again");
  }
  return *table();
}

std::string why_no_gpu_wire() {
  try {
    gpu_wire();
    return "";
  } catch (const UsageError& error) {
    return error.what();
  }
}

}  // namespace shoal
