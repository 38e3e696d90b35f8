// A command of `shoal`: adds its flags to a parser and says what to run once they are read.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace shoal {
struct AlgorithmInfo;
}

namespace shoal::cli {

/// Runs a parsed command. @return the exit status. @throws shoal::Error
using Run = std::function<int()>;

enum ExitStatus {
  kRight = 0,
  kWrongResult = 1,  ///< --verify found a wrong answer
  kUsage = 2,        ///< UsageError: flags, input files, output files that cannot be written
  kCapacity = 3,     ///< CapacityError, or std::bad_alloc
  kTransportOrDevice = 4,
  kInternal = 5,  ///< a fault of shoal itself
  // 75, kStuckExitCode: the process was ended because a worker did not return (worklist/watchdog.hpp)
};

/// `shoal NAME`: runs an algorithm on a graph.
Run add_algorithm(CLI::App& shoal, const AlgorithmInfo& info);
/// `shoal jacobi3d`: iterates on a grid in blocks.
Run add_jacobi3d(CLI::App& shoal);
/// `shoal run`: starts a command or a program in several processes.
Run add_run(CLI::App& shoal);
Run add_bench(CLI::App& shoal);
Run add_tune(CLI::App& shoal);
Run add_generate(CLI::App& shoal);
Run add_convert(CLI::App& shoal);
Run add_info(CLI::App& shoal);
Run add_doctor(CLI::App& shoal);

}  // namespace shoal::cli
