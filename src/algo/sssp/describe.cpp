// Describes the algorithm sssp: shortest paths from one or many sources.
#include <cstdio>
#include <optional>

#include "algo/algorithm.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal {
namespace {

const char* const kSsspFooter = R"(examples:
  shoal sssp roads.gr.gz --source 17           distances by the file's weights; on the GPUs if any, else on all CPU threads
  shoal sssp kron:18 --trials 8 --verify       weights 1 to 255, a hash of the ends of each arc; every answer is checked
  shoal sssp road:1024 --source 0 --strategy delta --delta 200 --device cpu
  shoal sssp road:1024 --strategy async --queue priority --threshold-delta 500 --stats
  shoal sssp web.mtx --weights hash255 --source max-degree --output distances.npy
                                               int64, -1 where there is no path; with real weights float64, and inf
  shoal sssp net.wel --undirected --source 3 --predecessors --output paths.txt
                                               one line per vertex: distance and predecessor

No weight may be negative. Whole weights up to 2,147,483,647 are added as integers, real ones as float64, from the source on. If a
whole weight is larger (up to 2^53), all become float64, which is exact below 2^53; longer distances are refused. Times are those
of the search alone. Arcs per second count the out-arcs of reached vertices once, however often they were read.)";

class PlacedSssp : public PlacedRunner<SsspRunner, SsspResult> {
 public:
  template <class Graph>
  PlacedSssp(const Graph& graph, const SsspOptions& options)
      : PlacedRunner(graph, options), predecessors_(options.predecessors) {}

  Report run(const Start& start) override {
    source_ = start.source;
    return runner_.search(source_);
  }

  Found count() override { return say(runner_.found()); }
  Found found() const override { return say(result_); }
  static Found say(const SsspFound& r) {
    Found found;
    found.facts = {{"farthest", r.farthest}, {"reached", r.reached}, {"reached_arcs", r.reached_arcs}};
    if (!r.real) found.facts[0].value = static_cast<std::int64_t>(r.farthest);
    char text[32];
    std::snprintf(text, sizeof text, r.real ? "%.6g" : "%.0f", r.farthest);
    found.cells = {text, grouped(r.reached)};
    found.arcs = static_cast<double>(r.reached_arcs);
    return found;
  }

  std::string find_wrong() override {
    if (!predecessors_ && large_and_on_gpu(result_.report, num_arcs())) return runner_.verify();
    const SsspResult& r = result_;
    const Csr& graph = runner_.graph();
    if (!graph.symmetric && !reverse_) reverse_ = transpose(graph);
    const Csr& in = graph.symmetric ? graph : *reverse_;
    const HostArray<std::uint64_t> words =
        is_whole() ? sssp_words(r.distances.span()) : sssp_words(r.real_distances.span());
    std::string wrong = verify_distances(in, words.span(), source_);
    if (wrong.empty()) wrong = find_wrong_counts(words.span());
    if (wrong.empty() && predecessors_) {
      wrong = verify_predecessors(in, words.span(), r.predecessors.span(), source_, /*smallest=*/true);
    }
    return wrong;
  }

  Rows take_rows() override {
    Rows rows = is_whole() ? rows_of(std::move(result_.distances)) : rows_of(std::move(result_.real_distances));
    if (predecessors_) rows.push_back(std::move(result_.predecessors));
    return rows;
  }

 private:
  bool is_whole() const { return !result_.real; }

  /// Checks the count that is printed and written beside the distances.
  std::string find_wrong_counts(Span<const std::uint64_t> words) const {
    std::int64_t reached = 0;
    for (const std::uint64_t word : words) reached += word != kUnreachedDistance<std::uint64_t>;
    if (reached == result_.reached) return "";
    return "the number of reached vertices is given as " + std::to_string(result_.reached) +
           ", but the distances say " + std::to_string(reached);
  }

  bool predecessors_;
  vertex_t source_ = 0;
  std::optional<Csr> reverse_;
};

class SsspAlgorithm : public AlgorithmOf<PlacedSssp, SsspOptions> {
 public:
  void visit(OptionVisitor& visitor) override {
    visitor.text("strategy", strategy_, "auto, async (by the worklist) or delta (delta-stepping)");
    visitor.text("weights", weights_,
                 "of arcs: file, hash255 (1 to 255, a hash of an arc's ends), unit (1 each) or auto (file; for "
                 "generators hash255)");
    visitor.number("delta", options_.delta, "strategy delta: width of a bucket, in units of weight (0 chooses)");
    visitor.flag("predecessors", options_.predecessors,
                 "also compute a tree of shortest paths: the predecessor of each vertex");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_sssp_strategy(strategy_);
    if (weights_ != "auto") options_.weights = parse_weights(weights_);
    check_delta();
  }
  /// Distances are compared as words, which is exact for real weights, too.
  Compare reference(const Csr& graph, vertex_t source) const override {
    return [want = sssp_reference(with_weights(graph, ready(false).weights), source)](const Rows& rows) -> std::string {
      const auto* whole = std::get_if<HostArray<std::int64_t>>(&rows.at(0));
      const HostArray<std::uint64_t> have =
          whole != nullptr ? sssp_words(whole->span()) : sssp_words(std::get<HostArray<double>>(rows.at(0)).span());
      for (std::int64_t v = 0; v < have.size(); ++v) {
        if (have[v] == want[static_cast<std::size_t>(v)]) continue;
        return "vertex " + std::to_string(v) + " has the distance word " + std::to_string(have[v]) +
               ", the reference says " + std::to_string(want[static_cast<std::size_t>(v)]);
      }
      return "";
    };
  }

 private:
  void check_delta() const {
    if (options_.delta >= 0 && options_.delta <= 1e18) return;
    throw UsageError("--delta " + exact(options_.delta) + " is out of range: above 0, to 1e18 (0 chooses)");
  }
  /// Generators make arcs without weights.
  SsspOptions ready(bool generated) const override {
    SsspOptions options = options_;
    if (weights_ == "auto" && generated) options.weights = WeightSource::hash255;
    return options;
  }

  std::string weights_ = "auto";
};

}  // namespace

const AlgorithmInfo& describe_sssp() {
  static const AlgorithmInfo info = {
      .name = "sssp",
      .says = "shortest paths: the least sum of weights from a source to every vertex",
      .footer = kSsspFooter,
      .output =
          "write the distances from a single source: int64, or float64 if weights are real, shape (n,); with "
          "--predecessors distances and predecessors, both of that type, shape (2, n)",
      .doing = "searching",
      .noun = "search",
      .from_source = true,
      .counts_teps = false,
      .columns = {{"farthest", 12}, {"reached", 14}},
      .bulk_strategies = {"delta"},
      .has_priority = true,
      .has_combine = true,
      .tuned = {{"--delta", {"4", "16", "64", "256", "1024", "4096"}}},
      .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<SsspAlgorithm>(); },
  };
  return info;
}

}  // namespace shoal
