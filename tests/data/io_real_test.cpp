// Real files as their authors published them, against the canonical edge list of the same graph, which other tools made.
#include <algorithm>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

/// The canonical list, read by very simple code.
Csr canonical(const std::filesystem::path& folder, bool directed) {
  const std::string name = folder.filename().string();
  const auto packed = shoal::io::read_file((folder / (name + ".el.gz")).string());
  const auto bytes = shoal::io::expand(shoal::io::Compression::gzip, packed.view(), name, std::int64_t{1} << 32);
  std::istringstream in(std::string(bytes.view()));
  std::string header;
  std::getline(in, header);
  const std::int64_t n = std::stoll(header.substr(header.find(" n=") + 3));
  const std::int64_t m = std::stoll(header.substr(header.find(" m=") + 3));
  const bool weighted = header.find("weighted=1") != std::string::npos;
  std::vector<std::vector<std::pair<vertex_t, std::int32_t>>> rows(static_cast<std::size_t>(n));
  std::int64_t lines = 0;
  std::int32_t w = 0;
  for (vertex_t u, v; in >> u >> v && (!weighted || in >> w); ++lines) {
    rows.at(u).emplace_back(v, w);
    if (!directed && u != v) rows.at(v).emplace_back(u, w);
  }
  EXPECT_EQ(lines, m);
  Csr graph;
  graph.offsets = shoal::HostArray<shoal::arc_t>(n + 1);
  graph.offsets[0] = 0;
  for (std::int64_t v = 0; v < n; ++v) {
    std::sort(rows[v].begin(), rows[v].end());
    graph.offsets[v + 1] = graph.offsets[v] + static_cast<shoal::arc_t>(rows[v].size());
  }
  graph.targets = shoal::HostArray<vertex_t>(graph.num_arcs());
  if (weighted) {
    graph.weight_kind = WeightKind::int32;
    graph.int_weights = shoal::HostArray<std::int32_t>(graph.num_arcs());
  }
  for (std::int64_t v = 0, a = 0; v < n; ++v) {
    for (const auto& [target, weight] : rows[v]) {
      if (weighted) graph.int_weights[a] = weight;
      graph.targets[a++] = target;
    }
  }
  return graph;
}

void expect_same(const Csr& got, const Csr& wanted) {
  ASSERT_EQ(got.num_vertices(), wanted.num_vertices());
  ASSERT_EQ(got.num_arcs(), wanted.num_arcs());
  ASSERT_EQ(got.weight_kind, wanted.weight_kind);
  ASSERT_TRUE(std::equal(got.offsets.begin(), got.offsets.end(), wanted.offsets.begin()));
  ASSERT_TRUE(std::equal(got.targets.begin(), got.targets.end(), wanted.targets.begin()));
  ASSERT_TRUE(std::equal(got.int_weights.begin(), got.int_weights.end(), wanted.int_weights.begin()));
}

/// The folder of the graph; an empty path if it is absent.
std::filesystem::path folder_of(const std::string& name) {
  const auto folder = data_folder();
  return folder.empty() || !std::filesystem::exists(folder / name) ? std::filesystem::path() : folder / name;
}
#define NEED_GRAPH(folder, name)       \
  const auto folder = folder_of(name); \
  if (folder.empty()) GTEST_SKIP() << "graph " << name << " is not there; set SHOAL_DATA to the folder of test data"

struct Published {
  const char* graph;
  const char* file;
};
class Original : public testing::TestWithParam<Published> {};

TEST_P(Original, UndirectedEqualsCanonicalList) {
  NEED_GRAPH(folder, GetParam().graph);
  shoal::ReadOptions options;
  options.undirected = true;  // for the edge list; the other formats state it themselves
  options.dedup = true;       // the canonical list has no duplicates
  const Csr got = shoal::read_graph((folder / "orig" / GetParam().file).string(), options);
  EXPECT_TRUE(got.symmetric);
  expect_same(got, canonical(folder, false));
}
INSTANTIATE_TEST_SUITE_P(Files, Original,
                         testing::Values(Published{"4elt", "4elt.graph.gz"}, Published{"dblp-2010", "dblp.mtx.gz"},
                                         Published{"facebook_combined", "facebook_combined.txt.gz"}));

TEST(Original, SnapFileWithComments) {
  // The vertex numbers of wiki-Vote have gaps. The canonical list renumbers them in order, so the order of rows is the same.
  NEED_GRAPH(folder, "wiki-Vote");
  const Csr got = shoal::read_graph((folder / "orig" / "wiki-Vote.txt.gz").string());
  const Csr wanted = canonical(folder, true);
  EXPECT_EQ(got.num_vertices(), 8298);
  ASSERT_EQ(got.num_arcs(), wanted.num_arcs());
  EXPECT_FALSE(got.symmetric);
  std::vector<bool> used(static_cast<std::size_t>(got.num_vertices()));
  for (vertex_t v = 0; v < got.num_vertices(); ++v)
    for (const vertex_t t : got.neighbors(v)) used[v] = used[t] = true;
  std::vector<vertex_t> number(used.size());
  vertex_t next = 0;
  for (std::size_t v = 0; v < used.size(); ++v) number[v] = next += used[v] && v > 0 ? 1 : 0;
  for (std::size_t v = 0; v < used.size(); ++v) number[v] -= used[0] ? 0 : 1;
  std::vector<vertex_t> s, t;
  for (vertex_t v = 0; v < got.num_vertices(); ++v)
    for (const vertex_t target : got.neighbors(v)) s.push_back(number[v]), t.push_back(number[target]);
  expect_same(shoal::csr_from_arcs(wanted.num_vertices(), s, t), wanted);
}

TEST(Original, ArcLinesWithoutProblemLineAreRefused) {
  // This file numbers vertices from 0 and has no problem line. It is not a DIMACS file, and a guess would shift every vertex.
  NEED_GRAPH(folder, "bremen-time");
  const std::string file = (folder / "orig" / "bremen_time.gr.gz").string();
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(file); }),
            file +
                ":1: an arc comes before the line 'p sp VERTICES ARCS'; add that line (or, if vertices are numbered "
                "from 0, drop the leading 'a' and name the file .wel)");
  // With that remedy it is the canonical graph.
  const auto packed = shoal::io::read_file(file);
  const auto bytes = shoal::io::expand(shoal::io::Compression::gzip, packed.view(), file, std::int64_t{1} << 32);
  std::string text;
  for (const char c : bytes.view()) text += c == 'a' ? ' ' : c;
  shoal::ReadOptions options;
  options.dedup = true;
  const Csr got = shoal::io::read_graph_bytes(shoal::io::Format::weighted_edge_list, text, "t", options);
  expect_same(got, canonical(folder, true));
}

class Bannerless : public testing::TestWithParam<const char*> {};

TEST_P(Bannerless, MatrixIsRefusedAndReadOnceItSaysWhatItIs) {
  // These two were published as entries only, without the header lines.
  NEED_GRAPH(folder, GetParam());
  const std::string file = (folder / "orig" / (std::string(GetParam()) + ".mtx.gz")).string();
  EXPECT_NE(
      usage_error_of([&] { shoal::read_graph(file); }).find(":1: the first line must begin with '%%MatrixMarket'"),
      std::string::npos);
  const Csr wanted = canonical(folder, false);
  const auto packed = shoal::io::read_file(file);
  const auto bytes = shoal::io::expand(shoal::io::Compression::gzip, packed.view(), file, std::int64_t{1} << 32);
  const std::string n = std::to_string(wanted.num_vertices()), m = std::to_string(wanted.num_arcs() / 2);
  const std::string text = "%%MatrixMarket matrix coordinate pattern symmetric\n" + n + " " + n + " " + m + "\n";
  expect_same(shoal::io::read_graph_bytes(shoal::io::Format::matrix_market, text + std::string(bytes.view()), "t"),
              wanted);
}
INSTANTIATE_TEST_SUITE_P(Files, Bannerless, testing::Values("delaunay_n16", "luxembourg_osm"));

class Canonical : public testing::TestWithParam<const char*> {};

TEST_P(Canonical, ListIsReadAndKeptByEveryFormat) {
  NEED_GRAPH(folder, GetParam());
  const std::string name = GetParam();
  const bool directed = name == "bremen-time" || name == "cnr-2000" || name == "wiki-Vote";
  shoal::ReadOptions options;
  options.undirected = !directed;
  const Csr wanted = canonical(folder, directed);
  const Csr got = shoal::read_graph((folder / (name + ".el.gz")).string(), options);
  expect_same(got, wanted);
  EXPECT_EQ(got.symmetric, !directed);
  const Folder place;
  for (const char* file : {"g.mtx", "g.graph", "g.gr", "g.sg", "g.wsg", "g.npz", "g.shoal", "g.el.zst"}) {
    const bool weighted = got.weight_kind != WeightKind::none;
    const std::string_view f = file;
    if ((f == "g.graph" && directed) || ((f == "g.gr" || f == "g.wsg") && !weighted) || (f == "g.sg" && weighted))
      continue;
    SCOPED_TRACE(file);
    shoal::write_graph(got, place / file);
    const Csr back = shoal::read_graph(place / file);
    expect_same(back, wanted);
    EXPECT_EQ(back.symmetric, !directed);
    std::filesystem::remove(place / file);
  }
}
INSTANTIATE_TEST_SUITE_P(Graphs, Canonical,
                         testing::Values("4elt", "as-caida20071105", "bremen-time", "email-enron", "wiki-Vote",
                                         "luxembourg_osm", "seattle-roads"));

}  // namespace
}  // namespace shoal_test
