// The `shoal` command: picks a subcommand, runs it, and turns each kind of error into one line and one exit status.
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "algo/algorithm.hpp"
#include "command.hpp"
#include "provenance.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"
#include "shoal/data/pending_file.hpp"
#include "shoal/world/processes.hpp"
#include "wrong_flags.hpp"

namespace {

using namespace shoal::cli;

const char* const kFooter = R"(examples:
  shoal bfs kron:20 --trials 8 --verify        search a generated graph from 8 random sources, check every answer
  shoal bfs roads.gr.gz --source 17 --output levels.npy
  shoal jacobi3d 192 192 192 --odf 8           iterate on a grid that is cut into 8 blocks per PE
  shoal info web.mtx                           print what a graph file contains
  shoal run -n 2 -- bfs kron:20                one search by two processes
  shoal doctor                                 what this machine can run, and what to install for the rest
`shoal COMMAND --help` lists the flags of a command, with more examples.

exit status: 0 right, 1 wrong result, 2 usage or input error, 3 capacity (too little memory, or a queue too small),
4 transport or device error, 5 a fault of shoal itself, 75 a task did not return within the stall timeout,
128 + N ended by signal N.
No output file is ever left half-written.)";

/// Shows an optional value as --json[=FILE]. CLI11 would show the value that holds if none is given.
class Help : public CLI::Formatter {
 public:
  std::string make_option_name(const CLI::Option* option, bool is_positional) const override {
    std::string name = CLI::Formatter::make_option_name(option, is_positional);
    if (const std::size_t at = name.find("{-}"); at != std::string::npos) name.replace(at, 3, "[=FILE]");
    return name;
  }
};

int complain(int status, const std::string& what) {
  std::fflush(stdout);
  if (!shoal::should_speak(what)) return status;  // one process speaks for all
  // One line, even if a name in it contains line breaks: scripts and people read the last line.
  std::fprintf(stderr, "shoal: error: %s\n", shoal::printable(what).c_str());
  return status;
}

int run(const std::vector<std::pair<CLI::App*, Run>>& commands) {
  for (const auto& [app, command] : commands) {
    if (app->parsed()) return command();
  }
  return complain(kUsage, "no command given (see shoal --help)");
}

}  // namespace

int main(int argc, char** argv) {
  command_begins({argv + (argc > 0), argv + argc});
  // With these signals ignored, a write to a closed pipe (`shoal ... | head`) or beyond `ulimit -f` is an error, which is checked.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  shoal::io::remove_pending_files_on_signals();
  CLI::App app("Irregular parallel programs from one source, on CPU threads and GPUs.", "shoal");
  app.set_version_flag("--version", std::string("shoal ") + shoal::kVersion);
  app.footer(kFooter);
  app.require_subcommand(0, 1);
  app.formatter(std::make_shared<Help>());
  app.get_formatter()->column_width(34);

  std::vector<std::pair<CLI::App*, Run>> commands;
  const auto add = [&](Run command) { commands.emplace_back(app.get_subcommands(nullptr).back(), std::move(command)); };
  const auto add_for_one_process = [&](Run command) {
    const std::string name = app.get_subcommands(nullptr).back()->get_name();
    add([name, command = std::move(command)] {
      shoal::require_one_process(name);
      return command();
    });
  };
  const auto add_for_one_to_say = [&](Run command) {
    add([command = std::move(command)] {
      shoal::begin_together();
      return shoal::is_speaker() ? command() : static_cast<int>(kRight);
    });
  };
  for (const shoal::AlgorithmInfo* info : shoal::algorithms()) add(add_algorithm(app, *info));
  add(add_jacobi3d(app));
  add(add_run(app));
  add_for_one_process(add_bench(app));
  add_for_one_process(add_tune(app));
  add_for_one_process(add_generate(app));
  add_for_one_process(add_convert(app));
  add_for_one_to_say(add_info(app));
  add_for_one_to_say(add_doctor(app));
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    shoal::begin_together();
    return shoal::is_speaker() ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    shoal::begin_together();
    return complain(kUsage, explain_flags(app, error));
  }
  try {
    int status = run(commands);
    std::cout.flush();
    const bool lost = !std::cout || std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
    if (lost && status == kRight)
      status = complain(kUsage, "standard output cannot be written; check the file or program that it goes to");
    return status;
  } catch (const shoal::UsageError& error) {
    return complain(kUsage, error.what());
  } catch (const shoal::CapacityError& error) {
    return complain(kCapacity, error.what());
  } catch (const std::bad_alloc&) {
    return complain(kCapacity, "not enough memory on this machine; use a smaller graph or grid");
  } catch (const shoal::Error& error) {
    return complain(kTransportOrDevice, error.what());
  } catch (const std::exception& error) {
    return complain(kInternal, std::string("a fault of shoal itself; please report it: ") + error.what());
  }
}
