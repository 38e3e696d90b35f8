// Statistics over trials.
#pragma once
#include <algorithm>
#include <cstddef>
#include <vector>

namespace shoal::cli {

/// @param values  at least one
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

}  // namespace shoal::cli
