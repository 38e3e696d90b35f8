// Runs programs inside a test: makes the arguments and returns the exit status.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "shoal/shoal.hpp"

namespace shoal {

using Body = std::function<bool(Context&)>;

/// Runs `body` as a program on `pes` PEs with one CPU thread each. Returns its exit status.
/// @param graph  empty: a program without a graph
inline int status_of(const Body& body, int pes, const std::vector<std::string>& flags = {},
                     const std::string& graph = "") {
  std::vector<std::string> words = {"program", "--device", "cpu", "--threads", "1", "--pes", std::to_string(pes)};
  words.insert(words.end(), flags.begin(), flags.end());
  if (!graph.empty()) words.push_back(graph);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  const int n = static_cast<int>(argv.size());
  return graph.empty() ? run_program(n, argv.data(), "of a test", 0, body)
                       : run_program(n, argv.data(), "of a test", body);
}

}  // namespace shoal
