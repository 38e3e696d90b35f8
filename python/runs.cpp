// Algorithms placed on PEs, as Python holds them: _Bfs, _Sssp, _PageRank, _Components. Python's side is shoal/_runs.py.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <optional>

#include "module.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::python {
namespace {

/// A graph placed on PEs. One run at a time: calls from several threads wait for each other.
template <class Runner>
class Placed {
 public:
  template <class RunnerOptions>
  Placed(const Graph* graph, const std::string& generator, const RunnerOptions& options) {
    unlocked([&] {
      if (graph != nullptr) {
        csr_ = graph->csr;
        runner_.emplace(*csr_, options);
      } else {
        runner_.emplace(parse_generator(generator), options);
      }
    });
  }

  /// Calls f(runner), which computes, without Python's lock. Returns the report as JSON.
  template <class F>
  std::string run(F f) {
    return unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      const Report report = f(*runner_);  // refused before it began: the answer of the run before stays
      ran_ = true;
      return name_arguments(to_json(report));
    });
  }
  std::string search(std::int64_t source) {
    return run([source](Runner& runner) {
      const std::int64_t n = runner.num_vertices();
      if (source < 0 || source >= n) {
        throw UsageError(n == 0 ? std::string("the graph has no vertices, so there is no source to search from")
                                : "source " + std::to_string(source) + " is not in the graph: vertices are 0 to " +
                                      std::to_string(n - 1));
      }
      return runner.search(static_cast<vertex_t>(source));
    });
  }

  auto result(const char* call) {
    return unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      require(call);
      return runner_->result();
    });
  }
  /// What is wrong with the last answer, or an empty text.
  std::string verify() {
    return unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      require("a run");
      return runner_->verify();
    });
  }

  std::int64_t num_vertices() const { return runner_->num_vertices(); }
  std::int64_t num_arcs() const { return runner_->num_arcs(); }

 private:
  void require(const char* call) const {
    if (!ran_) throw UsageError(std::string("there is no result yet: call ") + call + " first");
  }

  std::shared_ptr<const Csr> csr_;  // CPU PEs read it in place
  std::optional<Runner> runner_;
  std::timed_mutex mutex_;
  bool ran_ = false;
};

template <class T>
nb::object array_or_none(HostArray<T>&& array, bool wanted) {
  if (!wanted) return nb::none();
  return nb::cast(to_numpy(std::move(array)));
}

/// The class with what all of them have. The constructor is the caller's.
template <class Runner>
nb::class_<Placed<Runner>> bind(nb::module_& module, const char* name) {
  nb::class_<Placed<Runner>> bound(module, name);
  bound.def("verify", &Placed<Runner>::verify)
      .def_prop_ro("num_vertices", &Placed<Runner>::num_vertices)
      .def_prop_ro("num_arcs", &Placed<Runner>::num_arcs);
  return bound;
}

template <class RunnerOptions>
RunnerOptions with(const Options& shared) {
  check_options(shared);
  RunnerOptions options;
  static_cast<Options&>(options) = shared;
  return options;
}

using Bfs = Placed<BfsRunner>;
using Sssp = Placed<SsspRunner>;
using PageRank = Placed<PageRankRunner>;
using Components = Placed<ComponentsRunner>;

void bind_bfs(nb::module_& module) {
  bind<BfsRunner>(module, "_Bfs")
      .def(
          "__init__",
          [](Bfs* self, const Graph* graph, const std::string& generator, const Options& shared,
             const std::string& strategy, bool parents) {
            auto options = with<BfsOptions>(shared);
            options.strategy = parse_bfs_strategy(strategy);
            options.parents = parents;
            new (self) Bfs(graph, generator, options);
          },
          nb::arg("graph").none(), nb::arg("generator"), nb::arg("options"), nb::kw_only(), nb::arg("strategy"),
          nb::arg("parents"))
      .def("search", &Bfs::search, nb::arg("source"))
      .def("result", [](Bfs& self) {
        BfsResult r = self.result("search(source)");
        const bool parents = !r.parents.empty();
        return nb::make_tuple(to_numpy(std::move(r.levels)), array_or_none(std::move(r.parents), parents));
      });
}

void bind_sssp(nb::module_& module) {
  bind<SsspRunner>(module, "_Sssp")
      .def(
          "__init__",
          [](Sssp* self, const Graph* graph, const std::string& generator, const Options& shared,
             const std::string& strategy, const std::string& weights, double delta, bool predecessors) {
            auto options = with<SsspOptions>(shared);
            options.strategy = parse_sssp_strategy(strategy);
            options.weights = parse_weights(weights);
            options.delta = delta;
            options.predecessors = predecessors;
            new (self) Sssp(graph, generator, options);
          },
          nb::arg("graph").none(), nb::arg("generator"), nb::arg("options"), nb::kw_only(), nb::arg("strategy"),
          nb::arg("weights"), nb::arg("delta"), nb::arg("predecessors"))
      .def("search", &Sssp::search, nb::arg("source"))
      .def("result", [](Sssp& self) {
        SsspResult r = self.result("search(source)");
        const bool tree = !r.predecessors.empty();
        nb::object distances = r.distances.empty() ? nb::cast(to_numpy(std::move(r.real_distances)))
                                                   : nb::cast(to_numpy(std::move(r.distances)));
        return nb::make_tuple(distances, array_or_none(std::move(r.predecessors), tree));
      });
}

std::vector<PersonalWeight> personal(const std::vector<std::pair<std::int64_t, double>>& pairs, std::int64_t n) {
  std::vector<PersonalWeight> all;
  for (const auto& [vertex, weight] : pairs) {
    if (vertex < 0 || vertex >= n) {
      throw UsageError("personalization: vertex " + std::to_string(vertex) +
                       " is not in the graph: vertices are 0 to " + std::to_string(n - 1));
    }
    all.push_back({static_cast<vertex_t>(vertex), weight});
  }
  return all;
}

void bind_pagerank(nb::module_& module) {
  bind<PageRankRunner>(module, "_PageRank")
      .def(
          "__init__",
          [](PageRank* self, const Graph* graph, const std::string& generator, const Options& shared,
             const std::string& strategy, double alpha, double tolerance, const std::string& precision) {
            auto options = with<PageRankOptions>(shared);
            options.strategy = parse_pagerank_strategy(strategy);
            options.alpha = alpha;
            options.tolerance = tolerance;
            options.precision = parse_pagerank_precision(precision);
            new (self) PageRank(graph, generator, options);
          },
          nb::arg("graph").none(), nb::arg("generator"), nb::arg("options"), nb::kw_only(), nb::arg("strategy"),
          nb::arg("alpha"), nb::arg("tolerance"), nb::arg("precision"))
      .def(
          "rank",
          [](PageRank& self, const std::vector<std::pair<std::int64_t, double>>& pairs) {
            const auto jumps = personal(pairs, self.num_vertices());
            return self.run([&](PageRankRunner& runner) { return jumps.empty() ? runner.rank() : runner.rank(jumps); });
          },
          nb::arg("personalization"))
      .def("result", [](PageRank& self) {
        PageRankResult r = self.result("rank()");
        return nb::make_tuple(to_numpy(std::move(r.ranks)), r.error_bound);
      });
}

void bind_components(nb::module_& module) {
  bind<ComponentsRunner>(module, "_Components")
      .def(
          "__init__",
          [](Components* self, const Graph* graph, const std::string& generator, const Options& shared,
             const std::string& strategy) {
            auto options = with<ComponentsOptions>(shared);
            options.strategy = parse_components_strategy(strategy);
            new (self) Components(graph, generator, options);
          },
          nb::arg("graph").none(), nb::arg("generator"), nb::arg("options"), nb::kw_only(), nb::arg("strategy"))
      .def("run", [](Components& self) { return self.run([](ComponentsRunner& runner) { return runner.run(); }); })
      .def("result", [](Components& self) {
        ComponentsResult r = self.result("run()");
        return to_numpy(std::move(r.labels));
      });
}

}  // namespace

void bind_runs(nb::module_& module) {
  bind_bfs(module);
  bind_sssp(module);
  bind_pagerank(module);
  bind_components(module);
}

}  // namespace shoal::python
