#include "algo/bfs/verify_gpu.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "algo/bfs/reference.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/device/device_memory.cuh"
#include "shoal/placement/device_graph.hpp"

namespace shoal {
namespace {

/// Levels in placed numbering, distributed over the devices of the PEs.
class Slices {
 public:
  Slices(const PlacedGraph& graph, const std::vector<level_t>& placed_level) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      DeviceGuard guard(graph.devices[p]);
      memory_.emplace_back(graph.out[p].count, "levels");
      memory_.back().upload(placed_level.data() + graph.out[p].first, graph.out[p].count);
      pointers_.push_back(memory_.back().data());
    }
  }
  level_t* const* data() const { return pointers_.data(); }

 private:
  std::vector<DeviceArray<level_t>> memory_;
  std::vector<level_t*> pointers_;
};

TEST(VerifyLevelsOnDevices, SaysWhatTheHostSays) {
  if (num_devices() == 0) GTEST_SKIP() << "no usable GPU on this machine";
  for (const char* text :
       {"kron:7", "kron:7,directed", "road:9,deleted=.3", "star:100", "complete:40", "chain:1", "chain:2"}) {
    const Csr graph = generate(parse_generator(text));
    for (const pe_t n_pes : {1, 2, 3}) {
      for (const PartitionKind kind : {PartitionKind::edges, PartitionKind::random}) {
        SCOPED_TRACE(std::string(text) + ", " + std::to_string(n_pes) + " PEs");
        std::vector<int> devices;
        for (pe_t p = 0; p < n_pes; ++p) devices.push_back(p % num_devices());
        const PlacedGraph placed = place_on_devices(graph, make_partition(graph, n_pes, kind), devices);
        const Partition& partition = placed.partition;
        const Csr in = transpose(graph);
        const std::vector<level_t> right = bfs_reference(graph, 0);
        const auto verify = [&](const std::vector<level_t>& level) {
          std::vector<level_t> placed_level(level.size());
          for (std::size_t v = 0; v < level.size(); ++v)
            placed_level[partition.placed(static_cast<vertex_t>(v))] = level[v];
          const Slices slices(placed, placed_level);
          return verify_levels_on_devices(placed, slices.data(), partition.placed(0));
        };
        EXPECT_EQ(verify(right), "");
        for (std::size_t v = 0; v < right.size(); v += 7) {
          for (const level_t level : {kUnreached, 0u, 1u, 2u, right[v] + 1, 1u << 30}) {
            if (level == right[v]) continue;
            std::vector<level_t> wrong = right;
            wrong[v] = level;
            const std::string host = verify_levels(in, {wrong.data(), graph.num_vertices()}, 0), device = verify(wrong);
            EXPECT_NE(host, "");
            EXPECT_NE(device, "");
            // With identical numbering both name the same first vertex. Otherwise they may differ, as among equally low
            // neighbours the placed order decides.
            if (partition.identity()) EXPECT_EQ(device, host);
          }
        }
      }
    }
  }
}

TEST(VerifyLevelsOnDevices, WantsAGraphOnDevices) {
  if (num_devices() == 0) GTEST_SKIP() << "no usable GPU on this machine";
  const Csr graph = generate(parse_generator("chain:3"));
  const PlacedGraph placed = place_on_threads(graph, make_partition(graph, 1, PartitionKind::block));
  EXPECT_THROW(verify_levels_on_devices(placed, nullptr, 0), UsageError);
}

}  // namespace
}  // namespace shoal
