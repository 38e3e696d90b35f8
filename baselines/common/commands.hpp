// Subcommands of a baseline that share options, a run and a report.
#pragma once
#include <memory>

#include "program.hpp"

namespace CLI {
class App;
}

namespace shoal::baselines {

class Commands {
 public:
  virtual ~Commands() = default;
  virtual bool asked() const = 0;  ///< the command line names one of the subcommands
  /// The part that each process does by itself. @throws Error
  virtual void prepare() = 0;
  /// The part that all processes do together. An error of one process ends all.
  virtual void run() = 0;
  /// Called on process 0 at the end. @return the exit status. @throws Error
  virtual int report() = 0;
  virtual void forget_engine() = 0;
};

/// Adds subcommands to the parser. The arguments must outlive the result.
std::unique_ptr<Commands> graph_commands(const Kind& kind, Processes& processes, CLI::App& app);
std::unique_ptr<Commands> grid_commands(const Kind& kind, Processes& processes, CLI::App& app);

}  // namespace shoal::baselines
