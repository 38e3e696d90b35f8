// Every malformed file is refused with a message that names the place and the remedy. Text formats: tables in malformed/.
// Binary and compressed formats: intact files with one change.
#include <cmath>
#include <cstring>

#include "data/formats/npy.hpp"
#include "data/formats/zip.hpp"
#include "data/output.hpp"
#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

struct Entry {
  std::string in, out;
  int line;
};

std::string unescaped(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char c = text.at(++i);
    if (c == 'x') {
      out += static_cast<char>(std::stoi(text.substr(i + 1, 2), nullptr, 16));
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c;
    }
  }
  return out;
}

std::vector<Entry> table(const std::string& file) {
  std::ifstream in(file);
  EXPECT_TRUE(in.good()) << file;
  std::vector<Entry> entries;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.starts_with("in   ")) entries.push_back({unescaped(line.substr(5)), "", number});
    if (line.starts_with("out  ")) entries.back().out = line.substr(5);
  }
  return entries;
}

class Malformed : public testing::TestWithParam<Format> {};

TEST_P(Malformed, TextIsRefusedWithLineAndCure) {
  const std::string file = SHOAL_SOURCE_DIR "/tests/data/malformed/" + std::string(name(GetParam())) + ".txt";
  const auto entries = table(file);
  EXPECT_GE(entries.size(), 5u);
  for (const Entry& entry : entries)
    EXPECT_EQ(usage_error_of([&] { read_graph_bytes(GetParam(), entry.in, "FILE"); }), entry.out)
        << file << ":" << entry.line;
}
INSTANTIATE_TEST_SUITE_P(Formats, Malformed,
                         testing::Values(Format::matrix_market, Format::dimacs, Format::metis, Format::edge_list,
                                         Format::weighted_edge_list, Format::tsv, Format::csv));

TEST(Malformed, EmptyFiles) {
  for (int f = 0; f <= static_cast<int>(Format::shoal); ++f)
    EXPECT_EQ(usage_error_of([&] { read_graph_bytes(static_cast<Format>(f), "", "FILE"); }),
              "FILE: the file is empty; a graph was expected");
}

/// The bytes of a graph in a binary format.
std::string binary(const Csr& graph, const std::string& file_name) {
  const Folder folder;
  shoal::write_graph(graph, folder / file_name);
  return slurp(folder / file_name);
}

template <class T>
std::string with(std::string bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(T));
  return bytes;
}

struct Change {
  std::string bytes, out;
};
void expect_all(Format format, const std::vector<Change>& changes) {
  for (std::size_t i = 0; i < changes.size(); ++i)
    EXPECT_EQ(usage_error_of([&] { read_graph_bytes(format, changes[i].bytes, "FILE"); }), "FILE: " + changes[i].out)
        << "change " << i;
}

TEST(Malformed, Gapbs) {
  // 0 -> 1, 0 -> 2, 2 -> 0: header 17 bytes, offsets at 17, entries at 49, reversed offsets at 61, entries at 93
  const std::string sg = binary(shoal::csr_from_arcs(3, {0, 0, 2}, {1, 2, 0}), "g.sg");
  ASSERT_EQ(sg.size(), 105u);
  using I = std::int64_t;
  const std::string damaged = "; the file is damaged";
  expect_all(Format::gapbs,
             {{sg.substr(0, 16), "holds 16 bytes, fewer than a header of 17; is it complete?"},
              {with<char>(sg, 0, 2), "the first byte is 2 instead of 0 or 1; is this a GAP graph?"},
              {with<char>(sg, 0, '0'), "the first byte is 48 instead of 0 or 1; is this a GAP graph?"},
              {with<char>(sg, 0, 0),
               "holds 105 bytes, but 3 vertices and 3 arcs take 61; is it complete, and is it a .sg file?"},
              {with<char>(sg, 0, 0).substr(0, 61),
               "says that it is undirected, but arc 0 -> 1 has no reverse; the file is damaged"},
              {with<I>(sg, 1, -1), "the header says -1 arcs, but the file holds 105 bytes; is it complete?"},
              {with<I>(sg, 1, 27), "the header says 27 arcs, but the file holds 105 bytes; is it complete?"},
              {with<I>(sg, 1, I{1} << 62),
               "the header says 4611686018427387904 arcs, but the file holds 105 bytes; is it complete?"},
              {with<I>(sg, 1, 4),
               "holds 105 bytes, but 3 vertices and 4 arcs take 113; is it complete, and is it a .sg file?"},
              {with<I>(sg, 9, -1), "the header says -1 vertices; legal are 0..2147483647; the file is damaged"},
              {with<I>(sg, 9, I{1} << 31),
               "the header says 2147483648 vertices; legal are 0..2147483647; the file is damaged"},
              {with<I>(sg, 9, 4),
               "holds 105 bytes, but 4 vertices and 3 arcs take 121; is it complete, and is it a .sg file?"},
              {sg.substr(0, 104),
               "holds 104 bytes, but 3 vertices and 3 arcs take 105; is it complete, and is it a .sg file?"},
              {sg + "x", "holds 106 bytes, but 3 vertices and 3 arcs take 105; is it complete, and is it a .sg file?"},
              {with<I>(sg, 17, 1), "the offsets begin with 1 instead of 0" + damaged},
              {with<I>(sg, 17, -1), "the offsets begin with -1 instead of 0" + damaged},
              {with<I>(sg, 25, 3), "the offsets decrease behind vertex 1" + damaged},
              {with<I>(sg, 25, I{1} << 60), "the offsets decrease behind vertex 1" + damaged},
              {with<I>(sg, 33, -5), "the offsets decrease behind vertex 1" + damaged},
              {with<I>(sg, 41, 2), "the offsets end with 2, but the header says 3 arcs" + damaged},
              {with<std::int32_t>(sg, 49, 3), "the arc 0 ends at vertex 3, which is outside 0..2" + damaged},
              {with<std::int32_t>(sg, 53, -1), "the arc 1 ends at vertex -1, which is outside 0..2" + damaged},
              {with<I>(sg, 61, 1), "the reversed offsets begin with 1 instead of 0" + damaged},
              {with<I>(sg, 85, 4), "the reversed offsets end with 4, but the header says 3 arcs" + damaged},
              {with<I>(sg, 69, 9), "the reversed offsets decrease behind vertex 1" + damaged},
              {with<std::int32_t>(sg, 93, 7), "the reversed arc 0 ends at vertex 7, which is outside 0..2" + damaged}});
  const std::string wsg = binary(shoal::csr_from_arcs(2, {0}, {1}, {5}, {}, true), "g.wsg");
  ASSERT_EQ(wsg.size(), 57u);  // undirected: 17 + 24 + 16
  expect_all(Format::gapbs_weighted,
             {{sg, "holds 105 bytes, but 3 vertices and 3 arcs take 129; is it complete, and is it a .wsg file?"},
              {with<std::int32_t>(wsg, 45, 6),
               "says that it is undirected, but arc 0 -> 1 has no reverse of the same weight; the file is damaged"}});
  expect_all(Format::gapbs,
             {{wsg, "holds 57 bytes, but 2 vertices and 2 arcs take 49; is it complete, and is it a .sg file?"}});
}

TEST(Malformed, Npz) {
  const Folder folder;
  auto array = [](const std::string& member, const std::string& descr, std::int64_t count, const std::string& data) {
    return ZipMember{member + ".npy", npy_header(descr, count) + data, nullptr, 0};
  };
  auto ints = [](std::vector<std::int32_t> v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * 4);
  };
  auto longs = [](std::vector<std::int64_t> v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * 8);
  };
  auto doubles = [](std::vector<double> v) {
    return std::string(reinterpret_cast<const char*>(v.data()), v.size() * 8);
  };
  const ZipMember format{"format.npy", npy_scalar_header("|S3") + "csr", nullptr, 0};
  const ZipMember coo{"format.npy", npy_scalar_header("|S3") + "coo", nullptr, 0};
  const ZipMember shape = array("shape", "<i8", 2, longs({3, 3}));
  const ZipMember indices = array("indices", "<i4", 3, ints({1, 2, 0}));
  const ZipMember indptr = array("indptr", "<i4", 4, ints({0, 2, 2, 3}));
  const ZipMember data = array("data", "<f8", 3, doubles({1, 2, 3}));
  auto zip = [&](const std::vector<ZipMember>& members) {
    write_zip(folder / "x.npz", members);
    return slurp(folder / "x.npz");
  };
  // The unchanged archive can be read, so the following failures are due to the changed member only.
  EXPECT_EQ(text_of(read_graph_bytes(Format::npz, zip({format, shape, indices, indptr, data}), "FILE")),
            "3 vertices, 3 arcs, weights 2\n0: 1/1 2/2\n1:\n2: 0/3\n");
  auto header = [&](const std::string& dict) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(dict.size());
    bytes += '\0';
    return ZipMember{"data.npy", bytes + dict, nullptr, 0};
  };
  auto changed = [&](const ZipMember& member) {
    std::vector<ZipMember> members{format, shape, indices, indptr, data};
    for (ZipMember& m : members)
      if (m.name == member.name) m = member;
    return zip(members);
  };
  const std::string again = "; save the matrix again", prune = "; call prune() and save the matrix again";
  expect_all(
      Format::npz,
      {{"PK", "is not an intact zip archive (Not a zip archive); save the file again"},
       {std::string(100, 'x'), "is not an intact zip archive (Not a zip archive); save the file again"},
       {zip({indices}), "has no member format.npy, so it is no sparse matrix; save it with scipy.sparse.save_npz"},
       {zip({format}), "has no member shape.npy, so it is no sparse matrix; save it with scipy.sparse.save_npz"},
       {zip({format, shape, indptr, data}), "has no member indices.npy; save it with scipy.sparse.save_npz"},
       {zip({format, shape, indices, data}), "has no member indptr.npy; save it with scipy.sparse.save_npz"},
       {zip({format, shape, indices, indptr}), "has no member data.npy; save it with scipy.sparse.save_npz"},
       {zip({coo, shape, data}), "has no member row.npy; save it with scipy.sparse.save_npz"},
       {changed({"format.npy", npy_scalar_header("|S3") + "dia", nullptr, 0}),
        "holds a matrix in the format 'dia'; save it as csr, csc or coo (matrix.tocsr())"},
       {changed(array("shape", "<i8", 2, longs({3, 4}))),
        "the matrix has 3 rows but 4 columns; the matrix of a graph is square"},
       {changed(array("shape", "<i8", 2, longs({-3, -3}))), "the matrix has -3 rows; legal are 0..2147483647"},
       {changed(array("shape", "<i8", 3, longs({3, 3, 3}))), "shape.npy: must hold two integers" + again},
       {changed(array("shape", "<f8", 2, doubles({3, 3}))), "shape.npy: must hold two integers" + again},
       {changed(array("indices", "<i4", 3, ints({1, 3, 0}))),
        "indices.npy: element 1 is 3, which is outside 0..2; the file is damaged"},
       {changed(array("indices", "<i4", 3, ints({1, -1, 0}))),
        "indices.npy: element 1 is -1, which is outside 0..2; the file is damaged"},
       {changed(array("indices", "<f8", 3, doubles({1, 2, 0}))),
        "indices.npy: must be a one-dimensional array of integers" + again},
       {changed(array("indices", "<i4", 2, ints({1, 2}))),
        "indptr.npy: the last offset is 3, but there are 2 indices" + prune},
       {changed(array("indptr", "<i4", 3, ints({0, 2, 3}))), "indptr.npy: holds 3 offsets instead of 4" + prune},
       {changed(array("indptr", "<i4", 4, ints({1, 2, 2, 3}))),
        "indptr.npy: the first offset is 1 instead of 0" + prune},
       {changed(array("indptr", "<i4", 4, ints({0, 2, 1, 3}))),
        "indptr.npy: the offsets decrease behind row 1" + prune},
       {changed(array("indptr", "<i4", 4, ints({0, -2, 2, 3}))),
        "indptr.npy: the offsets decrease behind row 0" + prune},
       {changed(array("indptr", "<i4", 4, ints({0, 2, 2, 4}))),
        "indptr.npy: the last offset is 4, but there are 3 indices" + prune},
       {changed(array("data", "<f8", 2, doubles({1, 2}))), "data.npy: holds 2 values for 3 entries" + again},
       {changed(array("data", "<f8", 3, doubles({1, NAN, 3}))),
        "data.npy: value 1 is not finite; weights must be numbers"},
       {changed(array("data", "<i8", 3, longs({1, std::int64_t{1} << 54, 3}))),
        "data.npy: value 1 is 18014398509481984, which cannot be kept exactly; the largest whole weight is "
        "9007199254740992 (2^53): scale the weights down, or save them as float64"},
       {changed(array("data", "<u8", 3, longs({1, -1, 3}))),
        "data.npy: value 1 is 18446744073709551615, which cannot be kept exactly; the largest whole weight is "
        "9007199254740992 (2^53): scale the weights down, or save them as float64"},
       {changed(array("data", "<c16", 3, doubles({1, 0, 1, 0, 1, 0}))),
        "data.npy: the array's type '<c16' is not read; save it as bool, integers, float32 or float64"},
       {changed(array("data", ">f8", 3, doubles({1, 2, 3}))),
        "data.npy: the array is big-endian; save it with dtype.newbyteorder('<')"},
       {changed(array("data", "|O", 3, "pickle")),
        "data.npy: the array holds Python objects, which are never unpickled; save it as numbers"},
       {changed(array("data", "|S3", 3, "abcabcabc")),
        "data.npy: weights must be bool, integers or floats; save the matrix with such a dtype"},
       {changed(array("data", "<f8", 3, "short")),
        "data.npy: the array's shape takes 24 bytes, but 5 follow its header; the file is damaged"},
       {changed(array("data", "<f8", std::int64_t{1} << 62, "")),
        "data.npy: the array's shape overflows; the file is damaged"},
       {changed({"data.npy", "no array at all", nullptr, 0}), "data.npy: is not a NumPy array; save the file again"},
       {changed({"data.npy", std::string("\x93NUMPY\x09\x00\x00\x00", 10), nullptr, 0}),
        "data.npy: has NumPy format version 9; versions 1 to 3 are read"},
       {changed({"data.npy", std::string("\x93NUMPY\x01\x00\xff\xff{}", 12), nullptr, 0}),
        "data.npy: the array's header is cut off; save the file again"},
       {changed(header("{'descr': '<f8'}")), "data.npy: the array's header is damaged at ''; save the file again"},
       {changed(header("{'descr': '<f8', 'descr': '<f8'}")),
        "data.npy: the array's header is damaged at ' '<f8'}'; save the file again"},
       {changed(header("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (3,)}")),
        "data.npy: the array is structured; store plain numbers"},
       {changed(header("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 3)}")),
        "data.npy: the array is in Fortran order; save it in C order"},
       {changed(header("{'descr': '<f8', 'fortran_order': Maybe, 'shape': (3,)}")),
        "data.npy: the array's header is damaged at 'Maybe, 'shape': (3,)}'; save the file again"},
       {changed(header("{'descr': '<f8', 'fortran_order': False, 'shape': (-3,)}")),
        "data.npy: the array's header is damaged at '-3,)}'; save the file again"},
       {changed(header("{'descr': '<f8")), "data.npy: the array's header is damaged at ''<f8'; save the file again"},
       {changed(header("")), "data.npy: the array's header is damaged at ''; save the file again"}});
  // One changed byte of compressed data: libzip compares the checksum.
  std::string flipped = zip({format, shape, indices, indptr, data});
  int refused = 0;
  for (std::size_t i = 30; i < flipped.size(); ++i) {
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    try {
      read_graph_bytes(Format::npz, flipped, "FILE");
    } catch (const shoal::UsageError&) {
      ++refused;
    }
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
  }
  EXPECT_GT(refused, static_cast<int>(flipped.size()) / 2);  // the others are dates and other fields that are not used
}

TEST(Malformed, PackedText) {
  const Folder folder;
  const Csr graph = random_graph(50, 300, WeightKind::int32, false, 5);
  for (const char* name : {"g.el.gz", "g.el.zst"}) {
    shoal::write_graph(graph, folder / name);
    const std::string good = slurp(folder / name);
    auto message = [&](const std::string& bytes) {
      spill(folder / name, bytes);
      return usage_error_of([&] { shoal::read_graph(folder / name); });
    };
    const std::string kind = name[5] == 'g' ? "gzip" : "zstd";
    EXPECT_EQ(message(""), folder / name + ": the file is empty; fetch or pack it again");
    for (std::size_t cut = 1; cut < good.size(); ++cut) {
      const std::string got = message(good.substr(0, cut));
      EXPECT_TRUE(got == folder / name + ": the " + kind + " data is cut off after " + std::to_string(cut) +
                             " bytes; fetch or pack the file again")
          << got;
      if (HasFailure()) break;
    }
    EXPECT_NE(message("plain text\n").find("does not begin as " + kind + " data"), std::string::npos);
    EXPECT_NE(message(good + "x").find(kind + " data is "), std::string::npos);
    std::string flipped = good;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x55);
    EXPECT_NE(message(flipped).find("the " + kind + " data is damaged near byte "), std::string::npos);
    // Two compressed pieces in a row are one text.
    spill(folder / name, good + good);
    EXPECT_EQ(shoal::read_graph(folder / name).num_arcs(), 2 * graph.num_arcs());
  }
  // An error in the text of a compressed file names the line of the text.
  shoal::io::TextFile(folder / "bad.mtx.gz", Compression::gzip).text("no matrix\n").commit();
  EXPECT_EQ(usage_error_of([&] { shoal::read_graph(folder / "bad.mtx.gz"); }),
            folder / "bad.mtx.gz" +
                ":1: the first line must begin with '%%MatrixMarket', found 'no'; is this a Matrix Market file?");
}

TEST(Malformed, PackedBombs) {
  const Folder folder;
  for (const auto& [name, packing] :
       {std::pair{"g.el.gz", Compression::gzip}, std::pair{"g.el.zst", Compression::zstd}}) {
    shoal::io::TextFile out(folder / name, packing);
    const std::string zeros(1 << 20, '0');
    for (int i = 0; i < 100; ++i) out.text(zeros);
    out.commit();
    EXPECT_EQ(usage_error_of([&, n = name] { shoal::read_graph(folder / n); }),
              folder / name +
                  ": expands to more than 67108864 bytes, which no graph of its packed size does; unpack it "
                  "by hand if you trust it");
  }
}

}  // namespace
}  // namespace shoal_test
