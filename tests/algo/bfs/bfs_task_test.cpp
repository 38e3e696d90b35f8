// Breadth-first search with levels in bytes, on CPU threads. GPUs use bytes if the 32-bit levels do not fit into the cache.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "algo/bfs/async.hpp"
#include "algo/bfs/reference.hpp"
#include "contract/shapes.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

struct Two {
  std::vector<level_t> known{kUnreached, kUnreached};
  std::vector<std::uint8_t> bytes{Bfs::kNoByte, Bfs::kNoByte};
  Bfs task{{{}, known.data(), {}}, {}, true, bytes.data()};

  bool promising(Bfs::Item item) const {
    level_t found[1];
    task.look<1>({true}, {item}, found);
    return task.promising(item, found[0]);
  }
  bool accept(Bfs::Item item) const { return task.accepts(item, task.ask(true, item)); }
};

TEST(LevelsInBytes, RefuseWhatIsNotLower) {
  Two two;
  EXPECT_TRUE(two.promising({1, 7}));
  EXPECT_TRUE(two.accept({1, 7}));
  EXPECT_FALSE(two.promising({1, 7}));
  EXPECT_TRUE(two.promising({1, 6}));
  EXPECT_TRUE(two.task.stale({1, 8}));
  EXPECT_FALSE(two.task.stale({1, 7}));
  EXPECT_EQ(two.known, (std::vector<level_t>{kUnreached, 7}));
  EXPECT_EQ(two.bytes, (std::vector<std::uint8_t>{Bfs::kNoByte, 7}));
}

TEST(LevelsInBytes, WhatIsNotAskedForChangesNothing) {
  Two two;
  Bfs nothing_there = two.task;  // neither array may be read
  nothing_there.known = nullptr, nothing_there.bytes = nullptr;
  level_t found[1];
  nothing_there.look<1>({false}, {{}}, found);
  EXPECT_GE(two.task.ask(false, {1, 7}), 7u);
  EXPECT_EQ(two.known[1], kUnreached);
  EXPECT_EQ(two.bytes[1], Bfs::kNoByte);
}

TEST(LevelsInBytes, AreAsked) {
  Two two;
  two.bytes[1] = 3;
  EXPECT_FALSE(two.promising({1, 3})) << "the 32-bit level would have accepted it";
}

TEST(LevelsInBytes, MayBeOutOfDate) {
  Two two;
  two.known[1] = 4, two.bytes[1] = 9;
  EXPECT_TRUE(two.promising({1, 5}));
  EXPECT_FALSE(two.accept({1, 5}));
  EXPECT_EQ(two.bytes[1], 4) << "the byte becomes the level that refused it";
}

TEST(LevelsInBytes, WhatIsOfferedToOthersIsNoted) {
  Two two;
  const auto worth_sending = [&](Bfs::Item item) { return two.task.worth_sending(item, two.task.ask(true, item)); };
  EXPECT_TRUE(worth_sending({1, 7}));
  EXPECT_EQ(two.bytes[1], 7);
  two.known[1] = 4;  // offered by another worker whose byte is not visible yet
  EXPECT_FALSE(worth_sending({1, 6}));
  EXPECT_EQ(two.bytes[1], 4) << "so the next arc need not read the 32-bit level";
}

TEST(LevelsInBytes, LevelsThatAreNoBytesAreJudgedByWords) {
  Two two;
  for (const level_t level : {300u, 256u, 255u}) {
    EXPECT_TRUE(two.promising({0, level}));
    EXPECT_TRUE(two.accept({0, level}));
    EXPECT_FALSE(two.promising({0, level})) << "the 32-bit level was not read";
    EXPECT_FALSE(two.accept({0, level}));
    EXPECT_TRUE(two.task.stale({0, level + 1}));
    EXPECT_FALSE(two.task.stale({0, level}));
    EXPECT_EQ(two.bytes[0], Bfs::kNoByte);
  }
  EXPECT_TRUE(two.accept({0, 254}));
  EXPECT_EQ(two.bytes[0], 254);
}

/// The middle one of three PEs. Its vertices begin and end within a vector of 16. It knows nothing; each of the others knows that the
/// level of each of its own vertices is v + 1. What they have for vertices that are not their own is 0, which nobody may learn.
struct Middle {
  static constexpr vertex_t kVertices = 130, kLongest = 144;
  struct alignas(16) Row {
    std::uint8_t bytes[kLongest];
  };
  std::vector<Row> rows{3};
  Bfs task;

  Middle() {
    task.owners = {{0, 40, 75, kVertices}, 3};
    for (vertex_t v = 0; v < kLongest; ++v) {
      for (pe_t p = 0; p < 3; ++p) {
        rows[p].bytes[v] = p == 1 ? Bfs::kNoByte : task.owners(v) == p ? static_cast<std::uint8_t>(v + 1) : 0;
      }
    }
    task.bytes = rows[1].bytes;
    for (pe_t p = 0; p < 3; ++p) task.all_bytes.part[p] = rows[p].bytes;
  }
  void refresh(std::initializer_list<std::uint32_t> parts) {
    for (const std::uint32_t part : parts) task.refresh(CpuThread{}, 1, part);
  }
  /// The vertices whose bytes are those of their owners.
  std::vector<vertex_t> learnt() const {
    std::vector<vertex_t> learnt;
    for (vertex_t v = 0; v < kLongest; ++v) {
      if (task.bytes[v] == v + 1) learnt.push_back(v);
      if (task.bytes[v] != v + 1) EXPECT_EQ(task.bytes[v], Bfs::kNoByte) << v;
    }
    return learnt;
  }
};
std::vector<vertex_t> numbers(std::initializer_list<std::pair<vertex_t, vertex_t>> ranges) {
  std::vector<vertex_t> numbers;
  for (const auto& [begin, end] : ranges) {
    for (vertex_t v = begin; v < end; ++v) numbers.push_back(v);
  }
  return numbers;
}

TEST(LevelsInBytes, AreLearntFromOwners) {
  Middle middle;
  middle.refresh({0, 1});  // one lane, four vectors a part; [32, 48) and [64, 80) have vertices of two PEs
  EXPECT_EQ(middle.learnt(), numbers({{0, 32}, {80, 128}}));
}

TEST(LevelsInBytes, AreLearntPartByPart) {
  Middle middle;
  middle.refresh({6});  // the same as part 0
  EXPECT_EQ(middle.learnt(), numbers({{0, 32}, {80, 112}}));
  middle.refresh({3});
  EXPECT_EQ(middle.learnt(), numbers({{0, 32}, {80, 128}}));
}

TEST(LevelsInBytes, AreNotLearntFromPesOutOfReach) {
  Middle middle;
  middle.task.all_bytes.part[2] = nullptr;
  middle.refresh({0, 1});
  EXPECT_EQ(middle.learnt(), numbers({{0, 32}}));
}

TEST(LevelsInBytes, ThatAreLowerStay) {
  Middle middle;
  middle.task.bytes[100] = 7;  // offered by this PE
  middle.refresh({0, 1});
  EXPECT_EQ(middle.task.bytes[100], 7);
  EXPECT_EQ(middle.task.bytes[101], 102);
}

TEST(LevelsInBytes, GiveTheSameAnswers) {
  // The last graph has more than 255 levels, and nine arcs for each vertex.
  for (const char* text : {"kron:10", "uniform:10,degree=6", "ring"}) {
    SCOPED_TRACE(text);
    Csr graph;
    if (text == std::string("ring")) {
      constexpr vertex_t kVertices = 3000;
      std::vector<vertex_t> from, to;
      for (vertex_t v = 0; v < kVertices; ++v) {
        for (vertex_t step = 1; step <= 9; ++step) from.push_back(v), to.push_back((v + step) % kVertices);
      }
      graph = csr_from_arcs(kVertices, from, to);
    } else {
      graph = generate(parse_generator(text));
    }
    vertex_t source = 0;
    while (graph.degree(source) == 0) ++source;
    for (const pe_t pes : {1, 3}) {
      const Machine machine = cpu_machine(pes, 3);
      const PlacedGraph placed = place_on_threads(graph, make_partition(graph, pes, PartitionKind::block));
      for (const bool judge_remote : {false, true}) {
        BfsPlan plan{};
        plan.launch = contract::small_plan(KernelKind::persistent, 64);
        plan.launch.judge_remote = judge_remote;
        BfsAsync<> search(machine, placed, plan, 0);
        EXPECT_TRUE(search.in_bytes());
        for (int run = 0; run < 3; ++run) {
          Report report;
          search.run(source, report);
          std::vector<level_t> levels;
          for (pe_t p = 0; p < pes; ++p) {
            const level_t* const own = search.words().as<level_t>()[p];
            levels.insert(levels.end(), own, own + placed.out[p].count);
          }
          EXPECT_EQ(levels, bfs_reference(graph, source)) << pes << " PEs, run " << run;
        }
      }
    }
  }
}

}  // namespace
}  // namespace shoal
