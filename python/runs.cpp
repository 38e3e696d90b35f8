// The part of the algorithms' classes that Python holds: _Run (used by shoal/_placed.py), and the list of algorithms.
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <mutex>
#include <nlohmann/json.hpp>
#include <variant>

#include "algo/algorithm.hpp"
#include "module.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal::python {
namespace {

using Json = nlohmann::ordered_json;

/// Sets an algorithm's own options. The Python side has checked their names and types.
class SetOwn : public OptionVisitor {
 public:
  explicit SetOwn(const nb::dict& given) : given_(given) {}
  void text(const char* name, std::string& value, const char*) override { set(name, value); }
  void file(const char* name, std::string& value, const char*) override { set(name, value); }
  void number(const char* name, double& value, const char*) override { set(name, value); }
  void flag(const char* name, bool& value, const char*) override { set(name, value); }

 private:
  template <class T>
  void set(const char* name, T& value) {
    if (given_.contains(name)) value = nb::cast<T>(given_[name]);
  }
  const nb::dict& given_;
};

/// Lists an algorithm's own options for Python: {"name", "type", "says", "default"} for each.
struct ListOwn : OptionVisitor {
  void text(const char* name, std::string& value, const char* says) override { add(name, "text", says, value); }
  void file(const char* name, std::string& value, const char* says) override { add(name, "file", says, value); }
  void number(const char* name, double& value, const char* says) override { add(name, "number", says, value); }
  void flag(const char* name, bool& value, const char* says) override { add(name, "flag", says, value); }

  Json options = Json::array();

 private:
  template <class T>
  void add(const char* name, const char* type, const char* says, const T& value) {
    options.push_back({{"name", name}, {"type", type}, {"says", says}, {"default", value}});
  }
};

std::string list_algorithms() {
  Json all = Json::array();
  for (const AlgorithmInfo* info : algorithms()) {
    ListOwn own;
    info->make()->visit(own);
    all.push_back({{"name", info->name},
                   {"says", info->says},
                   {"output", info->output},
                   {"from_source", info->from_source},
                   {"options", own.options}});
  }
  return all.dump();
}

/// An algorithm on a graph that is placed on PEs. It runs once at a time: calls from several threads wait for each other.
class Run {
 public:
  Run(const std::string& name, const Graph* graph, const std::string& generator, const Options& shared,
      const nb::dict& own)
      : info_(find_algorithm(name)) {
    const std::unique_ptr<Algorithm> algorithm = info_.make();
    SetOwn set(own);
    algorithm->visit(set);
    if (graph != nullptr) csr_ = graph->csr;
    unlocked([&] {
      check_options(shared);
      algorithm->read(shared);
      placed_ = csr_ ? algorithm->place(*csr_) : algorithm->place(parse_generator(generator));
    });
  }

  /// Runs the algorithm, and returns the report as JSON.
  /// @param weights  pairs of a vertex and the weight with which a jump lands there
  std::string run(std::int64_t source, const std::vector<std::pair<std::int64_t, double>>& weights) {
    return unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      Start start;
      if (info_.from_source) start.source = vertex("source", source);
      for (const auto& [v, weight] : weights) start.weights.push_back({vertex("personalization vertex", v), weight});
      const Report report = placed_->run(start);  // if it refuses, it throws; the old answer stays
      ran_ = true;
      return name_arguments(to_json(report));
    });
  }

  /// The answer of the last run, as arrays of [num_vertices], and further facts about it by name.
  /// @param call  the call that must come first, for the error message
  nb::tuple result(const std::string& call) {
    auto [rows, facts] = unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      require(call);
      std::vector<Fact> facts = placed_->fetch().facts;
      return std::pair{placed_->take_rows(), std::move(facts)};
    });
    nb::list arrays;
    for (Row& row : rows) {
      std::visit([&](auto& values) { arrays.append(nb::cast(to_numpy(std::move(values)))); }, row);
    }
    nb::dict known;
    for (const Fact& fact : facts) {
      std::visit([&](auto value) { known[fact.name] = value; }, fact.value);
    }
    return nb::make_tuple(arrays, known);
  }
  /// Says what is wrong with the last answer; an empty text if nothing is.
  std::string verify() {
    return unlocked([&] {
      const auto lock = lock_unless_called_off(mutex_);
      require("search(), rank() or run()");
      return placed_->find_wrong_in_place();
    });
  }

  std::int64_t num_vertices() const { return placed_->num_vertices(); }
  std::int64_t num_arcs() const { return placed_->num_arcs(); }

 private:
  void require(const std::string& call) const {
    if (!ran_) throw UsageError("there is no result yet: call " + call + " first");
  }
  vertex_t vertex(const char* what, std::int64_t v) const {
    const std::int64_t n = num_vertices();
    if (v >= 0 && v < n) return static_cast<vertex_t>(v);
    throw UsageError(std::string(what) + " " + std::to_string(v) + " is not in the graph: " +
                     (n == 0 ? "it has no vertices" : "vertices are 0 to " + std::to_string(n - 1)));
  }

  const AlgorithmInfo& info_;
  std::shared_ptr<const Csr> csr_;  // CPU PEs read it in place
  std::unique_ptr<Placed> placed_;
  std::timed_mutex mutex_;
  bool ran_ = false;
};

}  // namespace

void bind_runs(nb::module_& module) {
  nb::class_<Run>(module, "_Run")
      .def(nb::init<const std::string&, const Graph*, const std::string&, const Options&, const nb::dict&>(),
           nb::arg("algorithm"), nb::arg("graph").none(), nb::arg("generator"), nb::arg("options"), nb::arg("own"))
      .def("run", &Run::run, nb::arg("source") = 0, nb::arg("weights") = std::vector<std::pair<std::int64_t, double>>{})
      .def("result", &Run::result, nb::arg("call"))
      .def("verify", &Run::verify)
      .def_prop_ro("num_vertices", &Run::num_vertices)
      .def_prop_ro("num_arcs", &Run::num_arcs);
  module.def("_algorithms", &list_algorithms);
}

}  // namespace shoal::python
