// The control logic of a search over PEs that cannot access each other's memory. Here the PEs do on the host what the kernels
// do. The search finds the levels of the reference, in as few steps as it should.
#include "algo/bfs/levels_course.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "algo/bfs/reference.hpp"
#include "graph/make.hpp"

namespace shoal {
namespace {

using bfs_gpu::LevelsCourse;
using bfs_gpu::LevelsStep;
using bfs_gpu::LevelsTold;

/// Does what the kernel of a PE does in each step, vertex by vertex. It has its own levels and queues, and one bit for each
/// vertex of the graph.
struct Pe {
  const Csr& graph;
  vertex_t begin, end;
  std::vector<level_t> level;
  std::vector<bool> sent, bits[2];
  std::vector<vertex_t> queue[2], outbox[LevelsTold::kPes], inbox[LevelsTold::kPes];

  Pe(const Csr& g, vertex_t b, vertex_t e) : graph(g), begin(b), end(e) {}
  bool owns(vertex_t v) const { return v >= begin && v < end; }
  std::uint64_t arcs_in(const std::vector<vertex_t>& of) const {
    std::uint64_t arcs = 0;
    for (const vertex_t v : of) arcs += graph.neighbors(v).size();
    return arcs;
  }
  void reach(vertex_t v, level_t depth) {
    level_t& known = level[v - begin];
    if (known != kUnreached) return;
    known = depth;
    if (!graph.neighbors(v).empty()) queue[depth & 1].push_back(v);
  }

  LevelsTold run(const LevelsCourse& course, vertex_t source, const std::vector<vertex_t>& first) {
    const auto depth = course.depth();
    const auto which = course.bits();
    LevelsTold told{};
    std::vector<vertex_t>*mine = &queue[depth & 1], *next = &queue[(depth + 1) & 1];
    switch (course.step()) {
      case LevelsStep::begin:
        level.assign(end - begin, kUnreached);
        sent.assign(graph.num_vertices(), false);
        for (auto& of : bits) of.assign(graph.num_vertices(), false);
        for (auto& of : queue) of.clear();
        if (owns(source)) reach(source, 0);
        break;
      case LevelsStep::top_down:
      case LevelsStep::receive:
        for (auto& from : inbox) {
          for (const vertex_t v : from) reach(v, depth);
          from.clear();
        }
        if (course.step() == LevelsStep::receive) break;
        told.expanded = arcs_in(*mine);
        next->clear();
        for (const vertex_t u : *mine) {
          for (const vertex_t v : graph.neighbors(u)) {
            if (owns(v)) {
              reach(v, depth + 1);
            } else if (!sent[v]) {
              sent[v] = true;
              outbox[std::upper_bound(first.begin(), first.end(), v) - first.begin() - 1].push_back(v);
            }
          }
        }
        mine = next;
        break;
      case LevelsStep::to_bits:
        for (vertex_t v = begin; v < end; ++v) bits[0][v] = level[v - begin] == depth;
        return told;
      case LevelsStep::up:
        for (vertex_t v = begin; v < end; ++v) {
          const auto row = graph.neighbors(v);
          const bool now = level[v - begin] == kUnreached &&
                           std::any_of(row.begin(), row.end(), [&](vertex_t u) { return bits[which][u]; });
          if (now) level[v - begin] = depth + 1;
          bits[which ^ 1][v] = now;
          told.found += now;
        }
        return told;
      default:
        mine->clear();
        for (vertex_t v = begin; v < end; ++v) {
          if (bits[which][v] && !graph.neighbors(v).empty()) mine->push_back(v);
        }
    }
    told.slots = mine->size();
    told.arcs = arcs_in(*mine);
    for (int q = 0; q < LevelsTold::kPes; ++q) told.sent[q] = outbox[q].size();
    return told;
  }
};

struct Searched {
  std::vector<level_t> levels;
  std::map<LevelsStep, int> steps;
  std::int64_t rounds = 0;
};

/// @param first  [PEs] the first vertex of each PE
Searched search(const Csr& graph, vertex_t source, const std::vector<vertex_t>& first, double alpha, double beta) {
  const auto n_pes = static_cast<pe_t>(first.size());
  std::vector<Pe> pes;
  std::uint64_t longest = 0;
  const auto n = static_cast<vertex_t>(graph.num_vertices());
  for (vertex_t v = 0; v < n; ++v) longest = std::max<std::uint64_t>(longest, graph.neighbors(v).size());
  for (pe_t p = 0; p < n_pes; ++p) pes.emplace_back(graph, first[p], p + 1 < n_pes ? first[p + 1] : n);
  LevelsCourse course({alpha, beta, n, static_cast<std::uint64_t>(graph.num_arcs()), longest}, n_pes);
  Searched done;
  while (course.step() != LevelsStep::done) {
    if (++done.steps[course.step()] > 10'000) break;
    for (pe_t from = 0; from < n_pes; ++from) {
      for (pe_t to = 0; to < n_pes; ++to) {
        if (from == to) continue;
        auto& outbox = pes[from].outbox[to];
        if (course.step() == LevelsStep::up) {
          auto& bits = pes[to].bits[course.bits()];
          for (vertex_t v = pes[from].begin; v < pes[from].end; ++v) bits[v] = pes[from].bits[course.bits()][v];
        }
        EXPECT_EQ(course.sent(from, to), outbox.size()) << "exactly what is in the outbox must be sent";
        pes[to].inbox[from] = std::move(outbox);
        outbox.clear();
      }
    }
    std::vector<LevelsTold> told;
    for (Pe& pe : pes) told.push_back(pe.run(course, source, first));
    if (course.step() == LevelsStep::to_bits) {
      course.go_up();
    } else {
      course.next(told);
    }
  }
  for (const Pe& pe : pes) done.levels.insert(done.levels.end(), pe.level.begin(), pe.level.end());
  done.rounds = course.top_down() + course.bottom_up();
  return done;
}

using test::make;

/// The highest level.
std::int64_t deepest(const std::vector<level_t>& levels) {
  std::int64_t most = 0;
  for (const level_t level : levels) most = std::max<std::int64_t>(most, level == kUnreached ? 0 : level);
  return most;
}

TEST(LevelsCourse, LevelsAreThoseOfTheReference) {
  std::map<LevelsStep, int> seen;
  for (const char* const text : {"kron:9", "uniform:9", "road:24", "star:6", "uniform:8,degree=1", "kron:4"}) {
    const Csr graph = make(text);
    const auto n = static_cast<vertex_t>(graph.num_vertices());
    const std::vector<std::vector<vertex_t>> cuts = {
        {0}, {0, n / 2}, {0, n / 3, n / 3, n - 1}, {0, n, n}, {0, 0, 1, 2, 3, 4, 5, n}};
    for (const auto& first : cuts) {
      for (const auto& [alpha, beta] : {std::pair(15.0, 24.0), {0.0, 24.0}, {1e9, 24.0}, {1e9, 0.0}, {2.0, 2.0}}) {
        for (const vertex_t source : {vertex_t{0}, n / 2, n - 1}) {
          const Searched done = search(graph, source, first, alpha, beta);
          const std::vector<level_t> right = bfs_reference(graph, source);
          EXPECT_EQ(done.levels, right) << text << " on " << first.size() << " PEs, alpha " << alpha;
          // Every level is counted once, and there may be one more round after the last level.
          EXPECT_GE(done.rounds, deepest(right));
          EXPECT_LE(done.rounds, deepest(right) + 1);
          for (const auto& [step, times] : done.steps) seen[step] += times;
        }
      }
    }
  }
  for (const LevelsStep step : {LevelsStep::begin, LevelsStep::top_down, LevelsStep::receive, LevelsStep::to_bits,
                                LevelsStep::up, LevelsStep::from_bits}) {
    EXPECT_GT(seen[step], 0) << "never taken: " << static_cast<int>(step);
  }
}

TEST(LevelsCourse, ARoadTakesOneStepALevel) {
  const Csr graph = make("road:60");
  const auto n = static_cast<vertex_t>(graph.num_vertices());
  const Searched done = search(graph, 0, {0, n / 2}, 15, 24);
  int steps = 0;
  for (const auto& [step, times] : done.steps) steps += times;
  EXPECT_GT(done.rounds, 60);
  EXPECT_LE(steps, done.rounds + done.rounds / 8) << "except at the beginning, and near the end, where little is left";
}

TEST(LevelsCourse, WithoutAlphaNothingIsLookedForFromBelow) {
  const Csr graph = make("kron:9");
  const Searched done = search(graph, 1, {0, 100}, 0, 24);
  EXPECT_FALSE(done.steps.contains(LevelsStep::up));
  EXPECT_FALSE(done.steps.contains(LevelsStep::receive)) << "the step that expands also judges what was sent";
}

}  // namespace
}  // namespace shoal
