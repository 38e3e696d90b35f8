// The interface of an algorithm to the commands, Python and the tests' matrix: its own options, a graph placed on PEs, runs,
// answers and checks. An algorithm describes itself in src/algo/NAME/describe.cpp and has one line in the list of algorithms.cpp;
// `shoal NAME`, `shoal bench`, `shoal tune`, `shoal.NAME` in Python and the matrix follow from these two.
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

/// Called with each of an algorithm's own options in turn: a parser of command lines, Python's keywords, a list for --json.
/// When called, `value` holds the default. It may be set until Algorithm::read() is called.
class OptionVisitor {
 public:
  virtual ~OptionVisitor() = default;
  /// @param name  the option's name on the command line, without dashes
  /// @param says  one line of help, with the legal values
  virtual void text(const char* name, std::string& value, const char* says) = 0;
  virtual void file(const char* name, std::string& value, const char* says) = 0;  ///< a file to be read; empty: none
  virtual void number(const char* name, double& value, const char* says) = 0;
  virtual void flag(const char* name, bool& value, const char* says) = 0;
};

/// Where a run begins. An algorithm ignores the members that it has no use for.
struct Start {
  vertex_t source = 0;                  ///< an input number below num_vertices()
  std::vector<PersonalWeight> weights;  ///< where random walks jump to; empty: as the options say
};

/// One fact about an answer: {"depth", 7}.
struct Fact {
  const char* name;
  std::variant<std::int64_t, double> value;
  bool operator==(const Fact&) const = default;
};

/// One answer in the form in which it is printed.
struct Found {
  std::vector<Fact> facts;         ///< for the trial's JSON, in this order: depth, reached, ...
  std::vector<std::string> cells;  ///< for the table: one per entry of AlgorithmInfo::columns
  double arcs = 0;                 ///< the arcs that "arcs per second" counts
};

/// A value of every vertex, indexed by input number.
using Row = std::variant<HostArray<std::int32_t>, HostArray<std::int64_t>, HostArray<double>>;
using Rows = std::vector<Row>;

/// Compares rows with those of a serial reference. Returns an empty text when they agree, otherwise one line that says where they
/// differ.
using Compare = std::function<std::string(const Rows& rows)>;

/// An algorithm with its options, and one graph that is placed on the PEs. Holds the PEs' memory until it is destroyed.
class Placed {
 public:
  virtual ~Placed() = default;
  /// Computes the answer and leaves it on the PEs. report.seconds is the time of the computation alone.
  virtual Report run(const Start& start) = 0;
  /// Copies the answer of the last run to the host.
  virtual Found fetch() = 0;
  /// The same facts as fetch() returns for the answer of the last run. Algorithms that can count on the PEs do so without copying
  /// the answer to the host.
  virtual Found count() { return fetch(); }
  /// Checks the answer that fetch() copied, by its properties. Empty when right, otherwise one line.
  virtual std::string find_wrong() = 0;
  /// Checks the answer of the last run on the PEs, without fetch(). Empty when right, otherwise one line.
  virtual std::string find_wrong_in_place() = 0;
  /// Moves the answer that fetch() copied out of this object: [num_vertices()] per row. This object does not have it afterwards.
  virtual Rows take_rows() = 0;

  virtual std::int64_t num_vertices() const = 0;
  virtual arc_t num_arcs() const = 0;
  virtual arc_t degree(vertex_t input) const = 0;
};

/// An algorithm's options: a visitor sets them, then they are used to place graphs.
class Algorithm {
 public:
  virtual ~Algorithm() = default;
  /// Passes the algorithm's own options to the visitor. The values that the visitor sets take effect at read().
  virtual void visit(OptionVisitor& visitor) = 0;
  /// Reads the algorithm's own options, and takes over those that all algorithms share. @throws UsageError
  virtual void read(const Options& shared) = 0;
  /// Bytes of host memory that a graph and a run take (host_memory.hpp).
  /// @param check  whether the answer will be checked
  virtual std::int64_t host_bytes(const GraphSize& size, bool generated, bool check) const = 0;
  /// host_memory.hpp's, before a graph is read.
  virtual void require_ring_memory() const = 0;
  /// @param graph  must outlive the returned object
  virtual std::unique_ptr<Placed> place(const Csr& graph) const = 0;
  virtual std::unique_ptr<Placed> place(const GeneratorSpec& spec) const = 0;
  virtual std::unique_ptr<Placed> place(const SharedGraph& graph) const = 0;
  /// Computes the answer with plain serial code, to compare the answers of many runs with it.
  /// @param graph  a small one, which must outlive the returned function
  virtual Compare reference(const Csr& graph, vertex_t source) const = 0;
};

/// What the option classes of all algorithms have in common: where the options are kept, and how they place a graph.
template <class PlacedOnGraph, class OptionsT>
class AlgorithmOf : public Algorithm {
 public:
  std::int64_t host_bytes(const GraphSize& size, bool generated, bool check) const override {
    const OptionsT options = ready(generated);
    return shoal::host_bytes(size, options, needs_of(size, options), check);
  }
  void require_ring_memory() const override {
    const OptionsT options = ready(false);
    shoal::require_ring_memory(options, needs_of(GraphSize{}, options));
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
  /// @param generated  whether the graph comes from a generator
  virtual OptionsT ready(bool generated) const {
    (void)generated;
    return options_;
  }
  void take(const Options& shared) { static_cast<Options&>(options_) = shared; }

  OptionsT options_;
  std::string strategy_ = "auto";
};

/// A column of the table of trials. These columns stand between the trial's number and its time.
struct Column {
  const char* title;
  int width;
};

struct AlgorithmInfo {
  const char* name;  ///< of the command
  const char* says;  ///< one line of help
  const char* footer;
  const char* output;                    ///< help of --output: what it holds, and its type and shape
  const char* doing;                     ///< "searching", for the progress display
  const char* noun;                      ///< "search", for the report
  bool from_source;                      ///< a run starts at a vertex
  bool counts_teps;                      ///< half of the arcs per second is GTEPS on symmetric graphs
  const char* takes_as_undirected = "";  ///< printed above the table when the graph is directed
  std::vector<Column> columns;
  // For `shoal tune` and the matrix.
  std::vector<std::string> bulk_strategies;  ///< values of --strategy other than async
  bool has_priority;                         ///< its task supports --queue priority
  bool has_combine;  ///< its task supports --combine on and --judge remote, on CPU threads and GPUs
  std::vector<std::pair<const char*, std::vector<std::string>>> tuned;  ///< bulk strategies' flags, with values to try
  std::unique_ptr<Algorithm> (*make)();
};

/// All algorithms, in the order of --help.
const std::vector<const AlgorithmInfo*>& algorithms();
/// @throws UsageError with the given text and the legal names
const AlgorithmInfo& find_algorithm(const std::string& name);

/// A runner with the last answer that it fetched. An algorithm adds run(), found(), find_wrong() and take_rows().
template <class Runner, class Result>
class PlacedRunner : public Placed {
 public:
  template <class Graph, class RunnerOptions>
  PlacedRunner(const Graph& graph, const RunnerOptions& options) : runner_(graph, options) {}
  Found fetch() final {
    result_ = {};  // frees the memory of the old answer before the new one is allocated
    result_ = runner_.result();
    return found();
  }
  std::string find_wrong_in_place() override { return runner_.verify(); }
  std::int64_t num_vertices() const override { return runner_.num_vertices(); }
  arc_t num_arcs() const override { return runner_.num_arcs(); }
  arc_t degree(vertex_t input) const override { return runner_.degree(input); }

 protected:
  /// The facts and table cells of result_.
  virtual Found found() const = 0;

  Runner runner_;
  Result result_;
};

/// Makes Rows of arrays, which are moved into it.
template <class... Values>
Rows rows_of(HostArray<Values>&&... values) {
  Rows rows;
  (rows.emplace_back(std::move(values)), ...);
  return rows;
}

/// A Compare for answers that must equal the reference's in every value.
/// @param want  the reference's value of each vertex, in the type of the row
/// @param what  the name of a value, for messages: "level"
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

/// Large graphs on GPUs are checked on the GPUs: reading them on the host takes longer than everything else.
inline bool large_and_on_gpu(const Report& report, arc_t num_arcs) {
  return num_arcs > kMostArcsOnHost && value_of(report.chosen, "device") == "gpu";
}

}  // namespace shoal
