// What is written of a grid: all of it or a plane, as numbers or as a picture.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "output.hpp"
#include "shoal/blocks/grid_steps.hpp"

namespace shoal::cli {

/// A plane of the grid: across dimension 0, 1 or 2.
struct GridSlice {
  int across = 0;
  std::int64_t at = 0;
};

/// The flags --output, --slice and --plot.
class GridOutput {
 public:
  void add_to(CLI::App& app, const char* group);
  /// After the flags are read. @throws UsageError
  void read(Size3 size);
  std::vector<NamedFile> files() const { return {{"--output", output_}, {"--plot", plot_}}; }
  /// Before the long part: places that cannot be written are found now, and a Python that cannot draw. @throws UsageError
  void open();
  /// Another process writes: this one only takes part where the grid is read.
  void be_silent() { speaks_ = false; }
  /// For T float and double. Every process. @param npy_type  NumPy's name of T
  template <class T>
  void write(const GridSteps<T>& grid, const char* npy_type);

 private:
  std::string output_, slice_, plot_;
  std::optional<GridSlice> where_;  ///< of --output; without: all of the grid
  GridSlice drawn_;
  std::optional<OutputFile> file_;
  bool speaks_ = true;
};

}  // namespace shoal::cli
