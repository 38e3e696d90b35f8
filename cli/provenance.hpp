// Where a result comes from: what was asked for, when, and of which state of the sources.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

struct Provenance {
  std::vector<std::string> arguments;  ///< as given, without the program's name
  std::string date;                    ///< when the command began: UTC, "2026-11-21T17:49:47Z"
  std::string revision;  ///< `git describe` of the sources that were built; "unknown" outside of a repository
};

/// First thing in main(). @param arguments  main's argv[1] to argv[argc - 1]
void command_begins(std::vector<std::string> arguments);

/// Of this process; empty before command_begins().
const Provenance& provenance();

/// Written at each build by cmake/Revision.cmake.
const char* revision();
/// What must be the same in all processes: version, revision and arguments.
std::string started_as();

}  // namespace shoal::cli
