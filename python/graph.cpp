// shoal.Graph: made from files, generators and arrays; shown as NumPy arrays without a copy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <type_traits>

#include "module.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::python {
namespace {

template <class T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Python's array, without a copy: the array object is kept alive by the HostArray.
template <class T, class S>
HostArray<T> borrow(const Input<S>& array) {
  static_assert(sizeof(T) == sizeof(S));
  // Released under the GIL, wherever the last owner is.
  auto keep = std::shared_ptr<void>(new nb::object(nb::cast(array)), [](void* p) {
    const nb::gil_scoped_acquire gil;
    delete static_cast<nb::object*>(p);
  });
  // The library does not write to a graph's arrays.
  return HostArray<T>(reinterpret_cast<T*>(const_cast<S*>(array.data())), static_cast<std::int64_t>(array.size()),
                      keep);
}

template <class T, class S>
HostArray<T> convert(const Input<S>& array) {
  HostArray<T> out(static_cast<std::int64_t>(array.size()));
  for (std::int64_t i = 0; i < out.size(); ++i) out[i] = static_cast<T>(array.data()[i]);
  return out;
}

/// Everything that the searches rely on, checked once. @throws UsageError naming the place
void check(const HostArray<arc_t>& offsets, const HostArray<vertex_t>& targets) {
  if (offsets.empty()) throw UsageError("offsets is empty; it has num_vertices + 1 entries");
  const std::int64_t n = offsets.size() - 1;
  if (n > kMaxVertices) {
    throw UsageError("offsets has " + std::to_string(n + 1) + " entries; a graph has at most 2^31 - 1 vertices");
  }
  if (offsets[0] != 0) throw UsageError("offsets[0] is " + std::to_string(offsets[0]) + "; it must be 0");
  for (std::int64_t v = 0; v < n; ++v) {
    if (offsets[v + 1] < offsets[v]) {
      throw UsageError("offsets[" + std::to_string(v + 1) + "] is " + std::to_string(offsets[v + 1]) +
                       ", below offsets[" + std::to_string(v) + "], " + std::to_string(offsets[v]));
    }
  }
  if (offsets[n] != targets.size()) {
    throw UsageError("the last offset is " + std::to_string(offsets[n]) + ", but targets has " +
                     std::to_string(targets.size()) + " entries; they must be equal");
  }
  for (std::int64_t i = 0; i < targets.size(); ++i) {
    if (targets[i] >= n) {
      throw UsageError("targets[" + std::to_string(i) + "] is " +
                       std::to_string(static_cast<std::int32_t>(targets[i])) + "; vertices are 0 to " +
                       std::to_string(n - 1));
    }
  }
}

template <class W>
using Weights = std::optional<Input<W>>;

template <class W>
HostArray<W> borrow_weights(const Weights<W>& weights, arc_t num_arcs) {
  if (!weights) return {};
  if (static_cast<arc_t>(weights->size()) != num_arcs) {
    throw UsageError("weights has " + std::to_string(weights->size()) + " entries, but there are " +
                     std::to_string(num_arcs) + " arcs");
  }
  return borrow<W>(*weights);
}

template <class O, class T>
Graph from_csr(const Input<O>& offsets, const Input<T>& targets, const Weights<std::int32_t>& int_weights,
               const Weights<double>& real_weights, bool symmetric, const std::string& name, const std::string& wide) {
  auto csr = std::make_shared<Csr>();
  if constexpr (sizeof(O) == 8) {
    csr->offsets = borrow<arc_t>(offsets);
  } else {
    csr->offsets = convert<arc_t>(offsets);
  }
  if constexpr (sizeof(T) == 4) {
    csr->targets = borrow<vertex_t>(targets);
  } else {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const std::int64_t target = static_cast<std::int64_t>(targets.data()[i]);
      if (target < 0 || target > kMaxVertices) {
        throw UsageError("targets[" + std::to_string(i) + "] is " + std::to_string(target) + "; no such vertex");
      }
    }
    csr->targets = convert<vertex_t>(targets);
  }
  csr->int_weights = borrow_weights(int_weights, csr->targets.size());
  csr->real_weights = borrow_weights(real_weights, csr->targets.size());
  csr->weight_kind = int_weights ? WeightKind::int32 : real_weights ? WeightKind::float64 : WeightKind::none;
  {
    const nb::gil_scoped_release nogil;
    check(csr->offsets, csr->targets);
    if (symmetric && !is_symmetric(*csr)) {
      throw UsageError("symmetric=True, but some arc has no reverse" +
                       std::string(csr->weight_kind == WeightKind::none ? "" : " of the same weight") +
                       "; leave it out for a directed graph");
    }
  }
  csr->symmetric = symmetric;
  csr->name = name;
  csr->weight_remarks.wide = wide;
  return {csr};
}

template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(const Graph& graph, const HostArray<T>& array) {
  auto* held = new std::shared_ptr<const Csr>(graph.csr);
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Csr>*>(p); });
  return {array.data(), {static_cast<std::size_t>(array.size())}, owner};
}

template <class O, class T>
void add_from_csr(nb::class_<Graph>& graph, const char* doc) {
  graph.def_static("_from_csr", &from_csr<O, T>, nb::arg("offsets").noconvert(), nb::arg("targets").noconvert(),
                   nb::arg("int_weights").noconvert().none(), nb::arg("real_weights").noconvert().none(),
                   nb::arg("symmetric"), nb::arg("name"), nb::arg("wide"), doc);
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<Graph> graph(
      module, "Graph",
      "A graph as compressed sparse rows, on the host. Never changes.\n\n"
      "Made by read, generate, from_csr, from_edges or from_scipy. Algorithms take it as they take a "
      "file's name; a graph that is used more than once is read once this way.");
  graph.def_static(
      "_read",
      [](const std::string& file, bool undirected, bool dedup, bool cache, const std::string& format) {
        const nb::gil_scoped_release nogil;
        ReadOptions options;
        options.undirected = undirected;
        options.dedup = dedup;
        options.use_cache = cache;
        options.format = format;
        return Graph{std::make_shared<const Csr>(read_graph(file, options))};
      },
      nb::arg("file"), nb::arg("undirected"), nb::arg("dedup"), nb::arg("cache"), nb::arg("format"));
  graph.def_static(
      "_generate",
      [](const std::string& spec) {
        const nb::gil_scoped_release nogil;
        if (!is_generator(spec)) {
          throw UsageError("'" + spec +
                           "' is not a generator; legal: kron:S road:N uniform:S chain:N star:N complete:N");
        }
        return Graph{std::make_shared<const Csr>(generate(parse_generator(spec)))};
      },
      nb::arg("spec"));
  bind_edges(graph);
  const char* doc = "See shoal.Graph.from_csr.";
  add_from_csr<std::int64_t, std::int32_t>(graph, doc);
  add_from_csr<std::int64_t, std::uint32_t>(graph, doc);
  add_from_csr<std::int64_t, std::int64_t>(graph, doc);
  add_from_csr<std::int32_t, std::int32_t>(graph, doc);
  add_from_csr<std::int32_t, std::uint32_t>(graph, doc);
  add_from_csr<std::int32_t, std::int64_t>(graph, doc);

  graph.def_prop_ro(
      "num_vertices", [](const Graph& g) { return g.csr->num_vertices(); }, "Vertices are 0 to num_vertices - 1.");
  graph.def_prop_ro(
      "num_arcs", [](const Graph& g) { return g.csr->num_arcs(); }, "An undirected edge is two arcs.");
  graph.def_prop_ro(
      "symmetric", [](const Graph& g) { return g.csr->symmetric; }, "True if known: every arc has its reverse.");
  graph.def_prop_ro(
      "name", [](const Graph& g) { return g.csr->name; }, "The file or generator.");
  graph.def_prop_ro(
      "offsets", [](const Graph& g) { return view(g, g.csr->offsets); }, nb::rv_policy::reference,
      "int64 [num_vertices + 1]: the arcs of v are targets[offsets[v]:offsets[v + 1]]. Read-only, no copy.");
  graph.def_prop_ro(
      "targets", [](const Graph& g) { return view(g, g.csr->targets); }, nb::rv_policy::reference,
      "uint32 [num_arcs]. Read-only, no copy.");
  graph.def_prop_ro(
      "weights",
      [](const Graph& g) -> nb::object {
        if (g.csr->weight_kind == WeightKind::int32) return nb::cast(view(g, g.csr->int_weights));
        if (g.csr->weight_kind == WeightKind::float64) return nb::cast(view(g, g.csr->real_weights));
        return nb::none();
      },
      "int32 or float64 [num_arcs], or None. Read-only, no copy. Whole weights are float64 where one is beyond int32.");
  graph.def(
      "transpose",
      [](const Graph& g) {
        const nb::gil_scoped_release nogil;
        return Graph{std::make_shared<const Csr>(transpose(*g.csr))};
      },
      "The graph with every arc reversed.");
  graph.def(
      "is_symmetric",
      [](const Graph& g) {
        const nb::gil_scoped_release nogil;
        return g.csr->symmetric || is_symmetric(*g.csr);
      },
      "Whether every arc has its reverse; looks when it is not known.");
  graph.def(
      "_write",
      [](const Graph& g, const std::string& file) {
        const nb::gil_scoped_release nogil;
        write_graph(*g.csr, file);
      },
      nb::arg("file"));
}

}  // namespace shoal::python
