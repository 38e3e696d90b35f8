// The functions that the library takes from the shared object for GPUs of several hosts (engines/nccl). Only that object is
// linked with NCCL.
#pragma once
#include <cstddef>

namespace shoal {

/// Functions that return text, other than name(), return null if they succeeded, else the error. The text is valid until the
/// thread's next call.
struct GpuWireTable {
  static constexpr int kVersion = 1;
  static constexpr std::size_t kIdBytes = 128;

  int version;
  const char* (*name)();             ///< name and version: "NCCL 2.28.3"
  const char* (*make_id)(void* id);  ///< [kIdBytes] the id that every process needs for join()
  /// Makes the members [first, first + here) of `all`, which belong to this process. Every process calls it; it waits for all.
  /// @param devices  [here]
  /// @param members  [here]
  const char* (*join)(const void* id, int all, int first, int here, const int* devices, void** members);
  // send(), receive() and gather() are called between begin() and end(); end() enqueues them on their streams (cudaStream_t).
  // Every send() needs a receive() of the same size at its destination.
  const char* (*begin)();
  const char* (*send)(void* member, const void* from, std::size_t bytes, int to, void* stream);
  const char* (*receive)(void* member, void* to, std::size_t bytes, int from, void* stream);
  /// @param all  [members][bytes]; the member's own bytes are already in their place
  const char* (*gather)(void* member, void* all, int me, std::size_t bytes, void* stream);
  const char* (*end)();
  const char* (*look)(void* member);  ///< reports an asynchronous error
  void (*leave)(void* member);        ///< for a member with nothing in flight
  void (*abort)(void* member);        ///< also ends kernels that wait for other members
};

/// The name of the function in the shared object that returns the table; its type is GpuWireTableOf.
inline constexpr const char* kGpuWireSymbol = "shoal_gpu_wire";
using GpuWireTableOf = const GpuWireTable*();

}  // namespace shoal
