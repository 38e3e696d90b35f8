# The built command, and the checks of scripts/, tried from Python (its standard library is enough).
find_package(Python3 COMPONENTS Interpreter)
foreach(module test_algorithms test_bench test_bfs test_checks test_errors test_examples test_files test_gpu test_gpu_drivers test_jacobi3d test_mpi test_openshmem test_outputs test_processes test_readers test_real_graphs test_results test_tune)
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
  add_dependencies(openshmem_world shoal_openshmem)
  set_property(TEST cli_test_openshmem APPEND PROPERTY ENVIRONMENT "SHOAL_OPENSHMEM_BIN=$<TARGET_FILE:openshmem_world>"
               "SHOAL_OSHRUN=${SHOAL_OSHRUN}")
  set_property(TEST cli_test_processes APPEND PROPERTY ENVIRONMENT "SHOAL_OSHRUN=${SHOAL_OSHRUN}")
endif()
