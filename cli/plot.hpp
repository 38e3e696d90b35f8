// Draws pictures with scripts of scripts/, in a Python that has matplotlib.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Called before anything runs. @param instead  what else the user may do, to end the message: "or write --json=FILE, and ..."
/// @throws UsageError  `file` cannot be drawn here
void check_plot(const std::string& file, const std::string& instead);

/// Runs `python3 SCRIPT DATA FILE WORDS...`.
/// @param script  its name in scripts/
/// @param data    the content of DATA. @param kept_by  how a user gets DATA as a file, for the error message
/// @throws UsageError  the script failed
void draw_plot(const std::string& script, const std::string& data, const std::string& file,
               const std::vector<std::string>& words, const std::string& kept_by);

}  // namespace shoal::cli
