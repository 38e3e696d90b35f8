#include "shoal/placement/device_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/device/device_memory.cuh"

namespace shoal {
namespace {

constexpr PartitionKind kKinds[] = {PartitionKind::block, PartitionKind::edges, PartitionKind::random,
                                    PartitionKind::one};

class DeviceGraph : public ::testing::Test {
 protected:
  void SetUp() override {
    if (num_devices() == 0) GTEST_SKIP() << "no usable GPU on this machine";
  }
  /// The device of each PE; PEs share devices if there are too few.
  static std::vector<int> devices_for(pe_t n_pes) {
    std::vector<int> devices;
    for (pe_t p = 0; p < n_pes; ++p) devices.push_back(p % num_devices());
    return devices;
  }
};

/// Returns "" if the graphs are equal bit for bit, otherwise the first difference.
std::string difference(const Csr& a, const Csr& b) {
  if (a.offsets.size() != b.offsets.size()) {
    return std::to_string(a.num_vertices()) + " vertices, not " + std::to_string(b.num_vertices());
  }
  for (std::int64_t v = 0; v < a.offsets.size(); ++v) {
    if (a.offsets[v] != b.offsets[v]) {
      return "offset " + std::to_string(v) + " is " + std::to_string(a.offsets[v]) + ", not " +
             std::to_string(b.offsets[v]);
    }
  }
  for (arc_t i = 0; i < a.num_arcs(); ++i) {
    if (a.targets[i] != b.targets[i]) {
      return "target " + std::to_string(i) + " is " + std::to_string(a.targets[i]) + ", not " +
             std::to_string(b.targets[i]);
    }
  }
  if (a.weight_kind != b.weight_kind) return "weights are of another kind";
  for (std::int64_t i = 0; i < b.int_weights.size(); ++i) {
    if (a.int_weights[i] != b.int_weights[i]) return "weight " + std::to_string(i) + " differs";
  }
  for (std::int64_t i = 0; i < b.real_weights.size(); ++i) {
    if (a.real_weights[i] != b.real_weights[i]) return "weight " + std::to_string(i) + " differs";
  }
  return a.symmetric == b.symmetric ? "" : "symmetric differs";
}

/// Checks what must hold for every placed graph, and that its rows are those of `graph`. Consumes the in-slices.
void check(PlacedGraph placed, const Csr& graph, pe_t n_pes) {
  ASSERT_EQ(placed.n_pes(), n_pes);
  ASSERT_EQ(static_cast<pe_t>(placed.in.size()), n_pes);
  EXPECT_EQ(placed.num_vertices, graph.num_vertices());
  EXPECT_EQ(placed.num_arcs, graph.num_arcs());
  EXPECT_EQ(placed.partition.n(), graph.num_vertices());
  arc_t max_degree = 0;
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
    max_degree = std::max(max_degree, graph.degree(static_cast<vertex_t>(v)));
  }
  EXPECT_EQ(placed.max_degree, max_degree);
  for (pe_t p = 0; p < n_pes; ++p) {
    for (const CsrView& slice : {placed.out[p], placed.in[p]}) {
      EXPECT_EQ(slice.first, placed.partition.owner.begin[p]);
      EXPECT_EQ(slice.first + slice.count, placed.partition.owner.begin[p + 1]);
      arc_t first = -1;
      copy_to_host(&first, slice.offsets, sizeof first);
      EXPECT_EQ(first, 0);
      cudaPointerAttributes where{};
      ASSERT_EQ(cudaPointerGetAttributes(&where, slice.offsets), cudaSuccess);
      EXPECT_EQ(where.type, cudaMemoryTypeDevice);
      EXPECT_EQ(where.device, placed.devices[p]);
    }
  }
  EXPECT_EQ(difference(fetch_graph(placed), graph), "");
  EXPECT_EQ(difference(fetch_graph(placed, false), place(graph, placed.partition)), "");
  std::swap(placed.out, placed.in);
  std::swap(placed.out_weights, placed.in_weights);
  EXPECT_EQ(difference(fetch_graph(placed), transpose(graph)), "");
}

TEST_F(DeviceGraph, SamplesHowLongPathsAre) {
  const auto levels = [](const char* text, pe_t n_pes = 1) {
    const GeneratorSpec spec = parse_generator(text);
    const int made = generate_on_devices(spec, n_pes, PartitionKind::block, devices_for(n_pes), 1, {}).sample_levels;
    const Csr graph = generate(spec);
    Partition blocks = make_partition(graph, n_pes, PartitionKind::block);
    EXPECT_EQ(place_on_devices(graph, std::move(blocks), devices_for(n_pes), false).sample_levels, made) << text;
    return made;
  };
  for (const pe_t n_pes : {1, 2}) {
    const int grid = levels("road:100", n_pes);  // from a corner 64, from an edge 46, from elsewhere 32
    EXPECT_GE(grid, 30);
    EXPECT_LE(grid, 66);
    EXPECT_GE(levels("road:100,deleted=0.4", n_pes), 40);
    EXPECT_GE(levels("chain:10000", n_pes), 1024);
  }
  const int random = levels("uniform:16,degree=3");  // each level has up to five times as many vertices
  EXPECT_GE(random, 4);
  EXPECT_LE(random, 12);
  EXPECT_LE(levels("kron:14"), 6);
  EXPECT_LE(levels("star:10000"), 2);
  EXPECT_EQ(levels("road:32"), 0) << "fewer than 2,048 vertices";
}

TEST_F(DeviceGraph, WeighsAsTheHostWeighs) {
  for (const char* text : {"kron:11", "kron:9,directed", "road:33", "star:100", "chain:1"}) {
    const GeneratorSpec spec = parse_generator(text);
    const Csr bare = generate(spec);
    for (const WeightSource source : {WeightSource::hash255, WeightSource::unit}) {
      const Csr wanted = with_weights(bare, source);
      for (const pe_t n_pes : {1, 3}) {
        for (const PartitionKind kind : {PartitionKind::edges, PartitionKind::random}) {
          check(generate_on_devices(spec, n_pes, kind, devices_for(n_pes), 5, source), wanted, n_pes);
          check(place_on_devices(wanted, make_partition(wanted, n_pes, kind), devices_for(n_pes), true), wanted, n_pes);
        }
      }
    }
  }
  const Csr real = csr_from_arcs(4, {0, 1, 2, 3}, {1, 2, 0, 3}, {}, {0.5, 4, 1.5, 0});
  check(place_on_devices(real, make_partition(real, 3, PartitionKind::block), devices_for(3), true), real, 3);
  EXPECT_THROW(generate_on_devices(parse_generator("chain:5"), 1, PartitionKind::block, {0}, 1, WeightSource::file),
               UsageError);
}

/// Generates the graph on devices for several numbers of PEs and every partition, and compares it with the one generated on the
/// host.
template <class DevicesFor>
void check_generated(const char* text, const DevicesFor& devices_for) {
  const GeneratorSpec spec = parse_generator(text);
  const Csr wanted = generate(spec);
  for (const pe_t n_pes : {1, 2, 3, 4}) {
    for (const PartitionKind kind : kKinds) {
      ASSERT_TRUE(can_generate_on_devices(kind));
      SCOPED_TRACE(std::string(text) + ", " + std::to_string(n_pes) + " PEs, kind " +
                   std::to_string(static_cast<int>(kind)));
      PlacedGraph placed = generate_on_devices(spec, n_pes, kind, devices_for(n_pes), 5);
      const Partition same = make_partition(wanted, n_pes, kind, "", 5);
      for (pe_t p = 0; p <= n_pes; ++p) EXPECT_EQ(placed.partition.owner.begin[p], same.owner.begin[p]);
      EXPECT_TRUE(std::equal(same.placed_of_input.begin(), same.placed_of_input.end(),
                             placed.partition.placed_of_input.begin(), placed.partition.placed_of_input.end()));
      EXPECT_DOUBLE_EQ(placed.partition.imbalance, same.imbalance);
      EXPECT_EQ(placed.partition.cut_arcs, same.cut_arcs);
      check(std::move(placed), wanted, n_pes);
    }
  }
}

TEST_F(DeviceGraph, GeneratesWhatTheHostGenerates) {
  for (const char* text :
       {"kron:0", "kron:1", "kron:2,seed=4", "kron:10", "kron:13,seed=3", "kron:9,directed", "uniform:10",
        "uniform:11,degree=1,directed,seed=8", "road:1", "road:2", "road:33,deleted=.3", "road:200", "chain:1",
        "chain:2", "chain:100", "star:2", "star:1000", "complete:2", "complete:65"}) {
    check_generated(text, devices_for);
  }
  for (const char* text :
       {"community:0", "community:10", "community:14,degree=1", "community:12,degree=2,mixing=.5,skew=5,seed=9",
        "community:11,degree=3,directed,shuffled"}) {
    check_generated(text, devices_for);
  }
}

TEST_F(DeviceGraph, GeneratesALargeGraph) {
  const GeneratorSpec spec = parse_generator("kron:18");
  check(generate_on_devices(spec, 2, PartitionKind::edges, devices_for(2)), generate(spec), 2);
}

TEST_F(DeviceGraph, UploadsWhatTheHostHas) {
  std::vector<Csr> graphs;
  for (const char* text : {"kron:9", "kron:9,directed", "star:70", "chain:1", "chain:2", "road:12"}) {
    graphs.push_back(generate(parse_generator(text)));
  }
  graphs.push_back(csr_from_arcs(6, {0, 0, 0, 5, 5, 3}, {0, 1, 1, 5, 0, 2}));
  graphs.push_back(csr_from_arcs(7, {}, {}));
  graphs.push_back(csr_from_arcs(0, {}, {}));
  for (const Csr& graph : graphs) {
    for (const pe_t n_pes : {1, 2, 3, 4}) {
      for (const PartitionKind kind : kKinds) {
        SCOPED_TRACE(graph.name + ", " + std::to_string(n_pes) + " PEs");
        check(place_on_devices(graph, make_partition(graph, n_pes, kind), devices_for(n_pes)), graph, n_pes);
      }
    }
  }
}

TEST_F(DeviceGraph, FetchesGraphsOfCpuPesToo) {
  const Csr graph = generate(parse_generator("kron:8,directed"));
  const PlacedGraph placed = place_on_threads(graph, make_partition(graph, 3, PartitionKind::random));
  EXPECT_EQ(difference(fetch_graph(placed), graph), "");
}

// Fails the first allocation, then the second, and so on, until building succeeds. Each failure gives an error, and all memory
// is freed.
TEST_F(DeviceGraph, LeavesNothingBehindWhenMemoryRunsOut) {
  const GeneratorSpec spec = parse_generator("kron:10,directed");
  const Csr graph = generate(spec);
  for (const bool generated : {true, false}) {
    const auto build = [&] {
      if (generated) return generate_on_devices(spec, 2, PartitionKind::edges, devices_for(2));
      return place_on_devices(graph, make_partition(graph, 2, PartitionKind::random), devices_for(2));
    };
    const std::int64_t before = AllocationFault::held;
    std::int64_t failures = 0;
    for (bool failed = true; failed; ++failures) {
      ASSERT_LT(failures, 1000);
      AllocationFault::arm(failures);
      failed = false;
      try {
        build();
      } catch (const CapacityError& error) {
        failed = true;
        EXPECT_NE(std::string(error.what()).find("bytes wanted"), std::string::npos) << error.what();
      }
      AllocationFault::disarm();
      EXPECT_EQ(AllocationFault::held, before) << "after failing allocation " << failures;
    }
    EXPECT_GT(failures, 8);
  }
}

TEST_F(DeviceGraph, NamesMistakes) {
  const GeneratorSpec spec = parse_generator("chain:10");
  const Csr graph = generate(spec);
  EXPECT_THROW(generate_on_devices(spec, 2, PartitionKind::block, {0}), UsageError);
  EXPECT_THROW(generate_on_devices(spec, 1, PartitionKind::block, {num_devices()}), DeviceError);
  EXPECT_THROW(generate_on_devices(spec, 1, PartitionKind::block, {-1}), DeviceError);
  EXPECT_THROW(generate_on_devices(spec, 1, PartitionKind::metis, {0}), UsageError);
  EXPECT_THROW(place_on_devices(graph, make_partition(graph, 2, PartitionKind::block), {0}), UsageError);
  const Csr other = generate(parse_generator("chain:11"));
  EXPECT_THROW(place_on_devices(other, make_partition(graph, 1, PartitionKind::block), {0}), UsageError);
}

}  // namespace
}  // namespace shoal
