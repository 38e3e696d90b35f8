// Starts a launcher of processes and stays beside it, because it does not always end when its processes have.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Runs a launcher to its end. What is sent to this process to end it is passed on. Nothing that the launcher has started is
/// left behind.
/// @param words  the launcher and its arguments
/// @param processes  as many it starts
/// @param all_here  it starts all processes on this host, as children of its own: then it is ended when it has none left
///   and does not end by itself
/// @return its exit status, 128 and the signal if one ended it
/// @throws UsageError: it cannot be started
int run_launcher(const std::vector<std::string>& words, int processes, bool all_here);

}  // namespace shoal::cli
