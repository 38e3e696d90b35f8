// A program around a task: flags, the graph, one host thread per PE, errors and exit status.
#pragma once
#include <functional>

#include "shoal/runtime/context.hpp"

namespace shoal {

/// Reads `GRAPH [--source N] [--verify] ...` and every flag of a run from the command line, places the graph, and runs
/// `body` once on every PE. `--help` shows `about` and the flags.
/// @param body  returns whether its answer is right; runs on every PE at the same time
/// @return exit status: 0 right, 1 wrong, 2 usage or input, 3 capacity, 4 transport or device
int run_program(int argc, char** argv, const char* about, const std::function<bool(Context&)>& body);

}  // namespace shoal
