# The segment ring in the simulator (tests/sim): weak memory, seeded schedules.
add_executable(sim_segment_ring ${CMAKE_CURRENT_LIST_DIR}/segment_ring_sim.cpp)
target_link_libraries(sim_segment_ring PRIVATE shoal_sim)
target_include_directories(sim_segment_ring PRIVATE ${PROJECT_SOURCE_DIR}/include)
add_test(NAME sim_segment_ring COMMAND sim_segment_ring --schedules 40000)
set_tests_properties(sim_segment_ring PROPERTIES TIMEOUT 60)
