// Connected components in plain serial code, and a definition of the right answer.
//
// A component is a maximal set of vertices that are joined by arcs, whatever their direction (for directed graphs: weakly
// connected). The answer is one label per vertex: the smallest vertex number of its component. Labels are right when, and only
// when,
//   1. no vertex has a label above its own number, and every label is its own label: L[v] <= v, L[L[v]] = L[v];
//   2. both ends of every arc have one label;
//   3. some path joins every vertex to the vertex that its label names.
// (By rule 2 a component has one label, x. By rule 3 x is in the component, and by rule 1 no member is smaller.) Rules 1 and 2 look
// at one vertex or arc at a time, on CPU threads or GPUs. They would accept two components with the same label; only rule 3 detects
// that. The host checks rule 3 with a union-find over all arcs, GPUs with a flood from the vertices that are their own labels
// (verify_gpu.hpp). Neither shares code with the engines that find labels.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/fn.hpp"
#include "shoal/core/span.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/csr.hpp"
#include "union_find.hpp"

namespace shoal {

/// Labels by union-find, serial: [num_vertices], the smallest vertex number of each vertex's component.
inline std::vector<std::int32_t> components_reference(const Csr& graph) {
  const auto n = static_cast<vertex_t>(graph.num_vertices());
  UnionFind sets(n);
  for (vertex_t u = 0; u < n; ++u) {
    for (const vertex_t v : graph.neighbors(u)) sets.unite(u, v);
  }
  std::vector<std::int32_t> label(n);
  for (vertex_t v = 0; v < n; ++v) label[v] = static_cast<std::int32_t>(sets.find(v));
  return label;
}

/// Rule 1 for one vertex. @param label  [all vertices]
SHOAL_FN inline bool label_is_rooted(const vertex_t* label, vertex_t v) {
  return label[v] <= v && label[label[v]] == label[v];
}

/// Rule 2 for one row: the smallest neighbour of v with a label other than v's, or kNoVertex. Reads entries begin, begin + step,
/// ... of the row, so that the lanes of a worker may share it and take the smallest of their results.
SHOAL_FN inline vertex_t other_label_neighbor(const CsrView& rows, const vertex_t* label, vertex_t v,
                                              std::int64_t begin = 0, std::int64_t step = 1) {
  vertex_t found = kNoVertex;
  const Span<const vertex_t> row = rows.neighbors(v);
  for (std::int64_t k = begin; k < row.size(); k += step) {
    if (label[row[k]] != label[v] && row[k] < found) found = row[k];
  }
  return found;
}

/// Describes what is wrong with vertex v, after one of the rules failed: `vertex 17 has label 3 but its neighbour 4 has label 4`.
/// All arguments are in the numbers in which they are to be shown.
/// @param neighbor        kNoVertex unless rule 2 was broken; neighbor_label is read only if it was
/// @param label_of_label  read when neighbor is kNoVertex; equal to `label` when rule 3 was broken
std::string describe_wrong_label(vertex_t v, vertex_t label, vertex_t neighbor, vertex_t neighbor_label,
                                 vertex_t label_of_label);

/// Checks all labels by the three rules, 1 and 2 on all threads. Empty when they are right, otherwise one line about a wrong
/// vertex.
/// @param labels  [num_vertices]; any other length is reported as wrong
std::string verify_components(const Csr& graph, Span<const std::int32_t> labels);

/// The same for a graph that is stored in slices, such as PlacedGraph::out of CPU PEs.
/// @param slices  together all rows, in any order; every arc must occur at least once, in either direction
/// @param labels  [num_vertices] by the slices' numbers
/// @param name    converts those numbers into the ones to be shown
std::string verify_components(const std::vector<CsrView>& slices, Span<const vertex_t> labels,
                              const std::function<vertex_t(vertex_t)>& name);

/// How many components a right labelling has, and the size of the largest; {0, 0} when there are no vertices.
struct ComponentSizes {
  std::int64_t count = 0;
  std::int64_t largest = 0;
};
ComponentSizes component_sizes(Span<const std::int32_t> labels);

}  // namespace shoal
