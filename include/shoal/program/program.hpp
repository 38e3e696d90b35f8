// The main function of a program: reads flags and the graph, starts one host thread per PE, reports errors, and returns the
// exit status.
#pragma once
#include <cstdint>
#include <functional>

#include "shoal/program/context.hpp"

namespace shoal {

/// Reads `GRAPH [--source N] [--weights SOURCE] [--undirected]` and every flag of a run from the command line, places the graph, and runs
/// `body` once on every PE. `--help` shows `about` and the flags. The graph may have no vertices; then Context::source() throws.
/// @param body  returns whether its answer is right; runs on every PE at the same time
/// @return the exit status: 0 right; 1 wrong on some PE; 2 an error in usage or input, or a call or a task that breaks its
///         contract (UsageError); 3 capacity; 4 transport or device; 5 an exception of the program's own, from the body or, on
///         CPU threads, from a member of the task. One line on stderr describes the error. If a task does not return, or a PE
///         never makes the call in which others wait, the process ends with status 75 (worklist/watchdog.hpp,
///         world/world.hpp).
int run_program(int argc, char** argv, const char* about, const std::function<bool(Context&)>& body);

/// The same for a program without a graph. It reads `[--size N]`, N at least 0, in place of the graph.
/// @param size  the default of --size, which Context::size() returns: a number of keys, cells, particles
int run_program(int argc, char** argv, const char* about, std::int64_t size, const std::function<bool(Context&)>& body);

}  // namespace shoal
