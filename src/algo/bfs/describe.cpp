// Describes the algorithm bfs: breadth-first search from one or many sources.
#include <optional>

#include "algo/algorithm.hpp"
#include "check.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

const char* const kBfsFooter = R"(examples:
  shoal bfs kron:20                            a search from a random source, on the GPUs if there are any, else on all CPU threads
  shoal bfs kron:20 --trials 16 --verify       16 random sources; exit status 1 if any answer is wrong
  shoal bfs road:2048 --source 0 --strategy async --device cpu --pes 2
  shoal bfs web.mtx --source max-degree --output levels.npy
                                               levels as a NumPy array: int32, -1 where there is no path
  shoal bfs soc.el.gz --undirected --parents --output tree.txt
                                               one line per vertex: level and parent
  shoal bfs kron:22 --device gpu --pes 2 --worker block:256 --kernel persistent --stats
  shoal bfs kron:22 --trials 64 --json=result.json

Times are those of the search alone: the graph is placed on the PEs before, answers are counted and checked afterwards. Arcs per
second count the out-arcs of reached vertices. GTEPS (symmetric graphs only) is half of that, since Graph500 counts each
undirected edge once.)";

class PlacedBfs : public PlacedRunner<BfsRunner, BfsResult> {
 public:
  template <class Graph>
  PlacedBfs(const Graph& graph, const BfsOptions& options) : PlacedRunner(graph, options), parents_(options.parents) {}

  Report run(const Start& start) override {
    source_ = start.source;
    return runner_.search(source_);
  }

  Found count() override { return say(runner_.found()); }
  Found found() const override { return say(result_); }
  static Found say(const BfsFound& r) {
    Found found;
    found.facts = {{"depth", r.depth}, {"reached", r.reached}, {"reached_arcs", r.reached_arcs}};
    found.cells = {std::to_string(r.depth), grouped(r.reached)};
    found.arcs = static_cast<double>(r.reached_arcs);
    return found;
  }

  std::string find_wrong() override {
    // A tree is always checked on the host.
    if (!parents_ && large_and_on_gpu(result_.report, num_arcs())) return runner_.verify();
    if (!check_) check_.emplace(runner_.graph());
    return check_->find_wrong(source_, result_);
  }

  Rows take_rows() override {
    if (!parents_) return rows_of(std::move(result_.levels));
    return rows_of(std::move(result_.levels), std::move(result_.parents));
  }

 private:
  bool parents_;
  vertex_t source_ = 0;
  std::optional<BfsCheck> check_;
};

class BfsAlgorithm : public AlgorithmOf<PlacedBfs, BfsOptions> {
 public:
  void visit(OptionVisitor& visitor) override {
    visitor.text("strategy", strategy_, "auto, async (by the worklist) or levels (level by level)");
    visitor.flag("parents", options_.parents, "also compute a tree: for each vertex the smallest valid parent");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_bfs_strategy(strategy_);
  }
  Compare reference(const Csr& graph, vertex_t source) const override {
    const std::vector<level_t> levels = bfs_reference(graph, source);
    return same_as(std::vector<std::int32_t>(levels.begin(), levels.end()), "level");
  }
};

}  // namespace

const AlgorithmInfo& describe_bfs() {
  static const AlgorithmInfo info = {
      .name = "bfs",
      .says = "breadth-first search: the fewest hops from a source to every vertex",
      .footer = kBfsFooter,
      .output =
          "write the levels from a single source: int32, shape (n,); with --parents levels and parents, shape (2, n)",
      .doing = "searching",
      .noun = "search",
      .from_source = true,
      .counts_teps = true,
      .columns = {{"depth", 7}, {"reached", 14}},
      .bulk_strategies = {"levels"},
      .has_priority = true,
      .has_combine = true,
      .tuned = {},
      .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<BfsAlgorithm>(); },
  };
  return info;
}

}  // namespace shoal
