// The compiled part of `import shoal`: graphs, searches, the four errors.
#include "module.hpp"

#include <nanobind/stl/string.h>

#include <mutex>
#include <optional>

#include "shoal/algo/bfs_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/version.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/runtime/devices.hpp"

namespace shoal::python {
namespace {

/// A graph placed on PEs. One search at a time: calls from several threads wait for each other.
class Bfs {
 public:
  Bfs(const Graph* graph, const std::string& generator, const BfsOptions& options) : options_(options) {
    const nb::gil_scoped_release nogil;
    if (graph != nullptr) {
      csr_ = graph->csr;
      runner_.emplace(*csr_, options);
    } else {
      runner_.emplace(parse_generator(generator), options);
    }
  }

  /// Returns the report as JSON.
  std::string search(std::int64_t source) {
    const nb::gil_scoped_release nogil;
    const std::lock_guard lock(mutex_);
    if (source < 0 || source >= runner_->num_vertices()) {
      throw UsageError(runner_->num_vertices() == 0
                           ? std::string("the graph has no vertices, so there is no source to search from")
                           : "source " + std::to_string(source) + " is not in the graph: vertices are 0 to " +
                                 std::to_string(runner_->num_vertices() - 1));
    }
    searched_ = false;
    const Report report = runner_->search(static_cast<vertex_t>(source));
    searched_ = true;
    return to_json(report);
  }

  nb::tuple result() {
    BfsResult result = [this] {
      const nb::gil_scoped_release nogil;
      const std::lock_guard lock(mutex_);
      if (!searched_) throw UsageError("there is no result yet: call search(source) first");
      return runner_->result();
    }();
    nb::object parents = nb::none();
    if (options_.parents) parents = nb::cast(to_numpy(std::move(result.parents)));
    return nb::make_tuple(to_numpy(std::move(result.levels)), parents);
  }

  std::int64_t num_vertices() const { return runner_->num_vertices(); }
  std::int64_t num_arcs() const { return runner_->num_arcs(); }

 private:
  BfsOptions options_;
  std::shared_ptr<const Csr> csr_;  // CPU PEs read it in place
  std::optional<BfsRunner> runner_;
  std::mutex mutex_;
  bool searched_ = false;
};

}  // namespace
}  // namespace shoal::python

NB_MODULE(_shoal, m) {
  using namespace shoal;
  using namespace shoal::python;
  m.attr("__version__") = kVersion;

  nb::exception<Error> error(m, "Error", PyExc_Exception);
  nb::exception<UsageError>(m, "UsageError", nb::make_tuple(error, nb::handle(PyExc_ValueError)));
  nb::exception<CapacityError>(m, "CapacityError", nb::make_tuple(error, nb::handle(PyExc_MemoryError)));
  nb::exception<TransportError>(m, "TransportError", nb::make_tuple(error, nb::handle(PyExc_ConnectionError)));
  nb::exception<DeviceError>(m, "DeviceError", nb::make_tuple(error, nb::handle(PyExc_RuntimeError)));

  bind_graph(m);
  nb::class_<Bfs>(m, "_Bfs")
      .def(
          "__init__",
          [](Bfs* self, const Graph* graph, const std::string& generator, bool parents, pe_t pes,
             const std::string& device, const std::string& engine, const std::string& worker, const std::string& kernel,
             const std::string& strategy, int threads, int workers, int fetch, std::int64_t capacity,
             std::int64_t spill, const std::string& partition, double stall_timeout, std::uint64_t seed) {
            BfsOptions options;
            options.parents = parents;
            options.pes = pes;
            options.device = parse_device(device);
            options.engine = engine;
            parse_worker(worker, options);
            options.kernel = parse_kernel(kernel);
            options.strategy = parse_strategy(strategy);
            options.threads = threads;
            options.workers = workers;
            options.fetch = fetch;
            options.capacity = capacity;
            options.spill = spill;
            parse_partition(partition, options);
            options.stall_timeout_seconds = stall_timeout;
            options.seed = seed;
            check_options(options);
            new (self) Bfs(graph, generator, options);
          },
          nb::arg("graph").none(), nb::arg("generator"), nb::kw_only(), nb::arg("parents") = false, nb::arg("pes") = 0,
          nb::arg("device") = "auto", nb::arg("engine") = "auto", nb::arg("worker") = "auto",
          nb::arg("kernel") = "auto", nb::arg("strategy") = "auto", nb::arg("threads") = 0, nb::arg("workers") = 0,
          nb::arg("fetch") = 0, nb::arg("capacity") = 0, nb::arg("spill") = -1, nb::arg("partition") = "auto",
          nb::arg("stall_timeout") = 10.0, nb::arg("seed") = 1)
      .def("search", &Bfs::search, nb::arg("source"))
      .def("result", &Bfs::result)
      .def_prop_ro("num_vertices", &Bfs::num_vertices)
      .def_prop_ro("num_arcs", &Bfs::num_arcs);
  m.def("_machine", &machine_to_json);
  m.def("is_generator", &is_generator, nb::arg("text"), "Whether a text such as ``kron:18`` names a generator.");
}
