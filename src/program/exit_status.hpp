// A program's exit status, and the line on stderr that it prints if something went wrong.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace shoal {

/// The version, the program and its arguments as one line. It must be the same in all processes.
std::string started_as(int argc, char** argv);

/// Reads a program's command line, then runs `body`, which returns whether its answer is right.
/// @param app  has all flags, and the program's name
/// @return 0 right, 1 wrong, 2 usage, 3 capacity, 4 transport or device, 5 an exception of the program's own
int parse_and_run(CLI::App& app, int argc, char** argv, const std::function<bool()>& body);

}  // namespace shoal
