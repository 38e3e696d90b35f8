// Whether a job's hosts can be reached, asked before it starts: Open MPI's launcher does not say which one it did not reach.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Asks all hosts but this one, at the same time, in the way in which Open MPI's launcher starts processes there: by ssh, or
/// the program that its parameter plm_rsh_agent names. Asks nobody where it starts them in another way.
/// @param launcher  its file; its daemon is looked for in the same folder there, and in PATH
/// @param program  this file must be there; empty: any
/// @throws UsageError: there is no ssh here; TransportError: a host is not reached, or lacks something. With the cure
void require_hosts(const std::vector<std::string>& hosts, const std::string& launcher, const std::string& program);

}  // namespace shoal::cli
