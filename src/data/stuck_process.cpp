#include "shoal/data/stuck_process.hpp"

#include <cstdio>
#include <cstdlib>

#include "shoal/data/pending_file.hpp"

namespace shoal {

void end_stuck_process(const std::string& program, const std::string& what) noexcept {
  std::fflush(stdout);
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), what.c_str());
  io::remove_pending_files();
  std::_Exit(kStuckExitCode);
}

}  // namespace shoal
