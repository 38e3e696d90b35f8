# The GPU side, if there is a CUDA compiler. Sets SHOAL_HAVE_CUDA.
set(SHOAL_HAVE_CUDA OFF)
# In a project that has shoal as a folder, `auto` is for CPUs: what a CUDA compiler needs is set up in this folder alone, and a
# program of that project would not have it (shoal_add_program refuses it).
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
    if(NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)  # CMake 3.25 does not know that nvcc 12 and later have it
      list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_COMPILE_FEATURES cuda_std_20)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    add_compile_options("$<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;--extended-lambda>")
    # Not for Debug: where little is inlined, nvcc 13.0 writes line numbers into calls, and ptxas refuses them.
    add_compile_options("$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<NOT:$<CONFIG:Debug>>>:-lineinfo>")
    set(SHOAL_HAVE_CUDA ON)
  elseif(SHOAL_CUDA STREQUAL "on")
    message(FATAL_ERROR "SHOAL_CUDA=on, but no CUDA compiler was found (set CUDACXX)")
  endif()
endif()
