# Whether `auto` builds the baselines: not under sanitizers, with the Python module, or as part of another project.
set(shoal_baselines ON)
if(SHOAL_SANITIZE OR SHOAL_PYTHON OR SHOAL_BUILT OR NOT PROJECT_IS_TOP_LEVEL)
  set(shoal_baselines OFF)
endif()

# shoal_baseline(NAME SOURCES...): a program to compare shoal with. It shares shoal's options, graphs, checks and JSON; these sources
# are compiled once for all baselines.
function(shoal_baseline name)
  if(NOT TARGET shoal_baseline_common)
    add_library(shoal_baseline_common OBJECT baselines/common/graph_commands.cpp baselines/common/grid_commands.cpp
                baselines/common/program.cpp cli/graph_argument.cpp cli/output.cpp cli/progress.cpp cli/provenance.cpp
                cli/sources.cpp cli/wrong_flags.cpp ${shoal_revision_file})
    add_dependencies(shoal_baseline_common shoal_revision)
    # Like the command, these parse words and print tables.
    target_compile_options(shoal_baseline_common PRIVATE $<$<CONFIG:Release>:${shoal_light}>)
    set_target_properties(shoal_baseline_common PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
    set(compiled_once shoal_baseline_common)
  endif()
  add_executable(${name} ${ARGN} $<TARGET_OBJECTS:shoal_baseline_common>)
  foreach(target ${name} ${compiled_once})
    target_link_libraries(${target} PRIVATE shoal shoal_private_deps)
    target_include_directories(${target} PRIVATE src cli)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${shoal_warnings}>)
  endforeach()
endfunction()
