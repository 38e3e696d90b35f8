// The list of algorithms.
#include "algorithm.hpp"
#include "shoal/core/error.hpp"

// One line for each algorithm, in the order of --help: describe_NAME() is in src/algo/NAME/describe.cpp.
#define SHOAL_ALGORITHMS(ALGORITHM) \
  ALGORITHM(bfs)                    \
  ALGORITHM(sssp)                   \
  ALGORITHM(pagerank)               \
  ALGORITHM(components)             \
  ALGORITHM(kcore)

namespace shoal {

#define DECLARE(name) const AlgorithmInfo& describe_##name();
SHOAL_ALGORITHMS(DECLARE)
#undef DECLARE

const std::vector<const AlgorithmInfo*>& algorithms() {
#define LIST(name) &describe_##name(),
  static const std::vector<const AlgorithmInfo*> all = {SHOAL_ALGORITHMS(LIST)};
#undef LIST
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

}  // namespace shoal
