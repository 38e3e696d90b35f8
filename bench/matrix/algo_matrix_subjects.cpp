// The algorithms of the matrix: how each is run and what it is compared with.
#include <algorithm>
#include <cmath>
#include <memory>

#include "algo/bfs/reference.hpp"
#include "algo/components/reference.hpp"
#include "algo/pagerank/reference.hpp"
#include "algo/sssp/reference.hpp"
#include "algo_matrix.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/algo/components_run.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal::matrix {
namespace {

/// The algorithm's options with these common ones.
template <class T>
T with(const Options& options) {
  T own;
  static_cast<Options&>(own) = options;
  return own;
}

std::vector<std::string> one_manner(const Input&) { return {""}; }

/// Levels equal the serial search's; the tree of parents is checked by its properties.
Subject bfs() {
  Subject subject{"bfs", {"levels"}, true, true, {}};
  subject.large = true;
  subject.every_queue = false;
  subject.manners = one_manner;
  subject.check = [](const Input& input, const std::string&, std::uint64_t seed) -> Check {
    struct Wanted {
      Csr in;
      std::vector<std::pair<vertex_t, std::vector<level_t>>> levels;
    };
    const auto wanted = std::make_shared<Wanted>();
    const auto n = static_cast<std::uint64_t>(input.graph.num_vertices());
    for (std::uint64_t i = 0; i < (input.large ? 1 : 2); ++i) {
      const auto source = static_cast<vertex_t>(mix(seed + i) % n);
      wanted->levels.emplace_back(source, bfs_reference(input.graph, source));
    }
    wanted->in = transpose(input.graph);
    return [&input, wanted](const Options& options, const std::string& strategy) -> std::string {
      auto own = with<BfsOptions>(options);
      own.strategy = parse_bfs_strategy(strategy);
      own.parents = true;
      BfsRunner runner(input.graph, own);
      for (const auto& [source, want] : wanted->levels) {
        runner.search(source);
        std::string wrong = runner.verify();
        if (!wrong.empty()) return wrong;
        const BfsResult result = runner.result();
        const auto same = [](std::int32_t have, level_t level) { return static_cast<level_t>(have) == level; };
        if (!std::equal(result.levels.begin(), result.levels.end(), want.begin(), want.end(), same)) {
          return "the levels from " + std::to_string(source) + " are not those of the reference";
        }
        wrong = verify_parents(wanted->in, {result.levels.data(), result.levels.size()},
                               {result.parents.data(), result.parents.size()}, source, true);
        if (!wrong.empty()) return wrong;
      }
      return "";
    };
  };
  return subject;
}

std::string compare(Span<const std::uint64_t> have, const std::vector<std::uint64_t>& want) {
  for (std::int64_t v = 0; v < have.size(); ++v) {
    if (have[v] != want[v]) {
      return "vertex " + std::to_string(v) + " has the distance word " + std::to_string(have[v]) + ", reference " +
             std::to_string(want[v]);
    }
  }
  return "";
}

constexpr const char* kNarrow = "delta, narrow buckets";
constexpr const char* kHashed = "hash255";

/// Distances equal Dijkstra's, bit for bit; the tree of predecessors is checked by its properties.
Check sssp_check(const Input& input, WeightSource weights, std::uint64_t seed) {
  struct Wanted {
    Csr in;
    double narrow = 1;
    std::vector<std::pair<vertex_t, std::vector<std::uint64_t>>> distances;
  };
  const auto wanted = std::make_shared<Wanted>();
  const Csr graph = with_weights(input.graph, weights);
  const auto n = static_cast<std::uint64_t>(graph.num_vertices());
  std::uint64_t farthest = 0;
  for (std::uint64_t i = 0; i < (input.large ? 1 : 2); ++i) {
    const auto source = static_cast<vertex_t>(mix(seed + i) % n);
    wanted->distances.emplace_back(source, sssp_reference(graph, source));
    for (const std::uint64_t d : wanted->distances.back().second) farthest = std::max(farthest, d + 1);  // unreached: 0
  }
  // Some hundred buckets, so that those far away are many, but not so many that barriers take long.
  if (graph.weight_kind == WeightKind::int32) wanted->narrow = std::max(1.0, static_cast<double>(farthest) / 300);
  wanted->in = transpose(graph);
  return [&input, weights, wanted](const Options& options, const std::string& strategy) -> std::string {
    auto own = with<SsspOptions>(options);
    const bool narrow = strategy == kNarrow;
    own.strategy = narrow ? SsspStrategy::delta : parse_sssp_strategy(strategy);
    if (narrow) own.delta = wanted->narrow;
    own.weights = weights;
    own.predecessors = true;
    SsspRunner runner(input.graph, own);
    for (const auto& [source, want] : wanted->distances) {
      runner.search(source);
      std::string wrong = runner.verify();
      if (!wrong.empty()) return wrong;
      const SsspResult result = runner.result();
      const HostArray<std::uint64_t> have =
          result.distances.empty()
              ? sssp_words(Span<const double>{result.real_distances.data(), result.real_distances.size()})
              : sssp_words(Span<const std::int64_t>{result.distances.data(), result.distances.size()});
      wrong = compare(have.span(), want);
      if (wrong.empty()) {
        wrong = verify_predecessors(wanted->in, have.span(), {result.predecessors.data(), result.predecessors.size()},
                                    source, true);
      }
      if (!wrong.empty()) return wrong;
    }
    return "";
  };
}

Subject sssp() {
  Subject subject{"sssp", {"delta", kNarrow}, true, true, {}};
  subject.manners = [](const Input& input) {
    std::vector<std::string> manners = {kHashed};
    if (input.graph.weight_kind != WeightKind::none) manners.push_back("own weights");
    return manners;
  };
  subject.check = [](const Input& input, const std::string& manner, std::uint64_t seed) {
    return sssp_check(input, manner == kHashed ? WeightSource::hash255 : WeightSource::file, seed);
  };
  return subject;
}

/// Labels equal those of union-find.
Subject components() {
  Subject subject{"components", {"hook"}, false, true, {}};
  subject.manners = one_manner;
  subject.check = [](const Input& input, const std::string&, std::uint64_t) -> Check {
    const auto want = std::make_shared<std::vector<std::int32_t>>(components_reference(input.graph));
    return [&input, want](const Options& options, const std::string& strategy) -> std::string {
      auto own = with<ComponentsOptions>(options);
      own.strategy = parse_components_strategy(strategy);
      ComponentsRunner runner(input.graph, own);
      runner.run();
      const std::string wrong = runner.verify();
      if (!wrong.empty()) return wrong;
      const ComponentsResult result = runner.result();
      if (std::equal(want->begin(), want->end(), result.labels.begin(), result.labels.end())) return "";
      return "the labels are not those of the reference";
    };
  };
  return subject;
}

/// Ranks are within the tolerance of power iteration, which was driven much further.
Subject pagerank() {
  Subject subject{"pagerank", {"pull"}, false, false, {}};
  subject.soak_vertices = 64;  // it has so many items
  subject.manners = one_manner;
  subject.check = [](const Input& input, const std::string&, std::uint64_t) -> Check {
    const auto want = std::make_shared<std::vector<double>>(pagerank_reference(input.graph));
    return [&input, want](const Options& options, const std::string& strategy) -> std::string {
      auto own = with<PageRankOptions>(options);
      own.strategy = parse_pagerank_strategy(strategy);
      PageRankRunner runner(input.graph, own);
      runner.rank();
      const std::string wrong = runner.verify();
      if (!wrong.empty()) return wrong;
      const PageRankResult result = runner.result();
      double error = 0;
      for (std::size_t v = 0; v < want->size(); ++v) {
        error += std::abs((*want)[v] - result.ranks[static_cast<std::int64_t>(v)]);
      }
      if (error <= own.tolerance) return "";  // false for NaN too
      return "the sum of all errors is " + std::to_string(error) + ", above the tolerance";
    };
  };
  return subject;
}

}  // namespace

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

std::vector<Subject> subjects() { return {bfs(), sssp(), components(), pagerank()}; }

}  // namespace shoal::matrix
