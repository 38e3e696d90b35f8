// PageRankRunner on CPU threads, in every way that it can run there, against the serial reference.
#include "shoal/algo/pagerank_run.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "algo/pagerank/reference.hpp"
#include "graph/make.hpp"
#include "pagerank_answers.hpp"
#include "real_ranks.hpp"
#include "shoal/core/error.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

using test::distance;

using test::make;

PageRankOptions on_threads(PageRankStrategy strategy, pe_t pes = 1, int threads = 1) {
  PageRankOptions options;
  options.device = DeviceKind::cpu;
  options.strategy = strategy;
  options.pes = pes;
  options.threads = threads;
  return options;
}

/// Runs PageRank and checks the ranks against the reference and by the residual, and the reported error bound.
void expect_right(const Csr& graph, const PageRankOptions& options, const std::string& how) {
  PageRankRunner runner(graph, options);
  std::vector<double> personal;
  double sum = 0;
  for (const PersonalWeight& w : options.personalization) sum += w.weight;
  if (sum > 0) personal.assign(graph.num_vertices(), 0);
  for (const PersonalWeight& w : options.personalization) personal[w.vertex] += w.weight / sum;
  const std::vector<double> exact = pagerank_reference(graph, options.alpha, personal);
  for (int again = 0; again < 2; ++again) {
    const Report report = runner.rank();
    const PageRankResult result = runner.result();
    const double error = distance(result.ranks, exact);
    EXPECT_LE(error, options.tolerance + 1e-12) << how;
    EXPECT_LE(error, result.error_bound + 1e-12) << how;
    EXPECT_LE(result.error_bound, options.tolerance) << how;
    EXPECT_EQ(runner.verify(), "") << how;
  }
}

std::string name_of(const PageRankOptions& o) {
  return std::string(name(o.strategy)) + ", " + std::to_string(o.pes) + " PEs of " + std::to_string(o.threads) + ", " +
         name(o.partition) + ", " + name(o.precision) + ", " + std::to_string(o.tolerance);
}

TEST(PageRankRun, EveryWayOnEveryShape) {
  const std::vector<std::pair<std::string, Csr>> graphs = [] {
    std::vector<std::pair<std::string, Csr>> all;
    for (const char* text : {"kron:8,directed", "road:24", "chain:1025", "star:2100"})
      all.emplace_back(text, make(text));
    if (!test::kUnderTsan) {
      for (const char* text :
           {"kron:9", "uniform:9,degree=2,directed", "chain:1", "chain:2", "chain:65", "complete:9"}) {
        all.emplace_back(text, make(text));
      }
    }
    all.emplace_back("multigraph", test::multigraph());
    all.emplace_back("no arcs", csr_from_arcs(5, {}, {}));
    all.emplace_back("no vertices", csr_from_arcs(0, {}, {}));
    return all;
  }();
  for (const auto& [text, graph] : graphs) {
    for (const auto strategy : {PageRankStrategy::pull, PageRankStrategy::async}) {
      for (const auto& [pes, threads] : {std::pair{1, 1}, {1, 3}, {2, 1}, {3, 2}, {4, 1}}) {
        PageRankOptions options = on_threads(strategy, pes, threads);
        options.partition = pes == 3 ? PartitionKind::random : PartitionKind::automatic;
        options.precision = threads == 1 ? PageRankPrecision::float32 : PageRankPrecision::automatic;
        expect_right(graph, options, text + ", " + name_of(options));
      }
    }
  }
}

/// The layout of rows and the order of sweeps depend on the shape of the graph. With each of them, sweeps must converge fast.
TEST(PageRankRun, PullSettlesInFewSweeps) {
  // Complete bipartite graphs, one of each size, whose vertices have numbers that are far apart, and adjacent when ordered by
  // degree.
  const vertex_t n = 1 << 15;
  std::vector<vertex_t> from, to;
  for (vertex_t half = 2, first = 0; half <= 100; first += 2 * half++) {
    for (vertex_t u = 0; u < half; ++u) {
      for (vertex_t v = half; v < 2 * half; ++v) {
        const vertex_t a = (first + u) * 12345 % n, b = (first + v) * 12345 % n;
        from.insert(from.end(), {a, b});
        to.insert(to.end(), {b, a});
      }
    }
  }
  const std::pair<Csr, int> graphs[] = {
      {make("kron:14"), 16},              // one large component, in which short rows are swept twice
      {make("road:160"), 32},             // windows
      {make("uniform:15,degree=8"), 16},  // all rows in one order
      {make("community:14,directed"), 24},
      {make("kron:14,directed"), 24},
      {make("kron:12,degree=2,directed"), 20},  // over-relaxation does not pay
      {make("kron:18,degree=3,directed"), 24},  // contributions take a MiB, so rows look ahead
      {csr_from_arcs(n, from, to), 48},         // no large component; rows in a cache line depend on each other
  };
  for (const auto& [graph, most] : graphs) {
    if (test::kUnderTsan && &graph != &graphs[0].first && &graph != &graphs[1].first) break;
    const std::vector<double> exact = pagerank_reference(graph, .85, {});
    for (const auto& [pes, threads] : {std::pair{1, 1}, {1, 2}, {2, 1}, {3, 1}}) {
      PageRankOptions options = on_threads(PageRankStrategy::pull, pes, threads);
      options.precision = PageRankPrecision::float32;
      PageRankRunner runner(graph, options);
      const Report report = runner.rank();
      const PageRankResult result = runner.result();
      const std::string how = graph.name + ", " + name_of(options);
      EXPECT_LE(distance(result.ranks, exact), result.error_bound) << how;
      EXPECT_LE(result.error_bound, options.tolerance) << how;
      EXPECT_LE(report.rounds, most) << how;
    }
  }
}

TEST(PageRankRun, ToleranceAlphaAndPrecision) {
  using Numbers = std::vector<double>;
  const Numbers tolerances = test::kUnderTsan ? Numbers{1e-2, 1e-9} : Numbers{1e-2, 1e-4, 1e-6, 1e-9, 1e-11};
  const Numbers alphas = test::kUnderTsan ? Numbers{0.0, .85} : Numbers{0.0, .5, .85, .95};
  for (const char* text : {"kron:9", "kron:9,directed", "road:24"}) {
    const Csr graph = make(text);
    for (const auto strategy : {PageRankStrategy::pull, PageRankStrategy::async}) {
      for (const double tolerance : tolerances) {
        for (const double alpha : alphas) {
          PageRankOptions options = on_threads(strategy, 2, 1);
          options.tolerance = tolerance;
          options.alpha = alpha;
          if (tolerance >= 1e-4) options.precision = PageRankPrecision::float32;
          expect_right(graph, options, text + std::string(", ") + name_of(options) + " " + std::to_string(alpha));
        }
      }
    }
  }
}

TEST(PageRankRun, Personalization) {
  for (const char* text : {"kron:9", "kron:9,directed", "road:24"}) {
    const Csr graph = make(text);
    for (const auto strategy : {PageRankStrategy::pull, PageRankStrategy::async}) {
      for (const auto& weights : {std::vector<PersonalWeight>{{3, 1}}, {{3, 2}, {100, 1}, {3, 1}, {511, 0}}}) {
        PageRankOptions options = on_threads(strategy, 3, 1);
        options.partition = PartitionKind::random;
        options.personalization = weights;
        expect_right(graph, options, text + std::string(", ") + name_of(options));
      }
    }
  }
  // Jumps to dangling vertices only, and alpha 0, with which there are only jumps.
  for (const auto strategy : {PageRankStrategy::pull, PageRankStrategy::async}) {
    for (const auto& weights : {std::vector<PersonalWeight>{{4, 1}, {6, 2}}, {{0, 1}, {4, 99}}, {{2, 1}}}) {
      for (const double alpha : {0.0, .85, .999}) {
        PageRankOptions options = on_threads(strategy, 2, 1);
        options.personalization = weights;
        options.alpha = alpha;
        expect_right(test::multigraph(), options, "multigraph, " + name_of(options) + " " + std::to_string(alpha));
      }
    }
  }
  const Csr graph = make("kron:7");
  PageRankRunner runner(graph, on_threads(PageRankStrategy::pull));
  runner.rank({{5, 1}});
  std::vector<double> five(graph.num_vertices(), 0);
  five[5] = 1;
  EXPECT_LE(distance(runner.result().ranks, pagerank_reference(graph, .85, five)), 1e-6);
  runner.rank();  // again with the jumps of the options: uniform
  EXPECT_LE(distance(runner.result().ranks, pagerank_reference(graph)), 1e-6);
}

TEST(PageRankRun, AsyncWithTinyQueuesAndTwoKernels) {
  const Csr graph = make("kron:5");
  for (const auto kernel : {KernelKind::persistent, KernelKind::discrete}) {
    for (const std::int64_t capacity : {2, 8}) {
      for (const auto combine : {CombineKind::off, CombineKind::on}) {
        PageRankOptions options = on_threads(PageRankStrategy::async, 2, 1);
        options.kernel = kernel;
        options.capacity = capacity;
        options.combine = combine;
        options.tolerance = 1e-2;
        expect_right(graph, options, std::string(name(kernel)) + ", capacity " + std::to_string(capacity));
      }
    }
  }
}

TEST(PageRankRun, RealGraphs) {
  const int graphs = test::for_each_real_graph(std::int64_t{1} << 22, [](const test::RealGraph& real) {
    PageRankRunner runner(real.graph, on_threads(PageRankStrategy::pull, 2, 1));
    const Report report = runner.rank();
    const PageRankResult result = runner.result();
    EXPECT_LE(distance(result.ranks, real.ranks), result.error_bound) << real.name;
    EXPECT_LE(result.error_bound, 1e-6) << real.name;
    EXPECT_EQ(runner.verify(), "") << real.name;
    std::cout << real.name << ": " << result.sweeps << " sweeps, L1 error " << distance(result.ranks, real.ranks)
              << ", bound " << result.error_bound << "\n";
  });
  if (graphs == 0) GTEST_SKIP() << test::why_no_graphs();
}

template <class F>
std::string error_of(F&& f) {
  try {
    f();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(PageRankRun, RefusesInWords) {
  const Csr graph = make("kron:6");
  const auto refusal = [&](auto&& change) {
    PageRankOptions options = on_threads(PageRankStrategy::pull);
    change(options);
    return error_of([&] { PageRankRunner(graph, options).rank(); });
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_PRED2(has, refusal([](auto& o) { o.alpha = 1; }), "alpha 1 is out of range: 0 to 0.9999");
  EXPECT_PRED2(has, refusal([](auto& o) { o.alpha = std::nan(""); }), "alpha nan");
  EXPECT_PRED2(has, refusal([](auto& o) { o.tolerance = 0; }), "tolerance 0 is out of range");
  EXPECT_PRED2(has, refusal([](auto& o) { o.tolerance = 1e-8, o.precision = PageRankPrecision::float32; }),
               "use precision float64");
  EXPECT_PRED2(has, refusal([](auto& o) {
                 o.personalization = {{64, 1}};
               }),
               "personalization: vertex 64 is out of range");
  EXPECT_PRED2(has, refusal([](auto& o) { o.personalization = {{6, -1}}; }), "vertex 6 has weight -1");
  EXPECT_PRED2(has, refusal([](auto& o) { o.personalization = {{6, 0}}; }), "sum to 0");
  EXPECT_PRED2(has, error_of([] { parse_pagerank_strategy("levels"); }), "legal: auto, async, pull");
  EXPECT_PRED2(has, error_of([] { parse_pagerank_precision("half"); }), "legal: auto, float32, float64");
  PageRankRunner runner(graph, on_threads(PageRankStrategy::pull));
  EXPECT_PRED2(has, error_of([&] { runner.result(); }), "before the first run");
  EXPECT_PRED2(has, error_of([&] { runner.verify(); }), "before the first run");
}

TEST(PageRankRun, PersonalizationFiles) {
  const std::string file =
      (std::filesystem::temp_directory_path() / ("shoal-personal-" + std::to_string(::getpid()))).string();
  const auto read = [&](const std::string& text) {
    std::ofstream(file) << text;
    return read_personalization(file);
  };
  const auto complaint = [&](const std::string& text) { return error_of([&] { read(text); }); };
  const auto weights = read("# jumps\n3 2.5\n\n 7\r\n%x\n3\t1e-3\n");
  ASSERT_EQ(weights.size(), 3u);
  EXPECT_EQ(weights[0].vertex, 3u);
  EXPECT_EQ(weights[0].weight, 2.5);
  EXPECT_EQ(weights[1].vertex, 7u);
  EXPECT_EQ(weights[1].weight, 1);
  EXPECT_EQ(weights[2].weight, 1e-3);
  const std::string cure = "; write `vertex weight`, zero-based";
  EXPECT_EQ(complaint("1 1\nx 2\n"), file + ":2: a vertex number is missing in 'x 2'" + cure);
  EXPECT_EQ(complaint("-1 2\n"), file + ":1: a vertex number is missing in '-1 2'" + cure);
  EXPECT_EQ(complaint("99999999999 2\n"), file + ":1: a vertex number is missing in '99999999999 2'" + cure);
  EXPECT_EQ(complaint("1.5 2\n"), file + ":1: the vertex number does not end with a blank or comma in '1.5 2'" + cure);
  EXPECT_EQ(complaint("1 -2\n"), file + ":1: the weight is not a finite number of at least 0 in '1 -2'" + cure);
  EXPECT_EQ(complaint("1 inf\n"), file + ":1: the weight is not a finite number of at least 0 in '1 inf'" + cure);
  EXPECT_EQ(complaint("1 2 3\n"), file + ":1: more than two columns in '1 2 3'" + cure);
  EXPECT_NE(complaint("# nothing\n").find("names no vertex"), std::string::npos);
  std::filesystem::remove(file);
  EXPECT_NE(error_of([&] { read_personalization(file); }).find("cannot be opened"), std::string::npos);
}

}  // namespace
}  // namespace shoal
