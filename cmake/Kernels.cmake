# shoal_kernel_sources(SOURCES NAME HEADER TASK [TOGETHER]): the worklist's kernels for one task, which HEADER defines, in a source
# for each kind of worker: several cores share the work, and no source takes long. With SHOAL_UNITY or TOGETHER all kinds are in one
# source. Adds the sources to the list SOURCES. The source that makes the Worklist includes "kernels/NAME.cuh", which says that the
# kernels are elsewhere; else it compiles them once more.
function(shoal_kernel_sources sources name header task)
  set(list ${${sources}})
  set(together ${SHOAL_UNITY})
  if("TOGETHER" IN_LIST ARGN)
    set(together ON)
  endif()
  set(declared "")
  set(every_kind "")
  foreach(worker Block Warp Thread)
    string(TOLOWER ${worker} kind)
    set(kernels "template struct shoal::gpu::Kernels<shoal::Gpu${worker}, shoal::gpu::DirectView<shoal::${task}>>;")
    string(APPEND declared "extern ${kernels}\n")
    string(APPEND every_kind "${kernels}\n")
    if(NOT together)
      shoal_kernel_source(${name}_${kind} ${name} "${kernels}\n")
    endif()
  endforeach()
  if(together)
    shoal_kernel_source(${name}_all ${name} "${every_kind}")
  endif()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}.cuh @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake. These kernels are compiled in sources of their own.
#pragma once
#include "@header@"
#include "shoal/worklist/kernels_gpu.cuh"

@declared@]=])
  set(${sources} ${list} PARENT_SCOPE)
endfunction()

# For shoal_kernel_sources: writes kernels/FILE.cu with `kernels`, for the task of kernels/NAME.cuh, and adds it to `list`.
function(shoal_kernel_source file name kernels)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/kernels/${file}.cu)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake.
#include "kernels/@name@.cuh"

@kernels@]=])
  set(list ${list} ${source} PARENT_SCOPE)
endfunction()

# shoal_worklist_kernels(NAME HEADER TASK [TOGETHER]): the same for a task of the library, into the list `shoal_cu`.
function(shoal_worklist_kernels name header task)
  shoal_kernel_sources(shoal_cu ${name} ${header} ${task} ${ARGN})
  set(shoal_cu ${shoal_cu} PARENT_SCOPE)
endfunction()
