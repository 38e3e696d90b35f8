// What the library takes from the engine's own shared object (engines/openshmem), which alone is linked with OpenSHMEM.
#pragma once
#include <cstddef>
#include <cstdint>

namespace shoal {

struct OpenShmem {
  static constexpr int kVersion = 2;
  int version;
  const char* (*begin)();  ///< starts OpenSHMEM; null, or why not
  int (*process)();
  int (*processes)();
  void* (*allocate)(std::size_t bytes);  ///< zeroed, at all processes; every process
  void (*put)(void* at, std::size_t bytes, int process);
  void (*put_word)(std::uint64_t* at, int process);
  void* (*allocate_rest)(std::size_t* bytes);  ///< most of what is left, not cleared, at all processes; every process
  void* (*reach)(void* at,
                 int process);  ///< what lies at the same place of a process, if loads and stores get there; else null
  void (*put_to)(void* to, const void* from, std::size_t bytes, int process);
  void (*put_value)(std::uint64_t* to, std::uint64_t value, int process);
  void (*quiet)();     ///< waits until everything that was put has arrived
  void (*fence)();     ///< what is put afterwards is not seen before what was put earlier, at each process
  void (*progress)();  ///< lets what others put arrive, where a library has to be called for that
  void (*end)();       ///< every process
};

/// The name of the function in it, of type OpenShmemTable.
inline constexpr const char* kOpenShmemSymbol = "shoal_openshmem";
using OpenShmemTable = const OpenShmem*();

}  // namespace shoal
