// Graphs from a seed: the same graph for the same specification on every machine, thread count and number of PEs.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

enum class GraphKind { kron, road, uniform, chain, star, complete };

/// A parsed generator argument such as `kron:20,seed=7,degree=16`.
///
///   kron:S       Graph500 Kronecker, 2^S vertices, degree * 2^S undirected edges before loops and duplicates are
///                removed (A, B, C = .57, .19, .19), vertex numbers permuted; symmetric          degree 16
///   road:N       N x N four-neighbour grid, row-major numbers, a share of its edges deleted; symmetric   deleted .1
///   uniform:S    2^S vertices, degree * 2^S undirected edges with uniform ends, no loops or duplicates;
///                symmetric                                                              degree 16
///   chain:N  star:N  complete:N    N vertices; symmetric; star's centre is vertex 0
///
/// Keys: seed (all), degree and directed (kron, uniform), deleted (road). `directed` alone means directed=1. Options
/// that have their default value are left out of text().
struct GeneratorSpec {
  GraphKind kind = GraphKind::kron;
  std::int64_t size = 0;  ///< S or N above
  std::uint64_t seed = 1;
  std::int64_t degree = 16;  ///< kron and uniform only
  double deleted = 0.1;      ///< road only, in [0, 1)
  bool directed = false;     ///< kron and uniform: arcs in the drawn direction only, without loops and duplicates
  std::int64_t num_vertices() const;
  /// An upper bound of the number of arcs: before loops, duplicates and deleted edges are removed. A double, because
  /// complete:N can exceed 2^63.
  double max_arcs() const;
  /// @throws UsageError if a field is out of range (parse_generator never leaves one so)
  void check() const;
  std::string text() const;  ///< canonical form, as reports show it; parse_generator(text()) gives the same
};

/// True if `argument` has the form NAME:NUMBER[,key=value...] with a known generator's name (a file of that name on
/// disk takes precedence only when written as ./NAME).
bool is_generator(const std::string& argument);

/// @throws UsageError naming the argument, the part that is wrong, and the legal keys and ranges
GeneratorSpec parse_generator(const std::string& argument);

/// Generates on the host with all threads. @throws UsageError if the graph would not fit vertex_t, CapacityError if it
/// would not fit in memory (estimated before allocating).
Csr generate(const GeneratorSpec& spec);

}  // namespace shoal
