#include "shoal/program/grid_program.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "exit_status.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal {

int run_grid_program(int argc, char** argv, const char* about, const std::function<bool(const GridContext&)>& body) {
  CLI::App app(about, std::filesystem::path(argv[0]).filename());
  GridFlags flags;
  std::int64_t iterations = 100;
  flags.add_to(app);
  app.add_option("--iterations", iterations, "steps of every block")
      ->check(whole_number<std::int64_t>)
      ->type_name("N")
      ->capture_default_str();
  return parse_and_run(app, argc, argv, [&] {
    if (iterations < 0) throw UsageError("--iterations " + std::to_string(iterations) + " is negative");
    const GridOptions options = flags.grid();
    const Machine machine(flags.machine());
    return body({machine, flags.size(), options, iterations});
  });
}

}  // namespace shoal
