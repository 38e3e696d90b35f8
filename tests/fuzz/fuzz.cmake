# One fuzz target per reader: tests/fuzz/fuzz_<format>.cpp. With SHOAL_FUZZ, each is built and run as a test for
# SHOAL_FUZZ_SECONDS, with the address and undefined-behaviour sanitizers: by libFuzzer under clang, otherwise by driver.cpp.
# The readers are compiled a second time here, so that the library itself is not instrumented.
#
#   cmake --preset cpu-fuzz && cmake --build build/cpu-fuzz --target fuzz && ctest --test-dir build/cpu-fuzz -L fuzz
#
# Limits: 16 KiB of input, 10 s and 1 GiB for one input, 4 MiB for the graph that a reader may make of it. An input that exceeds
# a limit or shows a bug of a reader is kept in fuzz-found/<format>/, and `fuzz_<format> FILE` runs it again.
option(SHOAL_FUZZ "Build and run the fuzz targets of the readers" OFF)
if(NOT SHOAL_FUZZ)
  return()
endif()
set(SHOAL_FUZZ_SECONDS 10 CACHE STRING "Seconds that each fuzz target runs as a test")
set(SHOAL_FUZZ_SEED 1 CACHE STRING "Seed of the mutations; others find other things")
# Only line tables instead of full debug information, which would take half of the build time.
set(fuzz_flags -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -g1 -O1)
set(fuzz_link -fsanitize=address,undefined)
set(fuzz_main ${CMAKE_CURRENT_LIST_DIR}/driver.cpp)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  list(APPEND fuzz_flags -fsanitize=fuzzer-no-link)
  set(fuzz_main "")
endif()

file(GLOB fuzz_readers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/data/*.cpp ${PROJECT_SOURCE_DIR}/src/data/formats/*.cpp
     ${PROJECT_SOURCE_DIR}/src/graph/weights.cpp ${PROJECT_SOURCE_DIR}/src/core/*.cpp)
add_library(shoal_fuzzed_readers STATIC EXCLUDE_FROM_ALL ${fuzz_readers})
target_include_directories(shoal_fuzzed_readers PUBLIC ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
target_link_libraries(shoal_fuzzed_readers PUBLIC shoal_private_deps Threads::Threads)
target_compile_options(shoal_fuzzed_readers PUBLIC ${fuzz_flags})
target_link_options(shoal_fuzzed_readers PUBLIC ${fuzz_link})

add_executable(make_corpus ${CMAKE_CURRENT_LIST_DIR}/make_corpus.cpp)
target_link_libraries(make_corpus PRIVATE shoal_fuzzed_readers)
set(fuzz_corpus ${CMAKE_BINARY_DIR}/fuzz-corpus)
add_test(NAME fuzz_corpus COMMAND make_corpus ${fuzz_corpus})
set_tests_properties(fuzz_corpus PROPERTIES TIMEOUT 60 FIXTURES_SETUP fuzz_corpus LABELS fuzz)

add_custom_target(fuzz DEPENDS make_corpus)
file(GLOB fuzz_targets CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/fuzz_*.cpp)
math(EXPR fuzz_timeout "${SHOAL_FUZZ_SECONDS} * 2 + 60")
foreach(source ${fuzz_targets})
  cmake_path(GET source STEM stem)
  string(REPLACE fuzz_ "" format ${stem})
  add_executable(${stem} ${source} ${fuzz_main})
  target_link_libraries(${stem} PRIVATE shoal_fuzzed_readers)
  if(NOT fuzz_main)
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  endif()
  add_dependencies(fuzz ${stem})
  # libFuzzer writes the inputs that it finds to the first folder; the corpus is only read.
  set(found ${CMAKE_BINARY_DIR}/fuzz-found/${format})
  set(grown "")
  if(NOT fuzz_main)
    set(grown ${CMAKE_BINARY_DIR}/fuzz-grown/${format})
    file(MAKE_DIRECTORY ${grown})
  endif()
  file(MAKE_DIRECTORY ${found})
  add_test(NAME ${stem}
           COMMAND ${stem} ${grown} ${fuzz_corpus}/${format} -max_len=16384 -timeout=10 -rss_limit_mb=1024
                   -max_total_time=${SHOAL_FUZZ_SECONDS} -seed=${SHOAL_FUZZ_SEED} -artifact_prefix=${found}/)
  # libFuzzer measures memory itself; GCC's sanitizer has the same limit under another name.
  set_tests_properties(${stem} PROPERTIES TIMEOUT ${fuzz_timeout} FIXTURES_REQUIRED fuzz_corpus LABELS fuzz
                       ENVIRONMENT "ASAN_OPTIONS=hard_rss_limit_mb=1100:max_allocation_size_mb=1024:detect_leaks=1")
endforeach()
