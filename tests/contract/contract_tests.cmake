# Tasks that the compiler must refuse, with the words that its error must contain. The test matches these words instead of the
# exit status, so it fails if the file compiles, or fails to compile for another reason.
set(refused ${CMAKE_CURRENT_SOURCE_DIR}/contract/refused_tasks.cpp)
set(compile_only ${CMAKE_CXX_COMPILER} -std=c++20 -fsyntax-only -I${PROJECT_SOURCE_DIR}/include)
add_test(NAME task_accepted COMMAND ${compile_only} ${refused})
set_tests_properties(task_accepted PROPERTIES TIMEOUT 60)
function(shoal_task_is_refused case words)
  add_test(NAME task_refused_${case} COMMAND ${compile_only} -DSHOAL_REFUSED_${case} ${refused})
  set_tests_properties(task_refused_${case} PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "${words}")
endfunction()
shoal_task_is_refused(PRIORITY "error: [^\n]*.priority.Item. const. returns a number; smaller runs first")
shoal_task_is_refused(BY_WORKLIST "error: [^\n]*.priority.Item. const. returns a number; smaller runs first")
shoal_task_is_refused(PRIORITY_AS_DATA "error: [^\n]*.priority.Item. const. returns a number; smaller runs first")
shoal_task_is_refused(COMBINE "error: [^\n]*combining needs both .std::uint64_t key.Item. const. and .Item combine.Item, Item. const.")
shoal_task_is_refused(KEY "error: [^\n]*combining needs both .std::uint64_t key.Item. const. and .Item combine.Item, Item. const.")
shoal_task_is_refused(IDLE "error: [^\n]*idle is .template <class W, class Out> void idle.const W&, Out&, lane_t part, lane_t parts. const.")
shoal_task_is_refused(PLAIN_IDLE "error: [^\n]*idle is .template <class W, class Out> void idle.const W&, Out&, lane_t part, lane_t parts. const.")
shoal_task_is_refused(SELF_CONTAINED_NOT_STATIC "error: [^\n]*kSelfContained is .static constexpr bool")
shoal_task_is_refused(ANY_ORDER_NOT_STATIC "error: [^\n]*kAnyOrder is .static constexpr bool")
shoal_task_is_refused(RANGE_AND_RUNS "error: [^\n]*a task has either operator.. or range and make, not both")
shoal_task_is_refused(REFUSES_MOST_ALONE "error: [^\n]*a task with kRefusesMost needs range and make")
shoal_task_is_refused(STALE_NOT_CONST "error: [^\n]*stale is .bool stale.Item. const.")
shoal_task_is_refused(STALE_OF_NOTHING "error: [^\n]*stale is .bool stale.Item. const.")
shoal_task_is_refused(WORTH_SENDING_NOT_CONST "error: [^\n]*worth_sending is .bool worth_sending.Item. const.")
shoal_task_is_refused(RANGE_NOT_CONST "error: [^\n]*a task with range needs .R range.Item. const.")
shoal_task_is_refused(ACCEPT_AT_NOT_CONST "error: [^\n]*accept_at is .bool accept_at.pe_t, Item. const.")
shoal_task_is_refused(ASK_ALONE "error: [^\n]*judging in two steps needs a type Answer")
shoal_task_is_refused(ASK_AND_ACCEPT "error: [^\n]*a task has either accept or ask and accepts, not both")
shoal_task_is_refused(ASK_AT_OF_A_TASK_THAT_ACCEPTS "error: [^\n]*ask_at is .Answer ask_at.bool, pe_t, Item. const., for tasks with ask")
shoal_task_is_refused(PROMISING_NOT_CONST "error: [^\n]*promising is .bool promising.Item. const.")
shoal_task_is_refused(LOOK_ALONE "error: [^\n]*promising is .bool promising.Item. const., or .Look look.bool, Item. const. and .bool promising.Item, Look. const.")
shoal_task_is_refused(REFRESH_WITHOUT_PE "error: [^\n]*refresh is .template <class W> void refresh.const W&, pe_t me, std::uint32_t part. const")
shoal_task_is_refused(ENOUGH_NOT_CONST "error: [^\n]*enough is .bool enough.. const.")
shoal_task_is_refused(OWNS_NOT_CONST "error: [^\n]*owns is .bool owns.pe_t, Item. const.")
shoal_task_is_refused(KERNELS "error: [^\n]*kKernels is .static constexpr KernelSet kKernels")
shoal_task_is_refused(NO_OWNER "error: [^\n]*a task needs .pe_t owner.Item. const. and .bool accept.Item. const.")
shoal_task_is_refused(NO_ACCEPT "error: [^\n]*a task needs .pe_t owner.Item. const. and .bool accept.Item. const.")
set(runs "error: [^\n]*a task needs .template <class W, class Out> void operator...const W&, Item, Out&. const., or range")
shoal_task_is_refused(NOTHING_TO_RUN "${runs}")
shoal_task_is_refused(RUNS_NOT_CONST "${runs}")
shoal_task_is_refused(RUNS_WITHOUT_OUT "${runs}")
shoal_task_is_refused(MAKE_WITHOUT_RANGE "${runs}")
shoal_task_is_refused(RANGE_WITHOUT_MAKE "error: [^\n]*a task with range needs .R range.Item. const.")
shoal_task_is_refused(MAKE_OF_ANOTHER "error: [^\n]*a task with range needs .R range.Item. const.")
shoal_task_is_refused(NO_ITEM "error: [^\n]*a task needs a type Item")
shoal_task_is_refused(ITEM_WITHOUT_DEFAULT "error: [^\n]*an Item is made by Item.. and assigned where it waits")
shoal_task_is_refused(ITEM_WITH_CONST "error: [^\n]*an Item is made by Item.. and assigned where it waits")
shoal_task_is_refused(ITEM_OF_2_BYTES "error: [^\n]*an Item has 4 to 64 bytes")
shoal_task_is_refused(ITEM_OF_72_BYTES "error: [^\n]*an Item has 4 to 64 bytes")
shoal_task_is_refused(ITEM_WITH_STRING "error: [^\n]*an Item is copied between PEs: it must be trivially copyable")
shoal_task_is_refused(FINAL "error: [^\n]*a task is not final")
shoal_task_is_refused(TASK_WITH_STRING "error: [^\n]*a task is copied into kernels: it must be trivially copyable")

# Types that atomic functions must refuse, on the host and, with a CUDA compiler, on GPUs.
set(changes "error: [^\n]*atomic functions change trivially copyable values of 4 or 8 bytes")
set(accesses "error: [^\n]*atomic loads and stores are of trivially copyable values of 1, 4 or 8 bytes")
set(integers "error: [^\n]*fetch_min_if is for integers only")
set(numbers "error: [^\n]*atomic additions are for integers and floating-point numbers")
set(words ${CMAKE_CURRENT_SOURCE_DIR}/contract/refused_words.cpp)
set(compile_words_host ${compile_only} ${words})
set(compile_words_gpu ${CMAKE_CUDA_COMPILER} -x cu -std=c++20 -arch=compute_90 -ptx -o /dev/null --Werror all-warnings -I${PROJECT_SOURCE_DIR}/include ${words})
foreach(side host gpu)
  if(side STREQUAL gpu AND NOT SHOAL_HAVE_CUDA)
    continue()
  endif()
  add_test(NAME words_accepted_${side} COMMAND ${compile_words_${side}})
  set_tests_properties(words_accepted_${side} PROPERTIES TIMEOUT 60)
  foreach(case FETCH_MIN=changes FETCH_MAX=changes FETCH_ADD=changes ADD_RELAXED=changes EXCHANGE=changes COMPARE_SWAP=changes
               FETCH_MIN_IF=changes ADD_RELAXED_IF=changes EXCHANGE_IF=changes LOAD=accesses LOAD_IF=accesses STORE=accesses
               FETCH_MIN_IF_OF_REALS=integers ADD_OF_POINTERS=numbers)
    string(REGEX MATCH "(.*)=(.*)" case ${case})
    add_test(NAME word_refused_${CMAKE_MATCH_1}_${side} COMMAND ${compile_words_${side}} -DSHOAL_REFUSED_${CMAKE_MATCH_1})
    set_tests_properties(word_refused_${CMAKE_MATCH_1}_${side} PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION "${${CMAKE_MATCH_2}}")
  endforeach()
endforeach()

# Takes a minute and a half on two idle cores. If other processes use the cores, threads that wait for each other take many
# times as long.
set_tests_properties(worklist_test PROPERTIES TIMEOUT 900)

# The stress program of bench/ at a small size. Its exit status gives the result.
foreach(shape "1;2;persistent;0" "2;1;persistent;2" "3;1;discrete;64" "4;1;persistent;64")
  list(GET shape 0 pes)
  list(GET shape 1 threads)
  list(GET shape 2 kernel)
  list(GET shape 3 capacity)
  add_test(NAME worklist_stress_${pes}x${threads}_${kernel}
           COMMAND worklist_stress --device cpu --pes ${pes} --threads ${threads} --kernel ${kernel}
                   --capacity ${capacity} --operations 1000000)
  set_tests_properties(worklist_stress_${pes}x${threads}_${kernel} PROPERTIES TIMEOUT 120)
endforeach()
# The same with 10^8 items and rings of the default size: two or three seconds each on two idle cores. 10^7 items under
# sanitizers, which take thirty times as long.
set(shapes "1 2 persistent" "2 1 persistent" "2 1 discrete" "4 1 persistent")
set(operations 100000000)
if(SHOAL_SANITIZE)
  set(shapes "1 2 persistent" "2 1 persistent")
  set(operations 10000000)
endif()
foreach(shape ${shapes})
  separate_arguments(shape)
  list(GET shape 0 pes)
  list(GET shape 1 threads)
  list(GET shape 2 kernel)
  set(name worklist_stress_many_${pes}x${threads}_${kernel})
  add_test(NAME ${name} COMMAND worklist_stress --device cpu --pes ${pes} --threads ${threads} --kernel ${kernel}
                                --operations ${operations})
  set_tests_properties(${name} PROPERTIES TIMEOUT 300)
endforeach()
# A thousand very short runs in which some PEs may have no item: here a run that ends too early is likely to show.
foreach(shape "2;400;persistent" "5;300;discrete" "8;300;persistent")
  list(GET shape 0 pes)
  list(GET shape 1 runs)
  list(GET shape 2 kernel)
  add_test(NAME worklist_stress_tiny_${pes}_${kernel}
           COMMAND worklist_stress --device cpu --pes ${pes} --threads 1 --kernel ${kernel} --capacity 4
                   --operations 40 --roots 2 --repeat ${runs})
  set_tests_properties(worklist_stress_tiny_${pes}_${kernel} PROPERTIES TIMEOUT 120)
endforeach()
# The stress program must detect items that are lost, doubled or changed.
foreach(tamper lost doubled changed)
  add_test(NAME worklist_stress_sees_${tamper}
           COMMAND worklist_stress --device cpu --pes 2 --threads 1 --tamper ${tamper})
  set_tests_properties(worklist_stress_sees_${tamper} PROPERTIES TIMEOUT 60 PASS_REGULAR_EXPRESSION
                       "worklist_stress: FAILED: [^\n]*\n *PE [01] -> PE [01]: made [0-9]+, judged [0-9]+, run [0-9]+")
endforeach()

# The examples check their own results: an example whose result is wrong does not exit with 0, and the test fails.
function(shoal_example_is_right name)
  foreach(way "--pes 1" "--pes 3 --threads 1 --kernel discrete --capacity 8")
    string(REPLACE " " ";" flags "${way}")
    string(MAKE_C_IDENTIFIER "${way}" id)
    add_test(NAME example_${name}_${id} COMMAND example_${name} ${ARGN} --device cpu ${flags})
    set_tests_properties(example_${name}_${id} PROPERTIES TIMEOUT 60)
  endforeach()
endfunction()
shoal_example_is_right(01_bfs kron:12 --source 3)
shoal_example_is_right(02_reach road:64 --source 1000)
shoal_example_is_right(03_hash_table --size 100000)

# The error texts and exit statuses of programs. tests/contract/errors_of_programs.cpp has the program.
add_executable(errors_of_programs contract/errors_of_programs.cpp)
target_link_libraries(errors_of_programs PRIVATE shoal)
add_test(NAME program_errors COMMAND ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:errors_of_programs>
                                     -P ${CMAKE_CURRENT_SOURCE_DIR}/contract/program_errors.cmake)
set_tests_properties(program_errors PROPERTIES TIMEOUT 60)

# A separate project that has shoal as a subdirectory: the two lines of the README configure, also on machines with a CUDA
# compiler.
set(inside ${CMAKE_CURRENT_BINARY_DIR}/inside)
file(WRITE ${inside}/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)
project(inside LANGUAGES CXX)
add_subdirectory(${PROJECT_SOURCE_DIR} shoal)
shoal_add_program(reach ${PROJECT_SOURCE_DIR}/examples/02_reach.cpp)
")
add_test(NAME add_subdirectory_configures
         COMMAND ${CMAKE_COMMAND} -S ${inside} -B ${inside}/build -G ${CMAKE_GENERATOR} -DSHOAL_DEPS=${SHOAL_DEPS})
set_tests_properties(add_subdirectory_configures PROPERTIES TIMEOUT 120)

# SHOAL_PROGRAMS takes sources, and says so if it is given something else.
foreach(case "folder=is[ \n]+a[ \n]+folder.[ \n]+name[ \n]+its[ \n]+sources" "folder/none.cpp=does[ \n]+not[ \n]+exist")
  string(REGEX MATCH "(.*)=(.*)" case "${case}")
  string(MAKE_C_IDENTIFIER ${CMAKE_MATCH_1} id)
  set(programs ${CMAKE_CURRENT_BINARY_DIR}/programs_${id})
  file(MAKE_DIRECTORY ${programs}/folder)
  add_test(NAME programs_refuse_${id}
           COMMAND ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${programs}/build -G ${CMAKE_GENERATOR} -DSHOAL_DEPS=${SHOAL_DEPS}
                   -DSHOAL_TESTS=off -DSHOAL_CUDA=off -DSHOAL_PROGRAMS=${programs}/${CMAKE_MATCH_1})
  set_tests_properties(programs_refuse_${id} PROPERTIES TIMEOUT 120 PASS_REGULAR_EXPRESSION "SHOAL_PROGRAMS:[^;]*${CMAKE_MATCH_2}")
endforeach()

# The kernels of the tasks that run with all workers and kernels on GPUs. For each kind of worker that `auto` chooses among, the
# kernels of one task are optimised like the library's own kernels, since these are what ships: warps without priorities, and
# blocks with priorities, idle and judging by the pusher. The other kernels are compiled quickly instead, unless
# SHOAL_TESTS_AS_SHIPPED is set; the matrix of tests runs all of the library's kernels.
if(SHOAL_HAVE_CUDA)
  # shoal_contract_kernels(TEST HEADER OPTIMISED TASK...): OPTIMISED is the kind of worker of the first task.
  function(shoal_contract_kernels test header optimised first)
    set(with_kernels "")
    set(quickly "")
    foreach(task ${first} ${ARGN})
      shoal_task_kernels(contract_${task} contract/${header} contract::${task})
      foreach(kernels block warp others)
        if(SHOAL_TESTS_AS_SHIPPED AND NOT kernels STREQUAL "others")
          shoal_kernel_source(with_kernels contract_${task}_${kernels} "" "${contract_${task}_${kernels}}")
        elseif(task STREQUAL first AND kernels STREQUAL optimised)
          shoal_kernel_source(with_kernels contract_${task}_${kernels} "" "${contract_${task}_${kernels}}")
        else()
          string(APPEND quickly "${contract_${task}_${kernels}}")
        endif()
      endforeach()
    endforeach()
    shoal_kernel_source(with_kernels ${test}_quickly "${shoal_quick_kernels}" "${quickly}")
    add_library(${test}_kernels OBJECT ${with_kernels})
    target_link_libraries(${test}_kernels PRIVATE shoal)
    target_include_directories(${test}_kernels PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${CMAKE_CURRENT_BINARY_DIR})
    if(SHOAL_PTX_ONLY)
      shoal_ptx_only(${test}_kernels)
    endif()
    target_sources(${test} PRIVATE $<TARGET_OBJECTS:${test}_kernels>)
    target_include_directories(${test} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  endfunction()
  shoal_contract_kernels(worklist_gpu_test tasks.hpp warp Tree Picky Chain Gups)
  shoal_contract_kernels(worklist_options_gpu_test options_tasks.hpp block LazyPaths Sprays Flow)
  if(NOT SHOAL_TESTS_AS_SHIPPED)
    target_compile_options(rendezvous_gpu_test PRIVATE ${shoal_quick_kernels})
  endif()
endif()
