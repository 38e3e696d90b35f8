// What the runners of all algorithms have in common: a machine, a graph placed on its PEs, and how long that took.
#pragma once
#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine.hpp"
#include "host_memory.hpp"
#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/core/types.hpp"
#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/host_slice.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

class Stopwatch {
 public:
  /// Seconds since the last lap, or since it was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// What an algorithm wants of the graph that it is run on.
struct GraphWants {
  std::optional<WeightSource> weights =
      std::nullopt;  ///< the arcs' weights, placed as well; none: no weights on devices
  /// Every arc with its reverse, no loops, no target twice in a row: a graph that is not like that is copied.
  bool undirected = false;
};

/// Which graphs are too small for several GPUs, which would wait for each other longer than one works.
struct FewVertices {
  std::int64_t than = 0;  ///< a graph of fewer is left to one GPU, unless a number of them or a strategy was asked for
  bool even_if_asked = false;  ///< also if they were; then to one of that number, unless a partition was asked for, too
};

/// The rule as it is for these options: no graph is too small for the worklist, if that was asked for.
template <class AlgorithmOptions>
FewVertices few_for(const AlgorithmOptions& options, FewVertices rule) {
  const bool asked = options.strategy != decltype(options.strategy)::automatic;
  return runs_async(options) || (asked && !rule.even_if_asked) ? FewVertices{} : rule;
}

/// Engines keep references to machine() and placed(), so it stays where it was made: a runner's State has it as its first
/// member, so that the engine, a later one, goes before the graph does.
class PlacedRun {
 public:
  /// Partitions and places a graph of the host, which must outlive this (CPU PEs work on it where it is).
  /// @param needs    what the algorithm will take of the host's memory: refused here where that has not got it
  /// @throws UsageError (options that do not fit the machine, weights: with_weights()), CapacityError, DeviceError
  PlacedRun(const Csr& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  /// Generates on the devices when the run is there and the partition needs no look at the whole graph; of several processes, each
  /// its own rows, likewise; else on the host.
  PlacedRun(const GeneratorSpec& spec, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  /// Every process: reads the rows of its PEs, if the partition needs no look at the whole graph; else each reads all of it.
  /// @param graph  must outlive this
  PlacedRun(const SharedGraph& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  PlacedRun(const PlacedRun&) = delete;
  PlacedRun& operator=(const PlacedRun&) = delete;

  const Machine& machine() const { return machine_; }
  const PlacedGraph& placed() const { return placed_; }
  std::int64_t num_vertices() const { return placed_.num_vertices; }
  arc_t num_arcs() const { return placed_.num_arcs; }

  /// What was decided so far and why; plans append to it.
  Decisions& chosen() { return chosen_; }

  /// At most so many CPU threads a PE: what a plan says, before the engine is made.
  void limit_threads(int threads) { machine_.limit_threads(threads); }

  /// Calls make(), which builds an engine and returns it; its time counts as part of placing.
  template <class F>
  auto prepare(F&& make) {
    Stopwatch watch;
    auto engine = make();
    phases_.back().second += watch.lap();
    return engine;
  }

  /// A report that says what was chosen and how long reading and placing took; a run adds to it.
  Report begin_report() const;
  /// Adds what is the same for all algorithms: the run's phase and the partition's quality.
  void end_report(Report& report) const;

  /// The placed number of a vertex that a user named.
  /// @param what  what the vertex is for: "source"
  /// @throws UsageError when the graph has no such vertex
  vertex_t placed_vertex(const char* what, vertex_t input) const;

  /// What an engine left, converted, in the input's numbers: [num_vertices].
  /// @param convert  Word -> To, called once for each vertex, by all threads
  template <class Word, class Convert>
  auto gather(const Words& words, Convert&& convert) const {
    return to_input(fetch_words<Word>(machine_, placed_, words), convert);
  }
  /// The same for values on the host, by placed number.
  template <class From, class Convert>
  auto to_input(const HostArray<From>& placed, Convert&& convert) const {
    using To = decltype(convert(From{}));
    HostArray<To> out(num_vertices());
    parallel_ranges(num_vertices(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        out[placed_.partition.input(static_cast<vertex_t>(v))] = convert(placed[v]);
      }
    });
    return out;
  }

  /// Every process: out-arcs of a vertex, in the input's numbers. Of a graph that is there by slice it fetches the degrees of
  /// all, the first time, and not the graph. Not from two threads at once.
  arc_t degree(vertex_t input) {
    fetch_degrees();
    return degree_known(input);
  }

  /// The graph in the input's numbers, with the weights if there are any. Where it is there by slice, it is fetched from the devices,
  /// or generated or read once more. Not from two threads at once.
  const Csr& graph();

 private:
  static constexpr std::int64_t kGrain = 1 << 16;

  PartitionKind choose_partition(const Options& options, bool leave_to_one);
  bool generate_share(const GeneratorSpec& spec, const Options& options, const RunNeeds& needs, GraphWants wants,
                      bool leave_to_one);
  ShareOfPes share() const;
  void fetch_degrees();
  arc_t degree_known(vertex_t input) const { return graph_ != nullptr ? graph_->degree(input) : degrees_[input]; }
  void place(const Csr& graph, const Options& options, GraphWants wants, bool leave_to_one);

  Machine machine_;
  Csr own_;                     // generated here, or fetched from the devices; else empty
  Csr changed_;                 // the input with other weights, or undirected; else empty
  const Csr* graph_ = nullptr;  // in input numbers; null until wanted when it was generated by slice
  std::function<Csr()> again_;  // how to get the whole of what each process has its rows of
  std::optional<WeightSource> weights_again_;
  HostArray<vertex_t> degrees_;  // of the input's vertices; empty until wanted, and where graph_ is there
  PlacedGraph placed_;
  Decisions chosen_;
  std::vector<std::pair<std::string, double>> phases_;
};

/// What a runner holds. What an algorithm adds (runner.hpp) goes before the graph does: its engine works on it.
struct GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {}, FewVertices few = {})
      : run(graph, options, needs, wants, few) {}
  virtual ~State() = default;

  /// One run: work(report) does it, and adds what it has to say.
  template <class Work>
  Report timed(Work&& work) {
    done = false;
    report = run.begin_report();
    work(report);
    run.end_report(report);
    done = true;
    return report;
  }
  /// @throws UsageError
  void need_result() const;
  /// GraphRunner::verify(), after a run.
  virtual std::string verify() = 0;

  PlacedRun run;
  Report report;      ///< of the last run
  bool done = false;  ///< there was one, and it did not fail
};

}  // namespace shoal
