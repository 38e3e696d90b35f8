# Puts the worklist's kernels of a task into sources of their own, so that several cores can compile them and no source takes long.
#
# shoal_task_kernels(NAME HEADER TASK): for one task, which HEADER defines. Writes kernels/NAME.cuh, which declares the kernels as
# extern templates. A source that creates the Worklist must include it, or else it compiles the kernels once more; but if the C++
# compiler compiles that source (SHOAL_CODE_FOR in include/shoal/worklist/worklist.hpp), it finds no kernels, and needs no
# declaration. Sets, for shoal_kernel_source:
#   NAME_block, NAME_warp   the kernels of these workers that `auto` chooses among
#   NAME_others             the kernels that `auto` never chooses (see kAutoKernels in include/shoal/worklist/kernel_set.hpp):
#   NAME_rounds             those of warps and blocks,
#   NAME_threads            and those of single threads
function(shoal_task_kernels name header task)
  set(include "#include \"kernels/${name}.cuh\"\n")
  set(shape "template struct shoal::gpu::KernelsOf<shoal::gpu::DirectView<shoal::${task}>>;\n")
  set(Block "${include}${shape}")
  set(Warp "${include}")
  set(rounds "${include}")
  set(threads "${include}")
  set(declared "extern ${shape}")
  foreach(worker Block Warp Thread)
    foreach(kind persistent discrete)
      set(kernels "template struct shoal::gpu::Kernels<shoal::Gpu${worker}, shoal::gpu::DirectView<shoal::${task}>, shoal::KernelKind::${kind}>;\n")
      string(APPEND declared "extern ${kernels}")
      if(worker STREQUAL "Thread")
        string(APPEND threads "${kernels}")
      elseif(kind STREQUAL "discrete")
        string(APPEND rounds "${kernels}")
      else()
        string(APPEND ${worker} "${kernels}")
      endif()
    endforeach()
  endforeach()
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/kernels/${name}.cuh @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake. These kernels are compiled in sources of their own.
#pragma once
#include "@header@"
#include "shoal/worklist/kernels_gpu.cuh"

@declared@]=])
  set(${name}_block "${Block}" PARENT_SCOPE)
  set(${name}_warp "${Warp}" PARENT_SCOPE)
  set(${name}_rounds "${rounds}" PARENT_SCOPE)
  set(${name}_threads "${threads}" PARENT_SCOPE)
  set(${name}_others "${rounds}${threads}" PARENT_SCOPE)
endfunction()

# shoal_kernel_source(SOURCES FILE OPTIONS KERNELS): writes kernels/FILE.cu, which is compiled with the additional OPTIONS, and adds
# it to the list SOURCES.
function(shoal_kernel_source sources file options kernels)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/kernels/${file}.cu)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake.
@kernels@]=])
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${options}")
  set(${sources} ${${sources}} ${source} PARENT_SCOPE)
endfunction()

# shoal_worklist_kernels(NAME HEADER TASK [TOGETHER] [ROUNDS]): for a task of the library, adds to the list `shoal_cu` a source for
# the kernels that `auto` chooses among. With TOGETHER, for kernels that are compiled in some seconds, they go into one source for all
# such tasks, whose text is collected in `shoal_short`: nvcc reads the headers once. The kernels that `auto` never chooses are hardly
# optimised and go into one source for all tasks, whose text is collected in `shoal_others`
# (docs/decisions/0047-kernels-compiled-quickly.md). With ROUNDS, rounds have an optimised source of their own; the task then names
# them in kVariants (include/shoal/worklist/kernel_set.hpp).
function(shoal_worklist_kernels name header task)
  shoal_task_kernels(${name} ${header} ${task})
  if("TOGETHER" IN_LIST ARGN AND NOT SHOAL_QUICK_KERNELS)
    set(shoal_short "${shoal_short}${${name}_block}${${name}_warp}" PARENT_SCOPE)
  else()
    shoal_kernel_source(shoal_cu ${name}_auto "" "${${name}_block}${${name}_warp}")
  endif()
  set(others "${${name}_others}")
  if("ROUNDS" IN_LIST ARGN AND NOT SHOAL_QUICK_KERNELS)
    shoal_kernel_source(shoal_cu ${name}_rounds "" "${${name}_rounds}")
    set(others "${${name}_threads}")
  endif()
  if(SHOAL_OPTIMISE_ALL_KERNELS)  # one source for all of them would take minutes to compile
    shoal_kernel_source(shoal_cu ${name}_others "" "${others}")
  else()
    set(shoal_others "${shoal_others}${others}" PARENT_SCOPE)
  endif()
  set(shoal_cu ${shoal_cu} PARENT_SCOPE)
endfunction()

# shoal_cuda_together(SOURCES NAME FILE...): in the list SOURCES, replaces these files of src/ by one source that includes them all.
# nvcc reads the headers of a source three times, which takes longer than compiling most of these files.
function(shoal_cuda_together sources name)
  set(list ${${sources}})
  set(includes "")
  foreach(file ${ARGN})
    list(REMOVE_ITEM list ${PROJECT_SOURCE_DIR}/src/${file})
    string(APPEND includes "#include \"${file}\"\n")
  endforeach()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/together/${name}.cu)
  file(CONFIGURE OUTPUT ${source} @ONLY CONTENT [=[
// Written by cmake/Kernels.cmake.
@includes@]=])
  set(${sources} ${list} ${source} PARENT_SCOPE)
endfunction()

# shoal_ptx_only(TARGET): compiles to PTX only, without machine code for a GPU.
function(shoal_ptx_only target)
  list(TRANSFORM CMAKE_CUDA_ARCHITECTURES REPLACE "^([0-9]+[a-z]?).*" "\\1-virtual" OUTPUT_VARIABLE virtual)
  set_target_properties(${target} PROPERTIES CUDA_ARCHITECTURES "${virtual}")
endfunction()
