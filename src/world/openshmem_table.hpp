// The functions that the library takes from the engine's shared object (engines/openshmem). Only that object is linked with
// OpenSHMEM.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

struct OpenShmem {
  static constexpr int kVersion = 2;
  int version;
  const char* (*begin)();  ///< starts OpenSHMEM; returns null, or why it cannot
  int (*process)();
  int (*processes)();
  void* (*allocate)(std::size_t bytes);  ///< every process calls it; symmetric memory, zeroed
  void (*put)(void* at, std::size_t bytes, int process);
  void (*put_word)(std::uint64_t* at, int process);
  void* (*allocate_rest)(std::size_t* bytes);  ///< every process calls it; most of what is left, not cleared
  void* (*reach)(void* at,
                 int process);  ///< the address of `at` in another process, if loads and stores work there; else null
  void (*put_to)(void* to, const void* from, std::size_t bytes, int process);
  void (*put_value)(std::uint64_t* to, std::uint64_t value, int process);
  void (*quiet)();     ///< waits until everything that was put has arrived
  void (*fence)();     ///< orders puts: no process sees a later put before all earlier puts to it
  void (*progress)();  ///< lets other processes' puts arrive, where the library must be called for that
  void (*end)();       ///< every process calls it
};

/// The name of the function in the shared object that returns the table; its type is OpenShmemTable.
inline constexpr const char* kOpenShmemSymbol = "shoal_openshmem";
using OpenShmemTable = const OpenShmem*();

}  // namespace shoal
