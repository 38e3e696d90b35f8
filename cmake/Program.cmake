# shoal_add_program(NAME SOURCE): an executable from one .cpp that includes shoal's templates. With a CUDA compiler, the file is
# compiled for both CPU and GPU, else for the CPU. A project that has shoal as a subfolder can call it as well, for CPUs only
# (cmake/Cuda.cmake).
set(SHOAL_PROGRAM_KERNELS "auto" CACHE STRING "The worklist's kernels in a GPU program: auto (only those that auto can choose at run time) or all")
set_property(CACHE SHOAL_PROGRAM_KERNELS PROPERTY STRINGS auto all)
if(NOT SHOAL_PROGRAM_KERNELS MATCHES "^(auto|all)$")
  message(FATAL_ERROR "SHOAL_PROGRAM_KERNELS is '${SHOAL_PROGRAM_KERNELS}'; auto or all is wanted")
endif()
function(shoal_add_program name source)
  get_target_property(defines shoal INTERFACE_COMPILE_DEFINITIONS)
  if("SHOAL_HAVE_CUDA=1" IN_LIST defines AND NOT SHOAL_HAVE_CUDA)
    message(FATAL_ERROR "shoal_add_program(${name}): shoal is built for GPUs, this folder is not; configure shoal itself with "
                        "-DSHOAL_PROGRAMS=/path/to/${name}.cpp, or this project with -DSHOAL_CUDA=off")
  endif()
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE shoal)
  if(SHOAL_HAVE_CUDA)
    set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
    if(SHOAL_PROGRAM_KERNELS STREQUAL "all")
      target_compile_definitions(${name} PRIVATE SHOAL_ALL_KERNELS=1)
    endif()
  endif()
endfunction()
