// What the library takes from the shared object for GPUs of several hosts (engines/nccl), which alone is linked with NCCL.
#pragma once
#include <cstddef>

namespace shoal {

/// Functions that return text return null when all is well, else why not; the text is good until the thread's next call.
struct GpuWireTable {
  static constexpr int kVersion = 1;
  static constexpr std::size_t kIdBytes = 128;

  int version;
  const char* (*name)();             ///< with its version: "NCCL 2.28.3"
  const char* (*make_id)(void* id);  ///< [kIdBytes] what all that are to join must know
  /// Makes this process's members [first, first + here) of `all`; waits for all others, each of which calls it, too.
  /// @param devices  [here]
  /// @param members  [here]
  const char* (*join)(const void* id, int all, int first, int here, const int* devices, void** members);
  // Between begin() and end(), which enqueues all of it on streams (cudaStream_t). Who is sent something receives as much.
  const char* (*begin)();
  const char* (*send)(void* member, const void* from, std::size_t bytes, int to, void* stream);
  const char* (*receive)(void* member, void* to, std::size_t bytes, int from, void* stream);
  /// @param all  [members][bytes]; what the member gives lies in its place
  const char* (*gather)(void* member, void* all, int me, std::size_t bytes, void* stream);
  const char* (*end)();
  const char* (*look)(void* member);  ///< what has gone wrong since
  void (*leave)(void* member);        ///< nothing is on its way
  void (*abort)(void* member);        ///< kernels that wait for others end
};

/// The name of the function in it, of type GpuWireTableOf.
inline constexpr const char* kGpuWireSymbol = "shoal_gpu_wire";
using GpuWireTableOf = const GpuWireTable*();

}  // namespace shoal
