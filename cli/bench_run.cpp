#include "bench_run.hpp"

#include <algorithm>
#include <chrono>
#include <memory>
#include <string_view>
#include <variant>

#include "graph_input.hpp"
#include "measuring_process.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/machine.hpp"
#include "sources.hpp"
#include "statistics.hpp"

namespace shoal::cli {
namespace {

/// "async, persistent, warp"
std::string summarize(const Report& report) {
  std::string text;
  for (const auto& [option, value, reason] : report.chosen) {
    if (option != "strategy" && option != "kernel" && option != "worker" && option != "queue") continue;
    text += (text.empty() ? "" : ", ") + value;
  }
  return text;
}

/// One stand-in graph, with the sources and sizes that all its ways share. Lives in the measuring process.
class OnGraph {
 public:
  OnGraph(const Experiment& experiment, const StandIn& graph, const BenchOptions& options, bool on_gpu, int pes,
          int pes_per_gpu)
      : experiment_(experiment),
        info_(find_algorithm(experiment.algorithm)),
        options_(options),
        input_(parse_generator(options.quick ? graph.quick : graph.full)) {
    if (!on_gpu) input_.generate_here(/*quiet=*/true);
    scout(pes, pes_per_gpu);
  }

  /// Measures one way. The keys of the result are members of BenchRun.
  Json run(const BenchWay& way, int pes, int pes_per_gpu, const RunClock& clock) const {
    Json got = {{"generator", input_.name()},
                {"num_vertices", num_vertices_},
                {"num_arcs", num_arcs_},
                {"wrong", ""},
                {"chosen", ""},
                {"sources", Json::array()},
                {"seconds", Json::array()},
                {"items_run", Json::array()},
                {"items_taken", Json::array()},
                {"reached", Json::array()}};
    const std::unique_ptr<Placed> placed = place(way.flags, pes, pes_per_gpu);
    double used = run_one(*placed, 0, clock).seconds;  // a warm-up: pages, kernels, caches
    for (std::size_t i = 0; i < sources_.size() && got["wrong"] == ""; ++i) {
      if (i > 0 && used > options_.limit_seconds) break;
      const Report report = run_one(*placed, i, clock);
      used += report.seconds;
      got["wrong"] = placed->find_wrong_in_place();
      got["seconds"].push_back(report.seconds);
      got["items_run"].push_back(static_cast<double>(report.run));
      got["items_taken"].push_back(static_cast<double>(report.run + report.stale));
      if (info_.from_source) got["sources"].push_back(sources_[i]);
      if (!reached_.empty()) got["reached"].push_back(reached_[i]);
      got["chosen"] = summarize(report);
    }
    return got;
  }

 private:
  Report run_one(Placed& placed, std::size_t i, const RunClock& clock) const {
    return clock.limited([&] { return placed.run({sources_[i], {}}); });
  }

  std::unique_ptr<Placed> place(std::vector<std::string> flags, int pes, int pes_per_gpu) const {
    flags.insert(flags.end(), {"--device", options_.device, "--pes", std::to_string(pes)});
    flags.insert(flags.end(), {"--pes-per-gpu", std::to_string(pes_per_gpu)});
    return input_.place(*configure(info_, flags));
  }

  /// Chooses the sources, and counts how many vertices each reaches if the experiment needs it. These runs are not measured.
  void scout(int pes, int pes_per_gpu) {
    const std::unique_ptr<Placed> placed = place({}, pes, pes_per_gpu);
    num_vertices_ = placed->num_vertices();
    num_arcs_ = placed->num_arcs();
    sources_.assign(static_cast<std::size_t>(options_.trials), 0);
    if (!info_.from_source) return;
    sources_ = choose_sources(SourceChoice{}, options_.trials, options_.seed, num_vertices_, num_arcs_,
                              [&](vertex_t v) { return placed->degree(v); });
    if (experiment_.quantity != Quantity::inflation) return;
    for (const vertex_t source : sources_) {
      placed->run({source, {}});
      for (const Fact& fact : placed->count().facts) {
        if (std::string_view(fact.name) != "reached") continue;
        reached_.push_back(std::visit([](auto value) { return static_cast<double>(value); }, fact.value));
      }
    }
  }

  const Experiment& experiment_;
  const AlgorithmInfo& info_;
  const BenchOptions& options_;
  GraphInput input_;
  std::int64_t num_vertices_ = 0, num_arcs_ = 0;
  std::vector<vertex_t> sources_;  // [trials]
  std::vector<double> reached_;    // [trials] or empty
};

/// Makes the function that answers questions in the measuring process: first about the machine, then about ways, graph by
/// graph.
MeasuringProcess::Answer begin_answering(const Experiment& experiment, const std::vector<StandIn>& graphs,
                                         const BenchOptions& options) {
  struct Now {
    std::size_t graph = 0;
    std::unique_ptr<OnGraph> on;
  };
  Options shared;
  shared.device = parse_device(options.device);
  shared.pes = options.pes.empty() ? 0 : *std::max_element(options.pes.begin(), options.pes.end());
  shared.pes_per_gpu = options.pes_per_gpu;
  const bool on_gpu = Machine(shared).on_gpu();
  return [&, on_gpu, now = std::make_shared<Now>()](const Json& question, const RunClock& clock) {
    if (!question.contains("graph")) {
      return Json{{"gpus", on_gpu ? list_devices().size() : 0}, {"machine", Json::parse(machine_to_json())}};
    }
    const std::size_t graph = question["graph"];
    const int pes = question["pes"], pes_per_gpu = question["pes_per_gpu"];
    if (!now->on || now->graph != graph) {
      now->on.reset();  // frees its memory before the next graph is made
      now->on = std::make_unique<OnGraph>(experiment, graphs[graph], options, on_gpu, pes, pes_per_gpu);
      now->graph = graph;
    }
    return now->on->run(experiment.ways[question["way"]], pes, pes_per_gpu, clock);
  };
}

double value_of(const BenchRun& r, Quantity quantity) {
  if (quantity == Quantity::items) return median(r.items_run) / 1e6;
  if (quantity != Quantity::inflation) return median(r.seconds) * 1e3;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < r.items_taken.size(); ++i) ratios.push_back(r.items_taken[i] / r.reached[i]);
  return median(ratios);
}

/// Copies the result of OnGraph::run() into `r`, and computes its value.
void read(BenchRun& r, const Json& got, Quantity quantity) {
  r.generator = got["generator"], r.num_vertices = got["num_vertices"], r.num_arcs = got["num_arcs"];
  r.wrong = got["wrong"], r.chosen = got["chosen"];
  got["sources"].get_to(r.sources), got["seconds"].get_to(r.seconds);
  got["items_run"].get_to(r.items_run), got["items_taken"].get_to(r.items_taken);
  got["reached"].get_to(r.reached);
  if (r.wrong.empty()) r.value = value_of(r, quantity);
}

/// The experiment's graphs that were asked for, in that order. @throws UsageError for a name that it does not have
std::vector<StandIn> choose_graphs(const Experiment& experiment, const std::vector<std::string>& wanted) {
  if (wanted.empty()) return experiment.graphs;
  std::vector<StandIn> graphs;
  std::string legal;
  for (const StandIn& graph : experiment.graphs) legal += (legal.empty() ? "" : ", ") + graph.name;
  for (const std::string& name : wanted) {
    const auto found = std::find_if(experiment.graphs.begin(), experiment.graphs.end(),
                                    [&](const StandIn& graph) { return graph.name == name; });
    if (found == experiment.graphs.end()) {
      throw UsageError("graph '" + name + "' is not in " + experiment.name + "; legal: " + legal);
    }
    graphs.push_back(*found);
  }
  return graphs;
}

/// Replaces times by speed-ups over the same way on one PE.
void divide_by_one_pe(std::vector<BenchRun>& runs) {
  const std::vector<BenchRun> times = runs;
  for (BenchRun& run : runs) {
    const auto one = std::find_if(times.begin(), times.end(), [&](const BenchRun& other) {
      return other.graph == run.graph && other.way == run.way && other.pes == 1;
    });
    if (run.failed.empty() && one == times.end())
      run.failed = "there is no run on one PE to compare with; add 1 to --pes";
    run.value = one == times.end() ? kNotReported : one->value / run.value;
  }
}

}  // namespace

std::vector<BenchRun> run_experiment(const Experiment& experiment, const BenchOptions& options, Json& machine,
                                     int& left_out, const std::function<void(const std::string&, double)>& say) {
  const std::vector<StandIn> graphs = choose_graphs(experiment, options.graphs);
  const auto begin = std::chrono::steady_clock::now();
  MeasuringProcess process([&] { return begin_answering(experiment, graphs, options); });
  const Json here = process.ask(Json::object());
  machine = here["machine"];
  const int gpus = here["gpus"], most = gpus == 0 ? 2 : std::min(gpus * options.pes_per_gpu, 4);
  std::vector<int> all_pes = options.pes;
  for (int n = 1; options.pes.empty() && n <= most; ++n) all_pes.push_back(n);

  std::vector<BenchRun> runs;
  left_out = 0;
  const double total = static_cast<double>(graphs.size() * experiment.ways.size() * all_pes.size());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    for (std::size_t w = 0; w < experiment.ways.size(); ++w) {
      for (const int pes : all_pes) {
        if (std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(options.budget_seconds)) {
          ++left_out;
          continue;
        }
        BenchRun run;
        run.graph = graphs[g].name, run.generator = options.quick ? graphs[g].quick : graphs[g].full;
        run.way = experiment.ways[w].label, run.flags = experiment.ways[w].flags, run.pes = pes;
        if (gpus > 0)
          run.pes_per_gpu = std::min(options.pes_per_gpu, (pes + gpus - 1) / gpus);  // the fewest that suffice
        say(run.graph + ", " + run.way + ", " + counted(pes, "PE", "PEs"), static_cast<double>(runs.size()) / total);
        try {
          const Json question = {{"graph", g}, {"way", w}, {"pes", pes}, {"pes_per_gpu", run.pes_per_gpu}};
          read(run, process.ask(question, options.limit_seconds), experiment.quantity);
        } catch (const TooSlow& slow) {
          run.over_seconds = slow.limit_seconds;
        } catch (const Error& error) {
          run.failed = error.what();
        } catch (const std::bad_alloc&) {
          run.failed = "not enough memory";
        }
        runs.push_back(std::move(run));
      }
    }
  }
  if (experiment.quantity == Quantity::speedup) divide_by_one_pe(runs);
  return runs;
}

}  // namespace shoal::cli
