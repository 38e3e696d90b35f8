// The compiled part of `import shoal`: the options and the description of this machine. Errors, graphs and runs are added by
// files of their own.
#include "module.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/variant.h>

#include <algorithm>
#include <string>
#include <variant>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "shoal/core/version.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/options.hpp"
#include "world/option_ranges.hpp"

namespace shoal::python {
namespace {

/// Each option has a setter of its own, so that Python can name a wrong value. nanobind checks the types, the parsers the texts.
void bind_options(nb::module_& module) {
  nb::class_<Options> options(module, "_Options");
  options.def(nb::init<>());
  const auto text = [&](const char* name, auto parse) {
    options.def_prop_rw(name, nullptr, [parse](Options& o, const std::string& value) { parse(value, o); });
  };
  text("device", [](const std::string& t, Options& o) { o.device = parse_device(t); });
  text("kernel", [](const std::string& t, Options& o) { o.kernel = parse_kernel(t); });
  text("queue", [](const std::string& t, Options& o) { o.queue = parse_queue(t); });
  text("judge", [](const std::string& t, Options& o) { o.judge = parse_judge(t); });
  text("combine", [](const std::string& t, Options& o) { o.combine = parse_combine(t); });
  text("engine", [](const std::string& t, Options& o) { o.engine = t; });
  text("worker", [](const std::string& t, Options& o) { parse_worker(t, o); });
  text("partition", [](const std::string& t, Options& o) { parse_partition(t, o); });
  options.def_rw("pes", &Options::pes)
      .def_rw("pes_per_gpu", &Options::pes_per_gpu)
      .def_rw("threads", &Options::threads)
      .def_rw("workers", &Options::workers)
      .def_rw("fetch", &Options::fetch)
      .def_rw("capacity", &Options::capacity)
      .def_rw("spill", &Options::spill)
      .def_rw("threshold", &Options::threshold)
      .def_rw("threshold_delta", &Options::threshold_delta)
      .def_rw("buckets", &Options::buckets)
      .def_rw("keep", &Options::keep)
      .def_rw("overlap", &Options::overlap)
      .def_rw("batch_bytes", &Options::batch_bytes)
      .def_prop_rw("batch_wait", nullptr,
                   [](Options& o, const std::variant<int, std::string>& value) {
                     const auto* number = std::get_if<int>(&value);
                     parse_batch_wait(number != nullptr ? std::to_string(*number) : std::get<std::string>(value), o);
                   })
      .def_rw("stall_timeout", &Options::stall_timeout_seconds)
      .def_rw("seed", &Options::seed)
      .def("check", &check_options);
}

/// The options of every run, described as the flags of the command line are. JSON: {"name", "says", "default", "legal"} for each.
std::string list_options() {
  const auto defaults = nlohmann::ordered_json::parse(to_json(Options()));
  CLI::App app;
  RunFlags flags;
  flags.add_to(app);
  auto all = nlohmann::ordered_json::array();
  for (const auto& [name, value] : defaults.items()) {
    std::string flag = "--" + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const std::string says = name_arguments(app.get_option(flag)->get_description());
    all.push_back({{"name", name}, {"says", says}, {"default", value}, {"legal", legal_range(name)}});
  }
  return all.dump();
}

}  // namespace
}  // namespace shoal::python

NB_MODULE(_shoal, m) {
  using namespace shoal;
  using namespace shoal::python;
  m.attr("__version__") = kVersion;

  bind_errors(m);
  bind_graph(m);
  bind_options(m);
  bind_runs(m);
  m.def("_options", &list_options);
  m.def("_machine", [] { return name_arguments(machine_to_json()); });
  m.def("is_generator", &is_generator, nb::arg("text"), "Whether a text such as ``kron:18`` names a generator.");
}
