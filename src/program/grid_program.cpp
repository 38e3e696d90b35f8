#include "shoal/program/grid_program.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "exit_status.hpp"
#include "shoal/program/block_program.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/processes.hpp"
#include "trace_output.hpp"

namespace shoal {

namespace {

/// Reads a command line with --iterations and the flags that `add` adds, and calls body(flags, options, iterations).
template <class Body>
int run_with_flags(int argc, char** argv, const char* about, void (GridFlags::*add)(CLI::App&), Body body) {
  CLI::App app(about, std::filesystem::path(argv[0]).filename());
  GridFlags flags;
  std::int64_t iterations = 100;
  (flags.*add)(app);
  TraceOutput trace;
  trace.add_to(app, "steps of blocks and kernels (only of process 0)", "Output");
  app.add_option("--iterations", iterations, "steps of every block")
      ->check(whole_number<std::int64_t>)
      ->type_name("N")
      ->capture_default_str();
  begin_together();
  return parse_and_run(app, argc, argv, [&] {
    if (iterations < 0) throw UsageError("--iterations " + std::to_string(iterations) + " is negative; use 0 or more");
    Options options = flags.machine();
    choose_engine(options);
    join_processes(options, started_as(argc, argv));
    refuse_gpus_apart(options);
    refuse_standard_output({trace.file()});
    if (!is_speaker()) trace.drop();
    trace.open();
    const bool right = body(flags, options, iterations);
    trace.write_and_say(app.get_name());
    leave_together();
    return right;
  });
}

}  // namespace

int run_grid_program(int argc, char** argv, const char* about, const std::function<bool(const GridContext&)>& body) {
  const auto run = [&](const GridFlags& flags, const Options& where, std::int64_t iterations) {
    const GridOptions options = flags.grid();
    const Machine machine(where);
    return body({machine, flags.size(), options, iterations});
  };
  return run_with_flags(argc, argv, about, &GridFlags::add_to, run);
}

int run_block_program(int argc, char** argv, const char* about, const std::function<bool(const BlockContext&)>& body) {
  const auto run = [&](const GridFlags& flags, const Options& of_machine, std::int64_t iterations) {
    GridOptions options = flags.grid();
    if (options.odf == 0) options.odf = 1;
    check_odf(options.odf);
    const Machine machine(of_machine);
    const auto where = place_blocks({options.odf * machine.all_pes()}, machine.all_pes(), options.mapping, "--odf");
    return body({machine, where, options.mapping, options.launch, iterations});
  };
  return run_with_flags(argc, argv, about, &GridFlags::add_blocks_to, run);
}

}  // namespace shoal
