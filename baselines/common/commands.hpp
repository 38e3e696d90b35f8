// Subcommands of a baseline that have options, a run and a report in common.
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
  virtual bool asked() const = 0;  ///< the command line has one of them
  /// What each process does by itself. @throws Error
  virtual void prepare() = 0;
  /// What all processes do together; an error of one ends all.
  virtual void run() = 0;
  /// What process 0 does in the end. @return the exit status. @throws Error
  virtual int report() = 0;
  virtual void forget_engine() = 0;
};

/// Each adds its subcommands to the parser. The arguments must outlive the result.
std::unique_ptr<Commands> graph_commands(const Kind& kind, Processes& processes, CLI::App& app);
std::unique_ptr<Commands> grid_commands(const Kind& kind, Processes& processes, CLI::App& app);

}  // namespace shoal::baselines
