// shoal.Graph: made from files, generators and arrays. Python sees its arrays as NumPy arrays without a copy.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <utility>

#include "arrays.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::python {
namespace {

template <class T>
HostArray<T> copy(const Input<T>& array) {
  HostArray<T> out(static_cast<std::int64_t>(array.size()));
  parallel_ranges(out.size(), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
    std::copy(array.data() + begin, array.data() + end, out.data() + begin);
  });
  return out;
}

/// @throws UsageError  the offsets are not valid; the message names the wrong entry
HostArray<arc_t> copy_offsets(const Input<std::int64_t>& array, std::int64_t num_arcs) {
  HostArray<arc_t> offsets = copy(array);
  const std::int64_t n = offsets.size() - 1;
  if (offsets[0] != 0) throw UsageError("offsets[0] is " + std::to_string(offsets[0]) + "; it must be 0");
  parallel_ranges(n, kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      if (offsets[v + 1] >= offsets[v]) continue;
      throw UsageError("offsets[" + std::to_string(v + 1) + "] is " + std::to_string(offsets[v + 1]) +
                       ", less than offsets[" + std::to_string(v) + "], which is " + std::to_string(offsets[v]) +
                       "; offsets must not decrease");
    }
  });
  if (offsets[n] != num_arcs) {
    throw UsageError("the last offset is " + std::to_string(offsets[n]) + ", but targets has " +
                     std::to_string(num_arcs) + " entries; they must be equal");
  }
  return offsets;
}

/// @throws UsageError  a target is not a vertex; the message names the entry
template <class T>
HostArray<vertex_t> copy_targets(const Input<T>& array, std::int64_t num_vertices) {
  HostArray<vertex_t> targets(static_cast<std::int64_t>(array.size()));
  parallel_ranges(targets.size(), kCopyGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T target = array.data()[i];  // read once, because another thread of the program may change it meanwhile
      if (target < T{0} || std::cmp_greater_equal(target, num_vertices)) {
        throw UsageError("targets[" + std::to_string(i) + "] is " + std::to_string(target) + "; vertices are 0 to " +
                         std::to_string(num_vertices - 1));
      }
      targets[i] = static_cast<vertex_t>(target);
    }
  });
  return targets;
}

template <class T>
HostArray<T> copy_weights(const Weights<T>& weights, std::int64_t num_arcs) {
  if (!weights) return {};
  if (static_cast<std::int64_t>(weights->size()) != num_arcs) {
    throw UsageError("weights has " + std::to_string(weights->size()) + " entries, but there are " +
                     std::to_string(num_arcs) + " arcs");
  }
  HostArray<T> copied = copy(*weights);
  check_finite(std::as_const(copied).span());
  return copied;
}

template <class T>
Graph from_csr(const Input<std::int64_t>& offsets, const Input<T>& targets, const Weights<std::int32_t>& int_weights,
               const Weights<double>& real_weights, bool symmetric, bool dedup, const std::string& name,
               const std::string& wide) {
  return unlocked([&] {
    const std::int64_t n = static_cast<std::int64_t>(offsets.size()) - 1, m = static_cast<std::int64_t>(targets.size());
    if (n < 0) throw UsageError("offsets is empty; it must have num_vertices + 1 entries");
    if (n > kMaxVertices) {
      throw UsageError("offsets has " + std::to_string(n + 1) + " entries; a graph has at most 2^31 - 1 vertices");
    }
    auto csr = std::make_shared<Csr>();
    csr->weight_kind = kind_of(int_weights, real_weights);
    require_room(name, n, m, csr->weight_kind, false);
    csr->offsets = copy_offsets(offsets, m);
    csr->targets = copy_targets(targets, n);
    csr->int_weights = copy_weights(int_weights, m);
    csr->real_weights = copy_weights(real_weights, m);
    if (dedup) {
      io::sort_rows(*csr);
      io::merge_parallel_arcs(*csr);
    }
    if (symmetric) mark_symmetric(*csr);
    csr->name = name;
    csr->weight_remarks.wide = wide;
    return Graph{csr};
  });
}

template <class T>
nb::ndarray<nb::numpy, const T, nb::ndim<1>> view(const Graph& graph, const HostArray<T>& array) {
  auto* held = new std::shared_ptr<const Csr>(graph.csr);
  nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::shared_ptr<const Csr>*>(p); });
  return {array.data(), {static_cast<std::size_t>(array.size())}, owner};
}

template <class T>
void add_from_csr(nb::class_<Graph>& graph) {
  graph.def_static("_from_csr", &from_csr<T>, nb::arg("offsets").noconvert(), nb::arg("targets").noconvert(),
                   nb::arg("int_weights").noconvert().none(), nb::arg("real_weights").noconvert().none(),
                   nb::arg("symmetric"), nb::arg("dedup"), nb::arg("name"), nb::arg("wide"),
                   "See shoal.Graph.from_csr.");
}

}  // namespace

void bind_graph(nb::module_& module) {
  nb::class_<Graph> graph(
      module, "Graph",
      "An immutable graph in compressed sparse row (CSR) format, in host memory.\n\n"
      "Made by read, Graph.generate, from_csr, from_edges or from_scipy. Every algorithm accepts a Graph in place of a "
      "file name. Make one if several calls use the same file, so that the file is read only once.");
  graph.def("__init__", [](Graph*, const nb::args&, const nb::kwargs&) {
    throw nb::type_error(
        "a Graph is made by shoal.read, Graph.generate, from_csr, from_edges or from_scipy, not by Graph()");
  });
  graph.def_static(
      "_read",
      [](const nb::bytes& name, bool undirected, bool dedup, std::optional<std::int64_t> num_vertices, bool cache,
         const std::string& format) {
        const std::string file(name.c_str(), name.size());
        ReadOptions options;
        options.undirected = undirected;
        options.dedup = dedup;
        options.num_vertices = num_vertices;
        options.use_cache = cache;
        options.format = format;
        options.progress = [](double) { throw_if_interrupted(); };
        return unlocked([&] { return Graph{std::make_shared<const Csr>(read_graph(file, options))}; });
      },
      nb::arg("file"), nb::arg("undirected"), nb::arg("dedup"), nb::arg("num_vertices").none(), nb::arg("cache"),
      nb::arg("format"));
  graph.def_static(
      "_generate",
      [](const std::string& spec) {
        if (!is_generator(spec)) {
          throw UsageError(
              "'" + spec +
              "' is not a generator; legal: kron:S road:N uniform:S community:S chain:N star:N complete:N");
        }
        return unlocked([&] { return Graph{std::make_shared<const Csr>(generate(parse_generator(spec)))}; });
      },
      nb::arg("spec"));
  bind_edges(graph);
  add_from_csr<std::int32_t>(graph);
  add_from_csr<std::uint32_t>(graph);
  add_from_csr<std::int64_t>(graph);

  graph.def_prop_ro(
      "num_vertices", [](const Graph& g) { return g.csr->num_vertices(); },
      "The number of vertices, which are numbered 0 to num_vertices - 1.");
  graph.def_prop_ro(
      "num_arcs", [](const Graph& g) { return g.csr->num_arcs(); },
      "The number of arcs; an undirected edge counts as two.");
  graph.def_prop_ro(
      "symmetric", [](const Graph& g) { return g.csr->symmetric; },
      "True if it is known that every arc has a reverse arc of the same weight. If False, `is_symmetric` checks it.");
  graph.def_prop_ro(
      "name", [](const Graph& g) { return file_name_to_python(g.csr->name); },
      "The file name, the generator, or the name given to from_csr or from_edges; for a matrix, the name of its type.");
  graph.def_prop_ro(
      "offsets", [](const Graph& g) { return view(g, g.csr->offsets); }, nb::rv_policy::reference,
      "int64, shape (num_vertices + 1,): the arcs of v are targets[offsets[v]:offsets[v + 1]]. Read-only, no copy.");
  graph.def_prop_ro(
      "targets", [](const Graph& g) { return view(g, g.csr->targets); }, nb::rv_policy::reference,
      "uint32, shape (num_arcs,): the vertex that each arc leads to. Read-only, no copy.");
  graph.def_prop_ro(
      "weights",
      [](const Graph& g) -> nb::object {
        if (g.csr->weight_kind == WeightKind::int32) return nb::cast(view(g, g.csr->int_weights));
        if (g.csr->weight_kind == WeightKind::float64) return nb::cast(view(g, g.csr->real_weights));
        return nb::none();
      },
      "int32 or float64, shape (num_arcs,); None if the graph has no weights. Read-only, no copy. Whole weights are "
      "float64 if one of them does not fit in int32.");
  graph.def(
      "transpose",
      [](const Graph& g) { return unlocked([&] { return Graph{std::make_shared<const Csr>(transpose(*g.csr))}; }); },
      "A new graph, with every arc reversed.");
  graph.def(
      "is_symmetric", [](const Graph& g) { return unlocked([&] { return g.csr->symmetric || is_symmetric(*g.csr); }); },
      "Whether every arc has a reverse arc of the same weight. Checks all arcs, unless `symmetric` is True.");
  graph.def(
      "_write",
      [](const Graph& g, const nb::bytes& name) {
        const std::string file(name.c_str(), name.size());
        unlocked([&] { write_graph(*g.csr, file); });
      },
      nb::arg("file"));
}

}  // namespace shoal::python
