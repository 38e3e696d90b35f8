// Which PE owns which vertex. A placed graph numbers its vertices so that each PE owns one contiguous range. If the partition
// is not contiguous in the input's numbers, a permutation translates between the two. Results are given in the input's
// numbers, so they do not depend on the partition.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

struct Csr;

enum class PartitionKind { automatic, block, edges, strips, random, modulo, metis, one, file };

/// The ranges of all PEs. This is all that kernels need.
struct OwnerTable {
  vertex_t begin[kMaxPes + 1] = {};  ///< PE p owns placed vertices [begin[p], begin[p + 1])
  pe_t n_pes = 1;

  /// The owner of a placed vertex. If v is not a vertex, it is n_pes, which is no PE; the worklist refuses such an item.
  SHOAL_FN pe_t operator()(vertex_t v) const {
    // GPUs call this at least once for every item. So all lanes take the same path, and two PEs need no loop.
    pe_t p = (v >= begin[1]) + (n_pes > 1 && v >= begin[2]);
    // If it were unrolled, there would be a loop unrolled by four at each of a kernel's many calls.
    SHOAL_ROLLED
    for (pe_t q = 2; q < n_pes; ++q) p += v >= begin[q + 1];
    return p;
  }
  /// Whether `pe` owns v. Quicker than to find the owner.
  SHOAL_FN bool owns(pe_t pe, vertex_t v) const { return v - begin[pe] < begin[pe + 1] - begin[pe]; }
};

/// A partition of n vertices over n_pes PEs.
struct Partition {
  PartitionKind kind = PartitionKind::block;
  OwnerTable owner;
  HostArray<vertex_t> placed_of_input;  ///< [n], or empty if both numberings are the same
  HostArray<vertex_t> input_of_placed;  ///< [n], or empty if both numberings are the same
  arc_t cut_arcs = -1;                  ///< arcs whose ends have different owners; -1: not counted
  double imbalance = 0;                 ///< arcs of the PE that has the most, over the mean of all PEs; 1 is perfect

  std::int64_t n() const { return owner.begin[owner.n_pes]; }
  bool identity() const { return placed_of_input.empty(); }
  vertex_t placed(vertex_t input) const { return identity() ? input : placed_of_input[input]; }
  vertex_t input(vertex_t placed) const { return identity() ? placed : input_of_placed[placed]; }
};

/// Makes a partition.
/// @param kind  block: contiguous ranges with equally many vertices; edges: contiguous ranges with equally many arcs;
///              strips: eight such ranges for each PE (fewer from nine PEs on), in turns; random: a seeded permutation;
///              modulo: vertex v goes to PE v mod n_pes; metis: few cut arcs, by METIS (symmetric view of the graph);
///              one: all vertices on PE 0; file: read from `file`, which has one PE number per line ('#' and '%' begin
///              comments); automatic: edges
/// @param n_pes in [1, kMaxPes]; may exceed the number of vertices: some PEs then own none
/// @param seed  for random and metis
/// @throws UsageError  METIS was not found when shoal was built, the graph is too large for its 32-bit indices, or the
///                     file is malformed (names file and line)
Partition make_partition(const Csr& graph, pe_t n_pes, PartitionKind kind, const std::string& file = "",
                         std::uint64_t seed = 1);

/// The ranges of the partition `block`, without counting cut arcs.
OwnerTable block_ranges(std::int64_t n, pe_t n_pes);
/// The ranges of the partition `edges`, without counting cut arcs. @param offsets  [n + 1] of the graph
OwnerTable edge_ranges(const arc_t* offsets, std::int64_t n, pe_t n_pes);
/// The same without an array of offsets: before(v) is the number of arcs in rows before v, for v in [0, n].
OwnerTable edge_ranges(const std::function<arc_t(std::int64_t)>& before, std::int64_t n, pe_t n_pes);
/// All vertices on PE 0; the others own none.
OwnerTable one_range(std::int64_t n, pe_t n_pes);

/// A random partition of n vertices, the same on every machine. Its cut arcs are not counted.
Partition random_partition(std::int64_t n, pe_t n_pes, std::uint64_t seed);

/// The same graph in placed numbers, with its weights; rows are sorted by placed target. Returns a copy even if both
/// numberings are the same.
/// @throws UsageError  the partition is of another number of vertices
Csr place(const Csr& graph, const Partition& partition);

}  // namespace shoal
