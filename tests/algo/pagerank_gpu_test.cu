// PageRank on GPUs, through its door, against the serial reference; and the check on devices, fed with wrong ranks.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "../../src/algo/pagerank_engines.hpp"
#include "pagerank_answers.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/pgas/device_graph.hpp"
#include "shoal/runtime/devices.hpp"

namespace shoal {
namespace {

using test::distance;

class PageRankGpu : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string why;
    devices_ = static_cast<pe_t>(list_devices(&why).size());
    if (devices_ == 0) GTEST_SKIP() << "no GPU: " << why;
  }
  pe_t devices_ = 0;
};

Csr make(const std::string& argument) { return generate(parse_generator(argument)); }

std::vector<std::pair<std::string, Csr>> shapes() {
  std::vector<std::pair<std::string, Csr>> all;
  // star:6000 and kron:14 have rows for a block, a warp and a lane; road and chain keep their order.
  for (const char* text : {"kron:9", "kron:15", "kron:11,directed", "road:60", "uniform:11,degree=2,directed",
                           "uniform:11", "chain:1", "chain:2", "chain:1025", "star:6000", "complete:40"}) {
    all.emplace_back(text, make(text));
  }
  all.emplace_back("multigraph", test::multigraph());
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
    for (pe_t pes = 1; pes <= std::min<pe_t>(devices_, 4); ++pes) {
      for (const double tolerance : {1e-6, 1e-10}) {
        PageRankOptions options;
        options.device = DeviceKind::gpu;
        options.pes = pes;
        options.strategy = PageRankStrategy::pull;
        options.tolerance = tolerance;
        options.partition = pes == 3 ? PartitionKind::random : PartitionKind::automatic;
        expect_right(text + ", " + std::to_string(pes) + " PEs, " + std::to_string(tolerance), graph, options, exact);
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
      for (pe_t pes = 1; pes <= std::min<pe_t>(devices_, 2); ++pes) {
        PageRankOptions options;
        options.device = DeviceKind::gpu;
        options.pes = pes;
        options.strategy = PageRankStrategy::pull;
        options.alpha = alpha;
        options.tolerance = 1e-5;
        const std::string how = text + std::string(", alpha ") + std::to_string(alpha);
        expect_right(how, graph, options, pagerank_reference(graph, alpha));
        options.personalization = {{5, 3}, {77, 1}};
        expect_right(how + ", personal", graph, options, pagerank_reference(graph, alpha, personal));
      }
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
  for (const char* text : {"kron:10", "kron:9,directed", "star:300"}) {
    const Csr graph = make(text);
    const std::vector<double> exact = pagerank_reference(graph);
    for (pe_t pes = 1; pes <= std::min<pe_t>(devices_, 4); ++pes) {
      for (const auto worker : {WorkerKind::thread, WorkerKind::warp, WorkerKind::block}) {
        PageRankOptions options;
        options.device = DeviceKind::gpu;
        options.pes = pes;
        options.worker = worker;
        options.strategy = PageRankStrategy::async;
        options.tolerance = 1e-5;
        expect_right(text + std::string(", async, ") + name(worker) + ", " + std::to_string(pes) + " PEs", graph,
                     options, exact);
      }
    }
  }
}

TEST_F(PageRankGpu, CheckSeesWhatIsWrong) {
  for (const char* text : {"kron:10", "kron:10,directed"}) {
    const Csr graph = make(text);
    const std::int64_t n = graph.num_vertices();
    const pe_t pes = std::min<pe_t>(devices_, 2);
    std::vector<int> devices;
    for (pe_t p = 0; p < pes; ++p) devices.push_back(p);
    const PlacedGraph placed = place_on_devices(graph, make_partition(graph, pes, PartitionKind::edges), devices);
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
