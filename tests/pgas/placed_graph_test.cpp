#include "shoal/pgas/placed_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/data/io.hpp"
#include "shoal/pgas/device_graph.hpp"

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

/// All slices one after the other; checks that each covers its PE's range.
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

/// The in-neighbours of every vertex, ascending: each arc looked at once.
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
  EXPECT_FALSE(can_generate_on_devices(parse_generator("chain:6")));
}
#endif

}  // namespace
}  // namespace shoal
