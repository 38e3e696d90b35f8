# shoal_worklist_kernels(NAME HEADER TASK): the worklist's kernels for one task of the library, which HEADER defines, in a source for
# each kind of worker: several cores share the work, and no source takes long. Adds the sources to the list `shoal_cu`. The
# source that makes the Worklist declares the same three `extern template`, or it compiles them once more.
function(shoal_worklist_kernels name header task)
  set(sources ${shoal_cu})
  foreach(worker Block Warp Thread)
    string(TOLOWER ${worker} kind)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}_${kind}.cu)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake.
#include "@header@"
#include "shoal/worklist/kernels_gpu.cuh"

template struct shoal::gpu::Kernels<shoal::Gpu@worker@, shoal::gpu::DirectView<shoal::@task@>>;
]=])
    list(APPEND sources ${source})
  endforeach()
  set(shoal_cu ${sources} PARENT_SCOPE)
endfunction()
