// Shortest paths in plain serial code, and a definition of the right answer.
//
// Distances are wide words (algo/sssp.hpp). They are right when, and only when,
//   1. the source has distance 0, and every other vertex v has the smallest of distance(u) + weight over its in-arcs u -> v
//      from reached vertices, or is unreached when there is none; and
//   2. every reached vertex is grounded: the source is, and so is v when an in-arc that gives v its distance comes from a
//      grounded vertex.
// Rule 1 implies that no distance is longer than any path (along a path, each vertex's distance is at most its predecessor's plus
// the arc's weight), and that all reachable vertices are reached. Rule 2 implies that walking back along the arcs that ground a
// vertex reaches the source, so that the distance is the length of a path. If an arc that gives v its distance comes from a
// strictly nearer vertex, then induction over distances grounds v. So only vertices without such an arc need a search, and they
// exist only where there are arcs of weight zero (or real weights so small that adding them changes nothing). Without rule 2, a
// ring of such arcs could carry any distance that is too small. With real weights, "sum" means the rounded sum that starts at the
// source; it never decreases along a path, and the argument needs no more.
//
// Predecessors are right when the source is its own, unreached vertices have none (-1), every other vertex has an in-arc
// from its predecessor that gives it its distance, and following predecessors ends at the source.
#pragma once
#include <cstdint>
#include <functional>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "shoal/algo/sssp.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/span.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal {

/// The weights of a host graph's arcs, and its rows, as one slice.
inline ArcWeights weights_of(const Csr& graph) {
  return graph.weight_kind == WeightKind::float64 ? ArcWeights{nullptr, graph.real_weights.data()}
                                                  : ArcWeights{graph.int_weights.data(), nullptr};
}
inline CsrView rows_of(const Csr& graph) {
  return {graph.offsets.data(), graph.targets.data(), 0, static_cast<vertex_t>(graph.num_vertices())};
}

/// Distances by Dijkstra's algorithm, serial: wide words [num_vertices].
/// @param graph   with weights, none negative or infinite; the caller has checked it (with_weights())
/// @param source  below graph.num_vertices(); the caller has checked it
inline std::vector<std::uint64_t> sssp_reference(const Csr& graph, vertex_t source) {
  using Entry = std::pair<std::uint64_t, vertex_t>;
  std::vector<std::uint64_t> distance(graph.num_vertices(), kUnreachedDistance<std::uint64_t>);
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> nearest;
  distance[source] = 0;
  nearest.push({0, source});
  while (!nearest.empty()) {
    const auto [d, u] = nearest.top();
    nearest.pop();
    if (d > distance[u]) continue;
    for (arc_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      const std::uint64_t longer = extend(d, weights_of(graph), a);
      if (longer >= distance[graph.targets[a]]) continue;
      distance[graph.targets[a]] = longer;
      nearest.push({longer, graph.targets[a]});
    }
  }
  return distance;
}

/// The best offer of v's in-arcs.
template <class Word>
struct Arrival {
  Word distance = kUnreachedDistance<Word>;  ///< all ones: no in-arc from a reached vertex
  vertex_t neighbor = kNoVertex;             ///< a vertex that makes this offer
  bool from_nearer = false;                  ///< a strictly nearer vertex makes this offer

  /// Combines two arrivals, for lanes of a worker that share a row and have found one each.
  SHOAL_FN void merge(const Arrival& other) {
    const bool closer = other.distance < distance;
    from_nearer = (other.from_nearer && other.distance <= distance) || (from_nearer && !closer);
    if (closer) distance = other.distance, neighbor = other.neighbor;
  }
};

/// Reads entries begin, begin + step, ... of v's row.
/// @param in, weights  the rows of in-arcs, which must contain v's, and their weights
/// @param distance     [all vertices]
template <class Word>
SHOAL_FN Arrival<Word> best_arrival(const CsrView& in, ArcWeights weights, const Word* distance, vertex_t v,
                                    std::int64_t begin = 0, std::int64_t step = 1) {
  Arrival<Word> best;
  const arc_t end = in.offsets[in.local(v) + 1];
  for (arc_t a = in.offsets[in.local(v)] + begin; a < end; a += step) {
    const Word near = distance[in.targets[a]];
    if (near == kUnreachedDistance<Word>) continue;
    const Word offer = extend(near, weights, a);
    best.merge({offer, in.targets[a], near < offer});
  }
  return best;
}

/// True if rule 1 holds for v.
template <class Word>
SHOAL_FN bool distance_is_right(vertex_t v, vertex_t source, Word distance, const Arrival<Word>& best) {
  return v == source ? distance == 0 : distance == best.distance;
}

/// Describes what breaks rule 1 at v; `v` and best.neighbor are printed as they are. Call it when distance_is_right() returned
/// false.
/// @param real  the words are the bits of doubles
std::string describe_wrong_distance(vertex_t v, vertex_t source, std::uint64_t distance,
                                    const Arrival<std::uint64_t>& best, bool real);

/// Converts the answer's array to words: -1 or infinity becomes all ones.
HostArray<std::uint64_t> sssp_words(Span<const std::int64_t> distances);
HostArray<std::uint64_t> sssp_words(Span<const double> distances);

/// Checks all distances, on all threads. Empty when they are right; otherwise one line about a wrong vertex, such as
/// `vertex 17 has distance 12, but neighbour 3 offers 9`.
/// @param in     the graph if it is symmetric, else its transpose; with weights
/// @param words  [num_vertices]; any other length is reported as wrong
std::string verify_distances(const Csr& in, Span<const std::uint64_t> words, vertex_t source);

/// A tree of shortest paths, [num_vertices]. The predecessor of v is the smallest vertex among those that are strictly nearer and
/// whose arc gives v its distance. Where none is nearer (arcs of weight zero), vertices of equal distance are taken in rounds,
/// starting from those already in the tree: the predecessor is the smallest vertex of the previous round whose arc gives v its
/// distance, so there are no rings. The tree does not depend on the run that found the distances. The source is its own
/// predecessor; -1 where unreached. Uses all threads.
/// @param words  right distances; a vertex that is not grounded gets -1
HostArray<std::int32_t> sssp_predecessors(const Csr& in, Span<const std::uint64_t> words, vertex_t source);

/// Checks a tree against distances that verify_distances() found right. Empty when it is right.
/// @param smallest  also require the smallest vertex among the strictly nearer ones, where there are any
std::string verify_predecessors(const Csr& in, Span<const std::uint64_t> words, Span<const std::int32_t> predecessors,
                                vertex_t source, bool smallest = false);

}  // namespace shoal
