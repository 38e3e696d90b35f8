// How a baseline reports errors, without the headers of its commands.
#pragma once
#include <functional>
#include <string>

namespace shoal::baselines {

/// Runs `work`. @return the exit status; on failure, `line` gets the error message
int attempt(const std::function<int()>& work, std::string& line);

/// Prints an error of the program `name`.
void complain(const std::string& name, const std::string& line);

}  // namespace shoal::baselines
