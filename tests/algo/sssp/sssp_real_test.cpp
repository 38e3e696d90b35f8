// Shortest paths on real graphs, against distances that other tools found (scipy's Dijkstra and networkit's agreed on each).
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

/// Every answer that is kept of one graph: sources, weights, how many vertices are reached, the largest and the sum of
/// distances, and for some all distances.
void check_graph(const std::filesystem::path& folder) {
  SCOPED_TRACE(folder.filename().string());
  const auto item = nlohmann::json::parse(std::ifstream(folder / "item.json"));
  const std::string name = folder.filename().string();
  ReadOptions reading;
  reading.undirected = !item.at("directed").get<bool>();
  const Csr graph = read_graph((folder / (name + ".el.gz")).string(), reading);
  for (const WeightSource weights : {WeightSource::hash255, WeightSource::file}) {
    if (weights == WeightSource::file && graph.weight_kind == WeightKind::none) continue;
    for (const SsspStrategy strategy : {SsspStrategy::delta, SsspStrategy::async}) {
      SsspOptions options;
      options.device = DeviceKind::cpu;
      options.strategy = strategy;
      options.weights = weights;
      options.pes = strategy == SsspStrategy::delta ? 1 : 3;
      options.threads = 2;
      SsspRunner runner(graph, options);
      for (const auto& [key, answer] : item.at("sssp").items()) {
        if ((answer.at("weights") == "hash255") != (weights == WeightSource::hash255)) continue;
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
  // A small one of each kind; web graphs and large social ones take longer than a test should.
  for (const char* name : {"bremen-time", "wiki-Vote", "4elt", "as-caida20071105", "luxembourg_osm", "email-enron"}) {
    if (!std::filesystem::exists(folder / name / "item.json")) continue;
    check_graph(folder / name);
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "none of the graphs is in " << folder;
}

}  // namespace
}  // namespace shoal
