# Sets up the GPU side if there is a CUDA compiler. Sets SHOAL_HAVE_CUDA.
set(SHOAL_HAVE_CUDA OFF)
# If shoal is a subfolder of another project, `auto` means CPUs only: the CUDA settings made here hold for this folder only, so a
# program in that project's folder would be compiled without them (shoal_add_program refuses that).
if(SHOAL_CUDA STREQUAL "auto" AND NOT PROJECT_IS_TOP_LEVEL)
  message(STATUS "shoal: for CPUs only, as part of another project; GPU programs are built with -DSHOAL_PROGRAMS=FILE.cpp "
                 "by shoal's own folder")
elseif(NOT SHOAL_CUDA STREQUAL "off")
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90)
    endif()
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    if(NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)  # CMake 3.25 does not know that nvcc 12 supports C++20
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda>")
    if(SHOAL_LINE_INFO)
      # Not for Debug: where little is inlined, nvcc 13.0 writes line numbers into calls, and ptxas rejects them.
      add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<CONFIG:Debug>>>:-lineinfo>")
    endif()
    # nvcc's -O is the optimisation of host code. It can be given only once, and sources of the library choose theirs (CMakeLists.txt),
    # so it is an option of targets in place of a flag. Flags of a user's own are left as they are.
    set(shoal_sources_choose OFF)
    if(CMAKE_CUDA_FLAGS_RELEASE STREQUAL "-O3 -DNDEBUG")
      set(CMAKE_CUDA_FLAGS_RELEASE "-DNDEBUG")
      define_property(TARGET PROPERTY SHOAL_HOST_CODE
                      BRIEF_DOCS "Optimisation of host code that nvcc compiles; empty: the sources have it as an option"
                      INITIALIZE_FROM_VARIABLE DEFAULT_SHOAL_HOST_CODE)
      set(DEFAULT_SHOAL_HOST_CODE -O3)
      add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Release>>:$<TARGET_PROPERTY:SHOAL_HOST_CODE>>")
      set(shoal_sources_choose ON)
    endif()
    # For kernels that need not be fast. They compile in a fifth of the time. nvcc has this option from 12.9 on. With `max`, which
    # optimises nothing, single threads as workers are twenty times as slow (docs/decisions/0047-kernels-compiled-quickly.md).
    set(shoal_quick_kernels "")
    if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
      set(shoal_quick_kernels "$<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=min>")
    endif()
    # Options for the worklist's kernels that `auto` never chooses (cmake/Kernels.cmake).
    set(shoal_other_kernels "${shoal_quick_kernels}")
    if(SHOAL_OPTIMISE_ALL_KERNELS)
      set(shoal_other_kernels "")
      add_compile_definitions(SHOAL_VARIANTS_OF_ALL_KERNELS=1)
    endif()
    if(SHOAL_QUICK_KERNELS)
      set(shoal_quick_kernels "")
      set(shoal_other_kernels "")
      if(CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 12.9)
        add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>")
      else()
        add_compile_options("SHELL:$<$<COMPILE_LANGUAGE:CUDA>:-Xcicc -O1 -Xptxas -O0>")
      endif()
    endif()
    set(SHOAL_HAVE_CUDA ON)
  elseif(SHOAL_CUDA STREQUAL "on")
    message(FATAL_ERROR "SHOAL_CUDA=on, but no CUDA compiler was found (set CUDACXX)")
  endif()
endif()
