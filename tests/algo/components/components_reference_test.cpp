// The serial reference against known results, and the verifier against wrong ones.
#include "algo/components/reference.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "graph/make.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

using Numbers = std::vector<std::int32_t>;

using test::make;

Span<const std::int32_t> span(const Numbers& numbers) {
  return {numbers.data(), static_cast<std::int64_t>(numbers.size())};
}

//  0 -> 2 -> 4      5 -> 1 <- 3      6      7 -> 7      8 <-> 9
Csr small() { return csr_from_arcs(10, {0, 2, 5, 3, 7, 8, 9}, {2, 4, 1, 1, 7, 9, 8}); }
const Numbers kSmall{0, 1, 0, 1, 0, 1, 6, 7, 8, 8};

TEST(ComponentsReference, SmallDirectedGraph) {
  EXPECT_EQ(components_reference(small()), kSmall);
  EXPECT_EQ(components_reference(transpose(small())), kSmall);
  const ComponentSizes sizes = component_sizes(span(kSmall));
  EXPECT_EQ(sizes.count, 5);
  EXPECT_EQ(sizes.largest, 3);
}

TEST(ComponentsReference, KnownShapes) {
  for (const char* text : {"chain:100", "star:50", "complete:20", "road:20,deleted=0"}) {
    const Csr graph = make(text);
    EXPECT_EQ(components_reference(graph), Numbers(graph.num_vertices(), 0)) << text;
  }
  const Csr none = csr_from_arcs(3, {}, {});
  EXPECT_EQ(components_reference(none), (Numbers{0, 1, 2}));
  EXPECT_EQ(components_reference(csr_from_arcs(0, {}, {})), Numbers{});
  EXPECT_EQ(component_sizes({}).count, 0);
}

TEST(VerifyComponents, TakesWhatTheReferenceFound) {
  for (const char* text :
       {"kron:8", "kron:8,directed", "uniform:9,degree=1,directed", "road:40,deleted=.5", "chain:1"}) {
    const Csr graph = make(text);
    EXPECT_EQ(verify_components(graph, span(components_reference(graph))), "") << text;
  }
  EXPECT_EQ(verify_components(csr_from_arcs(0, {}, {}), {}), "");
}

TEST(VerifyComponents, NamesEachKindOfMistake) {
  const auto wrong = [](std::size_t v, std::int32_t label) {
    Numbers labels = kSmall;
    labels[v] = label;
    return verify_components(small(), span(labels));
  };
  EXPECT_EQ(wrong(4, 1), "vertex 2 has label 0 but its neighbour 4 has label 1");
  EXPECT_EQ(wrong(6, 8), "vertex 6 has label 8, which is larger than the vertex itself");
  EXPECT_EQ(wrong(6, 5), "vertex 6 has label 5 but vertex 5 has label 1");
  EXPECT_EQ(wrong(6, -1), "vertex 6 has label -1, which is not one of the 10 vertices");
  EXPECT_EQ(wrong(6, 10), "vertex 6 has label 10, which is not one of the 10 vertices");
  Numbers merged = kSmall;  // two components under one label: the labels agree along every arc
  for (std::size_t v = 0; v < merged.size(); ++v) merged[v] = merged[v] == 1 ? 0 : merged[v];
  EXPECT_EQ(verify_components(small(), span(merged)), "vertex 1 has label 0 but no path leads there");
  EXPECT_EQ(wrong(6, 0), "vertex 6 has label 0 but no path leads there");
  Numbers split = kSmall;  // one component under two labels
  split[8] = 8, split[9] = 9;
  EXPECT_EQ(verify_components(small(), span(split)), "vertex 8 has label 8 but its neighbour 9 has label 9");
  Numbers larger = kSmall;  // constant on the component, but not its smallest member
  larger[0] = larger[2] = larger[4] = 2;
  EXPECT_EQ(verify_components(small(), span(larger)), "vertex 0 has label 2, which is larger than the vertex itself");
  EXPECT_EQ(verify_components(small(), {kSmall.data(), 9}), "there are 9 labels for 10 vertices");
}

TEST(VerifyComponents, SeesAnySingleChange) {
  const Csr graph = make("road:12,deleted=.45");
  const Numbers right = components_reference(graph);
  for (std::size_t v = 0; v < right.size(); ++v) {
    for (const std::int32_t label : {0, 1, static_cast<std::int32_t>(v), static_cast<std::int32_t>(v) / 2}) {
      if (label == right[v]) continue;
      Numbers labels = right;
      labels[v] = label;
      EXPECT_NE(verify_components(graph, span(labels)), "") << v << " -> " << label;
    }
  }
}

TEST(VerifyComponents, SeesAnyTwoComponentsMerged) {
  const Csr graph = make("road:12,deleted=.6");
  const Numbers right = components_reference(graph);
  for (std::size_t root = 1; root < right.size(); ++root) {
    if (right[root] != static_cast<std::int32_t>(root)) continue;
    Numbers labels = right;
    for (auto& label : labels) label = label == static_cast<std::int32_t>(root) ? 0 : label;
    EXPECT_NE(verify_components(graph, span(labels)), "") << root;
  }
}

/// The folder of real graphs with known results: SHOAL_DATA, or a folder next to the sources.
std::string data_folder() {
  const char* const named = std::getenv("SHOAL_DATA");
  return named != nullptr ? named : SHOAL_SOURCE_DIR "/../shared/data";
}

TEST(ComponentsReference, RealGraphsHaveThePublishedCounts) {
  const std::filesystem::path data = data_folder();
  std::ifstream manifest(data / "MANIFEST.json");
  if (!manifest) GTEST_SKIP() << "no graphs in " << data << "; set SHOAL_DATA to a folder with MANIFEST.json";
  int graphs = 0;
  const auto document = nlohmann::json::parse(manifest);
  for (const auto& item : document["items"]) {
    if (item.value("type", "") != "graph" || !item.contains("wcc")) continue;
    const auto file = data / item["folder"].get<std::string>() / item["canonical"]["file"].get<std::string>();
    if (!std::filesystem::exists(file)) {
      std::cout << "skipped: no file " << file << "\n";
      continue;
    }
    ReadOptions reading;
    reading.undirected = !item["directed"].get<bool>();
    const Csr graph = read_graph(file.string(), reading);
    const Numbers label = components_reference(graph);
    EXPECT_EQ(verify_components(graph, span(label)), "") << file;
    ComponentSizes sizes = component_sizes(span(label));
    std::int64_t sum = 0;
    for (const std::int32_t x : label) sum += x;
    // An edge list does not contain the vertices without arcs that follow the last vertex with arcs.
    for (std::int64_t v = graph.num_vertices(); v < item["facts"]["n"].get<std::int64_t>(); ++v)
      ++sizes.count, sum += v;
    EXPECT_EQ(sizes.count, item["wcc"]["count"].get<std::int64_t>()) << file;
    EXPECT_EQ(sizes.largest, item["wcc"]["largest"].get<std::int64_t>()) << file;
    EXPECT_EQ(sum, item["wcc"]["label_sum"].get<std::int64_t>()) << file;
    ++graphs;
  }
  EXPECT_GT(graphs, 0);
}

}  // namespace
}  // namespace shoal
