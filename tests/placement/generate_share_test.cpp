// Processes that each generate the rows of their own PEs have together the graph that one process generates. Threads stand for
// processes.
#include "shoal/placement/host_slice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// Calls generate_share on every process. @return the graph of each
std::vector<PlacedGraph> generate_together(const GeneratorSpec& spec, PartitionKind kind, int processes, pe_t here,
                                           std::optional<WeightSource> weights) {
  std::vector<std::vector<std::uint64_t>> given(static_cast<std::size_t>(processes));
  std::barrier all(processes);
  std::vector<PlacedGraph> placed(static_cast<std::size_t>(processes));
  std::vector<std::thread> threads;
  for (int process = 0; process < processes; ++process) {
    threads.emplace_back([&, process] {
      const auto tell = [&, process](const std::vector<std::uint64_t>& mine) {
        given[static_cast<std::size_t>(process)] = mine;
        all.arrive_and_wait();
        const auto copy = given;
        all.arrive_and_wait();
        return copy;
      };
      ShareOfPes share;
      share.n_pes = here * processes;
      share.first_pe = here * process;
      share.here = here;
      share.process = process;
      share.processes = processes;
      share.sum = [tell](const std::vector<std::uint64_t>& mine) {
        std::vector<std::uint64_t> sums(mine.size());
        for (const auto& its : tell(mine)) {
          for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += its.at(i);
        }
        return sums;
      };
      share.largest = [tell](std::uint64_t mine) {
        std::uint64_t most = 0;
        for (const auto& its : tell({mine})) most = std::max(most, its.at(0));
        return most;
      };
      placed[static_cast<std::size_t>(process)] = generate_share(spec, kind, 7, share, weights);
    });
  }
  for (std::thread& thread : threads) thread.join();
  return placed;
}

/// The row of v with weights.
std::vector<std::pair<vertex_t, std::int32_t>> row_of(const CsrView& rows, const std::vector<ArcWeights>& weights,
                                                      std::size_t pe, vertex_t v) {
  std::vector<std::pair<vertex_t, std::int32_t>> row;
  const vertex_t i = rows.local(v);
  for (arc_t a = rows.offsets[i]; a < rows.offsets[i + 1]; ++a) {
    row.emplace_back(rows.targets[a], weights.empty() ? 0 : weights[pe].ints[a]);
  }
  return row;
}

void expect_whole(const std::string& text, PartitionKind kind, int processes, pe_t here) {
  SCOPED_TRACE(text + " " + std::to_string(static_cast<int>(kind)) + " " + std::to_string(processes));
  const GeneratorSpec spec = parse_generator(text);
  const std::vector<PlacedGraph> parts = generate_together(spec, kind, processes, here, WeightSource::hash255);
  // The whole graph, with weights from the input's numbering, placed by the partition on which the processes agreed.
  const Csr input = generate(spec);
  const Csr weighed = with_weights(input, WeightSource::hash255);
  const Partition& agreed = parts[0].partition;
  Partition copy;
  copy.kind = agreed.kind;
  copy.owner = agreed.owner;
  if (!agreed.identity()) {
    copy.placed_of_input = HostArray<vertex_t>(agreed.n());
    copy.input_of_placed = HostArray<vertex_t>(agreed.n());
    for (vertex_t v = 0; v < agreed.n(); ++v) {
      copy.placed_of_input[v] = agreed.placed(v);
      copy.input_of_placed[v] = agreed.input(v);
    }
  }
  const PlacedGraph whole = place_on_threads(weighed, std::move(copy));
  arc_t arcs = 0, cut = 0;
  for (const PlacedGraph& part : parts) {
    ASSERT_EQ(part.n_pes(), here);
    ASSERT_EQ(part.all_pes(), here * processes);
    EXPECT_EQ(part.num_vertices, whole.num_vertices);
    EXPECT_EQ(part.num_arcs, whole.num_arcs);
    EXPECT_EQ(part.max_degree, whole.max_degree);
    EXPECT_EQ(part.partition.cut_arcs, parts[0].partition.cut_arcs);
    EXPECT_EQ(part.symmetric, whole.symmetric);
    for (pe_t p = 0; p < part.n_pes(); ++p) {
      const auto pe = static_cast<std::size_t>(p), of_all = static_cast<std::size_t>(part.first_pe + p);
      ASSERT_EQ(part.partition.owner.begin[of_all], whole.partition.owner.begin[of_all]);
      const CsrView &mine = part.out[pe], &in = part.in[pe];
      ASSERT_EQ(mine.first, whole.out[of_all].first);
      ASSERT_EQ(mine.count, whole.out[of_all].count);
      for (vertex_t v = mine.first; v < mine.first + mine.count; ++v) {
        const auto row = row_of(mine, part.out_weights, pe, v);
        ASSERT_EQ(row, row_of(whole.out[of_all], whole.out_weights, of_all, v)) << v;
        ASSERT_EQ(row_of(in, part.in_weights, pe, v), row_of(whole.in[of_all], whole.in_weights, of_all, v)) << v;
        arcs += static_cast<arc_t>(row.size());
        for (const auto& [to, weight] : row) cut += !mine.owns(to);
      }
    }
  }
  EXPECT_EQ(arcs, whole.num_arcs);
  EXPECT_EQ(parts[0].partition.cut_arcs, cut);
}

TEST(GenerateShare, IsTheGraph) {
  const char* const graphs[] = {"kron:9",   "kron:8,directed", "uniform:9,degree=3", "community:10,degree=4", "road:23",
                                "chain:50", "star:40",         "complete:20"};
  for (const char* const text : graphs) {
    for (const auto kind : {PartitionKind::block, PartitionKind::edges, PartitionKind::random, PartitionKind::one}) {
      for (const int processes : {1, 2, 3}) expect_whole(text, kind, processes, 2);
    }
  }
}

TEST(GenerateShare, EdgesAreBalancedInSteps) {
  const std::vector<PlacedGraph> parts =
      generate_together(parse_generator("kron:17,degree=4"), PartitionKind::edges, 3, 1, std::nullopt);
  EXPECT_LT(parts[0].partition.imbalance, 1.1);  // 2^16 steps of two vertices; arcs drawn twice count twice
}

TEST(GenerateShare, RefusesWhatNeedsTheWholeGraph) {
  EXPECT_FALSE(can_generate_share(PartitionKind::metis));
  const GeneratorSpec spec = parse_generator("kron:5");
  EXPECT_THROW(generate_share(spec, PartitionKind::metis, 1, {}), UsageError);
  EXPECT_THROW(generate_share(spec, PartitionKind::block, 1, {}, WeightSource::file), UsageError);
}

}  // namespace
}  // namespace shoal
