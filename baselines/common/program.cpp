#include "program.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <vector>

#include "attempt.hpp"
#include "command.hpp"
#include "commands.hpp"
#include "shoal/core/text.hpp"
#include "wrong_flags.hpp"

namespace shoal::baselines {

namespace {

/// @throws UsageError  MPI has another number of processes than the launcher started
void check_launcher(const Processes& processes) {
  for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* said = std::getenv(variable);
    if (said != nullptr && std::atoi(said) != processes.size) {
      throw UsageError(processes.launcher() + ", but " + variable + " says " + said + "; " + processes.cure());
    }
  }
}

/// All processes return the status of the first process whose status is not 0, and process 0 prints that process's message.
int agree(int status, std::string line, const Kind& kind, Processes& processes) {
  const int first = processes.least(status != 0 ? processes.rank : processes.size);
  if (first == processes.size) return 0;
  int words[] = {status, static_cast<int>(line.size())};
  processes.broadcast(words, sizeof words, first);
  line.resize(static_cast<std::size_t>(words[1]));
  processes.broadcast(line.data(), words[1], first);
  if (processes.rank == 0 && !line.empty()) complain(kind.name, line);
  return words[0];
}

}  // namespace

int attempt(const std::function<int()>& work, std::string& line) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    line = "this machine has not enough memory; use a smaller graph or grid";
    return cli::kCapacity;
  } catch (const std::exception& error) {
    line = error.what();
    if (dynamic_cast<const UsageError*>(&error) != nullptr) return cli::kUsage;
    if (dynamic_cast<const CapacityError*>(&error) != nullptr) return cli::kCapacity;
    return dynamic_cast<const Error*>(&error) != nullptr ? cli::kTransportOrDevice : cli::kInternal;
  }
}

void complain(const std::string& name, const std::string& line) {
  std::fprintf(stderr, "%s: error: %s\n", name.c_str(), printable(line).c_str());
}

int run_program(int argc, char** argv, const Kind& kind, Processes& processes) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(kind.about, kind.name);
  app.require_subcommand(1);
  app.footer(kind.footer);
  std::vector<std::unique_ptr<Commands>> all;
  all.push_back(graph_commands(kind, processes, app));
  if (kind.make_grid) all.push_back(grid_commands(kind, processes, app));
  Commands* commands = nullptr;
  std::string line;
  bool helped = false;
  int status = attempt(
      [&] {
        try {
          app.parse(argc, argv);
        } catch (const CLI::Success& help) {
          helped = true;
          return processes.rank == 0 ? app.exit(help) : 0;
        } catch (const CLI::ParseError& error) {
          throw UsageError(cli::explain_flags(app, error));
        }
        check_launcher(processes);
        commands = std::find_if(all.begin(), all.end(), [](const auto& c) { return c->asked(); })->get();
        commands->prepare();
        return 0;
      },
      line);
  status = agree(status, line, kind, processes);
  if (status != 0 || helped) return status;
  line.clear();
  status = attempt([&] { return commands->run(), 0; }, line);
  if (status != 0) {  // the other processes wait for this one, so end them all
    complain(kind.name, line);
    processes.end_all(status);
  }
  if (processes.rank == 0) {
    status = attempt(
        [&] {
          const int found = commands->report();
          std::cout.flush();
          if (std::fflush(stdout) != 0 || !std::cout) throw UsageError("standard output cannot be written");
          return found;
        },
        line);
  }
  commands->forget_engine();
  return agree(status, line, kind, processes);
}

}  // namespace shoal::baselines
