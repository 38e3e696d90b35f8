// Describes the algorithm pagerank: how often a random walk stands on each vertex.
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <istream>
#include <optional>

#include "algo/algorithm.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

const char* const kPageRankFooter = R"(examples:
  shoal pagerank kron:20                       ranks within 1e-6 of the exact ones; on the GPUs if any, else on all CPU threads
  shoal pagerank web.mtx --verify --output ranks.npy
                                               float64, their sum is 1; exit status 1 if an error is above --tolerance
  shoal pagerank web.mtx --alpha 0.9 --tolerance 1e-9 --precision float64
  shoal pagerank soc.el.gz --personalization friends.txt
                                               jumps land on the vertices in this file: lines `vertex weight`
  shoal pagerank kron:18 --strategy async --device cpu --pes 2 --stats

Ranks are those of NetworkX's pagerank(weight=None): from a vertex without out-arcs, a walk jumps by the personalization.
--tolerance bounds the sum over all vertices of |rank - exact rank|, and "error below" is the bound that the run proved. Times are
those of the ranking alone. Arcs per second count every arc once per sweep; with async, they count each pushed residual.)";

class PlacedPageRank : public PlacedRunner<PageRankRunner, PageRankResult> {
 public:
  template <class Graph>
  PlacedPageRank(const Graph& graph, const PageRankOptions& options)
      : PlacedRunner(graph, options), options_(options) {}

  Report run(const Start& start) override {
    return start.weights.empty() ? runner_.rank() : runner_.rank(start.weights);
  }

  Found found() const override {
    const PageRankResult& r = result_;
    Found found;
    found.facts = {{"sweeps", r.sweeps}, {"error_bound", r.error_bound}};
    char text[32];
    std::snprintf(text, sizeof text, "%.2e", r.error_bound);
    found.cells = {r.sweeps > 0 ? std::to_string(r.sweeps) : "-", text};
    found.arcs = r.sweeps > 0 ? static_cast<double>(num_arcs()) * static_cast<double>(r.sweeps)
                              : static_cast<double>(r.report.pushed);
    return found;
  }

  std::string find_wrong() override {
    if (large_and_on_gpu(result_.report, num_arcs())) return runner_.verify();
    const Csr& graph = runner_.graph();
    if (!graph.symmetric && !reverse_) reverse_ = transpose(graph);
    const PageRankResult& r = result_;
    return verify_pagerank(graph, graph.symmetric ? graph : *reverse_, r.ranks.span(), options_.alpha,
                           options_.tolerance, personal());
  }

  Rows take_rows() override { return rows_of(std::move(result_.ranks)); }

 private:
  /// The personalization as a vector that sums to 1; empty if it is uniform.
  std::vector<double> personal() const {
    const std::vector<PersonalWeight>& weights = runner_.personalization();
    if (weights.empty()) return {};
    std::vector<double> all(num_vertices());
    double sum = 0;
    for (const PersonalWeight& p : weights) sum += p.weight;
    for (const PersonalWeight& p : weights) all[p.vertex] += p.weight / sum;
    return all;
  }

  PageRankOptions options_;
  std::optional<Csr> reverse_;
};

class PageRankAlgorithm : public AlgorithmOf<PlacedPageRank, PageRankOptions> {
 public:
  void visit(OptionVisitor& visitor) override {
    visitor.text("strategy", strategy_, "auto, async (residuals, by the worklist) or pull (sweeps over all vertices)");
    visitor.number("alpha", options_.alpha, "probability that a walk follows an arc and does not jump, 0 to 0.9999");
    visitor.number("tolerance", options_.tolerance, "most that the sum of all |rank - exact rank| may be, 1e-11 to 1");
    visitor.text("precision", precision_,
                 "type of the values that arcs carry: auto, float32 or float64; ranks are always float64");
    visitor.file(
        "personalization", options_.personalization_file,
        "where jumps land: lines `vertex weight`, zero-based, at most as many as vertices (default: everywhere alike)");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_pagerank_strategy(strategy_);
    options_.precision = parse_pagerank_precision(precision_);
    // The file is read later, when the graph is known. Whether it can be opened is checked now, except for a pipe, whose content
    // can be read only once.
    const std::string& file = options_.personalization_file;
    if (!file.empty() && !std::filesystem::is_fifo(file)) {
      open_text_file(file, "a personalization: `vertex weight` lines");
    }
  }
  /// Power iteration with an error far below the tolerance; without a personalization.
  Compare reference(const Csr& graph, vertex_t) const override {
    return [want = pagerank_reference(graph, options_.alpha),
            tolerance = options_.tolerance](const Rows& rows) -> std::string {
      const auto& have = std::get<HostArray<double>>(rows.at(0));
      double error = 0;
      for (std::int64_t v = 0; v < have.size(); ++v) error += std::abs(want[static_cast<std::size_t>(v)] - have[v]);
      if (error <= tolerance) return "";  // also false for NaN
      return "the sum of all errors is " + exact(error) + ", above the tolerance";
    };
  }

 private:
  std::string precision_ = "auto";
};

}  // namespace

const AlgorithmInfo& describe_pagerank() {
  static const AlgorithmInfo info = {
      .name = "pagerank",
      .says = "PageRank: how often a random walk visits each vertex",
      .footer = kPageRankFooter,
      .output = "write the ranks: float64, shape (n,)",
      .doing = "ranking",
      .noun = "run",
      .from_source = false,
      .counts_teps = false,
      .columns = {{"sweeps", 8}, {"error below", 12}},
      .bulk_strategies = {"pull"},
      .has_priority = false,
      .has_combine = false,
      .tuned = {{"--precision", {"float32", "float64"}}},
      .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<PageRankAlgorithm>(); },
  };
  return info;
}

}  // namespace shoal
