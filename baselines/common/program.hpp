// The program of a baseline: options, graph or grid, trials, checks, tables and JSON. All are those of shoal's commands with the
// same names.
#pragma once
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine.hpp"
#include "grid_engine.hpp"
#include "processes.hpp"

namespace shoal::baselines {

/// What differs between the baselines.
struct Kind {
  std::string name;      ///< of the program
  const char* about;     ///< one line
  const char* footer;    ///< of --help: examples, and which time is measured
  bool on_gpus = false;  ///< a process may have several ranks, one per GPU
  /// Each process calls this by itself, before the graph is read. @throws Error
  std::function<std::unique_ptr<Engine>(Processes&, int ranks_of_process)> make;
  /// Empty if the baseline has no `jacobi3d`.
  std::function<std::unique_ptr<GridEngine>(Processes&, int ranks_of_process, const GridWanted&)> make_grid;
  std::function<void(nlohmann::ordered_json&)> describe;  ///< adds the versions of the libraries that it uses
};

/// @return the exit status
int run_program(int argc, char** argv, const Kind& kind, Processes& processes);

}  // namespace shoal::baselines
