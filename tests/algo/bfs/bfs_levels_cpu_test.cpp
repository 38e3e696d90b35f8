#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "algo/bfs/levels.hpp"
#include "algo/bfs/parents.hpp"
#include "shoal/core/error.hpp"
#include "under_tsan.hpp"

namespace shoal {
namespace {

using Arcs = std::vector<std::pair<vertex_t, vertex_t>>;

/// A small graph as adjacency lists on the host. It is placed, and the serial search runs on it.
struct Plain {
  std::int64_t n = 0;
  std::vector<std::vector<vertex_t>> out, in;

  Plain(std::int64_t n, const Arcs& arcs, bool symmetric) : n(n), out(n), in(n) {
    for (auto [u, v] : arcs) {
      out[u].push_back(v);
      in[v].push_back(u);
      if (symmetric && u != v) {
        out[v].push_back(u);
        in[u].push_back(v);
      }
    }
    for (auto* rows : {&out, &in}) {
      for (auto& row : *rows) std::sort(row.begin(), row.end());
    }
  }
};

std::vector<level_t> serial_levels(const Plain& graph, vertex_t source) {
  std::vector<level_t> level(graph.n, kUnreached);
  std::vector<vertex_t> queue{source};
  level[source] = 0;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (vertex_t v : graph.out[queue[i]]) {
      if (level[v] != kUnreached) continue;
      level[v] = level[queue[i]] + 1;
      queue.push_back(v);
    }
  }
  return level;
}

std::vector<vertex_t> serial_parents(const Plain& graph, const std::vector<level_t>& level) {
  std::vector<vertex_t> parent(graph.n, kNoVertex);
  for (vertex_t v = 0; v < graph.n; ++v) {
    if (level[v] == 0) parent[v] = v;
    if (level[v] == 0 || level[v] == kUnreached) continue;
    for (vertex_t u : graph.in[v]) {
      if (level[u] + 1 == level[v]) parent[v] = std::min(parent[v], u);
    }
  }
  return parent;
}

/// A plain graph placed on PEs whose ranges of vertices begin at `cuts`. If `placed_of` is empty, placed numbers equal input
/// numbers.
struct Placed : PlacedGraph {
  std::vector<std::vector<arc_t>> offsets;
  std::vector<std::vector<vertex_t>> targets;

  Placed(const Plain& plain, const std::vector<vertex_t>& cuts, bool is_symmetric,
         std::vector<vertex_t> placed_of = {}) {
    const auto n_pes = static_cast<pe_t>(cuts.size());
    symmetric = is_symmetric;
    num_vertices = plain.n;
    partition.owner.n_pes = n_pes;
    for (pe_t p = 0; p < n_pes; ++p) partition.owner.begin[p] = cuts[p];
    partition.owner.begin[n_pes] = static_cast<vertex_t>(plain.n);
    if (!placed_of.empty()) {
      partition.placed_of_input = HostArray<vertex_t>(plain.n);
      partition.input_of_placed = HostArray<vertex_t>(plain.n);
      for (vertex_t v = 0; v < plain.n; ++v) {
        partition.placed_of_input[v] = placed_of[v];
        partition.input_of_placed[placed_of[v]] = v;
      }
    }
    offsets.reserve(2 * n_pes);
    targets.reserve(2 * n_pes);
    for (pe_t p = 0; p < n_pes; ++p) out.push_back(slice(plain.out, p));
    for (pe_t p = 0; p < n_pes; ++p) in.push_back(is_symmetric ? out[p] : slice(plain.in, p));
    for (const auto& row : plain.out) {
      num_arcs += static_cast<arc_t>(row.size());
      max_degree = std::max(max_degree, static_cast<arc_t>(row.size()));
    }
  }

 private:
  CsrView slice(const std::vector<std::vector<vertex_t>>& rows, pe_t p) {
    const vertex_t begin = partition.owner.begin[p], end = partition.owner.begin[p + 1];
    auto& row_offsets = offsets.emplace_back(1, 0);
    auto& row_targets = targets.emplace_back();
    for (vertex_t v = begin; v < end; ++v) {
      for (vertex_t u : rows[partition.input(v)]) row_targets.push_back(partition.placed(u));
      std::sort(row_targets.begin() + row_offsets.back(), row_targets.end());
      row_offsets.push_back(static_cast<arc_t>(row_targets.size()));
    }
    return {row_offsets.data(), row_targets.data(), begin, end - begin};
  }
};

std::vector<vertex_t> even_cuts(std::int64_t n, pe_t n_pes) {
  std::vector<vertex_t> cuts;
  for (pe_t p = 0; p < n_pes; ++p) cuts.push_back(static_cast<vertex_t>(n * p / n_pes));
  return cuts;
}

/// Runs a search. Returns levels and parents in the input's numbering.
std::pair<std::vector<level_t>, std::vector<vertex_t>> searched(BfsLevelsCpu& bfs, ThreadTeam& team,
                                                                const PlacedGraph& graph, vertex_t source) {
  Report report;
  bfs.run(graph.partition.placed(source), report);
  EXPECT_GT(report.seconds, 0);
  std::vector<level_t> levels(graph.num_vertices, 12345);
  std::vector<level_t> placed_levels;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const auto part = bfs.level(p);
    placed_levels.insert(placed_levels.end(), part.begin(), part.end());
  }
  std::vector<vertex_t> parents(graph.num_vertices, 12345);
  const HostArray<vertex_t> placed_parents = find_parents(
      team, graph, Span<const level_t>{placed_levels.data(), graph.num_vertices}, graph.partition.placed(source));
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const auto part = bfs.level(p);
    EXPECT_EQ(part.size(), graph.out[p].count);
    for (std::int64_t i = 0; i < part.size(); ++i) {
      const vertex_t placed = graph.out[p].first + static_cast<vertex_t>(i);
      levels[graph.partition.input(placed)] = part[i];
      parents[graph.partition.input(placed)] = placed_parents[placed];
    }
  }
  return {levels, parents};
}

/// Tunings that force each path through the search, for any size of graph.
struct Way {
  const char* name;
  BfsLevelsTuning tuning;
};
const Way kWays[] = {
    {"defaults", {}},
    {"top-down, together", {.alpha = 0, .solo = 0, .chunk = 1}},
    {"top-down, alone", {.alpha = 0, .solo = 1 << 20, .solo_arcs = 1 << 20}},
    {"bottom-up for good", {.alpha = 1e18, .beta = 1e18, .solo = 0}},
    {"to and fro", {.alpha = 1e18, .beta = 1, .solo = 0, .chunk = 2}},
    {"to and fro, some levels alone", {.alpha = 1e18, .beta = 1, .solo = 3, .solo_arcs = 9}},
    {"top-down, two meetings", {.alpha = 0, .solo = 0, .narrow = 0}},
    {"top-down, some levels narrow", {.alpha = 0, .solo = 0, .narrow = 5}},
    {"to and fro, some levels narrow", {.alpha = 40, .beta = 2, .solo = 0, .narrow = 9}},
    {"every row a hub", {.alpha = 0, .solo = 0, .hub_arcs = 1}},
};

void check_all_ways(const Plain& plain, const Placed& graph, int threads, const std::vector<vertex_t>& sources,
                    const std::string& what) {
  ThreadTeam team(graph.n_pes(), threads);
  for (const Way& way : kWays) {
    BfsLevelsCpu bfs(graph, team, way.tuning);
    for (vertex_t source : sources) {
      const auto expected = serial_levels(plain, source);
      const auto [levels, parents] = searched(bfs, team, graph, source);
      ASSERT_EQ(levels, expected) << what << ", " << way.name << ", PEs " << graph.n_pes() << " x " << threads
                                  << ", source " << source;
      ASSERT_EQ(parents, serial_parents(plain, expected)) << what << ", " << way.name << ", source " << source;
    }
  }
}

Arcs random_arcs(std::int64_t n, std::int64_t m, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Arcs arcs;
  for (std::int64_t i = 0; i < m; ++i) {
    // Squaring makes low numbers frequent, so there are some hubs, and vertices without arcs.
    const double x = std::uniform_real_distribution<>()(random);
    arcs.push_back({static_cast<vertex_t>(x * x * n), static_cast<vertex_t>(random() % n)});
  }
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  return arcs;
}

Arcs grid_arcs(vertex_t side) {
  Arcs arcs;
  for (vertex_t y = 0; y < side; ++y) {
    for (vertex_t x = 0; x < side; ++x) {
      if (x + 1 < side) arcs.push_back({y * side + x, y * side + x + 1});
      if (y + 1 < side) arcs.push_back({y * side + x, y * side + x + side});
    }
  }
  return arcs;
}

class BfsLevels : public ::testing::TestWithParam<std::tuple<int, int>> {
 protected:
  pe_t pes() const { return std::get<0>(GetParam()); }
  int threads() const { return std::get<1>(GetParam()); }
};

TEST_P(BfsLevels, SizesAroundWords) {
  const auto sizes = test::kUnderTsan ? std::vector<std::int64_t>{1, 64, 65, 200}
                                      : std::vector<std::int64_t>{1, 2, 3, 5, 63, 64, 65, 127, 128, 129, 191, 200};
  for (std::int64_t n : sizes) {
    for (bool symmetric : {true, false}) {
      const Plain plain(n, random_arcs(n, 3 * n, n + symmetric), symmetric);
      const Placed graph(plain, even_cuts(n, pes()), symmetric);
      check_all_ways(plain, graph, threads(), {0, static_cast<vertex_t>(n / 2), static_cast<vertex_t>(n - 1)},
                     "n " + std::to_string(n) + (symmetric ? ", symmetric" : ", directed"));
    }
  }
}

TEST_P(BfsLevels, RandomGraphsInOtherNumbers) {
  const std::int64_t n = 1500;
  for (bool symmetric : {true, false}) {
    const Plain plain(n, random_arcs(n, 8000, 11), symmetric);
    std::vector<vertex_t> placed_of(n);
    for (vertex_t v = 0; v < n; ++v) placed_of[v] = v;
    std::shuffle(placed_of.begin(), placed_of.end(), std::mt19937_64(5));
    const Placed graph(plain, even_cuts(n, pes()), symmetric, placed_of);
    check_all_ways(plain, graph, threads(), {0, 1, 700, 1499}, symmetric ? "symmetric" : "directed");
  }
}

TEST_P(BfsLevels, UnevenPartsAndPesWithoutVertices) {
  const std::int64_t n = 130;
  const Plain plain(n, random_arcs(n, 500, 3), true);
  std::vector<vertex_t> cuts{0, 1, 1, 66};  // PE 1 has no vertex, PE 0 has one; a bitmap word has up to three owners
  cuts.resize(pes());
  check_all_ways(plain, Placed(plain, cuts, true), threads(), {0, 1, 65, 129}, "uneven");
  std::vector<vertex_t> last_empty{0, 130, 130, 130};
  last_empty.resize(pes());
  check_all_ways(plain, Placed(plain, last_empty, true), threads(), {0, 129}, "all on PE 0");
}

TEST_P(BfsLevels, FewerVerticesThanPes) {
  for (std::int64_t n : {1, 2, 3}) {
    const Plain plain(n, n > 1 ? Arcs{{0, 1}} : Arcs{}, true);
    check_all_ways(plain, Placed(plain, even_cuts(n, pes()), true), threads(), {0, static_cast<vertex_t>(n - 1)},
                   "few");
  }
}

TEST_P(BfsLevels, NoArcsAndLoopsOnly) {
  const Plain none(70, {}, true), loops(70, {{0, 0}, {69, 69}}, true);
  check_all_ways(none, Placed(none, even_cuts(70, pes()), true), threads(), {0, 69}, "no arcs");
  check_all_ways(loops, Placed(loops, even_cuts(70, pes()), true), threads(), {0, 69}, "loops");
}

TEST_P(BfsLevels, LongChainGridStarAndComplete) {
  Arcs chain, star, complete;
  const vertex_t length = test::kUnderTsan ? 70 : 400;
  for (vertex_t v = 0; v + 1 < length; ++v) chain.push_back({v, v + 1});
  for (vertex_t v = 1; v < 5000; ++v) star.push_back({0, v});
  for (vertex_t u = 0; u < 90; ++u) {
    for (vertex_t v = u + 1; v < 90; ++v) complete.push_back({u, v});
  }
  const Plain graphs[] = {{length, chain, true}, {length, chain, false}, {1024, grid_arcs(32), true},
                          {5000, star, true},    {5000, star, false},    {90, complete, true}};
  for (const Plain& plain : graphs) {
    const bool symmetric = plain.out == plain.in;
    check_all_ways(plain, Placed(plain, even_cuts(plain.n, pes()), symmetric), threads(),
                   {0, static_cast<vertex_t>(plain.n / 2), static_cast<vertex_t>(plain.n - 1)},
                   "n " + std::to_string(plain.n));
  }
}

TEST_P(BfsLevels, HubRowsInPieces) {
  Arcs arcs;
  const vertex_t n = 21000;
  for (vertex_t v = 2; v < n; ++v) arcs.push_back({v % 2, v});  // two hubs, whose rows are divided into several pieces
  arcs.push_back({0, 2500});
  arcs.push_back({0, 1});
  std::sort(arcs.begin(), arcs.end());
  arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
  const Plain plain(n, arcs, true);
  check_all_ways(plain, Placed(plain, even_cuts(n, pes()), true), threads(), {1, 9999}, "hubs");
}

TEST_P(BfsLevels, ReportsItsLevelsAndTraffic) {
  const Plain plain(
      64,
      [] {
        Arcs arcs;
        for (vertex_t v = 0; v + 1 < 64; ++v) arcs.push_back({v, v + 1});
        return arcs;
      }(),
      true);
  const Placed graph(plain, even_cuts(64, pes()), true);
  ThreadTeam team(pes(), threads());
  BfsLevelsCpu bfs(graph, team, {.alpha = 0, .solo = 0});
  Report report;
  bfs.run(0, report);
  EXPECT_EQ(report.rounds, 64);                                           // 63 levels, and one that finds nothing
  EXPECT_EQ(report.traffic.size(), static_cast<std::size_t>(pes() - 1));  // along the chain, from each PE to the next
  for (const Traffic& pair : report.traffic) {
    EXPECT_EQ(pair.to, pair.from + 1);
    EXPECT_EQ(pair.items, 1);
    EXPECT_EQ(pair.bytes, 4);
  }
  ASSERT_EQ(report.chosen.size(), 1u);
}

TEST_P(BfsLevels, NarrowLevelsAreReportedAsOthers) {
  // The owner often knows the last posted vertices already; then they do not count as a level.
  for (const vertex_t side : {3, 12, 21}) {
    const Plain plain(side * side, grid_arcs(side), true);
    const Placed graph(plain, even_cuts(plain.n, pes()), true);
    ThreadTeam team(pes(), threads());
    for (const std::int64_t narrow : {1 << 20, 7}) {
      BfsLevelsCpu together(graph, team, {.alpha = 0, .solo = 0, .narrow = 0});
      BfsLevelsCpu once(graph, team, {.alpha = 0, .solo = 0, .narrow = narrow});
      for (vertex_t source = 0; source < plain.n; source += side + 1) {
        Report expected, report;
        together.run(source, expected);
        once.run(source, report);
        EXPECT_EQ(report.rounds, expected.rounds) << side << ", " << narrow << ", source " << source;
        EXPECT_EQ(report.chosen.at(0).value, expected.chosen.at(0).value);
      }
    }
  }
}

/// Numbers of PEs and of threads per PE.
std::vector<std::tuple<int, int>> shapes() {
  if (test::kUnderTsan) return {{1, 2}, {2, 2}, {3, 1}, {4, 2}};
  return {{1, 1}, {1, 2}, {1, 4}, {2, 1}, {2, 2}, {3, 1}, {4, 1}, {4, 2}};
}
INSTANTIATE_TEST_SUITE_P(Shapes, BfsLevels, ::testing::ValuesIn(shapes()));

TEST(BfsLevelsErrors, AnEmptyGraphHasNoSource) {
  const Plain plain(0, {}, true);
  const Placed graph(plain, {0}, true);
  ThreadTeam team(1, 2);
  BfsLevelsCpu bfs(graph, team);
  Report report;
  EXPECT_THROW(bfs.run(0, report), UsageError);
  EXPECT_EQ(bfs.level(0).size(), 0);
}

TEST(BfsLevelsErrors, RefusesWhatDoesNotFit) {
  const Plain plain(10, {{0, 1}}, true);
  const Placed graph(plain, {0, 5}, true);
  ThreadTeam one(1, 1), two(2, 1);
  EXPECT_THROW(BfsLevelsCpu(graph, one), UsageError);
  EXPECT_THROW(BfsLevelsCpu(graph, two, {.chunk = 0}), UsageError);
  EXPECT_THROW(BfsLevelsCpu(graph, two, {.hub_arcs = 0}), UsageError);
  BfsLevelsCpu bfs(graph, two);
  Report report;
  EXPECT_THROW(bfs.run(10, report), UsageError);
  EXPECT_THROW(bfs.run(kNoVertex, report), UsageError);
  bfs.run(0, report);
  EXPECT_EQ(bfs.level(0)[1], 1u);
  EXPECT_EQ(bfs.level(0)[2], kUnreached);
}

}  // namespace
}  // namespace shoal
