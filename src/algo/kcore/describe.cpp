// Describes the algorithm kcore: how deep each vertex lies in the graph.
#include <algorithm>

#include "algo/algorithm.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/algo/kcore.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

const char* const kKCoreFooter = R"(examples:
  shoal kcore kron:18                          the largest core number, and how many vertices have it
  shoal kcore web.mtx --verify --output cores.npy
                                               int32: the core number of each vertex; exit status 1 if one is wrong
  shoal kcore soc.el.gz --device cpu --pes 2 --stats

The k-core is what is left when vertices with fewer than k neighbours are removed until there are none. A vertex's core number is
the largest k whose k-core contains it. The direction of arcs does not count, loops do not count, and several arcs between two
vertices count once. Arcs per second count every arc of that undirected graph once.)";

class PlacedKCore : public PlacedRunner<KCoreRunner, KCoreResult> {
 public:
  using PlacedRunner::PlacedRunner;

  Report run(const Start&) override { return runner_.run(); }

  Found found() const override {
    Found found;
    found.facts = {{"highest", result_.highest}, {"innermost", result_.innermost}};
    found.cells = {grouped(result_.highest), grouped(result_.innermost)};
    found.arcs = static_cast<double>(num_arcs());
    return found;
  }

  std::string find_wrong() override {
    const KCoreResult& r = result_;
    const std::string wrong = verify_kcore(runner_.graph(), r.cores.span());
    if (!wrong.empty()) return wrong;
    const InnermostCore in = innermost_core(r.cores.span());
    if (in.k == r.highest && in.vertices == r.innermost) return "";
    return "the largest core number is " + std::to_string(in.k) + ", of " + std::to_string(in.vertices) +
           " vertices, but " + std::to_string(r.highest) + " of " + std::to_string(r.innermost) + " is given";
  }

  Rows take_rows() override { return rows_of(std::move(result_.cores)); }
};

class KCoreAlgorithm : public AlgorithmOf<PlacedKCore, KCoreOptions> {
 public:
  void visit(OptionVisitor& visitor) override {
    visitor.text("strategy", strategy_, "auto or async (by the worklist, level after level)");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_kcore_strategy(strategy_);
  }
  Compare reference(const Csr& graph, vertex_t) const override {
    return same_as(kcore_reference(simple_undirected(graph)), "core number");
  }
};

}  // namespace

const AlgorithmInfo& describe_kcore() {
  static const AlgorithmInfo info = {
      .name = "kcore",
      .says = "k-cores: how densely connected each vertex is",
      .footer = kKCoreFooter,
      .output = "write the core numbers: int32, shape (n,)",
      .doing = "peeling",
      .noun = "run",
      .from_source = false,
      .counts_teps = false,
      .takes_as_undirected =
          "the graph is directed; an arc counts as an undirected edge, and loops and repeated edges do not count",
      .columns = {{"highest", 10}, {"innermost", 14}},
      .bulk_strategies = {},
      .has_priority = false,
      .has_combine = true,
      .tuned = {},
      .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<KCoreAlgorithm>(); },
  };
  return info;
}

}  // namespace shoal
