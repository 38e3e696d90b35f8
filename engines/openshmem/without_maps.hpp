// Open MPI's OpenSHMEM makes all writable memory below the program's end accessible to other processes, for the sake of static
// variables. It reads where that memory lies from /proc/self/maps, and takes the program's end for that of whatever object the
// name _end leads to: its own where it was linked with -Bsymbolic-functions (Ubuntu), another library's elsewhere. Then nearly all
// of the process's memory is below. Processes have it in different numbers of pieces, but Open MPI takes them for as many as its
// own, and reads beyond what it was sent (open-mpi/ompi issue 13621). We need no static variables, so it finds an empty list.
#pragma once

namespace shoal {

/// As long as this object exists, the library that has a function finds nothing in /proc/self/maps.
class WithoutMaps {
 public:
  explicit WithoutMaps(const void* function);
  ~WithoutMaps();
  WithoutMaps(const WithoutMaps&) = delete;
  WithoutMaps& operator=(const WithoutMaps&) = delete;

 private:
  void** slot_ = nullptr;  ///< where the library looks up fopen; null: it does not call that
  void* was_ = nullptr;
};

}  // namespace shoal
