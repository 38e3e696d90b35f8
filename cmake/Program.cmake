# shoal_add_program(NAME SOURCE): an executable from one .cpp that includes shoal's templates. With a CUDA compiler the
# same file is compiled for CPU and GPU; without one, for the CPU.
function(shoal_add_program name source)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE shoal)
  if(SHOAL_HAVE_CUDA)
    set_source_files_properties(${source} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()
