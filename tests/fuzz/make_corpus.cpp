// Writes the corpus of the fuzz targets, CORPUS/<format>/*: small intact files with every feature of each format.
#include <filesystem>
#include <fstream>
#include <iostream>

#include "data/formats.hpp"
#include "shoal/data/io.hpp"

namespace {

void text(const std::filesystem::path& file, const std::string& bytes) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_corpus FOLDER\n";
    return 2;
  }
  const std::filesystem::path root = argv[1];
  text(root / "mtx/pattern.mtx", "%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 1\n");
  text(root / "mtx/real.mtx", "%%MatrixMarket matrix coordinate real general\r\n2 2 2\r\n1 2 1.5e-3\r\n2 1 -2.25\r\n");
  text(root / "gr/two.gr", "c x\np sp 3 2\na 1 2 7\na 3 1 -1234\n");
  text(root / "graph/plain.graph", "% c\n3 2\n2\n1 3\n2\n");
  text(root / "graph/weights.graph", "3 2 111 2\n9 4 4 2 5\n9 4 4 1 5 3 61\n9 4 4 2 61\n");
  text(root / "el/snap.el", "# Nodes: 3 Edges: 2\n0\t1\n12\t345\n\n");
  text(root / "el/own.el", "# shoal vertices=9\n0 1 3\n2, 3, 0.5\n");
  text(root / "el/konect.el", "% sym weighted\n% 2 9 9\n1 2 0.5 1082008561\n2 3 1 1082008562\n");
  text(root / "el/networkx.el", "0 1 {'weight': 3}\n1 2 {\"weight\": -0.5}\n");
  text(root / "el/bare.el", "0 1 {}\n1 2 {}\n");
  text(root / "el/sizes.el", "\xef\xbb\xbf# graph n=9 m=2\n0 1\n1 2\n");
  text(root / "wel/own.wel", "# shoal vertices=9\n0 1 9007199254740992\n2 3 -1\n");
  text(root / "tsv/named.tsv", "source\tweight\ttarget\n0\t0.5\t1\n3\t2e9\t4\n");
  text(root / "csv/named.csv", "\"target\",source,weight\n0,1,2\n3,4,1e9\n");
  text(root / "csv/index.csv", "\"\",\"from\",\"to\"\n\"a b\",5,7\n\"2\",1,2\n");
  text(root / "csv/plain.csv", "0,1\n1,2\n");
  for (const bool weighted : {false, true}) {
    for (const bool undirected : {false, true}) {
      const shoal::Csr graph = shoal::csr_from_arcs(
          4, {0, 1, 2, 2}, {1, 2, 3, 2}, weighted ? std::vector<std::int32_t>{5, 6, 7, 8} : std::vector<std::int32_t>{},
          {}, undirected);
      auto write = [&](const std::string& folder, const std::string& ending) {
        std::filesystem::create_directories(root / folder);
        const std::string stem = std::string(weighted ? "w" : "p") + (undirected ? "u" : "d");
        shoal::write_graph(graph, (root / folder / (stem + ending)).string());
      };
      weighted ? write("wsg", ".wsg") : write("sg", ".sg");
      write("npz", ".npz");
      write("shoal", ".shoal");
      write("gz", ".mtx.gz");
      write("zst", ".mtx.zst");
      write("mtx", ".mtx");
      if (undirected) write("graph", ".graph");
      if (weighted) write("gr", ".gr");
      if (weighted) write("wel", ".wel");
      write("tsv", ".tsv");
      write("csv", ".csv");
      write("el", ".el");
    }
  }
  return 0;
}
