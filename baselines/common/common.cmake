# Whether `auto` builds the baselines: not under sanitizers, with the Python module, or as part of another project.
set(shoal_baselines ON)
if(SHOAL_SANITIZE OR SHOAL_PYTHON OR SHOAL_BUILT OR NOT PROJECT_IS_TOP_LEVEL)
  set(shoal_baselines OFF)
endif()

# shoal_baseline(NAME SOURCES...): a program to compare shoal with. It shares shoal's options, graphs, checks and JSON.
function(shoal_baseline name)
  add_executable(${name} baselines/common/graph_commands.cpp baselines/common/grid_commands.cpp
                 baselines/common/program.cpp cli/graph_argument.cpp cli/output.cpp cli/progress.cpp
                 cli/provenance.cpp cli/sources.cpp cli/wrong_flags.cpp ${shoal_revision_file} ${ARGN})
  add_dependencies(${name} shoal_revision)
  target_link_libraries(${name} PRIVATE shoal shoal_private_deps)
  target_include_directories(${name} PRIVATE src cli)
  target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${shoal_warnings}>)
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
endfunction()
