// What the runners of all algorithms have in common: a machine, a graph placed on its PEs, and the time that placing it took.
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
  /// Seconds since the last call, or since this object was made.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// What an algorithm needs of the graph that it runs on.
struct GraphWants {
  std::optional<WeightSource> weights =
      std::nullopt;  ///< the arcs' weights, placed with the arcs; none: no weights on devices
  /// Every arc has its reverse, there are no loops, and no target appears twice in a row. A graph that is not like that is copied
  /// and changed.
  bool undirected = false;
};

/// Which graphs are too small for several GPUs: those on which GPUs would wait for each other longer than one GPU works alone.
struct FewVertices {
  std::int64_t than = 0;  ///< a graph of fewer vertices runs on one GPU, unless a number or a strategy was asked for
  std::int64_t roads_than = 0;  ///< the same for road networks, of which a GPU has little to do at a time
  bool even_if_asked = false;   ///< also if one was: then on one of that many GPUs, unless a partition was asked for
};

/// Whether a graph has at most five arcs per vertex and, by a sample, no vertex with more than eight.
bool looks_like_roads(const Csr& graph);

/// Whether a graph is to run on one GPU. If the user asks for a partition, they want several PEs.
bool is_small(const Options& options, const Csr& graph, FewVertices few);
bool is_small(const Options& options, const GeneratorSpec& spec, FewVertices few);

/// The rule for these options: if the worklist was asked for, no graph is too small.
template <class AlgorithmOptions>
FewVertices few_for(const AlgorithmOptions& options, FewVertices rule) {
  const bool asked = options.strategy != decltype(options.strategy)::automatic;
  return runs_async(options) || (asked && !rule.even_if_asked) ? FewVertices{} : rule;
}

/// Engines keep references to machine() and placed(), so this object must not move. A runner's State has it as its first member;
/// the engine is a later member and so is destroyed before the graph.
class PlacedRun {
 public:
  /// Partitions and places a graph in host memory. The graph must outlive this object (CPU PEs work on it in place).
  /// @param needs    the host memory that the algorithm will take; refused here if the host does not have it
  /// @throws UsageError (options that do not fit the machine; weights: see with_weights()), CapacityError, DeviceError
  PlacedRun(const Csr& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  /// Generates the graph on the devices when the run is on GPUs and the partition can be made without the whole graph. With several
  /// processes, each generates its own rows under the same condition. Otherwise the graph is generated on the host.
  PlacedRun(const GeneratorSpec& spec, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  /// Called by every process: reads the rows of its PEs if the partition can be made without the whole graph; otherwise each
  /// process reads the whole graph.
  /// @param graph  must outlive this object
  PlacedRun(const SharedGraph& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {},
            FewVertices few = {});
  PlacedRun(const PlacedRun&) = delete;
  PlacedRun& operator=(const PlacedRun&) = delete;

  const Machine& machine() const { return machine_; }
  const PlacedGraph& placed() const { return placed_; }
  std::int64_t num_vertices() const { return placed_.num_vertices; }
  arc_t num_arcs() const { return placed_.num_arcs; }

  /// What was decided so far, with reasons; plans append to it.
  Decisions& chosen() { return chosen_; }

  /// Sets the most CPU threads of a PE, as a plan decides. Call before the engine is made.
  void limit_threads(int threads) { machine_.limit_threads(threads); }

  /// Calls make(), which builds an engine and returns it; its time counts as part of placing.
  template <class F>
  auto prepare(F&& make) {
    Stopwatch watch;
    auto engine = make();
    phases_.back().second += watch.lap();
    return engine;
  }

  /// A report with the choices so far and the times of reading and placing; a run adds to it.
  Report begin_report() const;
  /// Adds what is the same for all algorithms: the time of the run and the partition's quality.
  void end_report(Report& report) const;

  /// The placed number of a vertex that a user named.
  /// @param what  the role of the vertex, for messages: "source"
  /// @throws UsageError when the graph has no such vertex
  vertex_t placed_vertex(const char* what, vertex_t input) const;

  /// The words that an engine left, converted, indexed by input number: [num_vertices].
  /// @param convert  Word -> To, called once for each vertex, by all threads
  template <class Word, class Convert>
  auto gather(const Words& words, Convert&& convert) const {
    return to_input(fetch_words<Word>(machine_, placed_, words), convert);
  }
  /// The same for values that are on the host, by placed number.
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

  /// Called by every process: the number of out-arcs of a vertex, given by input number. If the host has only slices of the graph,
  /// the first call fetches the degrees of all vertices, but not the graph. Not thread-safe.
  arc_t degree(vertex_t input) {
    fetch_degrees();
    return degree_known(input);
  }

  /// The graph in input numbers, with weights if there are any. If the host has only slices of it, it is fetched from the devices,
  /// or generated or read again. Not thread-safe.
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
  Csr own_;                     // generated here, or fetched from the devices; otherwise empty
  Csr changed_;                 // the input with other weights, or made undirected; otherwise empty
  const Csr* graph_ = nullptr;  // in input numbers; null until first needed if the graph was generated by slice
  std::function<Csr()> again_;  // makes the whole graph when each process has only its own rows
  std::optional<WeightSource> weights_again_;
  HostArray<vertex_t> degrees_;  // by input number; empty until first needed, and empty when graph_ is set
  PlacedGraph placed_;
  Decisions chosen_;
  std::vector<std::pair<std::string, double>> phases_;
};

/// What a runner holds. The members that an algorithm adds (runner.hpp) are destroyed before the graph, because its engine works on
/// the graph.
struct GraphRunner::State {
  template <class Graph>
  State(const Graph& graph, const Options& options, const RunNeeds& needs, GraphWants wants = {}, FewVertices few = {})
      : run(graph, options, needs, wants, few) {}
  virtual ~State() = default;

  /// One run: work(report) does it, and adds its results to the report.
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
  bool done = false;  ///< there was a run, and it did not fail
};

}  // namespace shoal
