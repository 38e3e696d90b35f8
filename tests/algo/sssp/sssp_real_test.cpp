// Shortest paths on real graphs, compared with distances from other tools (the results of scipy's Dijkstra and of networkit
// agree).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "data/formats/npy.hpp"
#include "data/input.hpp"
#include "shoal/algo/sssp_run.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

std::filesystem::path data_folder() {
  const char* set = std::getenv("SHOAL_DATA");
  const std::filesystem::path folder = set != nullptr ? set : SHOAL_SOURCE_DIR "/../shared/data";
  return std::filesystem::exists(folder / "graphs") ? folder / "graphs" : std::filesystem::path();
}

/// Gives a directed graph the weights with which its "hash255" results were computed: a hash of source and target in this
/// order. (The library's hash255 takes the smaller end first, in all graphs.)
void weigh_by_source_and_target(Csr& graph) {
  graph.weight_kind = WeightKind::int32;
  graph.int_weights = HostArray<std::int32_t>(graph.num_arcs());
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v)
    for (arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a)
      graph.int_weights[a] = static_cast<std::int32_t>(
          1 + ((static_cast<std::uint64_t>(v) * 2654435761u ^ std::uint64_t{graph.targets[a]} * 40503u) & 0xFFFFFFFFu) %
                  255);
}

/// Checks all stored results of one graph: for each source and kind of weights, the number of vertices that are reached, the
/// largest distance and the sum of distances, and for some all distances.
void check_graph(const std::filesystem::path& folder) {
  SCOPED_TRACE(folder.filename().string());
  const auto item = nlohmann::json::parse(std::ifstream(folder / "item.json"));
  const std::string name = folder.filename().string();
  ReadOptions reading;
  reading.undirected = !item.at("directed").get<bool>();
  Csr graph = read_graph((folder / (name + ".el.gz")).string(), reading);
  // Its own weights come first, because those of a directed graph are then overwritten.
  for (const bool own : {true, false}) {
    if (own && graph.weight_kind == WeightKind::none) continue;
    if (!own && !reading.undirected) weigh_by_source_and_target(graph);
    for (const SsspStrategy strategy : {SsspStrategy::delta, SsspStrategy::async}) {
      SsspOptions options;
      options.device = DeviceKind::cpu;
      options.strategy = strategy;
      options.weights = own || !reading.undirected ? WeightSource::file : WeightSource::hash255;
      options.pes = strategy == SsspStrategy::delta ? 1 : 3;
      options.threads = 2;
      SsspRunner runner(graph, options);
      for (const auto& [key, answer] : item.at("sssp").items()) {
        if ((answer.at("weights") == "hash255") == own) continue;
        SCOPED_TRACE(key + ", " + shoal::name(strategy));
        runner.search(answer.at("source").get<vertex_t>());
        const SsspResult result = runner.result();
        std::int64_t sum = 0;
        for (const std::int64_t d : result.distances) sum += std::max<std::int64_t>(d, 0);
        EXPECT_EQ(result.reached, answer.at("reached").get<std::int64_t>());
        EXPECT_EQ(static_cast<std::int64_t>(result.farthest), answer.at("max_distance").get<std::int64_t>());
        EXPECT_EQ(sum, answer.at("sum_distances").get<std::int64_t>());
        const auto file = folder / answer.value("file", "none");
        if (!std::filesystem::exists(file)) continue;
        const io::Bytes packed = io::read_file(file.string());
        const io::Bytes bytes = io::expand(io::Compression::gzip, packed.view(), file.string(), std::int64_t{1} << 30);
        const io::NpyArray want = io::parse_npy(bytes.view(), file.string());
        ASSERT_EQ(want.count(), result.distances.size());
        for (std::int64_t v = 0; v < want.count(); ++v) ASSERT_EQ(result.distances[v], want.integer(v)) << v;
      }
    }
  }
}

TEST(SsspReal, DistancesAreThoseThatOtherToolsFound) {
  const auto folder = data_folder();
  if (folder.empty()) GTEST_SKIP() << "no real graphs here; set SHOAL_DATA to the folder of test data";
  int checked = 0;
  // A small graph of each kind. Web graphs and large social graphs would take too long for a test.
  for (const char* name : {"bremen-time", "wiki-Vote", "4elt", "as-caida20071105", "luxembourg_osm", "email-enron"}) {
    if (!std::filesystem::exists(folder / name / "item.json")) continue;
    check_graph(folder / name);
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "none of the graphs is in " << folder;
}

}  // namespace
}  // namespace shoal
