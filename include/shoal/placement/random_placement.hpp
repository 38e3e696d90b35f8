// The numbering of the random partition, as a function. It gives the same numbers on every machine and on GPUs, so no table
// has to be copied.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal {

/// A seeded bijection of [0, n). Trivially copyable; passed to kernels by value.
class RandomPlacement {
 public:
  /// @param n in [0, kMaxVertices]
  RandomPlacement(std::int64_t n, std::uint64_t seed) : n_(n), permute_(mix64(seed ^ 0x70617274ull), bits_for(n)) {}

  /// The placed number of an input vertex below n.
  SHOAL_FN vertex_t operator()(vertex_t v) const {
    // Turns a bijection of [0, 2^bits) into one of [0, n): it is applied until the number is in range again. At most half of
    // the numbers are out of range, so this takes few steps.
    do v = permute_(v);
    while (v >= n_);
    return v;
  }

  /// Bits that hold every number in [0, n).
  static int bits_for(std::int64_t n) {
    int bits = 0;
    while ((std::int64_t{1} << bits) < n) ++bits;
    return bits;
  }

 private:
  std::int64_t n_;
  Permutation permute_;
};

}  // namespace shoal
