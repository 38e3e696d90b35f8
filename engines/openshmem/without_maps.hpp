// Open MPI's OpenSHMEM makes all writable memory below the program's end accessible to other processes, for the sake of static
// variables. It reads the memory ranges from /proc/self/maps, and takes the address of the symbol _end for the program's end. That
// symbol may be its own (if it was linked with -Bsymbolic-functions, as on Ubuntu) or another library's. Then nearly all of the
// process's memory lies below it. Processes have different numbers of ranges, but Open MPI assumes that all have as many as its own
// process, and reads beyond the data that it received (open-mpi/ompi issue 13621). shoal needs no static variables of other
// processes, so it lets Open MPI find an empty list.
#pragma once

namespace shoal {

/// While this object exists, the library that contains `function` finds nothing in /proc/self/maps.
class WithoutMaps {
 public:
  explicit WithoutMaps(const void* function);
  ~WithoutMaps();
  WithoutMaps(const WithoutMaps&) = delete;
  WithoutMaps& operator=(const WithoutMaps&) = delete;

 private:
  void** slot_ = nullptr;  ///< where that library keeps the address of fopen; null: it does not call fopen
  void* was_ = nullptr;
};

}  // namespace shoal
