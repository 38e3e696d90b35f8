// Starts another program and waits for it.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace shoal::cli {

/// Its exit status. Empty if it cannot be started, or if a signal ended it.
/// @param input  a descriptor that it reads as standard input, while all its output is discarded; -1: it has the input and output
///   of this program
std::optional<int> run_program(std::vector<std::string> words, int input = -1);

}  // namespace shoal::cli
