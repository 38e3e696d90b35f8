// A small graph and distances of ranks for the tests of PageRank.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

#include "shoal/data/io.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::test {

/// A graph with a double arc, a loop, dangling vertices (4, 6), and a vertex without any arc (7).
inline Csr multigraph() { return csr_from_arcs(8, {0, 0, 0, 1, 2, 2, 3, 3, 5, 5}, {1, 1, 2, 2, 0, 2, 2, 4, 0, 6}); }

inline Span<const double> span(const std::vector<double>& x) { return {x.data(), static_cast<std::int64_t>(x.size())}; }

/// The sum of absolute differences (L1); infinite if the lengths differ.
template <class A, class B>
double distance(const A& a, const B& b) {
  if (static_cast<std::int64_t>(a.size()) != static_cast<std::int64_t>(b.size())) return HUGE_VAL;
  double sum = 0;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(a.size()); ++i) sum += std::abs(a[i] - b[i]);
  return sum;
}
inline double distance(const std::vector<double>& a, const std::vector<double>& b) {
  return distance<std::vector<double>, std::vector<double>>(a, b);
}

}  // namespace shoal::test
