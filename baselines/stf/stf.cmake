# shoal_stf, if -DCCCL_DIR= names a source tree of CCCL 3.x, which contains CUDASTF (cudax); the CUDA toolkit does not. It also
# needs NCCL, as shoal_nccl does.
set(CCCL_DIR "" CACHE PATH "A source tree of CCCL 3.x (github.com/NVIDIA/cccl), to build baselines/stf with")
if(NOT shoal_nccl_found)
  return()
endif()
if(NOT CCCL_DIR)
  message(STATUS "no CCCL_DIR, so baselines/stf is not built (-DCCCL_DIR= a source tree of github.com/NVIDIA/cccl, 3.x)")
  return()
endif()
find_path(SHOAL_CUDASTF_INCLUDE cuda/experimental/stf.cuh PATHS ${CCCL_DIR}/cudax/include NO_DEFAULT_PATH NO_CACHE)
if(NOT SHOAL_CUDASTF_INCLUDE)
  message(FATAL_ERROR "CCCL_DIR=${CCCL_DIR} has no cudax/include/cuda/experimental/stf.cuh; give a source tree of CCCL 3.x")
endif()
shoal_gpu_baseline(shoal_stf baselines/stf/main.cpp baselines/stf/make.cu)
# As -I and not as system folders, because the toolkit's own CCCL headers would come before those.
target_compile_options(shoal_stf PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:-I${CCCL_DIR}/cudax/include;-I${CCCL_DIR}/libcudacxx/include;-I${CCCL_DIR}/cub;-I${CCCL_DIR}/thrust>")
target_link_libraries(shoal_stf PRIVATE CUDA::cuda_driver)
