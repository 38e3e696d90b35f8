// shoal.Graph from arcs in any order.
#include <nanobind/stl/string.h>

#include <utility>
#include <vector>

#include "arrays.hpp"
#include "shoal/data/io.hpp"

namespace shoal::python {
namespace {

/// Copies one end of each arc. @throws UsageError  an entry is not a vertex; the message names the first such entry
std::vector<vertex_t> read_ends(const Input<std::int64_t>& array, const char* what, std::int64_t num_vertices) {
  std::vector<vertex_t> ends(array.size());
  for (std::size_t i = 0; i < ends.size(); ++i) {
    const std::int64_t v = array.data()[i];
    if (v < 0 || v >= num_vertices) {
      throw UsageError(
          std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(v) + "; " +
          (num_vertices > 0 ? "vertices are 0 to " + std::to_string(num_vertices - 1) : "the graph has no vertices") +
          ", because num_vertices is " + std::to_string(num_vertices));
    }
    ends[i] = static_cast<vertex_t>(v);
  }
  return ends;
}

template <class T>
std::vector<T> copy(const Weights<T>& weights) {
  if (!weights) return {};
  std::vector<T> copied(weights->data(), weights->data() + weights->size());
  check_finite(Span<const T>{copied.data(), static_cast<std::int64_t>(copied.size())});
  return copied;
}

/// All arrays have the same length: the Python side has checked this.
Graph from_edges(std::int64_t num_vertices, const Input<std::int64_t>& sources, const Input<std::int64_t>& targets,
                 const Weights<std::int32_t>& int_weights, const Weights<double>& real_weights, bool undirected,
                 bool symmetric, bool dedup, const std::string& name, const std::string& wide) {
  return unlocked([&] {
    if (num_vertices < 0 || num_vertices > kMaxVertices) {
      throw UsageError("num_vertices " + std::to_string(num_vertices) + " is out of range: 0 to 2^31 - 1");
    }
    const WeightKind kind = kind_of(int_weights, real_weights);
    require_room(name, num_vertices, static_cast<std::int64_t>(sources.size()), kind, undirected);
    auto from = read_ends(sources, "sources", num_vertices), to = read_ends(targets, "targets", num_vertices);
    auto csr = std::make_shared<Csr>(csr_from_arcs(num_vertices, std::move(from), std::move(to), copy(int_weights),
                                                   copy(real_weights), undirected, dedup));
    csr->weight_kind = kind;  // also of a graph without arcs
    csr->weight_remarks.wide = wide;
    csr->name = name;
    if (symmetric) mark_symmetric(*csr);
    return Graph{csr};
  });
}

}  // namespace

void bind_edges(nb::class_<Graph>& graph) {
  graph.def_static("_from_edges", &from_edges, nb::arg("num_vertices"), nb::arg("sources").noconvert(),
                   nb::arg("targets").noconvert(), nb::arg("int_weights").noconvert().none(),
                   nb::arg("real_weights").noconvert().none(), nb::arg("undirected"), nb::arg("symmetric"),
                   nb::arg("dedup"), nb::arg("name"), nb::arg("wide"));
}

}  // namespace shoal::python
