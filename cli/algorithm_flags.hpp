// An algorithm's own options as flags of a command line.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "algo/algorithm.hpp"
#include "json.hpp"
#include "output.hpp"

namespace CLI {
class App;
}

namespace shoal::cli {

/// Adds a flag for each of the algorithm's own options. Parsing writes into `algorithm`, which must outlive the parse.
/// @param group  their heading in --help
void add_flags(CLI::App& app, const char* group, Algorithm& algorithm);

/// The algorithm's own options by name, with their values.
Json own_options(Algorithm& algorithm);

/// The input files that the algorithm's own options name.
std::vector<NamedFile> own_files(Algorithm& algorithm);

/// An algorithm with the options that a command line would give it: {"--worker", "warp", "--pes", "2"}.
/// @throws UsageError for flags that the algorithm's command does not have, or that do not fit together
std::unique_ptr<Algorithm> configure(const AlgorithmInfo& info, const std::vector<std::string>& flags);

}  // namespace shoal::cli
