// The command-line flags of programs in blocks. The `shoal` command and users' programs have the same flags.
#pragma once
#include <string>

#include "shoal/blocks/grid.hpp"
#include "shoal/world/options.hpp"

namespace CLI {
class App;
}

namespace shoal {

/// Holds the values of the flags until they are read; must outlive the parser's callbacks.
class GridFlags {
 public:
  /// Adds X Y Z, and the flags for where and how blocks run.
  void add_to(CLI::App& app);
  /// The same for blocks that do not form a grid: without X Y Z and --blocks.
  void add_blocks_to(CLI::App& app) { add_where_and_how(app, false); }
  Size3 size() const { return size_; }
  /// @throws UsageError naming the flag, its value and what is legal
  Options machine() const;
  GridOptions grid() const;
  const std::string& mapping_file() const { return mapping_file_; }  ///< valid after grid(); empty: none

 private:
  void add_where_and_how(CLI::App& app, bool of_grid);

  Size3 size_;
  Options machine_;
  GridOptions grid_;
  std::string device_ = "auto", blocks_, mapping_ = "block", form_ = "auto", fusion_ = "auto", halos_ = "direct";
  mutable std::string mapping_file_;
};

}  // namespace shoal
