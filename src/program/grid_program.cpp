#include "shoal/program/grid_program.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "exit_status.hpp"
#include "shoal/program/block_program.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal {

namespace {

void add_iterations(CLI::App& app, std::int64_t& iterations) {
  app.add_option("--iterations", iterations, "steps of every block")
      ->check(whole_number<std::int64_t>)
      ->type_name("N")
      ->capture_default_str();
}
void check_iterations(std::int64_t iterations) {
  if (iterations < 0) throw UsageError("--iterations " + std::to_string(iterations) + " is negative");
}

}  // namespace

int run_grid_program(int argc, char** argv, const char* about, const std::function<bool(const GridContext&)>& body) {
  CLI::App app(about, std::filesystem::path(argv[0]).filename());
  GridFlags flags;
  std::int64_t iterations = 100;
  flags.add_to(app);
  add_iterations(app, iterations);
  return parse_and_run(app, argc, argv, [&] {
    check_iterations(iterations);
    const GridOptions options = flags.grid();
    const Machine machine(flags.machine());
    return body({machine, flags.size(), options, iterations});
  });
}

int run_block_program(int argc, char** argv, const char* about, const std::function<bool(const BlockContext&)>& body) {
  CLI::App app(about, std::filesystem::path(argv[0]).filename());
  GridFlags flags;
  std::int64_t iterations = 100;
  flags.add_blocks_to(app);
  add_iterations(app, iterations);
  return parse_and_run(app, argc, argv, [&] {
    check_iterations(iterations);
    const GridOptions options = flags.grid();
    check_odf(options.odf);
    const Machine machine(flags.machine());
    const auto where = place_blocks(options.odf * machine.n_pes(), machine.n_pes(), options.mapping);
    return body({machine, where, options.launch, iterations});
  });
}

}  // namespace shoal
