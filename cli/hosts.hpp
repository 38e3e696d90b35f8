// Checks before a job starts that its hosts can be reached. Open MPI's launcher does not say which host it did not reach.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Asks all hosts but this one, at the same time. It reaches them as Open MPI's launcher does: by ssh, or by the program that the
/// parameter plm_rsh_agent names. If the launcher is set to start processes in another way, no host is asked.
/// @param launcher  its path; each host must have the launcher's daemon in the same folder or in PATH
/// @param program  a file that each host must have; empty: none
/// @throws UsageError: ssh is not found here; TransportError: a host is not reached, or lacks something. Both name the cure
void require_hosts(const std::vector<std::string>& hosts, const std::string& launcher, const std::string& program);

/// Quotes a text for a shell, unless it means itself there.
std::string quoted(const std::string& text);

}  // namespace shoal::cli
