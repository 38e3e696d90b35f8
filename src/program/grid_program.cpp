#include "shoal/program/grid_program.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "exit_status.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal {

int run_grid_program(int argc, char** argv, const char* about, const std::function<bool(const GridContext&)>& body) {
  const std::string name = std::filesystem::path(argv[0]).filename();
  CLI::App app(about, name);
  GridFlags flags;
  std::int64_t iterations = 100;
  flags.add_to(app);
  app.add_option("--iterations", iterations, "steps of every block")
      ->check(whole_number<std::int64_t>)
      ->type_name("N")
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    return complain(2, name, std::string(error.what()) + " (see " + name + " --help)");
  }
  return exit_status_of(name, [&] {
    if (iterations < 0) throw UsageError("--iterations " + std::to_string(iterations) + " is negative");
    const GridOptions options = flags.grid();
    const Machine machine(flags.machine());
    return body({machine, flags.size(), options, iterations});
  });
}

}  // namespace shoal
