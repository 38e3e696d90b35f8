#include "provenance.hpp"

#include <utility>

#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"

namespace shoal::cli {

namespace {

Provenance& of_this_process() {
  static Provenance known;
  return known;
}

}  // namespace

void command_begins(std::vector<std::string> arguments) {
  of_this_process() = {std::move(arguments), utc_now(), revision()};
}

const Provenance& provenance() { return of_this_process(); }

std::string started_as() {
  std::string line = std::string("shoal ") + kVersion + " (" + revision() + ")";
  for (const std::string& word : provenance().arguments) line += " " + printable(word);
  return line;
}

}  // namespace shoal::cli
