// Which PE owns which vertex. A placed graph numbers its vertices so that each PE owns one contiguous range; where the
// partition is not contiguous in the input's numbers, a permutation translates both ways and results come back in the
// input's numbers, so that they do not depend on the partition.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

struct Csr;

enum class PartitionKind { automatic, block, edges, random, modulo, metis, one, file };

/// The ranges alone, as kernels see them.
struct OwnerTable {
  vertex_t begin[kMaxPes + 1] = {};  ///< PE p owns placed vertices [begin[p], begin[p + 1])
  pe_t n_pes = 1;

  /// The owner of a placed vertex. Of a number that is no vertex's it is n_pes, no PE: the worklist refuses such an item.
  SHOAL_FN pe_t operator()(vertex_t v) const {
    // All lanes take the same way, and for two PEs there is no loop: GPUs ask this for every item, and some again.
    pe_t p = (v >= begin[1]) + (n_pes > 1 && v >= begin[2]);
#if defined(__CUDACC__)
#pragma unroll 1  // a copy for four PEs at a time would be in each of a kernel's many places
#endif
    for (pe_t q = 2; q < n_pes; ++q) p += v >= begin[q + 1];
    return p;
  }
};

/// A partition of n vertices over n_pes PEs.
struct Partition {
  PartitionKind kind = PartitionKind::block;
  OwnerTable owner;
  HostArray<vertex_t> placed_of_input;  ///< [n], or empty when the numbers are the same
  HostArray<vertex_t> input_of_placed;  ///< [n], or empty when the numbers are the same
  arc_t cut_arcs = -1;                  ///< arcs whose ends have different owners; -1 when not counted
  double imbalance = 0;                 ///< largest PE's arcs over the mean; 1 is perfect

  std::int64_t n() const { return owner.begin[owner.n_pes]; }
  bool identity() const { return placed_of_input.empty(); }
  vertex_t placed(vertex_t input) const { return identity() ? input : placed_of_input[input]; }
  vertex_t input(vertex_t placed) const { return identity() ? placed : input_of_placed[placed]; }
};

/// Makes a partition.
/// @param kind  block: equal vertices; edges: contiguous, equal arcs; random: a seeded permutation; modulo: vertex v
///              goes to PE v mod n_pes; metis: edge cut by METIS (symmetric view of the graph); one: all vertices on
///              PE 0; file: one PE number per line, `file` names it ('#' and '%' begin comments); automatic: edges
/// @param n_pes in [1, kMaxPes]; may exceed the number of vertices: some PEs then own none
/// @param seed  of random and metis
/// @throws UsageError  METIS was not found when shoal was built, the graph is too large for its 32-bit indices, or the
///                     file is malformed (names file and line)
Partition make_partition(const Csr& graph, pe_t n_pes, PartitionKind kind, const std::string& file = "",
                         std::uint64_t seed = 1);

/// The ranges of a contiguous partition, without counting its cut: block, or edges from the graph's offsets.
OwnerTable block_ranges(std::int64_t n, pe_t n_pes);
OwnerTable edge_ranges(const arc_t* offsets, std::int64_t n, pe_t n_pes);
/// Likewise where somebody else has the offsets: before(v) arcs are in rows before v, for v in [0, n].
OwnerTable edge_ranges(const std::function<arc_t(std::int64_t)>& before, std::int64_t n, pe_t n_pes);
/// All vertices on PE 0; the others own none.
OwnerTable one_range(std::int64_t n, pe_t n_pes);

/// A random partition of n vertices, the same on every machine; its cut is not counted.
Partition random_partition(std::int64_t n, pe_t n_pes, std::uint64_t seed);

/// The same graph in placed numbers, with its weights (rows sorted by placed target). Returns a copy even when the numbers are the same.
Csr place(const Csr& graph, const Partition& partition);

}  // namespace shoal
