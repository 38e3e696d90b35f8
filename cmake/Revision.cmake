# The revision of the sources that a build is made from, for result files: the output of `git describe`; or the environment variable
# SHOAL_REVISION if it is set (for copies without .git); else "unknown". It is the only content of one small source, which a build
# rewrites if the revision has changed, so that a commit causes nothing else to be compiled again.
#
#   include(cmake/Revision.cmake)                                 adds that source to shoal_cli
#   cmake -DSOURCE=DIR -DOUT=FILE.cpp -P cmake/Revision.cmake     writes that source
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
# Only SOURCE's own .git: an unpacked archive may lie inside another repository.
if(revision STREQUAL "" AND EXISTS ${SOURCE}/.git)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # git only reads, and does not block a commit
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
