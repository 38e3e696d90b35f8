// shoal pagerank: how often a random walk stands on each vertex.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <istream>

#include "algo/pagerank/reference.hpp"
#include "algorithm.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/data/io.hpp"

namespace shoal::cli {
namespace {

const char* const kPageRankFooter = R"(examples:
  shoal pagerank kron:20                       ranks within 1e-6 of the exact ones, on the GPUs, or else all CPU threads
  shoal pagerank web.mtx --verify --output ranks.npy
                                               float64, sum 1; exit status 1 if an answer is farther off than --tolerance
  shoal pagerank web.mtx --alpha 0.9 --tolerance 1e-9 --precision float64
  shoal pagerank soc.el.gz --personalization friends.txt
                                               jumps land on the vertices of that file: lines `vertex weight`
  shoal pagerank kron:18 --strategy async --device cpu --pes 2 --stats

Ranks are those of NetworkX's pagerank(weight=None): vertices without out-arcs jump by the personalization. --tolerance bounds
the sum over all vertices of |rank - exact rank|, and "error below" is the bound that the run proved. Times are of the ranking
alone. Arcs per second count every arc once per sweep, with async each pushed residual.)";

class PlacedPageRank : public PlacedRunner<PageRankRunner> {
 public:
  template <class Graph>
  PlacedPageRank(const Graph& graph, const PageRankOptions& options)
      : PlacedRunner(graph, options), options_(options) {}

  Report run(vertex_t) override { return runner_.rank(); }

  Found fetch() override {
    result_ = {};  // its memory first
    result_ = runner_.result();
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

  std::vector<Row> rows() const override { return {result_.ranks.data()}; }

 private:
  /// The personalization as a vector that sums to 1; empty when it is uniform.
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
  PageRankResult result_;
  std::optional<Csr> reverse_;
};

class PageRank : public AlgorithmOf<PlacedPageRank, PageRankOptions> {
 public:
  void add_flags(CLI::App& app, const char* group) override {
    app.add_option("--strategy", strategy_, "auto, async (residuals by worklist) or pull (sweeps over all vertices)")
        ->group(group)
        ->type_name("KIND");
    app.add_option("--alpha", options_.alpha, "probability that a walk follows an arc, 0 to 0.9999")
        ->group(group)
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--tolerance", options_.tolerance, "largest sum of |rank - exact rank|, 1e-11 to 1")
        ->group(group)
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--precision", precision_, "of what arcs carry: auto, float32 or float64; ranks are float64 always")
        ->group(group)
        ->type_name("KIND");
    app.add_option("--personalization", personalization_,
                   "where jumps land: lines `vertex weight`, zero-based, no more than vertices (default: everywhere)")
        ->group(group)
        ->type_name("FILE");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_pagerank_strategy(strategy_);
    options_.precision = parse_pagerank_precision(precision_);
    options_.personalization_file = personalization_;
    // It is read where the graph is known. That it can be is found now; what is in a pipe can be had only once.
    if (!personalization_.empty() && !std::filesystem::is_fifo(personalization_)) {
      open_text_file(personalization_, "a personalization: `vertex weight` lines");
    }
  }
  Json options() const override {
    Json json = {{"strategy", strategy_},
                 {"alpha", options_.alpha},
                 {"tolerance", options_.tolerance},
                 {"precision", precision_}};
    if (!personalization_.empty()) json["personalization"] = personalization_;
    return json;
  }
  std::vector<NamedFile> files() const override { return {{"--personalization", personalization_}}; }

 private:
  std::string precision_ = "auto", personalization_;
};

}  // namespace

extern const AlgorithmInfo kPageRank;
const AlgorithmInfo kPageRank = {
    .name = "pagerank",
    .says = "PageRank: how often a random walk stands on each vertex",
    .footer = kPageRankFooter,
    .output = "ranks: float64, shape (n,)",
    .doing = "ranking",
    .noun = "run",
    .from_source = false,
    .counts_teps = false,
    .columns = {{"sweeps", 8}, {"error below", 12}},
    .bulk_strategies = {"pull"},
    .has_priority = false,
    .tuned = {{"--precision", {"float32", "float64"}}},
    .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<PageRank>(); },
};

}  // namespace shoal::cli
