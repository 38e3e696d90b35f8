// Files as other programs write them (byte order marks, NetworkX, pandas, R, KONECT), parallel entries, and weights without
// arcs.
#include <cstring>

#include "data/formats/npy.hpp"
#include "data/formats/zip.hpp"
#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

Csr read(Format format, const std::string& text, bool undirected = false, bool dedup = false) {
  shoal::ReadOptions options;
  options.undirected = undirected;
  options.dedup = dedup;
  return read_graph_bytes(format, text, "FILE", options);
}

std::string refusal(Format format, const std::string& text) {
  return usage_error_of([&] { read(format, text); });
}

TEST(ByteOrderMarks, OfUtf8AreAcceptedInEveryTextFormat) {
  const std::pair<Format, std::string> files[] = {
      {Format::matrix_market, "%%MatrixMarket matrix coordinate pattern general\n3 3 2\n1 2\n2 3\n"},
      {Format::dimacs, "p sp 3 2\na 1 2 5\na 2 3 6\n"},
      {Format::metis, "3 2\n2\n1 3\n2\n"},
      {Format::edge_list, "0 1\n1 2\n"},
      {Format::weighted_edge_list, "0 1 5\n1 2 6\n"},
      {Format::tsv, "from\tto\n0\t1\n1\t2\n"},
      {Format::csv, "source,target\n0,1\n1,2\n"}};
  for (const auto& [format, text] : files) {
    SCOPED_TRACE(name(format));
    EXPECT_EQ(text_of(read(format, "\xef\xbb\xbf" + text)), text_of(read(format, text)));
    EXPECT_EQ(refusal(format, "\xef\xbb\xbf"), "FILE: the file is empty; a graph was expected");
  }
}

TEST(ByteOrderMarks, OfUtf16AreRefusedWithTheCure) {
  for (const Format format : {Format::matrix_market, Format::dimacs, Format::metis, Format::edge_list, Format::csv}) {
    for (const std::string text : {std::string("\xff\xfe"
                                               "0\0 \0001\0\n\0",
                                               10),
                                   std::string("\xfe\xff\0000\0 \0001\0\n", 10)}) {
      EXPECT_EQ(refusal(format, text),
                "FILE: is UTF-16 text, which is not read; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
    }
  }
}

TEST(NetworkX, EdgeListsWithAttributesAreRead) {
  EXPECT_EQ(text_of(read(Format::edge_list, "0 1 {}\n1 2 {}\n")), "3 vertices, 2 arcs, weights 0\n0: 1\n1: 2\n2:\n");
  EXPECT_EQ(text_of(read(Format::edge_list, "0 1 {'weight': 3}\n1 2 {'weight': -4}\n")),
            "3 vertices, 2 arcs, weights 1\n0: 1/3\n1: 2/-4\n2:\n");
  EXPECT_EQ(text_of(read(Format::edge_list, "# by hand\n0 1 {'weight': 0.5}\n1 0 {\"weight\":2}\n")),
            "2 vertices, 2 arcs, weights 2\n0: 1/0.5\n1: 0/2\n");
  EXPECT_EQ(text_of(read(Format::csv, "0,1,{'weight': 3}\n1,2,{'weight': 4}\n")),
            "3 vertices, 2 arcs, weights 1\n0: 1/3\n1: 2/4\n2:\n");
  EXPECT_EQ(text_of(read(Format::weighted_edge_list, "0\t1\t{'weight': 3}\r\n")),
            "2 vertices, 1 arcs, weights 1\n0: 1/3\n1:\n");
}

TEST(Tables, AnIndexColumnIsPassedOver) {
  const std::string wanted = "8 vertices, 2 arcs, weights 0\n0:\n1: 2\n2:\n3:\n4:\n5: 7\n6:\n7:\n";
  EXPECT_EQ(text_of(read(Format::csv, ",src,dst\n0,5,7\n1,1,2\n")), wanted);                      // pandas
  EXPECT_EQ(text_of(read(Format::csv, "\"\",\"from\",\"to\"\n\"1\",5,7\n\"2\",1,2\n")), wanted);  // R
  EXPECT_EQ(text_of(read(Format::csv, ",dst,src\n\"a b\",7,5\nc,2,1\n")), wanted);
  EXPECT_EQ(text_of(read(Format::tsv, "\tsrc\tdst\n0\t5\t7\n1\t1\t2\n")), wanted);
  EXPECT_EQ(text_of(read(Format::csv, ",source,target,weight\n0,0,1,2.5\n")),
            "2 vertices, 1 arcs, weights 2\n0: 1/2.5\n1:\n");
}

TEST(Konect, HeadersSayDirectionAndNumbering) {
  // Vertices are numbered from 1. `sym` files list each edge once, `asym` files list arcs. The second line has the numbers of
  // lines, rows and columns.
  EXPECT_EQ(text_of(read(Format::edge_list, "% sym unweighted\n% 2 4 4\n1 2\n2 3\n")),
            "4 vertices, 4 arcs, weights 0, symmetric\n0: 1\n1: 0 2\n2: 1\n3:\n");
  EXPECT_EQ(text_of(read(Format::tsv, "% asym positive\n1\t2\t7\n3\t1\t1\n")),
            "3 vertices, 2 arcs, weights 1\n0: 1/7\n1:\n2: 0/1\n");
  // A fourth column is the time. Unweighted edges with times have ones in the third column.
  EXPECT_EQ(text_of(read(Format::edge_list, "% asym weighted\n% 1 2 2\n1 2 0.5 1082008561\n")),
            "2 vertices, 1 arcs, weights 2\n0: 1/0.5\n1:\n");
  EXPECT_EQ(text_of(read(Format::edge_list, "% asym unweighted\n1 2 1 1082008561\n")),
            "2 vertices, 1 arcs, weights 0\n0: 1\n1:\n");
}

TEST(Names, EdgesAndEdgelistAreEdgeLists) {
  const Folder folder;
  for (const char* file : {"0.edges", "test.edgelist", "A.EDGES"}) {
    spill(folder / file, "0 1\n");
    EXPECT_EQ(shoal::read_graph(folder / file).num_arcs(), 1) << file;
  }
}

TEST(NoArcs, WeightedGraphsStayWeighted) {
  using shoal::WeightKind;
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  const std::tuple<Format, std::string, WeightKind> files[] = {
      {Format::matrix_market, banner + "real general\n3 3 0\n", WeightKind::float64},
      {Format::matrix_market, banner + "integer symmetric\n3 3 0\n", WeightKind::int32},
      {Format::matrix_market, banner + "pattern general\n3 3 0\n", WeightKind::none},
      {Format::dimacs, "p sp 3 0\n", WeightKind::int32},
      {Format::metis, "3 0 001\n\n\n\n", WeightKind::int32},
      {Format::metis, "3 0\n\n\n\n", WeightKind::none},
      {Format::edge_list, "# shoal vertices=3\n", WeightKind::none},
      {Format::weighted_edge_list, "# shoal vertices=3\n", WeightKind::int32},
      {Format::csv, "# shoal vertices=3\nsource,target,weight\n", WeightKind::int32},
      {Format::tsv, "# shoal vertices=3\nsource\ttarget\n", WeightKind::none}};
  for (const auto& [format, text, kind] : files) {
    SCOPED_TRACE(text);
    const Csr graph = read(format, text);
    EXPECT_EQ(graph.num_vertices(), 3);
    EXPECT_EQ(graph.num_arcs(), 0);
    EXPECT_EQ(graph.weight_kind, kind);
  }
}

/// A file as scipy.sparse.save_npz writes it: entries (0, 1) with values 5, 3 and 5, and (2, 0) with value 7, unsorted.
std::string scipy_file(const std::string& format, bool real) {
  auto array = [](const std::string& member, const char* descr, const auto& values) {
    const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
    return ZipMember{member + ".npy", npy_header(descr, static_cast<std::int64_t>(values.size())) + bytes, nullptr, 0};
  };
  using Ints = std::vector<std::int32_t>;
  std::vector<ZipMember> members{{"format.npy", npy_scalar_header("|S3") + format, nullptr, 0},
                                 array("shape", "<i8", std::vector<std::int64_t>{3, 3})};
  if (format == "coo") {
    members.push_back(array("row", "<i4", Ints{0, 2, 0, 0}));
    members.push_back(array("col", "<i4", Ints{1, 0, 1, 1}));
  } else if (format == "csr") {
    members.push_back(array("indptr", "<i4", Ints{0, 3, 3, 4}));
    members.push_back(array("indices", "<i4", Ints{1, 1, 1, 0}));
  } else {
    members.push_back(array("indptr", "<i4", Ints{0, 1, 4, 4}));
    members.push_back(array("indices", "<i4", Ints{2, 0, 0, 0}));
  }
  const Ints data = format == "coo" ? Ints{5, 7, 3, 5} : format == "csr" ? Ints{5, 3, 5, 7} : Ints{7, 5, 3, 5};
  members.push_back(real ? array("data", "<f8", std::vector<double>(data.begin(), data.end()))
                         : array("data", "<i4", data));
  const Folder folder;
  write_zip(folder / "x.npz", members);
  return slurp(folder / "x.npz");
}

TEST(ParallelEntries, OfSciPyAreParallelArcsInEveryFormat) {
  for (const char* format : {"coo", "csr", "csc"}) {
    for (const bool real : {false, true}) {
      SCOPED_TRACE(format);
      const std::string bytes = scipy_file(format, real), kind = real ? "2" : "1";
      EXPECT_EQ(text_of(read(Format::npz, bytes)),
                "3 vertices, 4 arcs, weights " + kind + "\n0: 1/3 1/5 1/5\n1:\n2: 0/7\n");
      EXPECT_EQ(text_of(read(Format::npz, bytes, false, true)),
                "3 vertices, 2 arcs, weights " + kind + "\n0: 1/3\n1:\n2: 0/7\n");
    }
  }
}

}  // namespace
}  // namespace shoal_test
