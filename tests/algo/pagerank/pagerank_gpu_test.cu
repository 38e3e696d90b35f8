// PageRankRunner on GPUs against the serial reference, and the check on devices against wrong ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "algo/gpu_bed.cuh"
#include "algo/pagerank/check.hpp"
#include "algo/pagerank/readers.cuh"
#include "graph/make.hpp"
#include "pagerank_answers.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/device/peer_access.cuh"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

using test::distance;

class PageRankGpu : public test::OnGpus {};

PageRankOptions on_gpus(pe_t pes, PageRankStrategy strategy, double tolerance = 1e-6) {
  PageRankOptions options;
  options.device = DeviceKind::gpu;
  options.pes = pes;
  options.pes_per_gpu = test::pes_per_gpu(pes);
  options.strategy = strategy;
  options.tolerance = tolerance;
  return options;
}

using test::make;

/// Two symmetric graphs as one graph, without an edge between them.
Csr side_by_side(const Csr& a, const Csr& b) {
  std::vector<vertex_t> from, to;
  vertex_t first = 0;
  for (const Csr* graph : {&a, &b}) {
    for (vertex_t v = 0; v < graph->num_vertices(); ++v) {
      for (const vertex_t u : graph->neighbors(v)) {
        if (u >= v) from.push_back(first + v), to.push_back(first + u);
      }
    }
    first = static_cast<vertex_t>(graph->num_vertices());
  }
  return csr_from_arcs(a.num_vertices() + b.num_vertices(), from, to, {}, {}, /*undirected=*/true);
}

std::vector<std::pair<std::string, Csr>> shapes() {
  std::vector<std::pair<std::string, Csr>> all;
  // star:6000 and kron:14 have rows for a block, a warp and a lane; road and chain keep their order.
  for (const char* text : {"kron:9", "kron:15", "kron:11,directed", "road:60", "uniform:11,degree=2,directed",
                           "uniform:11", "chain:1", "chain:2", "chain:1025", "star:6000", "complete:40"}) {
    all.emplace_back(text, make(text));
  }
  all.emplace_back("multigraph", test::multigraph());
  all.emplace_back("two of a size", side_by_side(make("kron:10"), make("kron:10")));
  all.emplace_back("a hub elsewhere", side_by_side(make("kron:12"), make("star:40")));
  all.emplace_back("chains elsewhere", side_by_side(make("kron:12"), make("chain:700")));
  all.emplace_back("no arcs", csr_from_arcs(5, {}, {}));
  all.emplace_back("no vertices", csr_from_arcs(0, {}, {}));
  return all;
}

void expect_right(const std::string& how, const Csr& graph, const PageRankOptions& options,
                  const std::vector<double>& exact) {
  PageRankRunner runner(graph, options);
  for (int again = 0; again < 2; ++again) {
    runner.rank();
    const PageRankResult result = runner.result();
    EXPECT_LE(distance(result.ranks, exact), result.error_bound + 1e-12) << how;
    EXPECT_LE(result.error_bound, options.tolerance) << how;
    EXPECT_EQ(runner.verify(), "") << how;
  }
}

TEST_F(PageRankGpu, PullOnEveryShape) {
  for (const auto& [text, graph] : shapes()) {
    const std::vector<double> exact = pagerank_reference(graph);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      for (const double tolerance : {1e-6, 1e-10}) {
        PageRankOptions options = on_gpus(pes, PageRankStrategy::pull, tolerance);
        options.partition = pes == 3 ? PartitionKind::random : PartitionKind::automatic;
        expect_right(text + ", " + std::to_string(pes) + " PEs, " + std::to_string(tolerance), graph, options, exact);
      }
    }
  }
}

/// Copies of hot vertices are made only for the graphs that they are meant for, and the ranks are right with and without them.
TEST_F(PageRankGpu, PullCopiesHotVertices) {
  struct Case {
    const char* graph;
    pe_t pes;
    bool hot;
  };
  for (const auto [text, pes, hot] : {Case{"kron:15", 1, true},
                                      {"kron:15", 2, false},
                                      {"road:200", 1, false},
                                      {"uniform:18,degree=4", 1, false},
                                      {"star:300000", 1, true}}) {
    const Csr graph = make(text);
    const PageRankOptions options = on_gpus(pes, PageRankStrategy::pull);
    PageRankRunner runner(graph, options);
    const auto chosen = runner.rank().chosen;
    const bool copied =
        std::any_of(chosen.begin(), chosen.end(), [](const auto& choice) { return choice.option == "hot"; });
    EXPECT_EQ(copied, hot) << text << ", " << pes << " PEs";
    EXPECT_EQ(runner.verify(), "") << text << ", " << pes << " PEs";
  }
}

std::string sweep_of(const Decisions& chosen) {
  for (const Decision& choice : chosen) {
    if (choice.option == "sweep") return choice.value;
  }
  return "";
}

/// Short rows are swept separately if that saves time, that is, if they have some of the arcs and changes shrink fast.
TEST_F(PageRankGpu, PullInPhases) {
  struct Case {
    const char* graph;
    bool phases;
  };
  for (const auto [text, phases] : {Case{"kron:15", true},
                                    {"community:15", false},
                                    {"uniform:15", false},
                                    {"kron:13,directed", false},
                                    {"road:100", false},
                                    {"star:6000", false}}) {
    const Csr graph = make(text);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      PageRankRunner runner(graph, on_gpus(pes, PageRankStrategy::pull));
      for (int again = 0; again < 2; ++again) {
        const Report report = runner.rank();
        const std::string how = text + std::string(", ") + std::to_string(pes) + " PEs, again " + std::to_string(again);
        EXPECT_EQ(sweep_of(report.chosen) == "in phases", phases) << how;
        if (phases) EXPECT_LE(report.rounds, 10) << how;
        EXPECT_EQ(runner.verify(), "") << how;
      }
    }
  }
}

/// Jumps that hardly reach the largest component: then it has no separate c.
TEST_F(PageRankGpu, PhasesWithoutJumpsToTheLargestComponent) {
  const Csr graph = side_by_side(make("kron:12"), make("chain:5"));
  const auto n = static_cast<std::size_t>(graph.num_vertices());
  for (pe_t pes = 1; pes <= std::min<pe_t>(most_, 2); ++pes) {
    PageRankOptions options = on_gpus(pes, PageRankStrategy::pull);
    std::vector<double> personal(n, 0);
    personal[n - 1] = 1;
    options.personalization = {{static_cast<vertex_t>(n - 1), 1}};
    expect_right("far jumps", graph, options, pagerank_reference(graph, .85, personal));
  }
}

/// The equal contributions of many leaves to a hub are rounded alike, so float32 may not converge; see PullGpu.
TEST_F(PageRankGpu, Float32OfAStar) {
  for (const char* text : {"star:400", "star:801"}) {
    const Csr graph = make(text);
    const std::vector<double> exact = pagerank_reference(graph);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      PageRankOptions options = on_gpus(pes, PageRankStrategy::pull);
      options.precision = PageRankPrecision::automatic;
      expect_right(text, graph, options, exact);
      options.precision = PageRankPrecision::float32;  // right, or an error that names the remedy
      try {
        expect_right(text, graph, options, exact);
      } catch (const DeviceError& error) {
        EXPECT_NE(std::string(error.what()).find("use precision float64"), std::string::npos) << error.what();
      }
    }
  }
}

TEST_F(PageRankGpu, AlphaAndPersonalization) {
  for (const char* text : {"kron:10", "kron:10,directed", "road:40"}) {
    const Csr graph = make(text);
    std::vector<double> personal(graph.num_vertices(), 0);
    personal[5] = .75;
    personal[77] = .25;
    for (const double alpha : {0.0, .3, .97}) {
      for (pe_t pes = 1; pes <= std::min<pe_t>(most_, 2); ++pes) {
        PageRankOptions options = on_gpus(pes, PageRankStrategy::pull, 1e-5);
        options.alpha = alpha;
        const std::string how = text + std::string(", alpha ") + std::to_string(alpha);
        expect_right(how, graph, options, pagerank_reference(graph, alpha));
        options.personalization = {{5, 3}, {77, 1}};
        expect_right(how + ", personal", graph, options, pagerank_reference(graph, alpha, personal));
      }
    }
  }
}

/// Which PEs read the value of which vertex, compared with the arcs.
TEST_F(PageRankGpu, ReadersAreThoseWhoseRowsRead) {
  for (const auto& [text, graph] : shapes()) {
    for (pe_t pes = 1; pes <= most_; ++pes) {
      const PlacedGraph placed = test::place(graph, pes, pes == 3 ? PartitionKind::random : PartitionKind::edges);
      reach_each_other(placed.devices);
      const PageRankRowsGpu rows(placed);
      const PageRankReadersGpu readers(placed, rows);
      if (pes == 1) EXPECT_EQ(readers.of(0), nullptr);
      std::vector<unsigned> want(placed.num_vertices, 0);  // indexed by placed number
      for (vertex_t u = 0; u < graph.num_vertices(); ++u) {
        const vertex_t from = placed.partition.placed(u);
        for (const vertex_t v : graph.neighbors(u)) {
          const pe_t reader = placed.partition.owner(placed.partition.placed(v));
          if (reader != placed.partition.owner(from)) want[from] |= 1u << reader;
        }
      }
      std::int64_t sent = 0;
      for (pe_t p = 0; pes > 1 && p < pes; ++p) {
        const PageRankRows& view = rows.rows(p);
        std::vector<std::uint8_t> got(view.count);
        std::vector<vertex_t> order(view.count);
        copy_to_host(got.data(), readers.of(p), got.size());
        if (view.order != nullptr) copy_to_host(order.data(), view.order, order.size() * sizeof(vertex_t));
        for (vertex_t i = 0; i < view.count; ++i) {
          const unsigned wanted = want[view.first + (view.order != nullptr ? order[i] : i)];
          ASSERT_EQ(got[i], wanted) << text << ", row " << i << " of PE " << p << " of " << pes;
          if (i < view.active) sent += __builtin_popcount(wanted);
        }
      }
      EXPECT_EQ(readers.sent(), sent) << text << ", " << pes << " PEs";
    }
  }
}

TEST_F(PageRankGpu, GeneratedOnDevices) {
  for (const char* text : {"kron:13", "road:200"}) {
    PageRankOptions options;
    options.device = DeviceKind::gpu;
    PageRankRunner runner(parse_generator(text), options);
    runner.rank();
    EXPECT_EQ(runner.verify(), "") << text;
    EXPECT_LE(distance(runner.result().ranks, pagerank_reference(make(text))), 1e-6) << text;
  }
}

TEST_F(PageRankGpu, Async) {
  for (const char* text : {"kron:11", "kron:9,directed", "star:2100", "road:40"}) {
    const Csr graph = make(text);
    const std::vector<double> exact = pagerank_reference(graph);
    for (pe_t pes = 1; pes <= most_; ++pes) {
      for (const auto worker : {WorkerKind::thread, WorkerKind::warp, WorkerKind::block}) {
        PageRankOptions options = on_gpus(pes, PageRankStrategy::async, 1e-5);
        options.worker = worker;
        expect_right(text + std::string(", async, ") + name(worker) + ", " + std::to_string(pes) + " PEs", graph,
                     options, exact);
      }
      PageRankOptions options = on_gpus(pes, PageRankStrategy::async);
      options.personalization = {{5, 3}, {77, 1}};
      std::vector<double> personal(graph.num_vertices(), 0);
      personal[5] = .75;
      personal[77] = .25;
      expect_right(text + std::string(", async, personal, ") + std::to_string(pes) + " PEs", graph, options,
                   pagerank_reference(graph, .85, personal));
    }
  }
}

TEST_F(PageRankGpu, CheckSeesWhatIsWrong) {
  for (const char* text : {"kron:10", "kron:10,directed"}) {
    const Csr graph = make(text);
    const std::int64_t n = graph.num_vertices();
    const pe_t pes = std::min<pe_t>(most_, 2);
    const PlacedGraph placed = test::place(graph, pes, PartitionKind::edges);
    const std::vector<double> right = pagerank_reference(graph);
    const auto complaint = [&](const std::vector<double>& ranks) {
      const PageRankCheck check = check_pagerank_on_devices(placed, ranks.data(), .85, nullptr);
      return describe_pagerank_check(check, .85, 1e-6, n, check.bad != kNoVertex ? check.bad : check.worst);
    };
    EXPECT_EQ(complaint(right), "");
    for (const std::size_t v : {std::size_t{0}, std::size_t{500}, static_cast<std::size_t>(n - 1)}) {
      std::vector<double> wrong = right;
      const std::size_t other = (v + 1) % static_cast<std::size_t>(n);
      wrong[v] += 1e-4;
      wrong[other] += 1e-4;
      for (double& x : wrong) x /= 1 + 2e-4;
      EXPECT_NE(complaint(wrong).find("may be"), std::string::npos) << text << " " << v;
      wrong = right;
      wrong[v] = -1e-9;
      EXPECT_NE(complaint(wrong).find("vertex " + std::to_string(v) + " has rank"), std::string::npos) << text;
      wrong = right;
      wrong[v] += .01;
      EXPECT_NE(complaint(wrong).find("sum to"), std::string::npos) << text;
    }
  }
}

}  // namespace
}  // namespace shoal
