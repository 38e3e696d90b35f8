#include "shoal/program/program.hpp"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <mutex>
#include <optional>
#include <thread>

#include "exit_status.hpp"
#include "run_outputs.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/device_graph.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/worklist/watchdog.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

namespace {

/// The problem that a body works on: a graph and a source, or a size.
struct Subject {
  Csr bare;  ///< where --weights made other weights, the graph as it was read: `graph` borrows from it
  Csr graph;
  vertex_t source = 0;
  std::int64_t size = 0;
};

PlacedGraph place_on(const Machine& machine, const Csr& graph, const Options& options) {
  Partition partition =
      make_partition(graph, machine.all_pes(), options.partition, options.partition_file, options.seed);
  const bool weights = graph.weight_kind != WeightKind::none;
  if (machine.on_gpu()) return place_on_devices(graph, std::move(partition), machine.devices(), weights);
  PlacedGraph placed = place_on_threads(std::shared_ptr<const Csr>(&graph, [](const Csr*) {}), std::move(partition));
  if (machine.world() != nullptr) keep_slices(placed, machine.first_pe(), machine.n_pes());
  return placed;
}

/// Runs the body on every PE. If bodies throw, rethrows the first error; those that come later may be consequences of it.
bool run_body(const std::string& program, const Machine& machine, const Options& options, const PlacedGraph& placed,
              const Subject& subject, RunLog& log, const std::function<bool(Context&)>& body) {
  const pe_t n = machine.n_pes();
  std::optional<World> own;
  World& world = joined_world() ? *joined_world() : own.emplace(n, options.stall_timeout_seconds);
  std::mutex mutex;
  std::exception_ptr error;
  bool right = true;
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(n));
  const auto start = [&](pe_t p) {
    threads.emplace_back([&, p] {
      Context ctx(p, machine, options, placed, subject.graph, subject.source, subject.size, world, &log);
      const auto failed = [&](const std::string& why) {
        {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
        world.fail(p, why);
      };
      try {
        const bool mine = body(ctx);
        {
          const std::lock_guard lock(mutex);
          right = right && mine;
        }
        world.leave(p);
      } catch (const std::exception& thrown) {
        failed(thrown.what());
      } catch (...) {
        failed("an exception that has no text");
      }
    });
  };
  for (pe_t p = world.first_here(); p < world.first_here() + n; ++p) {
    try {
      start(p);
    } catch (const std::exception& refused) {  // PEs that have begun would wait for this one
      const std::string why = "the system gave no thread for PE " + std::to_string(p) + ": " + refused.what();
      {
        const std::lock_guard lock(mutex);
        if (!error) error = std::make_exception_ptr(CapacityError(why));
      }
      world.fail(p, why);
    }
  }
  if (!world.wait_for_bodies()) end_stuck_process(program, world.why());
  for (std::thread& thread : threads) thread.join();
  if (error) std::rethrow_exception(error);
  return right;
}

std::string name_of(char** argv) { return std::filesystem::path(argv[0]).filename(); }

/// Reads the command line, makes the subject, runs the body on every PE, and returns the exit status.
/// @param app      has the program's own flags; this function adds those of every run
/// @param subject  makes the subject from the program's own flags
/// @param graph    the name of the graph, valid when the command line has been read; empty: a program without one
int run_app(CLI::App& app, int argc, char** argv, const std::string& graph, const std::function<Subject()>& subject,
            const std::function<bool(Context&)>& body) {
  begin_together();
  const std::string& name = app.get_name();
  RunFlags flags;
  RunOutputs outputs;
  outputs.add_to(app);
  flags.add_to(app, "all GPUs");
  return parse_and_run(app, argc, argv, [&] {
    Options options;
    flags.read(options);
    choose_engine(options, "items of a program");
    join_processes(options, started_as(argc, argv));
    outputs.open(
        {{"the graph", graph.empty() || is_generator(graph) ? "" : graph}, {"--partition", options.partition_file}});
    const auto run = [&] {
      const Machine machine(options);
      const Subject read = subject();
      const PlacedGraph placed = place_on(machine, read.graph, options);
      const bool right = run_body(name, machine, options, placed, read, outputs, body);
      outputs.write({name, {argv + 1, argv + argc}, graph, placed.num_vertices, placed.num_arcs, read.size, right},
                    options);
      return right;
    };
    const bool right = run();
    leave_processes();
    return right;
  });
}

}  // namespace

int run_program(int argc, char** argv, const char* about, const std::function<bool(Context&)>& body) {
  CLI::App app(about, name_of(argv));
  std::string graph_text;
  std::int64_t source = 0;
  std::string weights = "file";
  ReadOptions reading;
  app.add_option("graph", graph_text,
                 "a file in any format that shoal reads, or a generator such as kron:16 or road:512")
      ->required();
  const CLI::Option* const asked =
      app.add_option("--source", source, "vertex to start from, in the input's numbers")->type_name("N");
  app.add_flag("--undirected", reading.undirected, "read an edge list in both directions");
  app.add_option("--vertices", reading.num_vertices, "how many vertices an edge list has, also without arcs")
      ->type_name("N");
  app.add_option(
         "--weights", weights,
         "weights of the arcs: file (as they were read; generated graphs have none), hash255 (1 to 255, from the "
         "arc's ends) or unit")
      ->type_name("SOURCE")
      ->capture_default_str();
  const auto subject = [&] {
    const WeightSource source_of_weights = parse_weights(weights);
    Subject read;
    read.graph = is_generator(graph_text) ? generate(parse_generator(graph_text)) : read_graph(graph_text, reading);
    // If there are no vertices, a program may not need a source; Context::source() throws if it does.
    const bool none = read.graph.num_vertices() == 0 && asked->count() == 0;
    if (!none && (source < 0 || source >= read.graph.num_vertices())) {
      throw UsageError("--source " + std::to_string(source) + ": " + graph_text + " has " +
                       std::to_string(read.graph.num_vertices()) + " vertices, numbered from 0");
    }
    read.source = static_cast<vertex_t>(source);
    if (source_of_weights != WeightSource::file) {
      read.bare = std::move(read.graph);
      read.graph = with_weights(read.bare, source_of_weights);
    }
    return read;
  };
  return run_app(app, argc, argv, graph_text, subject, body);
}

int run_program(int argc, char** argv, const char* about, std::int64_t size,
                const std::function<bool(Context&)>& body) {
  CLI::App app(about, name_of(argv));
  app.add_option("--size", size, "how much there is to do")->type_name("N")->capture_default_str();
  const auto subject = [&] {
    if (size < 0) throw UsageError("--size " + std::to_string(size) + " is negative; use 0 or more");
    return Subject{{}, generate(parse_generator("chain:1")), 0, size};
  };
  return run_app(app, argc, argv, "", subject, body);
}

}  // namespace shoal
