// Every intact file, cut at every byte, gives an error, except for prefixes that are valid files themselves. Those are
//   edge lists (.el .wel .tsv .csv)  cut inside a number, or after a complete line or weight: nothing says how many
//                                    lines there should be. Every edge except the last is as in the whole file;
//   .mtx .gr                         cut inside the last weight, or before the last newline, and comments at the end;
//   .graph                           cut before the last newline.
// Binary and compressed formats have no valid prefixes.
#include <set>

#include "io_graphs.hpp"

namespace shoal_test {
namespace {

using namespace shoal::io;

struct Sample {
  Format format;
  std::string text;
  std::set<std::size_t> legal;  ///< lengths of the valid prefixes
};

class Cut : public testing::TestWithParam<Sample> {};

TEST_P(Cut, CountedFormats) {
  const Sample& s = GetParam();
  ASSERT_NO_THROW(read_graph_bytes(s.format, s.text, "FILE"));
  for (std::size_t length = 0; length < s.text.size(); ++length) {
    const std::string copy = s.text.substr(0, length);
    const std::vector<char> exact(copy.begin(), copy.end());  // exact size: sanitizers detect reads beyond the end
    const std::string got = usage_error_of([&] { read_graph_bytes(s.format, {exact.data(), exact.size()}, "FILE"); });
    EXPECT_EQ(got == "(no error)", s.legal.count(length) == 1) << name(s.format) << " cut to " << length << ": " << got;
  }
}

std::set<std::size_t> only(std::initializer_list<std::size_t> cuts_from_end, std::size_t size) {
  std::set<std::size_t> out;
  for (const std::size_t cut : cuts_from_end) out.insert(size - cut);
  return out;
}

Sample sample(Format format, const std::string& text, std::initializer_list<std::size_t> cuts_from_end) {
  return {format, text, only(cuts_from_end, text.size())};
}

INSTANTIATE_TEST_SUITE_P(
    Text, Cut,
    testing::Values(
        sample(Format::matrix_market, "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 1\n", {1}),
        sample(Format::matrix_market, "%%MatrixMarket matrix coordinate integer symmetric\n3 3 2\n2 1 5\n3 1 617\n",
               {1, 2, 3}),
        sample(Format::matrix_market,
               "%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 2 1.5\r\n2 1 2.25\r\n", {1, 2, 3, 4, 5}),
        sample(Format::matrix_market, "%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", {1}),
        sample(Format::dimacs, "c x\np sp 3 2\na 1 2 7\na 3 1 1234\n", {1, 2, 3, 4}),
        sample(Format::metis, "3 2\n2\n1 3\n2\n", {1}),
        sample(Format::metis, "% c\n3 2 011\n4 2 5\n4 1 5 3 61\n4 2 61\n", {1})));

/// Every arc as a line.
std::multiset<std::string> written_arcs(const Csr& graph) {
  std::multiset<std::string> arcs;
  for (std::int64_t u = 0; u < graph.num_vertices(); ++u) {
    for (std::int64_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      std::ostringstream arc;
      arc << u << ' ' << graph.targets[a];
      if (graph.int_weights.size() > 0) arc << ' ' << graph.int_weights[a];
      if (graph.real_weights.size() > 0) arc << ' ' << graph.real_weights[a];
      arcs.insert(arc.str());
    }
  }
  return arcs;
}

TEST(Cut, EdgeLists) {
  const std::pair<Format, std::string> samples[] = {
      {Format::edge_list, "# c\n0 1\n12 345\n\n2 0\n"},       {Format::edge_list, "% c\n0\t1\t3\n12\t345\t6.5e2\n"},
      {Format::weighted_edge_list, "0 1 5\n1 2 -7\n2 0 0\n"}, {Format::tsv, "from\tto\n0\t1\n10\t20\n"},
      {Format::csv, "target,source,weight\n0,1,2\n3,4,55\n"},
  };
  for (const auto& [format, text] : samples) {
    const Csr whole = read_graph_bytes(format, text, "FILE");
    std::size_t read = 0;
    for (std::size_t length = 0; length < text.size(); ++length) {
      const std::vector<char> exact(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length));
      try {
        const Csr part = read_graph_bytes(format, {exact.data(), exact.size()}, "FILE");
        std::multiset<std::string> left = written_arcs(whole);
        int cut = 0;
        for (const std::string& arc : written_arcs(part)) {
          const auto at = left.find(arc);
          if (at == left.end()) {
            ++cut;
          } else {
            left.erase(at);
          }
        }
        EXPECT_LE(cut, 1) << "arcs that the whole file has not, of its first " << length << " bytes:\n"
                          << text_of(part);
        EXPECT_LE(part.num_vertices(), whole.num_vertices());
        ++read;
      } catch (const shoal::UsageError& error) {
        EXPECT_TRUE(std::string(error.what()).starts_with("FILE")) << error.what();
      }
    }
    EXPECT_GT(read, 0u) << text;
    EXPECT_LT(read, text.size()) << text;
  }
}

TEST(Cut, BinaryFormatsHaveNoLegalPrefix) {
  const Folder folder;
  const Csr plain = shoal::csr_from_arcs(4, {0, 1, 2, 3}, {1, 2, 3, 1});
  const Csr weighted = shoal::csr_from_arcs(4, {0, 1, 2, 3}, {1, 2, 3, 1}, {5, 6, 7, 8}, {}, true);
  for (const auto& [file, graph] :
       {std::pair{"g.sg", &plain}, std::pair{"g.wsg", &weighted}, std::pair{"g.npz", &plain},
        std::pair{"g.npz", &weighted}, std::pair{"g.shoal", &plain}, std::pair{"g.shoal", &weighted}}) {
    shoal::write_graph(*graph, folder / file);
    const std::string good = slurp(folder / file);
    const Format format = kind_of(file).format;
    ASSERT_EQ(text_of(read_graph_bytes(format, good, "FILE")), text_of(*graph));
    for (std::size_t length = 0; length < good.size(); ++length) {
      const std::vector<char> exact(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length));
      const std::string got = usage_error_of([&] { read_graph_bytes(format, {exact.data(), exact.size()}, "FILE"); });
      ASSERT_TRUE(got.starts_with("FILE: ")) << file << " cut to " << length << ": " << got;
    }
    EXPECT_TRUE(usage_error_of([&] { read_graph_bytes(format, good + "x", "FILE"); }).starts_with("FILE: ") ||
                format == Format::npz);  // libzip allows bytes after the directory of the archive
  }
}

}  // namespace
}  // namespace shoal_test
