// Pictures: drawn by scripts of scripts/, in a Python that has matplotlib.
#pragma once
#include <string>
#include <vector>

namespace shoal::cli {

/// Before anything runs. @param instead  what there is without: "without --plot there is ..."
/// @throws UsageError  `file` cannot be drawn here
void check_plot(const std::string& file, const std::string& instead);

/// `python3 SCRIPT DATA FILE WORDS...`
/// @param script  its name in scripts/
/// @param data    what is in DATA. @param kept_by  how a user gets DATA as a file, to see what is wrong
/// @throws UsageError  it was not drawn
void draw_plot(const std::string& script, const std::string& data, const std::string& file,
               const std::vector<std::string>& words, const std::string& kept_by);

}  // namespace shoal::cli
