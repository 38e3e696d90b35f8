// Real graphs with known ranks, for the tests of PageRank.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "data/formats/npy.hpp"
#include "data/input.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::test {

/// The folder of real graphs with known results: SHOAL_DATA, or a folder next to the sources.
inline std::filesystem::path data_folder() {
  const char* const named = std::getenv("SHOAL_DATA");
  return named != nullptr ? named : SHOAL_SOURCE_DIR "/../shared/data";
}
inline std::string why_no_graphs() {
  return "no graphs with ranks in " + data_folder().string() + "; set SHOAL_DATA to a folder with MANIFEST.json";
}

struct RealGraph {
  std::string name;
  Csr graph;
  std::vector<double> ranks;  ///< from float64 power iteration to its fixed point, checked against igraph and NetworkX
};

/// Calls f for every graph that has a file of ranks next to it. @return the number of these graphs
/// @param most_arcs  larger graphs are left out
inline int for_each_real_graph(std::int64_t most_arcs, const std::function<void(const RealGraph&)>& f) {
  std::ifstream manifest(data_folder() / "MANIFEST.json");
  if (!manifest) return 0;
  int graphs = 0;
  const auto document = nlohmann::json::parse(manifest);
  for (const auto& item : document["items"]) {
    if (item.value("type", "") != "graph" || !item.contains("pagerank") || !item["pagerank"].contains("file")) continue;
    const auto folder = data_folder() / item["folder"].get<std::string>();
    const auto file = folder / item["canonical"]["file"].get<std::string>();
    const auto answer = folder / item["pagerank"]["file"].get<std::string>();
    if (!std::filesystem::exists(file) || !std::filesystem::exists(answer)) {
      std::cout << "skipped: " << file << " or its ranks are not there\n";
      continue;
    }
    const bool directed = item["directed"].get<bool>();
    if (item["facts"]["m"].get<std::int64_t>() * (directed ? 1 : 2) > most_arcs) continue;
    RealGraph real;
    real.name = item["name"];
    ReadOptions reading;
    reading.undirected = !directed;
    real.graph = read_graph(file.string(), reading);
    // An edge list does not contain the vertices without arcs that follow the last vertex with arcs.
    const auto n = item["facts"]["n"].get<std::int64_t>();
    HostArray<arc_t> offsets(n + 1, real.graph.num_arcs());
    std::copy(real.graph.offsets.begin(), real.graph.offsets.end(), offsets.begin());
    real.graph.offsets = std::move(offsets);
    const io::Bytes packed = io::read_file(answer.string());
    const io::Bytes bytes = io::expand(io::Compression::gzip, packed.view(), answer.string(), std::int64_t{1} << 30);
    const io::NpyArray array = io::parse_npy(bytes.view(), answer.string());
    for (std::int64_t i = 0; i < array.count(); ++i) real.ranks.push_back(array.real(i));
    f(real);
    ++graphs;
  }
  return graphs;
}

}  // namespace shoal::test
