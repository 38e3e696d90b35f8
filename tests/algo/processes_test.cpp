// Level-synchronous search and PageRank by sweeps on PEs of several processes. The processes are threads behind walls here.
// Results equal those of the references even if puts arrive late, in pieces or reordered.
#include <gtest/gtest.h>

#include <chrono>
#include <iterator>
#include <numeric>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "algo/bfs/levels.hpp"
#include "algo/bfs/reference.hpp"
#include "algo/components/joined_labels.hpp"
#include "algo/components/reference.hpp"
#include "algo/pagerank/pull.hpp"
#include "algo/pagerank/reference.hpp"
#include "algo/pagerank/rows_cpu.hpp"
#include "contract/walled_runs.hpp"
#include "graph/make.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

using contract::Walled;

/// The PEs of each process.
const std::vector<std::vector<pe_t>> kWorlds = {{1, 1}, {2, 1}, {1, 1, 1}, {1, 1, 1, 1}};

using test::make;

/// An engine with its graph in each process of a world.
template <class Engine>
class Engines {
 public:
  template <class Make>
  Engines(Walled& walled, const Csr& graph, PartitionKind partition, Make make)
      : walled_(walled), graphs_(walled.processes()), engines_(walled.processes()) {
    walled.on_each([&](std::size_t p) {
      World& world = walled.world(p);
      graphs_[p] = place_on_threads(graph, make_partition(graph, world.n_pes(), partition));
      keep_slices(graphs_[p], world.first_here(), world.n_here());
      engines_[p] = make(graphs_[p], walled.machine(p).team(), world);
    });
  }

  const PlacedGraph& graph(std::size_t p = 0) const { return graphs_[p]; }
  Engine& engine(std::size_t p) const { return *engines_[p]; }

  /// Calls body(process, engine) in each process. @return the text of what each threw, or ""
  template <class Body>
  std::vector<std::string> run(Body body) {
    std::vector<std::string> thrown(engines_.size());
    walled_.on_each([&](std::size_t p) {
      try {
        body(p, *engines_[p]);
      } catch (const std::exception& error) {
        thrown[p] = error.what();
      }
    });
    return thrown;
  }

  /// The results of the engines for all vertices, in the input's numbering. Checks that every process gets the same.
  template <class Word>
  std::vector<Word> answer() {
    std::vector<std::vector<Word>> answers(engines_.size());
    walled_.on_each([&](std::size_t p) {
      const HostArray<Word> placed = fetch_words<Word>(walled_.machine(p), graphs_[p], engines_[p]->words());
      answers[p].resize(static_cast<std::size_t>(placed.size()));
      for (vertex_t v = 0; v < placed.size(); ++v) answers[p][graphs_[p].partition.input(v)] = placed[v];
    });
    for (const auto& answer : answers) EXPECT_EQ(answer, answers[0]);
    return answers[0];
  }

 private:
  Walled& walled_;
  std::vector<PlacedGraph> graphs_;
  std::vector<std::unique_ptr<Engine>> engines_;
};

Engines<BfsLevelsCpu> searches(Walled& walled, const Csr& graph, PartitionKind partition,
                               const BfsLevelsTuning& tuning = {}) {
  return {walled, graph, partition, [&](const PlacedGraph& placed, ThreadTeam& team, World& world) {
            return std::make_unique<BfsLevelsCpu>(placed, team, tuning, &world);
          }};
}
Engines<PageRankPullCpu> rankings(Walled& walled, const Csr& graph, PartitionKind partition,
                                  const PageRankRules& rules) {
  return {walled, graph, partition, [&](const PlacedGraph& placed, ThreadTeam& team, World& world) {
            return std::make_unique<PageRankPullCpu>(placed, team, rules, &world);
          }};
}

/// Runs a search on all processes. @return the text of what each threw
std::vector<std::string> search(Engines<BfsLevelsCpu>& all, vertex_t source) {
  return all.run([&](std::size_t p, BfsLevelsCpu& engine) {
    Report report;
    engine.run(all.graph(p).partition.placed(source), report);
  });
}
void expect_levels(Engines<BfsLevelsCpu>& all, const Csr& graph, vertex_t source) {
  const auto thrown = search(all, source);
  ASSERT_EQ(thrown, std::vector<std::string>(thrown.size()));
  ASSERT_EQ(all.answer<level_t>(), bfs_reference(graph, source));
}

constexpr PartitionKind kPartitions[] = {PartitionKind::edges, PartitionKind::strips, PartitionKind::random,
                                         PartitionKind::modulo, PartitionKind::one};

std::string describe(const std::vector<pe_t>& pes_of, const char* graph, int i) {
  std::string text = std::string(graph) + ", processes of";
  for (const pe_t n : pes_of) text += " " + std::to_string(n);
  return text + ", way " + std::to_string(i);
}

TEST(Processes, LevelsAreThoseOfTheReference) {
  struct {
    const char* name;
    BfsLevelsTuning tuning;
  } const ways[] = {{"defaults", {}},
                    {"top-down, one vertex at once", {.alpha = 0, .chunk = 1, .sent_at_once = 1}},
                    {"bottom-up for good", {.alpha = 1e18, .beta = 1e18}},
                    {"to and fro", {.alpha = 1e18, .beta = 1, .chunk = 2, .sent_at_once = 3}},
                    {"every row a hub", {.hub_arcs = 1}}};
  std::uint64_t seed = 0;
  for (const auto& pes_of : kWorlds) {
    for (const char* text : {"kron:8", "uniform:8,degree=2,directed", "road:12", "chain:1", "chain:2", "chain:65",
                             "star:300", "complete:9"}) {
      const Csr graph = make(text);
      const auto last = static_cast<vertex_t>(graph.num_vertices() - 1);
      for (const auto& way : ways) {
        if ((++seed + pes_of.size()) % (test::kUnderTsan ? 4 : 2) != 1)
          continue;  // another graph is run in this way in this world
        SCOPED_TRACE(describe(pes_of, text, static_cast<int>(&way - ways)));
        Walled walled(pes_of, seed % 7 == 0 ? 2 : 1,
                      {.seed = seed, .late_percent = seed % 3 == 0 ? 0 : 50, .reorder = seed % 4 == 1});
        auto all = searches(walled, graph, kPartitions[seed / 2 % std::size(kPartitions)], way.tuning);
        expect_levels(all, graph, last);
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Processes, RanksAreThoseOfTheReference) {
  std::uint64_t seed = 0;
  for (const auto& pes_of : kWorlds) {
    for (const char* text : {"kron:8", "uniform:8,degree=2,directed", "road:12", "chain:1", "chain:65", "star:300"}) {
      for (const bool wide : {false, true}) {
        if (++seed % 5 > 1 && test::kUnderTsan) continue;
        const Csr graph = make(text);
        const bool gates = seed % 3 != 1;         // stores reach other processes,
        const int hosts = seed % 3 == 2 ? 2 : 1;  // or only those of the same host
        SCOPED_TRACE(describe(pes_of, text, wide) + (gates ? ", gates" : "") + (hosts > 1 ? ", hosts" : ""));
        Walled walled(pes_of, seed % 5 == 0 ? 2 : 1,
                      {.seed = seed,
                       .late_percent = seed % 2 == 0 ? 0 : 50,
                       .reorder = seed % 4 == 1,
                       .gates = gates,
                       .hosts = hosts});
        const double tolerance = wide ? 1e-9 : 1e-5;
        const double alpha = seed % 7 == 0 ? .97 : .85;
        auto all = rankings(walled, graph, kPartitions[seed % std::size(kPartitions)],
                            {.alpha = alpha, .tolerance = tolerance, .wide = wide});
        std::vector<double> personal;
        if (seed % 4 == 2) {
          personal.assign(static_cast<std::size_t>(graph.num_vertices()), 0);
          personal[0] = 1;
        }
        const std::vector<double> exact = pagerank_reference(graph, alpha, personal);
        for (int again = 0; again < 2 - wide; ++again) {
          std::vector<PageRankOutcome> outcomes(walled.processes());
          const auto thrown = all.run([&](std::size_t p, PageRankPullCpu& engine) {
            std::vector<double> placed(personal.size(), 0);
            if (!placed.empty()) placed[all.graph(p).partition.placed(0)] = 1;
            Report report;
            engine.run(placed.empty() ? nullptr : placed.data(), outcomes[p], report);
          });
          ASSERT_EQ(thrown, std::vector<std::string>(walled.processes()));
          const std::vector<double> ranks = all.answer<double>();
          double error = 0;
          for (std::size_t v = 0; v < ranks.size(); ++v) error += std::abs(ranks[v] - exact[v]);
          for (const PageRankOutcome& outcome : outcomes) {
            EXPECT_LE(error, outcome.error_bound + 1e-12);
            EXPECT_LE(outcome.error_bound, tolerance);
            EXPECT_EQ(outcome.sweeps, outcomes[0].sweeps);
          }
        }
        if (HasFailure()) return;
      }
    }
  }
}

TEST(Processes, LabelsAreTheSmallestVerticesOfComponents) {
  std::uint64_t seed = 0;
  for (const auto& pes_of : kWorlds) {
    for (const char* text : {"kron:9,degree=2", "uniform:10,degree=1", "road:16,deleted=0.5", "chain:99", "star:300"}) {
      const Csr graph = make(text);
      const auto kind = kPartitions[++seed % std::size(kPartitions)];
      SCOPED_TRACE(describe(pes_of, text, static_cast<int>(seed % 4)));
      Walled walled(pes_of, 1, {.seed = seed, .late_percent = 50});
      std::vector<std::vector<vertex_t>> found(walled.processes());
      const auto total = std::accumulate(pes_of.begin(), pes_of.end(), pe_t{0});
      const PlacedGraph whole = place_on_threads(graph, make_partition(graph, total, kind));
      walled.on_each([&](std::size_t p) {
        PlacedGraph placed = place_on_threads(graph, make_partition(graph, total, kind));
        keep_slices(placed, walled.world(p).first_here(), walled.world(p).n_here());
        const HostArray<vertex_t> labels = joined_labels(walled.world(p), placed);
        found[p].assign(labels.data(), labels.data() + labels.size());
      });
      const std::vector<std::int32_t> by_input = components_reference(graph);
      std::vector<vertex_t> smallest(by_input.size(), kNoVertex), wanted(by_input.size());
      for (vertex_t v = 0; v < by_input.size(); ++v) {
        vertex_t& its = smallest[static_cast<std::size_t>(by_input[v])];
        its = std::min(its, whole.partition.placed(v));
      }
      for (vertex_t v = 0; v < by_input.size(); ++v) {
        wanted[whole.partition.placed(v)] = smallest[static_cast<std::size_t>(by_input[v])];
      }
      for (const auto& labels : found) ASSERT_EQ(labels, wanted);
    }
  }
}

TEST(Processes, RowsAreLaidOutAsInOneProcess) {
  std::uint64_t seed = 0;
  for (const auto& pes_of : kWorlds) {
    for (const char* text : {"kron:9", "uniform:10,degree=1", "road:40", "star:300"}) {
      const Csr graph = make(text);
      const auto kind = kPartitions[++seed % std::size(kPartitions)];
      SCOPED_TRACE(describe(pes_of, text, static_cast<int>(seed % 4)));
      Walled walled(pes_of, 2, {.seed = seed, .late_percent = 50});
      const auto total = std::accumulate(pes_of.begin(), pes_of.end(), pe_t{0});
      const PlacedGraph whole = place_on_threads(graph, make_partition(graph, total, kind));
      ThreadTeam team(total, 1);
      const PageRankRowsCpu alone(whole, team, nullptr);
      walled.on_each([&](std::size_t p) {
        World& world = walled.world(p);
        PlacedGraph placed = place_on_threads(graph, make_partition(graph, total, kind));
        keep_slices(placed, world.first_here(), world.n_here());
        const PageRankRowsCpu apart(placed, walled.machine(p).team(), &world);
        EXPECT_EQ(apart.near(), alone.near());
        EXPECT_EQ(apart.tied(), alone.tied());
        for (pe_t pe = 0; pe < world.n_here(); ++pe) {
          const PageRankCpuRows &its = apart.of(pe), &wanted = alone.of(world.first_here() + pe);
          EXPECT_EQ(its.tied, wanted.tied);
          EXPECT_EQ(its.active, wanted.active);
          ASSERT_EQ(its.in.count, wanted.in.count);
          for (vertex_t i = 0; i < its.in.count; ++i) {
            ASSERT_EQ(its.placed(i), wanted.placed(i));
            const auto got = its.in.neighbors(its.in.first + i), should = wanted.in.neighbors(wanted.in.first + i);
            ASSERT_EQ(std::vector<vertex_t>(got.begin(), got.end()),
                      std::vector<vertex_t>(should.begin(), should.end()));
          }
        }
      });
      if (HasFailure()) return;
    }
  }
}

TEST(Processes, AnExchangeThatFailsEndsTheRunEverywhere) {
  const Csr graph = make("kron:8");
  for (const std::int64_t fail_at : {0, 9, 30}) {
    Walled walled({1, 1, 1}, 1, {.late_percent = 30, .fail_at = fail_at, .at_process = 1});
    auto all = searches(walled, graph, PartitionKind::random, {.sent_at_once = 2});
    for (const std::string& line : search(all, 3)) EXPECT_EQ(line.substr(0, 19), "process 1 could not") << line;
    for (const vertex_t source : {3, 5, 7}) expect_levels(all, graph, source);  // the same engines work afterwards
  }
}

TEST(Processes, ASearchThatIsCalledOffInOneEndsInAll) {
  const Csr graph = make("road:200");
  Walled walled({1, 1}, 1, {});
  auto all = searches(walled, graph, PartitionKind::modulo, {.sent_at_once = 1});
  for (int again = 0; again < 2; ++again) {
    std::stop_source stop;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.request_stop();
    });
    const auto thrown = all.run([&](std::size_t p, BfsLevelsCpu& engine) {
      const Interruptible mine(p == 1 ? stop.get_token() : std::stop_token());
      for (Report report;;) engine.run(0, report);
    });
    other.join();
    EXPECT_EQ(thrown, std::vector<std::string>(2, Interrupted().what()));
    expect_levels(all, graph, 17);
  }
}

}  // namespace
}  // namespace shoal
