// What a baseline iterates a grid with: one or more ranks in each process, each with one part of the grid.
#pragma once
#include <cstdint>
#include <vector>

#include "part.hpp"
#include "ranks.hpp"

namespace shoal::baselines {

struct GridWanted {
  Jacobi3d<double> program;
  bool overlap = false;  ///< cells that need no neighbour are updated while faces are exchanged
  bool staged = false;   ///< faces of GPUs go through the memory of hosts
  bool timed = false;    ///< say what is computation and what communication
};

/// All processes call each function together. Process p has the ranks from p * ranks_of_process on.
class GridEngine {
 public:
  virtual ~GridEngine() = default;
  virtual void start() = 0;
  /// @return seconds of this process's slowest rank
  virtual double iterate(std::int64_t n) = 0;
  /// Of the last iterate(), one for each rank of this process.
  virtual std::vector<Step> steps() const = 0;
  /// Cells of this process's ranks, one after the other.
  virtual std::vector<double> cells() const = 0;
};

}  // namespace shoal::baselines
