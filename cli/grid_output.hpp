// Writes a grid, or one plane of it, as numbers or as a picture.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output.hpp"
#include "shoal/blocks/grid_steps.hpp"

namespace shoal::cli {

/// A plane of the grid: the cells whose coordinate in dimension `across` (0, 1 or 2) is `at`.
struct GridSlice {
  int across = 0;
  std::int64_t at = 0;
};

/// The flags --output, --slice and --plot.
class GridOutput {
 public:
  void add_to(CLI::App& app, const char* group);
  /// Call it after the flags are parsed. @throws UsageError
  void read(Size3 size);
  std::vector<NamedFile> files() const { return {{"--output", output_}, {"--plot", plot_}}; }
  /// Opens the file and checks that Python can draw the plot, before the long part of a command. @throws UsageError
  void open();
  /// Another process writes; this one then only takes part in reading the grid.
  void be_silent() { speaks_ = false; }
  /// Every process calls it. T is float or double. @param npy_type  NumPy's name of T
  template <class T>
  void write(const GridSteps<T>& grid, const char* npy_type);

 private:
  std::string output_, slice_, plot_;
  std::optional<GridSlice> where_;  ///< the plane that --output writes; empty: the whole grid
  GridSlice drawn_;
  std::optional<OutputFile> file_;
  bool speaks_ = true;
};

}  // namespace shoal::cli
