// Single-source shortest paths as a task: an item says "v can be reached at this distance"; the owner of v keeps it only
// when that is better than what it knows; whoever runs it offers distance + weight to every out-neighbour. Distances are
// exact whatever the order, because a later, better item runs again; the order decides only how often that happens.
//
// A distance is a word whose order as an unsigned number is the order of distances, so that one fetch_min serves all:
//   narrow (32 bits)  whole numbers up to kTooFar, where they stay: kTooFar says "at least that far"
//   wide (64 bits)    whole numbers, which cannot overflow: a path has less than 2^31 arcs of less than 2^31 each; or the
//                     bits of a double that is not negative, which are ordered as the doubles are
// All ones is unreached in each.
//
// Sources: Atos, section IV; with `--queue priority` the order is that of delta-stepping (Meyer, Sanders 2003). Differs: the
// owner judges (Groute's OnReceive); with `--judge remote` the pusher does.
#pragma once
#include <bit>
#include <cstdint>

#include "shoal/core/atomic.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/placement/symmetric.hpp"
#include "shoal/worker/task.hpp"
#include "shoal/worklist/kernel_set.hpp"

namespace shoal {

template <class Word>
inline constexpr Word kUnreachedDistance = static_cast<Word>(~Word{0});
/// The largest narrow distance. One that is found means that narrow words are not wide enough: the run is repeated in wide
/// ones. (A narrow run takes the smallest over all paths of the smaller of length and kTooFar, so what is below is exact.)
inline constexpr std::uint32_t kTooFar = 0xFFFFFFFEu;

/// The distance of a path of length `distance`, not unreached, that goes on along arc `at` of the slice.
SHOAL_FN inline std::uint32_t extend(std::uint32_t distance, ArcWeights weights, arc_t at) {
  const auto weight = static_cast<std::uint32_t>(weights.ints[at]);
  const std::uint32_t most = kTooFar - weight;
  return (distance < most ? distance : most) + weight;
}
SHOAL_FN inline std::uint64_t extend(std::uint64_t distance, ArcWeights weights, arc_t at) {
  if (weights.ints != nullptr) return distance + static_cast<std::uint64_t>(weights.ints[at]);
  return std::bit_cast<std::uint64_t>(std::bit_cast<double>(distance) + weights.reals[at]);
}

/// @tparam Word  std::uint32_t (narrow; whole weights only) or std::uint64_t (wide)
template <class Word>
struct Sssp {
  struct Item {
    vertex_t v;
    Word distance;
  };
  /// An out-arc: where it leads, and its number in the slice.
  struct Arc {
    vertex_t target;
    arc_t at;
  };
  struct Row {
    const vertex_t* targets;  ///< of the whole slice
    arc_t begin;
    std::int64_t count;

    SHOAL_FN std::int64_t size() const { return count; }
    SHOAL_FN Arc operator[](std::int64_t i) const { return {targets[begin + i], begin + i}; }
  };

  static constexpr bool kSelfContained = true;  ///< an item has its distance: what it finds in memory may be older
  static constexpr bool kKnowsOthers = true;
  static constexpr KernelSet kKernels = kAllKernels;

  CsrView graph;       ///< this PE's rows
  ArcWeights weights;  ///< of their arcs
  OwnerTable owners;   ///< who owns which vertex
  /// [vertices] by placed number: distances of this PE's own vertices, and for the others the least that was offered from here;
  /// all ones where not reached yet.
  Word* known;
  Symmetric<Word> distances;  ///< the own part of every PE's, for accept_at

  SHOAL_FN pe_t owner(Item item) const { return owners(item.v); }

  /// Most arcs lead to something nearer: a look spares them the atomic.
  SHOAL_FN bool promising(Item item) const { return looks_better(known[item.v], item); }
  /// Lowers the distance; true if it was lowered.
  SHOAL_FN bool accept(Item item) const { return lower(known[item.v], item); }
  SHOAL_FN bool worth_sending(Item item) const { return lower(known[item.v], item); }
  /// Without a look: half of what gets here is news, and a look far away costs as much.
  SHOAL_FN bool accept_at(pe_t pe, Item item) const {
    return lower(distances.part[pe][item.v - owners.begin[pe]], item);
  }
  /// A better item has overtaken this one.
  SHOAL_FN bool stale(Item item) const { return load<Scope::system>(known[item.v]) < item.distance; }

  /// The distance as a number.
  SHOAL_FN double priority(Item item) const {
    if constexpr (sizeof(Word) == 8) {
      if (weights.reals != nullptr) return std::bit_cast<double>(item.distance);
    }
    return static_cast<double>(item.distance);
  }
  SHOAL_FN vertex_t key(Item item) const { return item.v; }
  SHOAL_FN Item combine(Item a, Item b) const { return a.distance < b.distance ? a : b; }

  SHOAL_FN Row range(Item item) const {
    const arc_t begin = graph.offsets[graph.local(item.v)];
    return {graph.targets, begin, graph.offsets[graph.local(item.v) + 1] - begin};
  }
  SHOAL_FN Item make(Item item, Arc arc) const { return {arc.target, extend(item.distance, weights, arc.at)}; }

 private:
  SHOAL_FN static bool looks_better(const Word& distance, Item item) {
    return load<Scope::system>(distance) > item.distance;
  }
  SHOAL_FN static bool lower(Word& distance, Item item) {
    return fetch_min<Scope::system>(distance, item.distance) > item.distance;
  }
};

}  // namespace shoal
