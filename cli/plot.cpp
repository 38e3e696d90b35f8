#include "plot.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>

#include "output.hpp"
#include "run_program.hpp"
#include "shoal/core/error.hpp"

namespace shoal::cli {

void check_plot(const std::string& file, const std::string& instead) {
  const std::string end = std::filesystem::path(file).extension();
  if (end != ".png" && end != ".svg" && end != ".pdf") {
    throw UsageError("--plot " + file + ": the name of a plot ends in .png, .svg or .pdf");
  }
  OutputFile can_be_written(file);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const bool found = run_program({"python3", "-c", "import matplotlib"}, nothing) == 0;
  close(nothing);
  if (!found) {
    throw UsageError(
        "--plot needs python3 with matplotlib, which was not found; install it (Debian: python3-matplotlib), " +
        instead);
  }
}

void draw_plot(const std::string& script, const std::string& data, const std::string& file,
               const std::vector<std::string>& words, const std::string& kept_by) {
  const std::string path = std::string(SHOAL_SCRIPTS) + "/" + script;
  const int memory = memfd_create("shoal", MFD_CLOEXEC);  // a file that nobody has to remove
  std::vector<std::string> command{"python3", path, "/dev/stdin", file};
  command.insert(command.end(), words.begin(), words.end());
  std::size_t written = 0;
  while (memory >= 0 && written < data.size()) {
    const ssize_t some = write(memory, data.data() + written, data.size() - written);
    if (some <= 0) break;
    written += static_cast<std::size_t>(some);
  }
  const bool done = written == data.size() && memory >= 0 && run_program(command, memory) == 0;
  if (memory >= 0) close(memory);
  if (done) return;
  throw UsageError("--plot " + file + ": could not be drawn; to see why, run python3 " + path + " " + kept_by + " " +
                   file);
}

}  // namespace shoal::cli
