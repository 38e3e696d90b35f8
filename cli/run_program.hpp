// Another program, started and waited for.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {

/// Its exit status. Empty if it cannot be started.
/// @param input  what it reads as standard input, and then nothing of what it says is shown; -1: as this program
std::optional<int> run_program(std::vector<std::string> words, int input = -1);

}  // namespace shoal::cli
