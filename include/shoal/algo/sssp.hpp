// Single-source shortest paths as a task. An item says "v can be reached at this distance". The owner of v accepts it only if
// this distance is shorter than the one before. The worker that runs the item offers distance + weight to every
// out-neighbour. The order of the items only decides how often vertices run again.
//
// A distance is stored in a word that has, as an unsigned number, the same order as the distances. So one fetch_min serves all
// kinds of distances:
//   narrow (32 bits)  whole numbers that saturate at kTooFar: kTooFar means "at least this far"
//   wide (64 bits)    whole numbers, which cannot overflow because a path has fewer than 2^31 arcs of less than 2^31 each; or
//                     the bits of a double that is not negative, which have the same order as the doubles
// In both, a word with all bits set means unreached.
//
// Sources: Atos, section IV; with `--queue priority` the order is that of delta-stepping (Meyer, Sanders 2003).
#pragma once
#include <bit>
#include <cstdint>

#include "shoal/algo/lowers_word.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/placed_graph.hpp"

namespace shoal {

template <class Word>
inline constexpr Word kUnreachedDistance = static_cast<Word>(~Word{0});
/// The largest narrow distance. If it occurs in the answer, 32 bits were too few, and the run is repeated with wide words. (A
/// narrow run computes the minimum over all paths of min(length, kTooFar), so every smaller distance is exact.)
inline constexpr std::uint32_t kTooFar = 0xFFFFFFFEu;

/// The length of a path that has length `distance` (not unreached) and is continued along arc number `at` of the slice.
SHOAL_FN inline std::uint32_t extend(std::uint32_t distance, ArcWeights weights, arc_t at) {
  const auto weight = static_cast<std::uint32_t>(weights.ints[at]);
  const std::uint32_t most = kTooFar - weight;
  return (distance < most ? distance : most) + weight;
}
SHOAL_FN inline std::uint64_t extend(std::uint64_t distance, ArcWeights weights, arc_t at) {
  if (weights.ints != nullptr) return distance + static_cast<std::uint64_t>(weights.ints[at]);
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(distance) + weights.reals[at]);
}

/// The word of a vertex is its distance.
/// @tparam Word  std::uint32_t (narrow; whole weights only) or std::uint64_t (wide)
template <class Word>
struct Sssp : LowersWord<Word> {
  static constexpr bool kRefusesMost = true;  ///< most arcs lead to vertices that have shorter paths already
  using Item = typename LowersWord<Word>::Item;

  CsrView graph;       ///< this PE's rows
  ArcWeights weights;  ///< weights of their arcs

  SHOAL_FN ArcRange range(Item item) const { return graph.arcs(item.v); }
  SHOAL_FN Item make(Item item, Arc arc) const { return {arc.target, extend(item.word, weights, arc.number)}; }

  SHOAL_FN arc_t locate(bool asks, Item item) const { return graph.locate(asks, item.v); }
  SHOAL_FN void prefetch(bool accepted, Item, arc_t begin) const {
    graph.prefetch(accepted, begin);
    if (sizeof(Word) == 4 || weights.ints != nullptr) {
      prefetch_if(accepted, weights.ints + begin);
    } else {
      prefetch_if(accepted, weights.reals + begin);
    }
  }

  /// The distance as a number.
  SHOAL_FN double priority(Item item) const {
    if constexpr (sizeof(Word) == 8) {
      if (weights.reals != nullptr) return std::bit_cast<double>(item.word);
    }
    return static_cast<double>(item.word);
  }
};

}  // namespace shoal
