#include "exit_status.hpp"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {
namespace {

/// Prints `what` in one line, in one process for all. @return status
int complain(int status, const std::string& program, const std::string& what) {
  std::fflush(stdout);
  if (!should_speak(what)) return status;
  std::fprintf(stderr, "%s: error: %s\n", program.c_str(), printable(what).c_str());
  return status;
}

int exit_status_of(const std::string& program, const std::function<bool()>& body) {
  try {
    return body() ? 0 : 1;
  } catch (const UsageError& error) {
    return complain(2, program, error.what());
  } catch (const CapacityError& error) {
    return complain(3, program, error.what());
  } catch (const std::bad_alloc&) {
    return complain(3, program, "out of memory; make it smaller, or use more PEs");
  } catch (const Error& error) {
    return complain(4, program, error.what());
  } catch (const std::exception& error) {
    return complain(5, program, std::string("the program threw an exception of its own: ") + error.what());
  } catch (...) {
    return complain(5, program, "the program threw an exception of its own that has no text");
  }
}

}  // namespace

std::string started_as(int argc, char** argv) {
  std::string line = std::string("shoal ") + kVersion + " " + std::filesystem::path(argv[0]).filename().string();
  for (int i = 1; i < argc; ++i) line += " " + printable(argv[i]);
  return line;
}

int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<bool()>& body) {
  const std::string& name = app.get_name();
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return is_speaker() ? app.exit(help) : 0;
  } catch (const CLI::ParseError& error) {
    return complain(2, name, std::string(error.what()) + " (see " + name + " --help)");
  }
  return exit_status_of(name, body);
}

}  // namespace shoal
