# shoal_nccl, if NCCL is found (cmake/Nccl.cmake). If MPI is found too, ranks can be processes.
if(NOT shoal_nccl_found)
  return()
endif()

# shoal_gpu_baseline(NAME SOURCES...): a baseline on GPUs, with MPI if it is found.
function(shoal_gpu_baseline name)
  shoal_baseline(${name} ${ARGN})
  shoal_link_nccl(${name})
  if(MPI_CXX_FOUND)
    target_link_libraries(${name} PRIVATE MPI::MPI_CXX)
    target_compile_definitions(${name} PRIVATE SHOAL_BASELINE_MPI=1)
  endif()
endfunction()
shoal_gpu_baseline(shoal_nccl baselines/nccl/main.cpp baselines/nccl/make.cu)
if(NOT MPI_CXX_FOUND)
  message(STATUS "no MPI, so the ranks of shoal_nccl are threads of one process only")
endif()
