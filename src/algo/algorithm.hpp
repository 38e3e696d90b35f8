// What commands, Python and the matrix of tests ask of an algorithm: options of its own, a graph placed on PEs, runs, answers,
// checks. An algorithm describes itself in src/algo/NAME/describe.cpp and has one line in the list of algorithms.cpp;
// `shoal NAME`, `shoal bench`, `shoal tune`, `shoal.NAME` in Python and the matrix follow from them.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "host_memory.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/array.hpp"
#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

/// Is told an algorithm's own options, one after the other: a parser of command lines, Python's keywords, a list for --json.
/// `value` holds the default when it is told, and may be set until Algorithm::read().
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  /// @param name  as on the command line, without dashes
  /// @param says  one line of help, with the legal values
  virtual void text(const char* name, std::string& value, const char* says) = 0;
  virtual void file(const char* name, std::string& value, const char* says) = 0;  ///< one to be read; empty: none
  virtual void number(const char* name, double& value, const char* says) = 0;
  virtual void flag(const char* name, bool& value, const char* says) = 0;
};

/// Where a run begins. Algorithms that have no use for a member do not look at it.
struct Start {
  vertex_t source = 0;                  ///< an input number below num_vertices()
  std::vector<PersonalWeight> weights;  ///< where walks jump to; empty: as the options say
};

/// One thing that is known of an answer: {"depth", 7}.
struct Fact {
  const char* name;
  std::variant<std::int64_t, double> value;
  bool operator==(const Fact&) const = default;
};

/// One answer, as it is printed.
struct Found {
  std::vector<Fact> facts;         ///< for the trial's JSON, in this order: depth, reached, ...
  std::vector<std::string> cells;  ///< for the table: one per entry of AlgorithmInfo::columns
  double arcs = 0;                 ///< arcs that "arcs per second" counts
};

/// A value of every vertex, in input numbers.
using Row = std::variant<HostArray<std::int32_t>, HostArray<std::int64_t>, HostArray<double>>;
using Rows = std::vector<Row>;

/// Compares rows with those of a serial reference. Empty when they agree, else one line.
using Compare = std::function<std::string(const Rows& rows)>;

/// An algorithm with its options on one graph that lies on the PEs. Memory of the PEs is held until destroyed.
class Placed {
 public:
  virtual ~Placed() = default;
  /// Computes; the answer stays on the PEs. report.seconds is the computation alone.
  virtual Report run(const Start& start) = 0;
  /// Brings the answer of the last run to the host.
  virtual Found fetch() = 0;
  /// What fetch() says of the answer of the last run. It is counted where it lies, by algorithms that can.
  virtual Found count() { return fetch(); }
  /// Checks the answer that fetch() brought by its properties. Empty when right, else one line.
  virtual std::string find_wrong() = 0;
  /// Checks the answer of the last run where it lies, without fetch(). Empty when right, else one line.
  virtual std::string find_wrong_in_place() = 0;
  /// The answer that fetch() brought: [num_vertices()] each. It is not here any more then.
  virtual Rows take_rows() = 0;

  virtual std::int64_t num_vertices() const = 0;
  virtual arc_t num_arcs() const = 0;
  virtual arc_t degree(vertex_t input) const = 0;
};

/// An algorithm's options: set by a visitor, then used to place graphs.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Tells its own options. What the visitor sets counts from read() on.
  virtual void visit(OptionVisitor& visitor) = 0;
  /// Reads its own options, and takes those that all algorithms share. @throws UsageError
  virtual void read(const Options& shared) = 0;
  /// Bytes of the host's memory that a graph and a run take (host_memory.hpp).
  /// @param check  the answer is checked
  virtual std::int64_t host_bytes(const GraphSize& size, bool generated, bool check) const = 0;
  /// @param graph  must outlive what is returned
  virtual std::unique_ptr<Placed> place(const Csr& graph) const = 0;
  virtual std::unique_ptr<Placed> place(const GeneratorSpec& spec) const = 0;
  virtual std::unique_ptr<Placed> place(const SharedGraph& graph) const = 0;
  /// Computes the answer by plain serial code, to compare those of many runs with it.
  /// @param graph  a small one, which must outlive what is returned
  virtual Compare reference(const Csr& graph, vertex_t source) const = 0;
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
  std::unique_ptr<Placed> place(const SharedGraph& graph) const override {
    return std::make_unique<PlacedOnGraph>(graph, ready(false));
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
  const char* output;                    ///< help of --output: what it holds, and its type and shape
  const char* doing;                     ///< "searching", for progress
  const char* noun;                      ///< "search", for the report
  bool from_source;                      ///< a run starts at a vertex
  bool counts_teps;                      ///< half of the arcs per second is GTEPS on symmetric graphs
  const char* takes_as_undirected = "";  ///< said above the table of a directed graph
  std::vector<Column> columns;
  // For `shoal tune` and the matrix.
  std::vector<std::string> bulk_strategies;  ///< values of --strategy beside async
  bool has_priority;                         ///< its task knows --queue priority
  bool has_combine;  ///< its task knows --combine on and --judge remote, on CPU threads and GPUs
  std::vector<std::pair<const char*, std::vector<std::string>>> tuned;  ///< flags of bulk strategies, values to try
  std::unique_ptr<Algorithm> (*make)();
};

/// All of them, in the order of --help.
const std::vector<const AlgorithmInfo*>& algorithms();
/// @throws UsageError naming the text and the legal names
const AlgorithmInfo& find_algorithm(const std::string& name);

/// A runner, and the last answer that it fetched. An algorithm adds run(), found(), find_wrong() and take_rows().
template <class Runner, class Result>
class PlacedRunner : public Placed {
 public:
  template <class Graph, class RunnerOptions>
  PlacedRunner(const Graph& graph, const RunnerOptions& options) : runner_(graph, options) {}
  Found fetch() final {
    result_ = {};  // its memory first
    result_ = runner_.result();
    return found();
  }
  std::string find_wrong_in_place() override { return runner_.verify(); }
  std::int64_t num_vertices() const override { return runner_.num_vertices(); }
  arc_t num_arcs() const override { return runner_.num_arcs(); }
  arc_t degree(vertex_t input) const override { return runner_.degree(input); }

 protected:
  /// What there is to say of result_.
  virtual Found found() const = 0;

  Runner runner_;
  Result result_;
};

/// Rows of arrays that are moved there.
template <class... Values>
Rows rows_of(HostArray<Values>&&... values) {
  Rows rows;
  (rows.emplace_back(std::move(values)), ...);
  return rows;
}

/// A Compare for answers that have to be the reference's, value for value.
/// @param want  what the reference says of each vertex, in the type of the row
/// @param what  for messages: "level"
template <class T>
Compare same_as(std::vector<T> want, const char* what) {
  return [want = std::move(want), what](const Rows& rows) -> std::string {
    const HostArray<T>& have = std::get<HostArray<T>>(rows.at(0));
    if (have.size() != std::ssize(want)) return std::to_string(have.size()) + " vertices have a " + what;
    for (std::int64_t v = 0; v < have.size(); ++v) {
      if (have[v] == want[static_cast<std::size_t>(v)]) continue;
      return "vertex " + std::to_string(v) + " has " + what + " " + std::to_string(have[v]) + ", the reference says " +
             std::to_string(want[static_cast<std::size_t>(v)]);
    }
    return "";
  };
}

constexpr arc_t kMostArcsOnHost = arc_t{1} << 27;

/// Large graphs on GPUs are checked where they are: reading them on the host takes longer than everything else.
inline bool large_and_on_gpu(const Report& report, arc_t num_arcs) {
  return num_arcs > kMostArcsOnHost && value_of(report.chosen, "device") == "gpu";
}

}  // namespace shoal
