// Graphs from a seed. The same specification gives the same graph on every machine, for any number of threads and PEs.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

enum class GraphKind { kron, road, uniform, community, chain, star, complete };

/// A parsed generator argument such as `kron:20,seed=7,degree=16`.
///
///   kron:S       Graph500 Kronecker, 2^S vertices, degree * 2^S undirected edges before loops and duplicates are
///                removed (A, B, C = .57, .19, .19), vertex numbers permuted; symmetric          degree 16
///   road:N       N x N four-neighbour grid, row-major numbers, a share of its edges deleted; symmetric   deleted .1
///   uniform:S    2^S vertices, degree * 2^S undirected edges with uniform ends, no loops or duplicates;
///                symmetric                                                              degree 16
///   community:S  2^S vertices in communities, each a range of consecutive numbers; degree * 2^S undirected edges before
///                loops and duplicates are removed. Expected degrees follow a power law of exponent 2 + 1 / (skew - 1)
///                within each community. A share `mixing` of the edges ends in a community that is drawn anew; the others
///                end in the community of their source. graph/edge_functions.hpp describes the model; symmetric
///                                                               degree 16, mixing .2, skew 3
///   chain:N  star:N  complete:N    N vertices; symmetric; star's centre is vertex 0
///
/// Keys: seed (all), degree and directed (kron, uniform, community), deleted (road), mixing, skew and shuffled
/// (community). `directed` without a value means directed=1; the same holds for shuffled. text() leaves out keys that have
/// their default value.
struct GeneratorSpec {
  GraphKind kind = GraphKind::kron;
  std::int64_t size = 0;  ///< S or N above
  std::uint64_t seed = 1;
  std::int64_t degree = 16;  ///< kron, uniform and community only
  double deleted = 0.1;      ///< road only, in [0, 1)
  bool directed = false;  ///< kron, uniform, community: arcs in the drawn direction only, without loops and duplicates
  double mixing = 0.2;    ///< community only, in [0, 1]; 1: the two ends of an edge are independent
  std::int64_t skew = 3;  ///< community only, in [1, 8]; 1: equal expected degrees
  bool shuffled = false;  ///< community only: vertex numbers permuted, so that communities are not ranges of numbers
  /// True if the graph consists of edges that are drawn one by one: kron, uniform, community.
  bool draws_edges() const {
    return kind == GraphKind::kron || kind == GraphKind::uniform || kind == GraphKind::community;
  }
  std::int64_t num_vertices() const;
  /// An upper bound on the number of arcs: their number before loops, duplicates and deleted edges are removed. A double,
  /// because complete:N can exceed 2^63.
  double max_arcs() const;
  /// @throws UsageError if a field is out of range (never after parse_generator)
  void check() const;
  std::string text() const;  ///< canonical form, as reports show it; parse_generator(text()) gives the same
};

/// True if `argument` has the form NAME:NUMBER[,key=value...] with the name of a generator. (A file with such a name must be
/// written as ./NAME.)
bool is_generator(const std::string& argument);

/// @throws UsageError naming the argument, the part that is wrong, and the legal keys and ranges
GeneratorSpec parse_generator(const std::string& argument);

/// Generates the graph on the host with all threads. @throws UsageError if its vertices would not fit vertex_t,
/// CapacityError if it would not fit in memory (estimated before anything is allocated).
Csr generate(const GeneratorSpec& spec);

}  // namespace shoal
