// Where a result comes from: the command line, the time, and the revision of the sources.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

struct Provenance {
  std::vector<std::string> arguments;  ///< as given, without the program's name
  std::string date;                    ///< when the command began: UTC, "2026-11-21T17:49:47Z"
  std::string revision;  ///< `git describe` of the sources that were built; "unknown" outside of a repository
};

/// Called first in main(). @param arguments  main's argv[1] to argv[argc - 1]
void command_begins(std::vector<std::string> arguments);

/// Of this process; empty before command_begins().
const Provenance& provenance();

/// The revision of the sources. cmake/Revision.cmake writes its definition at each build.
const char* revision();
/// Version, revision and arguments, which must be the same in all processes of a job.
std::string started_as();

}  // namespace shoal::cli
