# Tests of the built command and of the checks in scripts/, in Python (its standard library is enough).
find_package(Python3 COMPONENTS Interpreter)
foreach(module test_algorithms test_bench test_bfs test_block_processes test_checks test_cures test_equal_error test_errors test_examples test_files test_gpu test_gpu_baselines test_gpu_drivers test_hosts test_jacobi3d test_launcher test_mpi test_openshmem test_outputs test_own_tasks test_paper_figures test_processes test_readers test_real_graphs test_results test_results_papers test_trace test_tune)
  if(Python3_FOUND)
    add_test(NAME cli_${module} COMMAND ${Python3_EXECUTABLE} ${CMAKE_CURRENT_LIST_DIR}/run.py ${module})
  else()
    add_test(NAME cli_${module} COMMAND ${CMAKE_COMMAND} -E echo "skipped: no Python 3")
    set_tests_properties(cli_${module} PROPERTIES SKIP_REGULAR_EXPRESSION "skipped: no Python 3")
  endif()
  set_tests_properties(cli_${module} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77
                       ENVIRONMENT "SHOAL_BIN=$<TARGET_FILE:shoal_cli>")
endforeach()
if(TARGET shoal_mpi AND Python3_FOUND)
  set_property(TEST cli_test_mpi APPEND PROPERTY ENVIRONMENT "SHOAL_MPI_BIN=$<TARGET_FILE:shoal_mpi>"
               "SHOAL_MPIEXEC=${MPIEXEC_EXECUTABLE}")
endif()
if(TARGET shoal_openshmem AND Python3_FOUND)
  add_executable(openshmem_world ${PROJECT_SOURCE_DIR}/tests/world/openshmem_world.cpp)
  target_link_libraries(openshmem_world PRIVATE shoal)
  add_executable(openshmem_worklist ${PROJECT_SOURCE_DIR}/tests/contract/openshmem_worklist.cpp)
  target_link_libraries(openshmem_worklist PRIVATE shoal)
  target_include_directories(openshmem_worklist PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  add_executable(openshmem_contract ${PROJECT_SOURCE_DIR}/tests/contract/openshmem_contract.cpp)
  target_link_libraries(openshmem_contract PRIVATE shoal GTest::gtest)
  target_include_directories(openshmem_contract PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_compile_options(openshmem_contract PRIVATE $<$<CONFIG:Release>:${shoal_light}>)
  add_dependencies(openshmem_contract shoal_openshmem)
  set_target_properties(slow_wire PROPERTIES EXCLUDE_FROM_ALL OFF)  # the wire between the hosts of test_hosts
  add_dependencies(openshmem_world shoal_openshmem)
  add_dependencies(openshmem_worklist shoal_openshmem)
  set_property(TEST cli_test_hosts APPEND PROPERTY ENVIRONMENT
               "SHOAL_OPENSHMEM_WORKLIST=$<TARGET_FILE:openshmem_worklist>"
               "SHOAL_OPENSHMEM_CONTRACT=$<TARGET_FILE:openshmem_contract>" "SHOAL_SLOW_WIRE=$<TARGET_FILE:slow_wire>")
  set_property(TEST cli_test_openshmem APPEND PROPERTY ENVIRONMENT "SHOAL_OPENSHMEM_BIN=$<TARGET_FILE:openshmem_world>"
               "SHOAL_OPENSHMEM_WORKLIST=$<TARGET_FILE:openshmem_worklist>"
               "SHOAL_OPENSHMEM_CONTRACT=$<TARGET_FILE:openshmem_contract>" "SHOAL_OSHRUN=${SHOAL_OSHRUN}")
  set_property(TEST cli_test_gpu cli_test_processes cli_test_cures cli_test_launcher cli_test_block_processes cli_test_hosts cli_test_real_graphs APPEND PROPERTY
               ENVIRONMENT "SHOAL_OSHRUN=${SHOAL_OSHRUN}")
endif()
if(TARGET shoal_nccl AND Python3_FOUND)
  # Replaces NCCL in tests where several ranks share a GPU.
  add_library(fake_nccl SHARED ${PROJECT_SOURCE_DIR}/tests/baselines/fake_nccl.cpp)
  target_include_directories(fake_nccl SYSTEM PRIVATE ${SHOAL_NCCL_INCLUDE})
  target_link_libraries(fake_nccl PRIVATE CUDA::cudart)
  set_property(TEST cli_test_gpu_baselines APPEND PROPERTY ENVIRONMENT "SHOAL_FAKE_NCCL=$<TARGET_FILE:fake_nccl>")
endif()
foreach(name nccl stf)
  if(TARGET shoal_${name} AND Python3_FOUND)
    string(TOUPPER ${name} upper)
    set_property(TEST cli_test_gpu_baselines APPEND PROPERTY ENVIRONMENT "SHOAL_${upper}_BIN=$<TARGET_FILE:shoal_${name}>"
                 "$<$<BOOL:${MPI_CXX_FOUND}>:SHOAL_MPIEXEC=${MPIEXEC_EXECUTABLE}>")
  endif()
endforeach()
