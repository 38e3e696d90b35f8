// Describes the algorithm components: which vertices are joined by paths.
#include "algo/algorithm.hpp"
#include "engines.hpp"
#include "reference.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

const char* const kComponentsFooter = R"(examples:
  shoal components kron:20                     number and largest size; on the GPUs if there are any, else on all CPU threads
  shoal components kron:20 --trials 8 --verify
                                               exit status 1 if any answer is wrong
  shoal components web.mtx --output labels.npy
                                               int32: for each vertex the smallest vertex number of its component
  shoal components soc.el.gz --strategy async --device cpu --pes 2 --stats

Of a directed graph, these are the weakly connected components: the direction of arcs does not count. Times are those of the
labelling alone. Arcs per second count every arc once, however often it was read.)";

class PlacedComponents : public PlacedRunner<ComponentsRunner, ComponentsResult> {
 public:
  using PlacedRunner::PlacedRunner;

  Report run(const Start&) override { return runner_.run(); }

  Found found() const override {
    Found found;
    found.facts = {{"components", result_.count}, {"largest", result_.largest}};
    found.cells = {grouped(result_.count), grouped(result_.largest)};
    found.arcs = static_cast<double>(num_arcs());
    return found;
  }

  std::string find_wrong() override {
    const ComponentsResult& r = result_;
    if (large_and_on_gpu(r.report, num_arcs())) return runner_.verify();
    const std::string wrong = verify_components(runner_.graph(), r.labels.span());
    if (!wrong.empty()) return wrong;
    const ComponentSizes sizes = component_sizes(r.labels.span());
    if (sizes.count == r.count && sizes.largest == r.largest) return "";
    return "there are " + std::to_string(sizes.count) + " components, the largest of " + std::to_string(sizes.largest) +
           " vertices, but " + std::to_string(r.count) + " and " + std::to_string(r.largest) + " are given";
  }

  Rows take_rows() override { return rows_of(std::move(result_.labels)); }
};

class ComponentsAlgorithm : public AlgorithmOf<PlacedComponents, ComponentsOptions> {
 public:
  void visit(OptionVisitor& visitor) override {
    visitor.text("strategy", strategy_,
                 "auto, async (by the worklist) or hook (union-find: trees of parents are hooked and compressed)");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_components_strategy(strategy_);
  }
  Compare reference(const Csr& graph, vertex_t) const override { return same_as(components_reference(graph), "label"); }
};

}  // namespace

const AlgorithmInfo& describe_components() {
  static const AlgorithmInfo info = {
      .name = "components",
      .says = "connected components: which vertices are joined by paths, in whatever direction",
      .footer = kComponentsFooter,
      .output = "write the labels: int32, shape (n,)",
      .doing = "labelling",
      .noun = "run",
      .from_source = false,
      .counts_teps = false,
      .takes_as_undirected =
          "the graph is directed; an arc joins its two ends in either direction (weakly connected components)",
      .columns = {{"components", 14}, {"largest", 14}},
      .bulk_strategies = {"hook"},
      .has_priority = false,
      .has_combine = true,
      .tuned = {},
      .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<ComponentsAlgorithm>(); },
  };
  return info;
}

}  // namespace shoal
