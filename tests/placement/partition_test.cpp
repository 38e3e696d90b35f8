#include "shoal/placement/partition.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {
namespace {

constexpr pe_t kPes[] = {1, 2, 3, 4, 7, 64};

std::vector<Csr> graphs() {
  std::vector<Csr> all;
  for (const char* text : {"kron:8", "kron:7,directed", "community:8,degree=1", "road:9,deleted=.3", "star:40",
                           "chain:1", "chain:2", "chain:5", "complete:65", "road:1"}) {
    all.push_back(generate(parse_generator(text)));
  }
  all.push_back(csr_from_arcs(0, {}, {}));
  all.back().name = "empty";
  all.push_back(csr_from_arcs(10, {}, {}));
  all.back().name = "no arcs";
  all.push_back(csr_from_arcs(6, {0, 0, 0, 5, 5, 3}, {0, 1, 1, 5, 0, 2}));
  all.back().name = "loops and parallel arcs";
  all.emplace_back();
  all.back().name = "never filled";
  return all;
}

/// A temporary file that is removed with this object.
class TempFile {
 public:
  explicit TempFile(const std::string& text)
      : name_(std::filesystem::temp_directory_path() / ("shoal_partition_" + std::to_string(::getpid()))) {
    std::ofstream(name_) << text;
  }
  ~TempFile() { std::filesystem::remove(name_); }
  std::string name() const { return name_.string(); }

 private:
  std::filesystem::path name_;
};

/// Checks everything that must hold for any partition of `graph`, without using the code under test.
void check(const Csr& graph, const Partition& partition, pe_t n_pes) {
  const std::int64_t n = graph.num_vertices();
  ASSERT_EQ(partition.owner.n_pes, n_pes);
  ASSERT_EQ(partition.n(), n);
  EXPECT_EQ(partition.owner.begin[0], 0u);
  for (pe_t p = 0; p < n_pes; ++p) EXPECT_LE(partition.owner.begin[p], partition.owner.begin[p + 1]);
  if (!partition.identity()) {
    ASSERT_EQ(partition.placed_of_input.size(), n);
    ASSERT_EQ(partition.input_of_placed.size(), n);
  }
  std::vector<arc_t> arcs_of(n_pes, 0);
  arc_t cut = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto v = static_cast<vertex_t>(i);
    const vertex_t placed = partition.placed(v);
    ASSERT_LT(placed, n);
    ASSERT_EQ(partition.input(placed), v);
    const pe_t owner = partition.owner(placed);
    ASSERT_GE(placed, partition.owner.begin[owner]);
    ASSERT_LT(placed, partition.owner.begin[owner + 1]);
    for (const vertex_t w : graph.neighbors(v)) cut += partition.owner(partition.placed(w)) != owner;
    arcs_of[owner] += graph.degree(v);
  }
  EXPECT_EQ(partition.cut_arcs, cut);
  const arc_t most = *std::max_element(arcs_of.begin(), arcs_of.end());
  EXPECT_DOUBLE_EQ(partition.imbalance,
                   graph.num_arcs() == 0 ? 1. : static_cast<double>(most) * n_pes / graph.num_arcs());
}

TEST(Partition, EveryKindOfEveryGraphOverEveryNumberOfPes) {
  std::vector<PartitionKind> kinds{PartitionKind::automatic, PartitionKind::block,  PartitionKind::edges,
                                   PartitionKind::strips,    PartitionKind::random, PartitionKind::modulo,
                                   PartitionKind::one};
#if defined(SHOAL_HAVE_METIS)
  kinds.push_back(PartitionKind::metis);
#else
  std::puts("metis left out: built without METIS");
#endif
  for (const Csr& graph : graphs()) {
    for (const pe_t n_pes : kPes) {
      for (const PartitionKind kind : kinds) {
        SCOPED_TRACE(graph.name + ", " + std::to_string(n_pes) + " PEs, kind " +
                     std::to_string(static_cast<int>(kind)));
        check(graph, make_partition(graph, n_pes, kind), n_pes);
      }
    }
  }
}

TEST(Partition, BlocksDifferByOneVertex) {
  const Csr graph = generate(parse_generator("road:9"));
  for (const pe_t n_pes : kPes) {
    const Partition partition = make_partition(graph, n_pes, PartitionKind::block);
    EXPECT_TRUE(partition.identity());
    for (pe_t p = 0; p < n_pes; ++p) {
      const std::int64_t mine = partition.owner.begin[p + 1] - partition.owner.begin[p];
      EXPECT_TRUE(mine == 81 / n_pes || mine == 81 / n_pes + 1) << mine;
    }
  }
}

TEST(Partition, OneHoldsAll) {
  const Csr graph = generate(parse_generator("road:9"));
  for (const pe_t n_pes : kPes) {
    const Partition partition = make_partition(graph, n_pes, PartitionKind::one);
    EXPECT_TRUE(partition.identity());
    for (vertex_t v = 0; v < 81; ++v) EXPECT_EQ(partition.owner(v), 0);
    EXPECT_EQ(partition.cut_arcs, 0);
  }
}

TEST(Partition, ModuloDealsVerticesOut) {
  const Csr graph = generate(parse_generator("road:9"));
  for (const pe_t n_pes : kPes) {
    const Partition partition = make_partition(graph, n_pes, PartitionKind::modulo);
    for (vertex_t v = 0; v < 81; ++v) EXPECT_EQ(partition.owner(partition.placed(v)), static_cast<pe_t>(v) % n_pes);
  }
}

TEST(Partition, StripsGoToPesInTurns) {
  const Csr graph = generate(parse_generator("road:64"));
  for (const pe_t n_pes : {1, 2, 4, 64}) {
    const Partition partition = make_partition(graph, n_pes, PartitionKind::strips);
    const std::int64_t n = graph.num_vertices(), strips = std::min<std::int64_t>(8 * n_pes, kMaxPes);
    std::int64_t changes = 0;
    for (std::int64_t v = 1; v < n; ++v) {
      const pe_t before = partition.owner(partition.placed(static_cast<vertex_t>(v - 1))),
                 now = partition.owner(partition.placed(static_cast<vertex_t>(v)));
      if (now == before) continue;
      EXPECT_EQ(now, (before + 1) % n_pes);
      ++changes;
    }
    EXPECT_EQ(changes, n_pes == 1 ? 0 : strips - 1);
    EXPECT_LE(partition.imbalance, 1.1);
  }
}

TEST(Partition, EdgesAreEvenUpToOneRow) {
  for (const char* text : {"kron:10", "road:40", "star:100", "complete:30"}) {
    const Csr graph = generate(parse_generator(text));
    arc_t max_degree = 0;
    for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
      max_degree = std::max(max_degree, graph.degree(static_cast<vertex_t>(v)));
    }
    for (const pe_t n_pes : kPes) {
      const Partition partition = make_partition(graph, n_pes, PartitionKind::edges);
      EXPECT_TRUE(partition.identity());
      const double mean = static_cast<double>(graph.num_arcs()) / n_pes;
      // Each of the two cuts is at most half a row away from its ideal position.
      EXPECT_LE(partition.imbalance * mean, mean + static_cast<double>(max_degree) + 1) << text << " " << n_pes;
    }
  }
}

TEST(Partition, RandomDependsOnTheSeedAlone) {
  const Csr graph = generate(parse_generator("chain:1000"));
  const Partition a = make_partition(graph, 4, PartitionKind::random, "", 7);
  const Partition b = make_partition(graph, 4, PartitionKind::random, "", 7);
  const Partition c = make_partition(graph, 4, PartitionKind::random, "", 8);
  EXPECT_TRUE(std::equal(a.placed_of_input.begin(), a.placed_of_input.end(), b.placed_of_input.begin()));
  EXPECT_FALSE(std::equal(a.placed_of_input.begin(), a.placed_of_input.end(), c.placed_of_input.begin()));
  // With independent owners, three in four of 1998 arcs are cut: 1498 +- 19 (edges count twice: +- 27).
  EXPECT_NEAR(static_cast<double>(a.cut_arcs), 1498.5, 150);
}

TEST(Partition, MetisCutsLessThanBlocks) {
#if defined(SHOAL_HAVE_METIS)
  const Csr shuffled = place(generate(parse_generator("road:60")), random_partition(3600, 2, 5));
  const Partition metis = make_partition(shuffled, 4, PartitionKind::metis);
  const Partition block = make_partition(shuffled, 4, PartitionKind::block);
  EXPECT_LT(metis.cut_arcs * 10, block.cut_arcs);
  EXPECT_LT(metis.imbalance, 1.1);
#else
  EXPECT_THROW(make_partition(generate(parse_generator("road:6")), 2, PartitionKind::metis), UsageError);
#endif
}

double cut_share(const Csr& graph, const Partition& partition) {
  return static_cast<double>(partition.cut_arcs) / static_cast<double>(graph.num_arcs());
}

// This is the purpose of community graphs. Mixing edges are cut with probability 1 - 1/P; ranges also cut through some
// communities.
TEST(Partition, KeepsCommunitiesTogetherAndCutsKroneckerGraphs) {
  const Csr kron = generate(parse_generator("kron:14"));
  const Csr local = generate(parse_generator("community:14,degree=4,mixing=.1"));
  const Csr shuffled = generate(parse_generator("community:14,degree=4,mixing=.1,shuffled"));
  for (const pe_t n_pes : {2, 4, 8}) {
    const double all = 1 - 1.0 / n_pes;
    for (const PartitionKind kind : {PartitionKind::block, PartitionKind::edges}) {
      EXPECT_NEAR(cut_share(kron, make_partition(kron, n_pes, kind)), all, .05) << n_pes;
      EXPECT_NEAR(cut_share(shuffled, make_partition(shuffled, n_pes, kind)), all, .05) << n_pes;
      const double cut = cut_share(local, make_partition(local, n_pes, kind));
      EXPECT_GT(cut, .09 * all) << n_pes;
      EXPECT_LT(cut, .15 * all + .02 * n_pes) << n_pes;
    }
    EXPECT_LT(make_partition(local, n_pes, PartitionKind::edges).imbalance, 1.05) << n_pes;
#if defined(SHOAL_HAVE_METIS)
    EXPECT_LT(cut_share(shuffled, make_partition(shuffled, n_pes, PartitionKind::metis)), .2 * all) << n_pes;
    EXPECT_GT(cut_share(kron, make_partition(kron, n_pes, PartitionKind::metis)), .5 * all) << n_pes;
#endif
  }
}

TEST(Partition, RefusesNumbersOfPes) {
  const Csr graph = generate(parse_generator("chain:3"));
  for (const pe_t n_pes : {0, -1, kMaxPes + 1}) {
    EXPECT_THROW(make_partition(graph, n_pes, PartitionKind::block), UsageError) << n_pes;
  }
}

TEST(PartitionFile, IsTakenAsItStands) {
  const Csr graph = generate(parse_generator("chain:6"));
  const TempFile file("# PE of each vertex\n2\r\n 0\n\n2 \n% comment\n0\n2\n0");
  const Partition partition = make_partition(graph, 4, PartitionKind::file, file.name());
  check(graph, partition, 4);
  const vertex_t wanted[] = {3, 0, 4, 1, 5, 2};
  for (vertex_t v = 0; v < 6; ++v) {
    EXPECT_EQ(partition.placed(v), wanted[v]);
    EXPECT_EQ(partition.owner(partition.placed(v)), v % 2 == 0 ? 2 : 0);
  }
  const TempFile in_order("0\n0\n1\n1\n3\n3\n");
  EXPECT_TRUE(make_partition(graph, 4, PartitionKind::file, in_order.name()).identity());
}

TEST(PartitionFile, EveryMistakeIsNamed) {
  const Csr graph = generate(parse_generator("chain:3"));
  const std::pair<const char*, const char*> cases[] = {
      {"0\n1\n", ":3: the file ends after 2 PE numbers; the graph has 3 vertices, each needs one"},
      {"", ":1: the file ends after 0 PE numbers; the graph has 3 vertices, each needs one"},
      {"0\n1\n0\n1\n", ":4: more than 3 PE numbers; the graph has only as many vertices"},
      {"0\n2\n0\n", ":2: PE 2 does not exist; the run has PEs 0 to 1 (raise --pes or change the file)"},
      {"0\n\n-1\n0\n", ":3: PE -1 does not exist; the run has PEs 0 to 1 (raise --pes or change the file)"},
      {"0\n99999999999999999999\n0\n",
       ":2: PE 99999999999999999999 does not exist; the run has PEs 0 to 1 (raise --pes or change the file)"},
      {"0\n1 1\n0\n", ":2: the line '1 1' is not a PE number; write one whole number per line, one line per vertex"},
      {"a\n", ":1: the line 'a' is not a PE number; write one whole number per line, one line per vertex"},
      {"1.0\n", ":1: the line '1.0' is not a PE number; write one whole number per line, one line per vertex"},
  };
  for (const auto& [text, message] : cases) {
    const TempFile file(text);
    try {
      make_partition(graph, 2, PartitionKind::file, file.name());
      ADD_FAILURE() << "taken: " << text;
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), file.name() + message);
    }
  }
  EXPECT_THROW(make_partition(graph, 2, PartitionKind::file), UsageError);
  EXPECT_THROW(make_partition(graph, 2, PartitionKind::file, "/nowhere/at/all"), UsageError);
  EXPECT_THROW(make_partition(graph, 2, PartitionKind::file, "/"), UsageError);
}

/// How often each weighted arc occurs, in the input's numbering. Also checks that placed rows are sorted.
std::map<std::tuple<vertex_t, vertex_t, double>, int> weighted_arcs(const Csr& graph, const Partition* placed_by) {
  std::map<std::tuple<vertex_t, vertex_t, double>, int> arcs;
  for (std::int64_t i = 0; i < graph.num_vertices(); ++i) {
    const auto v = static_cast<vertex_t>(i);
    for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a) {
      const vertex_t w = graph.targets[a];
      const double weight = graph.weight_kind == WeightKind::int32     ? graph.int_weights[a]
                            : graph.weight_kind == WeightKind::float64 ? graph.real_weights[a]
                                                                       : 0;
      if (placed_by != nullptr && a > graph.offsets[v]) {
        EXPECT_LE(graph.targets[a - 1], w) << "row " << v;
      }
      if (placed_by == nullptr) {
        ++arcs[{v, w, weight}];
      } else {
        ++arcs[{placed_by->input(v), placed_by->input(w), weight}];
      }
    }
  }
  return arcs;
}

TEST(Place, KeepsEveryArcAndItsWeight) {
  const std::vector<vertex_t> from{0, 0, 3, 4, 4, 4, 2, 6}, to{1, 1, 0, 4, 2, 5, 6, 0};
  std::vector<Csr> all = graphs();
  all.push_back(csr_from_arcs(7, from, to, {5, 4, 3, 2, 1, 0, -1, 7}));
  all.push_back(csr_from_arcs(7, from, to, {}, {.5, .25, 3, 2, 1, 0, -1, 7}));
  for (const Csr& graph : all) {
    for (const PartitionKind kind : {PartitionKind::block, PartitionKind::random}) {
      SCOPED_TRACE(graph.name);
      const Partition partition = make_partition(graph, 3, kind);
      const Csr placed = place(graph, partition);
      EXPECT_EQ(placed.num_vertices(), graph.num_vertices());
      EXPECT_EQ(placed.symmetric, graph.symmetric);
      EXPECT_EQ(placed.weight_kind, graph.weight_kind);
      EXPECT_EQ(weighted_arcs(placed, &partition), weighted_arcs(graph, nullptr));
    }
  }
}

TEST(Place, RefusesThePartitionOfAnotherGraph) {
  const Partition partition = make_partition(generate(parse_generator("chain:5")), 2, PartitionKind::block);
  EXPECT_THROW(place(generate(parse_generator("chain:6")), partition), UsageError);
}

}  // namespace
}  // namespace shoal
