// The interface through which a baseline iterates on a grid. Each process has one or more ranks, and each rank one part of the
// grid.
#pragma once
#include <cstdint>
#include <vector>

#include "part.hpp"
#include "ranks.hpp"

namespace shoal::baselines {

struct GridWanted {
  Jacobi3d<double> program;
  bool overlap = false;  ///< update the cells that need no neighbour while faces are exchanged
  bool staged = false;   ///< send faces of GPUs through host memory
  bool timed = false;    ///< measure computation and communication separately
};

/// All processes must call each function together. Process p has the ranks from p * ranks_of_process on.
class GridEngine {
 public:
  virtual ~GridEngine() = default;
  virtual void start() = 0;
  /// @return seconds of this process's slowest rank
  virtual double iterate(std::int64_t n) = 0;
  /// Of the last iterate(): one step for each rank of this process.
  virtual std::vector<Step> steps() const = 0;
  /// The cells of this process's ranks, one rank after another.
  virtual std::vector<double> cells() const = 0;
};

}  // namespace shoal::baselines
