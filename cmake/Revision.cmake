# Which state of the sources a build is of, for result files: what `git describe` says, SHOAL_REVISION of the environment where
# that is set (for copies without .git), else "unknown". It stands in one small source, written anew by each build in which it
# changed, so that a commit compiles nothing else.
#
#   include(cmake/Revision.cmake)                     adds that source to shoal_cli
#   cmake -DSOURCE=DIR -DOUT=FILE.cpp -P cmake/Revision.cmake     writes it
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(shoal_revision_file ${CMAKE_CURRENT_BINARY_DIR}/revision.cpp)
  add_custom_target(shoal_revision BYPRODUCTS ${shoal_revision_file} VERBATIM
                    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${shoal_revision_file}
                            -P ${CMAKE_CURRENT_LIST_FILE})
  target_sources(shoal_cli PRIVATE ${shoal_revision_file})
  set_source_files_properties(${shoal_revision_file} PROPERTIES GENERATED ON SKIP_UNITY_BUILD_INCLUSION ON)
  target_include_directories(shoal_cli PRIVATE ${PROJECT_SOURCE_DIR}/cli)
  add_dependencies(shoal_cli shoal_revision)
  return()
endif()

set(revision "$ENV{SHOAL_REVISION}")
# Not the repository that an unpacked archive may lie in.
if(revision STREQUAL "" AND EXISTS ${SOURCE}/.git)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # looks, and keeps nobody from committing
  execute_process(COMMAND git -C ${SOURCE} describe --always --tags --dirty OUTPUT_VARIABLE revision
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE status)
endif()
if(NOT revision MATCHES "^[A-Za-z0-9._/+-]+$")
  set(revision "unknown")
endif()
file(CONFIGURE OUTPUT ${OUT} @ONLY CONTENT [=[
// Written by cmake/Revision.cmake.
#include "provenance.hpp"

const char* shoal::cli::revision() { return "@revision@"; }
]=])
