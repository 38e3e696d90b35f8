// shoal components: which vertices are joined by paths.
#include <CLI/CLI.hpp>

#include "algo/components/reference.hpp"
#include "algorithm.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/core/text.hpp"

namespace shoal::cli {
namespace {

const char* const kComponentsFooter = R"(examples:
  shoal components kron:20                     how many there are, and the largest; on the GPUs, or else all CPU threads
  shoal components kron:20 --trials 8 --verify
                                               exit status 1 if any answer is wrong
  shoal components web.mtx --output labels.npy
                                               int32: of each vertex the smallest vertex number of its component
  shoal components soc.el.gz --strategy async --device cpu --pes 2 --stats

Directed graphs: weakly connected components (arcs join whatever their direction). Times are of the labelling alone. Arcs per
second count every arc once, however often it was looked at.)";

class PlacedComponents : public PlacedRunner<ComponentsRunner> {
 public:
  using PlacedRunner::PlacedRunner;

  Report run(vertex_t) override { return runner_.run(); }

  Found fetch() override {
    result_ = {};  // its memory first
    result_ = runner_.result();
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

  std::vector<Row> rows() const override { return {result_.labels.data()}; }

 private:
  ComponentsResult result_;
};

class Components : public AlgorithmOf<PlacedComponents, ComponentsOptions> {
 public:
  void add_flags(CLI::App& app, const char* group) override {
    app.add_option("--strategy", strategy_,
                   "auto, async (by worklist) or hook (trees of parents, hooked and compressed)")
        ->group(group)
        ->type_name("KIND");
  }
  void read(const Options& shared) override {
    take(shared);
    options_.strategy = parse_components_strategy(strategy_);
  }
  Json options() const override { return {{"strategy", strategy_}}; }
};

}  // namespace

extern const AlgorithmInfo kComponents;
const AlgorithmInfo kComponents = {
    .name = "components",
    .says = "connected components: which vertices are joined by paths",
    .footer = kComponentsFooter,
    .output = "labels: int32, shape (n,)",
    .doing = "labelling",
    .noun = "run",
    .from_source = false,
    .counts_teps = false,
    .columns = {{"components", 14}, {"largest", 14}},
    .bulk_strategies = {"hook"},
    .has_priority = false,
    .tuned = {},
    .make = []() -> std::unique_ptr<Algorithm> { return std::make_unique<Components>(); },
};

}  // namespace shoal::cli
