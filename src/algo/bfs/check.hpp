// Checks answers with the property verifier of reference.hpp, which shares no code with the search.
#pragma once
#include <optional>
#include <string>

#include "shoal/algo/bfs_run.hpp"

namespace shoal {

/// Holds what a check needs beside the answer: for a directed graph, its reverse (built once, at the first check).
class BfsCheck {
 public:
  explicit BfsCheck(const Csr& graph) : graph_(graph) {}
  /// The first thing that is wrong with `result`, or an empty text.
  std::string find_wrong(vertex_t source, const BfsResult& result);

 private:
  const Csr& graph_;
  std::optional<Csr> reverse_;
};

}  // namespace shoal
