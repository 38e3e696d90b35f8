# The NCCL wire between GPUs of several hosts. It is a shared object of its own, loaded when it is needed, so that nothing else
# depends on NCCL.
if(NOT shoal_nccl_found OR SHOAL_BUILT)
  return()
endif()
add_library(shoal_gpu_wire MODULE engines/nccl/nccl.cpp)
target_include_directories(shoal_gpu_wire PRIVATE src)
target_compile_options(shoal_gpu_wire PRIVATE ${shoal_warnings})
shoal_link_nccl(shoal_gpu_wire)
set_target_properties(shoal_gpu_wire PROPERTIES PREFIX "")
