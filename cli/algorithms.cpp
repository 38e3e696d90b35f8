// The list of algorithms that the command knows.
#include <CLI/CLI.hpp>

#include "algorithm.hpp"
#include "shoal/core/error.hpp"
#include "shoal/program/run_flags.hpp"
#include "wrong_flags.hpp"

namespace shoal::cli {

extern const AlgorithmInfo kBfs, kSssp, kPageRank, kComponents;

const std::vector<const AlgorithmInfo*>& algorithms() {
  static const std::vector<const AlgorithmInfo*> all = {&kBfs, &kSssp, &kPageRank, &kComponents};
  return all;
}

const AlgorithmInfo& find_algorithm(const std::string& name) {
  std::string legal;
  for (const AlgorithmInfo* info : algorithms()) {
    if (name == info->name) return *info;
    legal += (legal.empty() ? "" : ", ") + std::string(info->name);
  }
  throw UsageError("algorithm '" + name + "' is not known; legal: " + legal);
}

std::unique_ptr<Algorithm> configure(const AlgorithmInfo& info, const std::vector<std::string>& flags) {
  std::unique_ptr<Algorithm> algorithm = info.make();
  RunFlags shared;
  CLI::App app;
  algorithm->add_flags(app, "");
  shared.add_to(app);
  try {
    app.parse(std::vector<std::string>(flags.rbegin(), flags.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& error) {
    throw UsageError(std::string("options of ") + info.name + ": " + explain_options(app, error));
  }
  Options options;
  shared.read(options);
  algorithm->read(options);
  return algorithm;
}

}  // namespace shoal::cli
