// Error messages for command lines that cannot be parsed.
#pragma once
#include <string>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace shoal::cli {

/// One line: what was wrong, the nearest word that is known, and whose --help says more.
/// @param app  after its parse() threw `error`
std::string explain_flags(const CLI::App& app, const CLI::ParseError& error);

/// The same for options that are not from the command line itself (of a profile, of an algorithm), without the last part.
std::string explain_options(const CLI::App& app, const CLI::ParseError& error);

}  // namespace shoal::cli
