#include "bench_run.hpp"

#include <algorithm>
#include <memory>

#include "graph_input.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/runtime/machine.hpp"
#include "sources.hpp"
#include "statistics.hpp"

namespace shoal::cli {
namespace {

/// "async, persistent, warp" of "async: asked for", ...
std::string summarize(const Report& report) {
  std::string text;
  for (const auto& [option, why] : report.chosen) {
    if (option != "strategy" && option != "kernel" && option != "worker" && option != "queue") continue;
    text += (text.empty() ? "" : ", ") + why.substr(0, why.find(':'));
  }
  return text;
}

/// One stand-in, and what all its ways share.
class OnGraph {
 public:
  OnGraph(const Experiment& experiment, const StandIn& graph, const BenchOptions& options, bool on_gpu)
      : experiment_(experiment),
        info_(find_algorithm(experiment.algorithm)),
        graph_(graph),
        options_(options),
        input_(parse_generator(options.quick ? graph.quick : graph.full)) {
    if (!on_gpu) input_.generate_here(/*quiet=*/true);
    scout();
  }

  BenchRun run(const BenchWay& way, int pes) const {
    BenchRun r;
    r.graph = graph_.paper, r.generator = input_.name(), r.way = way.label, r.pes = pes, r.flags = way.flags;
    r.num_vertices = num_vertices_, r.num_arcs = num_arcs_;
    try {
      const std::unique_ptr<Placed> placed = place(way.flags, pes);
      placed->run(sources_[0]);  // pages, kernels, caches
      for (int i = 0; i < options_.trials && r.wrong.empty(); ++i) {
        const Report report = placed->run(sources_[static_cast<std::size_t>(i)]);
        r.wrong = placed->find_wrong_in_place();
        r.seconds.push_back(report.seconds);
        r.items_run.push_back(static_cast<double>(report.run));
        if (info_.from_source) r.sources.push_back(sources_[static_cast<std::size_t>(i)]);
        if (!reached_.empty()) r.reached.push_back(reached_[static_cast<std::size_t>(i)]);
        r.chosen = summarize(report);
      }
    } catch (const Error& error) {
      r.failed = error.what();
    } catch (const std::bad_alloc&) {
      r.failed = "not enough memory";
    }
    if (!r.failed.empty()) r.seconds.clear();
    if (r.failed.empty() && r.wrong.empty()) r.value = value(r);
    return r;
  }

 private:
  std::unique_ptr<Placed> place(std::vector<std::string> flags, int pes) const {
    flags.insert(flags.end(), {"--device", options_.device, "--pes", std::to_string(pes)});
    return input_.place(*configure(info_, flags));
  }

  /// Sources, and how many vertices each reaches, found once by a way that is not measured.
  void scout() {
    const std::unique_ptr<Placed> placed = place({}, options_.pes[0]);
    num_vertices_ = placed->num_vertices();
    num_arcs_ = placed->num_arcs();
    sources_.assign(static_cast<std::size_t>(options_.trials), 0);
    if (!info_.from_source) return;
    sources_ = choose_sources(SourceChoice{}, options_.trials, options_.seed, num_vertices_, num_arcs_,
                              [&](vertex_t v) { return placed->degree(v); });
    if (experiment_.quantity != Quantity::inflation) return;
    for (const vertex_t source : sources_) {
      placed->run(source);
      reached_.push_back(placed->fetch().facts.at("reached").get<double>());
    }
  }

  double value(const BenchRun& r) const {
    if (experiment_.quantity != Quantity::inflation) return median(r.seconds) * 1e3;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < r.items_run.size(); ++i) ratios.push_back(r.items_run[i] / r.reached[i]);
    return median(ratios);
  }

  const Experiment& experiment_;
  const AlgorithmInfo& info_;
  const StandIn& graph_;
  const BenchOptions& options_;
  GraphInput input_;
  std::int64_t num_vertices_ = 0, num_arcs_ = 0;
  std::vector<vertex_t> sources_;  // [trials]
  std::vector<double> reached_;    // [trials] or empty
};

/// Times become speed-ups over the same way on one PE.
void divide_by_one_pe(std::vector<BenchRun>& runs) {
  const std::vector<BenchRun> times = runs;
  for (BenchRun& run : runs) {
    const auto one = std::find_if(times.begin(), times.end(), [&](const BenchRun& other) {
      return other.graph == run.graph && other.way == run.way && other.pes == 1;
    });
    if (run.failed.empty() && one == times.end()) run.failed = "no run on one PE to compare with (--pes 1,...)";
    run.value = one == times.end() ? kNotReported : one->value / run.value;
  }
}

}  // namespace

std::vector<BenchRun> run_experiment(const Experiment& experiment, const BenchOptions& options,
                                     const std::function<void(const std::string&, double)>& say) {
  std::vector<StandIn> graphs;
  for (const StandIn& graph : experiment.graphs) {
    const auto& wanted = options.graphs;
    if (wanted.empty() || std::find(wanted.begin(), wanted.end(), graph.paper) != wanted.end()) graphs.push_back(graph);
  }
  for (const std::string& name : options.graphs) {
    std::string legal;
    bool known = false;
    for (const StandIn& graph : experiment.graphs) {
      known |= name == graph.paper;
      legal += (legal.empty() ? "" : ", ") + graph.paper;
    }
    if (!known) throw UsageError("graph '" + name + "' is not in " + experiment.name + "; legal: " + legal);
  }
  Options shared;
  shared.device = parse_device(options.device);
  shared.pes = *std::max_element(options.pes.begin(), options.pes.end());
  const bool on_gpu = Machine(shared).on_gpu();

  std::vector<BenchRun> runs;
  const double total = static_cast<double>(graphs.size() * experiment.ways.size() * options.pes.size());
  for (const StandIn& graph : graphs) {
    std::unique_ptr<OnGraph> on;
    std::string failed;
    say(graph.paper + ": placing " + (options.quick ? graph.quick : graph.full),
        static_cast<double>(runs.size()) / total);
    try {
      on = std::make_unique<OnGraph>(experiment, graph, options, on_gpu);
    } catch (const CapacityError& error) {
      failed = error.what();
    } catch (const std::bad_alloc&) {
      failed = "not enough memory for the graph";
    }
    for (const BenchWay& way : experiment.ways) {
      for (const int pes : options.pes) {
        say(graph.paper + ", " + way.label + ", " + counted(pes, "PE", "PEs"),
            static_cast<double>(runs.size()) / total);
        if (on) {
          runs.push_back(on->run(way, pes));
          continue;
        }
        BenchRun none;
        none.graph = graph.paper, none.generator = options.quick ? graph.quick : graph.full, none.way = way.label;
        none.pes = pes, none.flags = way.flags, none.failed = failed;
        runs.push_back(none);
      }
    }
  }
  if (experiment.quantity == Quantity::speedup) divide_by_one_pe(runs);
  return runs;
}

}  // namespace shoal::cli
