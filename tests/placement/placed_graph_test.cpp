#include "shoal/placement/placed_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/device_graph.hpp"

namespace shoal {
namespace {

using Rows = std::vector<std::vector<vertex_t>>;

Rows rows_of(const Csr& graph) {
  Rows rows;
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
    const auto row = graph.neighbors(static_cast<vertex_t>(v));
    rows.emplace_back(row.begin(), row.end());
  }
  return rows;
}

/// The rows of all slices, one slice after the other. Checks that each slice covers its PE's range.
Rows rows_of(const std::vector<CsrView>& slices, const OwnerTable& owner) {
  Rows rows;
  EXPECT_EQ(static_cast<pe_t>(slices.size()), owner.n_pes);
  for (pe_t p = 0; p < owner.n_pes; ++p) {
    EXPECT_EQ(slices[p].first, owner.begin[p]);
    EXPECT_EQ(slices[p].count, owner.begin[p + 1] - owner.begin[p]);
    for (vertex_t i = 0; i < slices[p].count; ++i) {
      const auto row = slices[p].neighbors(slices[p].first + i);
      rows.emplace_back(row.begin(), row.end());
    }
  }
  return rows;
}

/// The in-neighbours of every vertex in ascending order, from one pass over the arcs.
Rows in_rows_of(const Csr& graph) {
  Rows rows(graph.num_vertices());
  for (std::int64_t u = 0; u < graph.num_vertices(); ++u) {
    for (const vertex_t v : graph.neighbors(static_cast<vertex_t>(u))) rows[v].push_back(static_cast<vertex_t>(u));
  }
  return rows;
}

TEST(PlacedGraph, SlicesAreTheRowsOfThePlacedGraph) {
  std::vector<Csr> graphs;
  for (const char* text : {"kron:7", "kron:7,directed", "uniform:3,directed,seed=2", "star:9", "chain:1", "chain:3"}) {
    graphs.push_back(generate(parse_generator(text)));
  }
  graphs.push_back(csr_from_arcs(0, {}, {}));
  graphs.push_back(csr_from_arcs(5, {}, {}));
  graphs.emplace_back();
  for (const Csr& graph : graphs) {
    for (const pe_t n_pes : {1, 2, 3, 4, 9}) {
      for (const PartitionKind kind : {PartitionKind::block, PartitionKind::edges, PartitionKind::random}) {
        SCOPED_TRACE(graph.name + ", " + std::to_string(n_pes) + " PEs");
        const Csr wanted = place(graph, make_partition(graph, n_pes, kind));
        const PlacedGraph placed = place_on_threads(graph, make_partition(graph, n_pes, kind));
        EXPECT_EQ(placed.n_pes(), n_pes);
        EXPECT_EQ(placed.num_vertices, graph.num_vertices());
        EXPECT_EQ(placed.num_arcs, graph.num_arcs());
        EXPECT_EQ(placed.symmetric, graph.symmetric);
        EXPECT_TRUE(placed.devices.empty());
        arc_t max_degree = 0;
        for (const auto& row : rows_of(graph)) max_degree = std::max<arc_t>(max_degree, row.size());
        EXPECT_EQ(placed.max_degree, max_degree);
        EXPECT_EQ(rows_of(placed.out, placed.partition.owner), rows_of(wanted));
        EXPECT_EQ(rows_of(placed.in, placed.partition.owner), in_rows_of(wanted));
        EXPECT_EQ(rows_of(fetch_graph(placed)), rows_of(graph));
        EXPECT_EQ(rows_of(fetch_graph(placed, false)), rows_of(wanted));
      }
    }
  }
}

/// The weights of every row, in order of the slices.
std::vector<std::vector<std::int32_t>> weights_of(const std::vector<CsrView>& slices,
                                                  const std::vector<ArcWeights>& weights) {
  std::vector<std::vector<std::int32_t>> rows;
  for (std::size_t p = 0; p < slices.size(); ++p) {
    for (vertex_t i = 0; i < slices[p].count; ++i) {
      rows.emplace_back(weights[p].ints + slices[p].offsets[i], weights[p].ints + slices[p].offsets[i + 1]);
    }
  }
  return rows;
}

TEST(PlacedGraph, WeightsFollowTheirArcs) {
  for (const char* text : {"kron:7", "kron:7,directed", "chain:1"}) {
    const Csr bare = generate(parse_generator(text));
    const Csr graph = with_weights(bare, WeightSource::hash255);
    for (const pe_t n_pes : {1, 3}) {
      for (const PartitionKind kind : {PartitionKind::edges, PartitionKind::random}) {
        PlacedGraph placed = place_on_threads(graph, make_partition(graph, n_pes, kind));
        const auto name = [&](vertex_t v) { return placed.partition.input(v); };
        const auto out = weights_of(placed.out, placed.out_weights), in = weights_of(placed.in, placed.in_weights);
        const Rows targets = rows_of(placed.out, placed.partition.owner);
        const Rows sources = rows_of(placed.in, placed.partition.owner);
        for (vertex_t v = 0; v < graph.num_vertices(); ++v) {
          for (std::size_t k = 0; k < targets[v].size(); ++k) {
            ASSERT_EQ(out[v][k], hash255(name(v), name(targets[v][k])));
          }
          for (std::size_t k = 0; k < sources[v].size(); ++k) {
            ASSERT_EQ(in[v][k], hash255(name(sources[v][k]), name(v)));
          }
        }
        const Csr back = fetch_graph(placed);
        EXPECT_EQ(std::vector<std::int32_t>(back.int_weights.begin(), back.int_weights.end()),
                  std::vector<std::int32_t>(graph.int_weights.begin(), graph.int_weights.end()));
        describe_weights(graph, placed);
        EXPECT_LE(placed.max_weight, 255);
        EXPECT_LE(placed.mean_weight, placed.max_weight);
      }
    }
  }
  const Csr real = csr_from_arcs(3, {0, 1, 2}, {1, 2, 0}, {}, {0.5, 4, 1.5});
  PlacedGraph placed = place_on_threads(real, make_partition(real, 2, PartitionKind::block));
  EXPECT_EQ(placed.weight_kind, WeightKind::float64);
  EXPECT_EQ(placed.out_weights[1].ints, nullptr);
  EXPECT_EQ(placed.in_weights[0].reals[0], 1.5);
  describe_weights(real, placed);
  EXPECT_EQ(placed.mean_weight, 2);
  EXPECT_EQ(placed.max_weight, 4);
}

TEST(PlacedGraph, LooksIntoASharedGraphAndKeepsItAlive) {
  auto graph = std::make_shared<const Csr>(generate(parse_generator("kron:6")));
  const vertex_t* const targets = graph->targets.data();
  const Rows wanted = rows_of(*graph);
  PlacedGraph placed = place_on_threads(graph, make_partition(*graph, 3, PartitionKind::edges));
  const std::weak_ptr<const Csr> watch = graph;
  graph.reset();
  EXPECT_FALSE(watch.expired());
  EXPECT_EQ(placed.out[0].targets, targets);
  EXPECT_EQ(rows_of(placed.out, placed.partition.owner), wanted);
  placed = PlacedGraph();
  EXPECT_TRUE(watch.expired());
}

TEST(PlacedGraph, OutlivesACopiedGraph) {
  auto graph = std::make_unique<Csr>(generate(parse_generator("kron:6")));
  const Rows wanted = rows_of(*graph);
  const PlacedGraph placed = place_on_threads(*graph, make_partition(*graph, 3, PartitionKind::edges));
  EXPECT_NE(placed.out[0].targets, graph->targets.data());
  graph.reset();
  EXPECT_EQ(rows_of(placed.out, placed.partition.owner), wanted);
}

TEST(PlacedGraph, RefusesThePartitionOfAnotherGraph) {
  const Csr graph = generate(parse_generator("chain:6"));
  const auto other = [] { return make_partition(generate(parse_generator("chain:5")), 2, PartitionKind::block); };
  EXPECT_THROW(place_on_threads(graph, other()), UsageError);
  EXPECT_THROW(place_on_threads(std::make_shared<const Csr>(generate(parse_generator("chain:6"))), other()),
               UsageError);
}

#if !defined(SHOAL_HAVE_CUDA)
TEST(PlacedGraph, DevicesNeedCuda) {
  const Csr graph = generate(parse_generator("chain:6"));
  EXPECT_THROW(place_on_devices(graph, make_partition(graph, 1, PartitionKind::block), {0}), DeviceError);
  EXPECT_THROW(generate_on_devices(parse_generator("chain:6"), 1, PartitionKind::block, {0}), DeviceError);
  EXPECT_FALSE(can_generate_on_devices(PartitionKind::block));
}
#endif

}  // namespace
}  // namespace shoal
