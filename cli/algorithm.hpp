// What the commands ask of an algorithm: flags of its own, a graph placed on PEs, runs, answers, checks. One file per
// algorithm (bfs.cpp, ...) and one line in algorithms.cpp; `shoal NAME`, `shoal bench` and `shoal tune` follow from them.
#pragma once
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "algo/host_memory.hpp"
#include "output.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace CLI {
class App;
}

namespace shoal::cli {

using Json = nlohmann::ordered_json;

/// One answer, as it is printed and written.
struct Found {
  Json facts = Json::object();     ///< for the trial's JSON, in this order: {"depth": 7, "reached": 1000, ...}
  std::vector<std::string> cells;  ///< for the table: one per entry of AlgorithmInfo::columns
  double arcs = 0;                 ///< arcs that "arcs per second" counts
};

/// An algorithm with its options on one graph that lies on the PEs. Memory of the PEs is held until destroyed.
class Placed {
 public:
  virtual ~Placed() = default;
  /// Computes; the answer stays on the PEs. report.seconds is the computation alone.
  /// @param source  an input number below num_vertices(); algorithms without a source do not look at it
  virtual Report run(vertex_t source) = 0;
  /// Brings the answer of the last run to the host.
  virtual Found fetch() = 0;
  /// Checks the answer that fetch() brought by its properties. Empty when right, else one line.
  virtual std::string find_wrong() = 0;
  /// Checks the answer of the last run where it lies, without fetch(). Empty when right, else one line.
  virtual std::string find_wrong_in_place() = 0;
  /// The answer that fetch() brought, in input numbers: [num_vertices()] each; valid until the next fetch().
  virtual std::vector<Row> rows() const = 0;

  virtual std::int64_t num_vertices() const = 0;
  virtual arc_t num_arcs() const = 0;
  virtual arc_t degree(vertex_t input) const = 0;
};

/// An algorithm's options: read from flags, then used to place graphs. Must outlive the parser's callbacks.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// @param group  the heading of the flags in --help
  virtual void add_flags(CLI::App& app, const char* group) = 0;
  /// Reads the flags, and takes the options that all algorithms share. @throws UsageError
  virtual void read(const Options& shared) = 0;
  /// Its own options by name, as they were given.
  virtual Json options() const = 0;
  /// The files that its own options name, which it reads.
  virtual std::vector<NamedFile> files() const { return {}; }
  /// Bytes of the host's memory that a graph and a run take (algo/host_memory.hpp).
  /// @param check  the answer is checked
  virtual std::int64_t host_bytes(const GraphSize& size, bool generated, bool check) const = 0;
  /// @param graph  must outlive what is returned
  virtual std::unique_ptr<Placed> place(const Csr& graph) const = 0;
  virtual std::unique_ptr<Placed> place(const GeneratorSpec& spec) const = 0;
};

/// What the algorithms' options have in common: where they are kept, and how they place a graph.
template <class PlacedOnGraph, class OptionsT>
class AlgorithmOf : public Algorithm {
 public:
  std::int64_t host_bytes(const GraphSize& size, bool generated, bool check) const override {
    const OptionsT options = ready(generated);
    return shoal::host_bytes(size, options, needs_of(size, options), check);
  }
  std::unique_ptr<Placed> place(const Csr& graph) const override {
    return std::make_unique<PlacedOnGraph>(graph, ready(is_generator(graph.name)));
  }
  std::unique_ptr<Placed> place(const GeneratorSpec& spec) const override {
    return std::make_unique<PlacedOnGraph>(spec, ready(true));
  }

 protected:
  /// @param generated  the graph is a generator's
  virtual OptionsT ready(bool generated) const {
    (void)generated;
    return options_;
  }
  void take(const Options& shared) { static_cast<Options&>(options_) = shared; }

  OptionsT options_;
  std::string strategy_ = "auto";
};

/// A column of the table of trials between the trial's number and the time.
struct Column {
  const char* title;
  int width;
};

struct AlgorithmInfo {
  const char* name;  ///< of the command
  const char* says;  ///< one line of help
  const char* footer;
  const char* output;  ///< help of --output: what it holds, and its type and shape
  const char* doing;   ///< "searching", for progress
  const char* noun;    ///< "search", for the report
  bool from_source;    ///< a run starts at a vertex
  bool counts_teps;    ///< half of the arcs per second is GTEPS on symmetric graphs
  std::vector<Column> columns;
  // For `shoal tune`.
  std::vector<std::string> bulk_strategies;                             ///< values of --strategy beside async
  bool has_priority;                                                    ///< its task knows --queue priority
  std::vector<std::pair<const char*, std::vector<std::string>>> tuned;  ///< flags of bulk strategies, values to try
  std::unique_ptr<Algorithm> (*make)();
};

/// All of them, in the order of --help.
const std::vector<const AlgorithmInfo*>& algorithms();
/// @throws UsageError naming the text and the legal names
const AlgorithmInfo& find_algorithm(const std::string& name);

/// An algorithm with the options that a command line would give it: {"--worker", "warp", "--pes", "2"}.
/// @throws UsageError for flags that the algorithm's command does not have, or that do not fit together
std::unique_ptr<Algorithm> configure(const AlgorithmInfo& info, const std::vector<std::string>& flags);

/// What the runners of the library have in common.
template <class Runner>
class PlacedRunner : public Placed {
 public:
  template <class Graph, class RunnerOptions>
  PlacedRunner(const Graph& graph, const RunnerOptions& options) : runner_(graph, options) {}
  std::string find_wrong_in_place() override { return runner_.verify(); }
  std::int64_t num_vertices() const override { return runner_.num_vertices(); }
  arc_t num_arcs() const override { return runner_.num_arcs(); }
  arc_t degree(vertex_t input) const override { return runner_.degree(input); }

 protected:
  Runner runner_;
};

constexpr arc_t kMostArcsOnHost = arc_t{1} << 27;

/// Large graphs on GPUs are checked where they are: reading them on the host takes longer than everything else.
inline bool large_and_on_gpu(const Report& report, arc_t num_arcs) {
  return num_arcs > kMostArcsOnHost && value_of(report.chosen, "device") == "gpu";
}

}  // namespace shoal::cli
