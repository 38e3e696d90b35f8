// A graph that is written and read again is the same, in every format that can hold it, and formats refuse what they cannot
// hold.
#include <thread>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using shoal::read_graph;
using shoal::UsageError;
using shoal::write_graph;

struct Case {
  const char* file;
  bool plain, whole, real;  ///< which weights the format holds
  bool symmetric_only;
};
const Case kCases[] = {
    {"g.mtx", true, true, true, false},     {"g.mtx.gz", true, true, true, false},
    {"g.mtx.zst", true, true, true, false}, {"g.el", true, true, true, false},
    {"g.txt.gz", true, true, true, false},  {"g.wel", false, true, true, false},
    {"g.tsv", true, true, true, false},     {"g.csv", true, true, true, false},
    {"g.csv.zst", true, true, true, false}, {"g.gr", false, true, false, false},
    {"g.graph", true, true, false, true},   {"g.graph.gz", true, true, false, true},
    {"g.sg", true, false, false, false},    {"g.wsg", false, true, false, false},
    {"g.npz", true, true, true, false},     {"g.shoal", true, true, true, false},
};

class RoundTrip : public testing::TestWithParam<Case> {};

TEST_P(RoundTrip, SameGraphOrRefused) {
  const Case& c = GetParam();
  const Folder folder;
  for (const WeightKind kind : {WeightKind::none, WeightKind::int32, WeightKind::float64}) {
    for (const bool undirected : {false, true}) {
      for (const int edges : {1, 7, 300, 5000}) {
        SCOPED_TRACE(testing::Message() << c.file << " kind " << static_cast<int>(kind) << " undirected " << undirected
                                        << " edges " << edges);
        const Csr graph = random_graph(edges / 3 + 3, edges, kind, undirected, 7 + edges);
        const bool holds = (kind == WeightKind::none    ? c.plain
                            : kind == WeightKind::int32 ? c.whole
                                                        : c.real) &&
                           (!c.symmetric_only || graph.symmetric);
        const std::string file = folder / c.file;
        if (!holds) {
          EXPECT_THROW(write_graph(graph, file), UsageError);
          EXPECT_EQ(folder.entries(), 0u);  // a refusal leaves no file
          continue;
        }
        write_graph(graph, file);
        EXPECT_EQ(folder.entries(), 1u);  // no temporary file is left
        const Csr back = read_graph(file);
        EXPECT_EQ(text_of(back), text_of(graph));
        EXPECT_EQ(back.name, file);
        std::filesystem::remove(file);
      }
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Formats, RoundTrip, testing::ValuesIn(kCases));

TEST_P(RoundTrip, GraphWithoutArcs) {
  const Case& c = GetParam();
  const Folder folder;
  const std::string file = folder / c.file;
  using shoal::io::Format;
  const Format format = shoal::io::kind_of(file).format;
  const bool list = format == Format::edge_list || format == Format::weighted_edge_list || format == Format::csv ||
                    format == Format::tsv;
  for (const WeightKind kind : {WeightKind::none, WeightKind::int32, WeightKind::float64}) {
    for (const std::int64_t n : {0, 1, 5}) {
      SCOPED_TRACE(testing::Message() << c.file << " kind " << static_cast<int>(kind) << " vertices " << n);
      Csr graph = shoal::csr_from_arcs(n, {}, {}, {}, {}, true);
      graph.weight_kind = kind;
      // Without arcs, only the name or the column names of an edge list can show that there are weights, and nothing can show
      // that they are real.
      const bool holds = kind == WeightKind::none    ? c.plain
                         : kind == WeightKind::int32 ? c.whole && format != Format::edge_list
                                                     : c.real && !list;
      if (!holds) {
        EXPECT_THROW(write_graph(graph, file), UsageError);
        EXPECT_EQ(folder.entries(), 0u);
        continue;
      }
      write_graph(graph, file);
      EXPECT_EQ(text_of(read_graph(file)), text_of(graph));
      std::filesystem::remove(file);
    }
  }
}

TEST(RoundTrip, ManyPiecesParsedByAllThreads) {
  // Several megabytes of text: more pieces than threads, each of which ends at the end of a line.
  const Folder folder;
  const Csr graph = random_graph(60000, 300000, WeightKind::int32, true, 3);
  for (const char* name : {"g.el", "g.mtx", "g.gr", "g.graph"}) {
    write_graph(graph, folder / name);
    ASSERT_GT(std::filesystem::file_size(folder / name), 4u << 20) << name;
    EXPECT_TRUE(text_of(read_graph(folder / name)) == text_of(graph)) << name;
  }
}

TEST(RoundTrip, WrongLineInALaterPieceIsNamed) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 600000; ++i) text += std::to_string(i % 1000) + " " + std::to_string(i) + "\n";
  ASSERT_GT(text.size(), 4u << 20);
  const auto last = text.rfind("598999\n");
  text.replace(last, 6, "59x999");
  text.replace(text.find(" 599500\n"), 8, " -\n");  // the message must be that of the first error
  spill(folder / "g.el", text);
  EXPECT_EQ(
      usage_error_of([&] { read_graph(folder / "g.el"); }),
      folder / "g.el" + ":599000: expected a vertex number, found '59x999'; vertex numbers are written in digits");
}

TEST(RoundTrip, MixedWeightsBecomeReal) {
  const Folder folder;
  std::string text;
  for (int i = 0; i < 400000; ++i) text += std::to_string(i) + " 1 " + std::to_string(i) + "\n";
  text += "1 2 0.5\n";
  spill(folder / "g.wel", text);
  const Csr graph = read_graph(folder / "g.wel");
  ASSERT_EQ(graph.weight_kind, WeightKind::float64);
  EXPECT_EQ(graph.real_weights[0], 0.0);
  EXPECT_EQ(graph.real_weights[399999 + 1], 399999.0);  // after the two arcs of vertex 1
}

TEST(RoundTrip, ProgressRisesToOne) {
  const Folder folder;
  write_graph(random_graph(60000, 300000, WeightKind::none, false, 4), folder / "g.el.gz");
  std::vector<double> seen;
  shoal::ReadOptions options;
  const auto caller = std::this_thread::get_id();
  options.progress = [&](double fraction) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    seen.push_back(fraction);
  };
  read_graph(folder / "g.el.gz", options);
  ASSERT_GT(seen.size(), 2u);
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(seen.back(), 1.0);
  options.progress = [](double) { throw std::runtime_error("stopped by the caller"); };
  EXPECT_THROW(read_graph(folder / "g.el", options), std::exception);
}

TEST(ReadOptions, UndirectedAndDedup) {
  const std::string text = "0 1 5\n1 0 3\n2 2 4\n0 1 4\n";
  auto read = [&](bool undirected, bool dedup) {
    shoal::ReadOptions options;
    options.undirected = undirected;
    options.dedup = dedup;
    return text_of(shoal::io::read_graph_bytes(shoal::io::Format::edge_list, text, "t", options));
  };
  EXPECT_EQ(read(false, false), "3 vertices, 4 arcs, weights 1\n0: 1/4 1/5\n1: 0/3\n2: 2/4\n");
  EXPECT_EQ(read(false, true), "3 vertices, 3 arcs, weights 1\n0: 1/4\n1: 0/3\n2: 2/4\n");
  EXPECT_EQ(read(true, false), "3 vertices, 7 arcs, weights 1, symmetric\n0: 1/3 1/4 1/5\n1: 0/3 0/4 0/5\n2: 2/4\n");
  EXPECT_EQ(read(true, true), "3 vertices, 3 arcs, weights 1, symmetric\n0: 1/3\n1: 0/3\n2: 2/4\n");
}

TEST(Write, UnwritablePlaces) {
  const Folder folder;
  const Csr graph = random_graph(10, 20, WeightKind::none, false, 1);
  EXPECT_EQ(usage_error_of([&] { write_graph(graph, folder / "no/such/g.el"); }),
            folder / "no/such/g.el" + ": cannot be written: No such file or directory; the folder must exist");
  std::filesystem::create_directory(folder / "d.el");
  EXPECT_NE(usage_error_of([&] { write_graph(graph, folder / "d.el"); }).find("it is a directory"), std::string::npos);
  ASSERT_EQ(::symlink("/dev/null", (folder / "null.el").c_str()), 0);
  write_graph(graph, folder / "null.el");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  EXPECT_NE(usage_error_of([&] { write_graph(graph, folder / "g.xyz"); }).find("the known endings are"),
            std::string::npos);
  EXPECT_NE(usage_error_of([&] { write_graph(graph, folder / "g.sg.gz"); }).find("not read or written compressed"),
            std::string::npos);
  EXPECT_EQ(folder.entries(), 2u);
  if (::geteuid() != 0) {
    std::filesystem::permissions(folder.path(),
                                 std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
    EXPECT_NE(usage_error_of([&] { write_graph(graph, folder / "g.el"); }).find("Permission denied"),
              std::string::npos);
  }
}

TEST(Write, ReplacesAtomicallyAndThroughLinks) {
  const Folder folder;
  spill(folder / "real.el", "0 1\n");
  std::filesystem::create_symlink(folder / "real.el", folder / "link.el");
  const Csr graph = random_graph(10, 20, WeightKind::none, false, 1);
  write_graph(graph, folder / "link.el");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.el"));
  EXPECT_EQ(text_of(read_graph(folder / "real.el")), text_of(graph));
  // A mapped graph stays intact when its file is replaced.
  write_graph(graph, folder / "g.shoal");
  const Csr mapped = read_graph(folder / "g.shoal");
  write_graph(random_graph(100, 2000, WeightKind::int32, true, 2), folder / "g.shoal");
  EXPECT_EQ(text_of(mapped), text_of(graph));
}

TEST(Read, PlacesThatAreNoFiles) {
  const Folder folder;
  EXPECT_EQ(usage_error_of([&] { read_graph(folder / "absent.el"); }),
            folder / "absent.el" + ": cannot be read: No such file or directory; check the path and its permissions");
  std::filesystem::create_directory(folder / "d.el");
  EXPECT_NE(usage_error_of([&] { read_graph(folder / "d.el"); }).find(": is a directory; name a graph file in it"),
            std::string::npos);
  ASSERT_EQ(::symlink("/dev/zero", (folder / "zero.el").c_str()), 0);
  EXPECT_NE(usage_error_of([&] { read_graph(folder / "zero.el"); }).find(": is a terminal, device or socket; "),
            std::string::npos);
  EXPECT_NE(usage_error_of([&] { read_graph("graph"); }).find("known endings are .mtx"), std::string::npos);
  spill(folder / "g.mtx", "\x1f\x8b\x08 and so on");
  EXPECT_NE(usage_error_of([&] { read_graph(folder / "g.mtx"); }).find("let the name end in .gz"), std::string::npos);
}

}  // namespace
}  // namespace shoal_test
