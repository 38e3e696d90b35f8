#include "provenance.hpp"

#include <ctime>
#include <utility>

#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"

namespace shoal::cli {

namespace {

Provenance& of_this_process() {
  static Provenance known;
  return known;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[sizeof "2026-11-21T17:49:47Z"];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
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
