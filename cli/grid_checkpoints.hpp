// Writes states of a grid to a file, and continues from such a file.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>

#include "output.hpp"
#include "shoal/blocks/checkpoint.hpp"
#include "shoal/blocks/grid_steps.hpp"
#include "shoal/blocks/mapping.hpp"

namespace shoal::cli {

/// The flags --checkpoint, --checkpoint-every and --restart.
class GridCheckpoints {
 public:
  void add_to(CLI::App& app, const char* group);
  /// Call it after the flags are parsed. @param trials  of the run. @throws UsageError
  void read(int trials) const;
  /// Opens the file of --restart, and checks that the file of --checkpoint can be written.
  /// @param what  everything that the values of cells depend on, except the number of iterations
  /// @param iterations  of the whole run
  /// @param blocks  that were asked for, or 0 x 0 x 0; set to those of the file of --restart
  /// @throws UsageError, FileError
  void open(const std::string& what, std::int64_t iterations, Size3& blocks);
  /// Another process writes; this one then only takes part in reading the grid.
  void be_silent() { speaks_ = false; }
  NamedFile written() const { return {"--checkpoint", file_}; }
  NamedFile read_from() const { return {"--restart", restart_}; }

  /// Whether the run continues a checkpoint, and after how many iterations.
  std::optional<std::int64_t> restarted_after() const;
  /// Iterations between two checkpoints; 0: there is none but the last.
  std::int64_t every() const { return every_; }

  /// Every process calls it: brings the grid to the state of --restart, or to its initial values.
  template <class T>
  void begin(GridSteps<T>& grid);
  /// Every process calls it: writes the grid's state if there is --checkpoint.
  template <class T>
  void store(const GridSteps<T>& grid) const;

 private:
  std::string file_, restart_, what_;
  std::int64_t every_ = 0;
  std::optional<CheckpointFile> from_;
  bool speaks_ = true;
};

}  // namespace shoal::cli
