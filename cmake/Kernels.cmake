# shoal_kernel_sources(SOURCES NAME HEADER TASK): the worklist's kernels for one task, which HEADER defines, in a source for each
# kind of worker: several cores share the work, and no source takes long. Adds the sources to the list SOURCES. The source that
# makes the Worklist declares the same three `extern template`, or it compiles them once more.
function(shoal_kernel_sources sources name header task)
  set(list ${${sources}})
  foreach(worker Block Warp Thread)
    string(TOLOWER ${worker} kind)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}_${kind}.cu)
    file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake.
#include "@header@"
#include "shoal/worklist/kernels_gpu.cuh"

template struct shoal::gpu::Kernels<shoal::Gpu@worker@, shoal::gpu::DirectView<shoal::@task@>>;
]=])
    list(APPEND list ${source})
  endforeach()
  set(${sources} ${list} PARENT_SCOPE)
endfunction()

# shoal_worklist_kernels(NAME HEADER TASK): the same for a task of the library, into the list `shoal_cu`.
function(shoal_worklist_kernels name header task)
  shoal_kernel_sources(shoal_cu ${name} ${header} ${task})
  set(shoal_cu ${shoal_cu} PARENT_SCOPE)
endfunction()
