// Graphs that readers refuse because of their memory, integer weights beyond 32 bits, which they report, and file names without
// a known format.
#include "data/formats.hpp"
#include "data/output.hpp"
#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

TEST(Memory, GraphsLargerThanMemoryAreRefusedBeforeAllocating) {
  auto message = [](Format format, const std::string& text, const shoal::ReadOptions& options = {}) -> std::string {
    try {
      read_graph_bytes(format, text, "FILE", options, 1 << 30);
    } catch (const shoal::CapacityError& error) {
      return error.what();
    }
    return "(no error)";
  };
  const std::string cure =
      " MB of memory, 1,024 MB are available; renumber the vertices without gaps, or use a machine with more memory";
  // Offsets take 8 bytes per vertex, and exist twice at the peak.
  EXPECT_EQ(message(Format::edge_list, "0 1\n# so far\n\n2147483646 3\n5 2147483646\n"),
            "FILE:4: vertex 2147483646: 2,147,483,647 vertices and 3 arcs take about 32,769" + cure);
  EXPECT_EQ(message(Format::weighted_edge_list, "0 100000000 1\n"),
            "FILE:1: vertex 100000000: 100,000,001 vertices and 1 arc take about 1,526" + cure);
  EXPECT_EQ(message(Format::csv, "target,source\n0,100000000\n"),
            "FILE:2: vertex 100000000: 100,000,001 vertices and 1 arc take about 1,526" + cure);
  EXPECT_EQ(message(Format::edge_list, "# shoal vertices=2000000000\n0 1\n"),
            "FILE:1: 2,000,000,000 vertices and 1 arc take about 30,518" + cure);
  EXPECT_EQ(message(Format::edge_list, "#\n# Nodes: 2000000000 Edges: 1\n0 1\n"),
            "FILE:2: 2,000,000,000 vertices and 1 arc take about 30,518" + cure);
  shoal::ReadOptions many;
  many.num_vertices = 2'000'000'000;
  EXPECT_EQ(message(Format::edge_list, "0 1\n", many),
            "FILE: --vertices: 2,000,000,000 vertices and 1 arc take about 30,518" + cure);
  EXPECT_EQ(message(Format::edge_list, "0 60000000\n"), "(no error)");
  const std::string banner = "%%MatrixMarket matrix coordinate pattern general\n%\n";
  EXPECT_EQ(message(Format::matrix_market, banner + "2147483647 2147483647 0\n"),
            "FILE:3: 2,147,483,647 vertices and 0 arcs take about 32,769" + cure);
  EXPECT_EQ(message(Format::dimacs, "c x\np sp 2147483647 0\n"),
            "FILE:2: 2,147,483,647 vertices and 0 arcs take about 32,769" + cure);
}

TEST(Memory, ArcsBeyondMemoryAreRefusedWhileTheyAreRead) {
  auto message = [](Format format, const std::string& text) -> std::string {
    try {
      read_graph_bytes(format, text, "FILE", {}, 1 << 20);
    } catch (const shoal::CapacityError& error) {
      return error.what();
    }
    return "(no error)";
  };
  std::string arcs;
  for (int i = 0; i < 100'000; ++i) arcs += "0 1\n";
  EXPECT_EQ(
      message(Format::edge_list, arcs),
      "FILE: its arcs alone take more than the 1 MB of memory that are available; use a machine with more memory");
  EXPECT_EQ(message(Format::metis, "70000 0\n" + std::string(70'000, '\n')),
            "FILE:1: 70,000 vertices and 0 arcs take about 2 MB of memory, 1 MB are available; renumber the vertices "
            "without gaps, or use a machine with more memory");
}

TEST(Memory, OneLineOfAllNumbers) {
  std::string line;
  for (int i = 0; i < 1'000'000; ++i) line += "7 ";
  EXPECT_EQ(
      usage_error_of([&] { read_graph_bytes(Format::edge_list, line, "FILE"); }),
      "FILE:1: expected 2 or 3 columns, found 100 or more; keep source, target and optionally weight (cut -f1,2)");
}

TEST(Memory, PackedTextBeyondIt) {
  const Folder folder;
  for (const auto& [name, packing] :
       {std::pair{"g.el.gz", Compression::gzip}, std::pair{"g.el.zst", Compression::zstd}}) {
    TextFile out(folder / name, packing);
    for (int i = 0; i < 1 << 20; ++i) out.text("0 1\n");
    out.commit();
    const std::string packed = slurp(folder / name);
    EXPECT_EQ(expand(packing, packed, "FILE", 5 << 20).size, std::size_t{4} << 20);
    EXPECT_THROW(expand(packing, packed, "FILE", 3 << 20), shoal::CapacityError) << name;
  }
}

TEST(WholeWeights, BeyondThirtyTwoBitsAreExactAndSaid) {
  auto read = [](Format format, const std::string& text) { return read_graph_bytes(format, text, "FILE"); };
  const Csr wel =
      read(Format::weighted_edge_list, "0 1 7\n# so\n1 2 2147483648\n2 0 9007199254740992\n2 1 3000000000\n");
  EXPECT_EQ(wel.weight_kind, WeightKind::float64);
  EXPECT_EQ(wel.weight_remarks.wide, "the whole weight 2147483648 on line 3 is beyond 32 bits (2147483647)");
  EXPECT_EQ(wel.real_weights[2], 9007199254740992.0);
  EXPECT_EQ(wel.weight_remarks.negative, "");
  EXPECT_EQ(read(Format::csv, "0,1,-2147483649\n").weight_remarks.wide,
            "the whole weight -2147483649 on line 1 is beyond 32 bits (2147483647)");
  EXPECT_EQ(read(Format::dimacs, "p sp 2 1\na 1 2 2147483648\n").weight_remarks.wide,
            "the whole weight 2147483648 on line 2 is beyond 32 bits (2147483647)");
  EXPECT_EQ(read(Format::metis, "2 1 001\n2 2147483648\n1 2147483648\n").weight_remarks.wide,
            "the whole weight 2147483648 on line 2 is beyond 32 bits (2147483647)");
  // There is no remark for weights that fit, or that are real by their notation or by the header.
  EXPECT_EQ(read(Format::weighted_edge_list, "0 1 2147483647\n1 0 -2147483648\n").weight_remarks.wide, "");
  EXPECT_EQ(read(Format::weighted_edge_list, "0 1 2147483648\n1 0 0.5\n").weight_remarks.wide, "");
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  EXPECT_EQ(read(Format::matrix_market, banner + "real general\n2 2 1\n1 2 9007199254740993\n").weight_remarks.wide,
            "");
  EXPECT_EQ(read(Format::matrix_market, banner + "integer general\n2 2 1\n1 2 2147483648\n").weight_remarks.wide,
            "the whole weight 2147483648 on line 3 is beyond 32 bits (2147483647)");
}

TEST(WholeWeights, AreWrittenAsTheyWereRead) {
  const Folder folder;
  const Csr wide = read_graph_bytes(Format::weighted_edge_list, "0 1 1000000000000000\n1 0 1000000000000000\n", "FILE");
  ASSERT_TRUE(wide.symmetric);
  for (const char* file : {"w.wel", "w.mtx", "w.gr", "w.graph", "w.csv", "w.shoal"}) {
    shoal::write_graph(wide, folder / file);
    const Csr again = shoal::read_graph(folder / file);
    EXPECT_EQ(text_of(again), text_of(wide)) << file;
    EXPECT_NE(again.weight_remarks.wide, "") << file;
  }
  // Real weights with integer values stay real, whatever their size.
  const Csr real = shoal::csr_from_arcs(2, {0, 1}, {1, 0}, {}, {5, 9007199254740994.0}, false);
  for (const char* file : {"r.wel", "r.mtx", "r.tsv", "r.shoal", "r.npz"}) {
    shoal::write_graph(real, folder / file);
    EXPECT_EQ(text_of(shoal::read_graph(folder / file)), text_of(real)) << file;
    EXPECT_EQ(shoal::read_graph(folder / file).weight_remarks.wide, "") << file;
  }
}

TEST(WholeWeights, AreLookedAtWhereAFileSaysThatTheyAre) {
  const Folder folder;
  shoal::write_graph(shoal::csr_from_arcs(2, {0, 1}, {1, 0}, {}, {5, 0.5}), folder / "r.shoal");
  std::string bytes = slurp(folder / "r.shoal");
  bytes[44] = static_cast<char>(bytes[44] | 2);  // the flag for integer weights beyond 32 bits
  EXPECT_EQ(
      usage_error_of([&] { read_graph_bytes(Format::shoal, reseal_shoal(bytes), "FILE"); }),
      "FILE: the weight of arc 1 is no whole number up to 2^53, as the header says; the file is damaged, write it "
      "again");
}

TEST(WholeWeights, NegativeOnesAreRememberedWithTheirLine) {
  auto negative = [](Format format, const std::string& text) {
    return read_graph_bytes(format, text, "FILE").weight_remarks.negative;
  };
  EXPECT_EQ(negative(Format::weighted_edge_list, "5 1 7\n\n4 2 -3\n0 0 -4\n"),
            "FILE:3: the edge from vertex 4 to vertex 2 (numbered from 0) has weight -3");
  EXPECT_EQ(negative(Format::csv, "source,weight,target\n0,1,2\n0,-1.5e2,2\n"),
            "FILE:3: the edge from vertex 0 to vertex 2 (numbered from 0) has weight -1.5e2");
  EXPECT_EQ(negative(Format::dimacs, "p sp 3 1\na 3 1 -9\n"),
            "FILE:2: the edge from vertex 2 to vertex 0 (numbered from 0) has weight -9");
  EXPECT_EQ(negative(Format::weighted_edge_list, "0 1 0\n1 0 -0.0\n"), "");
}

TEST(Names, DirectoriesAndStandardInput) {
  const Folder folder;
  std::filesystem::create_directory(folder / "d.mtx");
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(folder / "d.mtx"); }),
            folder / "d.mtx" + ": is a directory; name a graph file in it");
  EXPECT_EQ(usage_error_of([&] { shoal::open_text_file(folder / "d.mtx", "words"); }),
            folder / "d.mtx" + ": is a directory; name a file with words");
  EXPECT_EQ(usage_error_of([&] { shoal::open_text_file(folder / "none", "words"); }),
            folder / "none" +
                ": cannot be opened: No such file or directory; check the name and its permissions, or "
                "write a file with words");
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph("karate.gml"); }),
            "karate.gml: there is no such file, and .gml files are not read; read it with NetworkX, and write it with "
            "networkx.write_weighted_edgelist(networkx.convert_node_labels_to_integers(graph), 'graph.wel')");
  for (const char* name : {"-", "/dev/stdin"}) {
    const std::string message = usage_error_of([&] { shoal::read_graph(name); });
    EXPECT_TRUE(message.starts_with(std::string(name) + ": standard input has no file name that tells the graph "
                                                        "format; give it, such as --format el"))
        << message;
  }
  // A format in the options takes precedence over the file name.
  shoal::ReadOptions options;
  spill(folder / "edges.data", "0 1\n");
  options.format = "el";
  EXPECT_EQ(shoal::read_graph(folder / "edges.data", options).num_arcs(), 1);
  options.format = ".wel";
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(folder / "edges.data", options); }),
            folder / "edges.data" +
                ":1: a .wel file has three columns, found 2; if it has no weights, let the name end in .el, or add "
                "--format el");
  for (const char* wrong : {"", ".", "data", "el/x", "npz.gz"}) {
    options.format = wrong;
    EXPECT_NE(usage_error_of([&] { shoal::read_graph(folder / "edges.data", options); }), "(no error)") << wrong;
  }
  // A cache records the format with which it was made.
  options.use_cache = true;
  options.format = "wel";
  spill(folder / "two.data", "0 1 2\n");
  for (int time = 0; time < 2; ++time) EXPECT_EQ(shoal::read_graph(folder / "two.data", options).num_arcs(), 1);
  options.format = "gr";
  EXPECT_NE(usage_error_of([&] { shoal::read_graph(folder / "two.data", options); }), "(no error)");
}

}  // namespace
}  // namespace shoal_test
