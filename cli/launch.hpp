// Starts a launcher of processes and watches it, because it does not always end when its processes have.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Runs a launcher to its end. SIGINT, SIGTERM and SIGHUP that are sent to this process are passed on to it. No process that the
/// launcher has started is left behind.
/// @param words  the launcher and its arguments
/// @param processes  how many processes it starts
/// @param all_here  true if it starts all processes on this host, as its own children. It is then killed if it does not end by
///   itself after the last of them
/// @return its exit status; 128 plus the signal if a signal ended it
/// @throws UsageError: it cannot be started
int run_launcher(const std::vector<std::string>& words, int processes, bool all_here);

}  // namespace shoal::cli
