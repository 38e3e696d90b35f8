// Small graphs and files for the tests of readers and writers.
#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "data/formats.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"

namespace shoal_test {

using shoal::Csr;
using shoal::vertex_t;
using shoal::WeightKind;

/// A folder that is removed with everything in it.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "shoal-io-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  std::string operator/(const std::string& file) const { return (path_ / file).string(); }
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path_), {}));
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline std::string slurp(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void spill(const std::string& file, const std::string& bytes) {
  std::ofstream out(file, std::ios::binary);
  out << bytes;
  ASSERT_TRUE(out.good()) << file;
}

/// A graph as plain text, so that two graphs can be compared and a difference is readable.
inline std::string text_of(const Csr& graph) {
  std::ostringstream out;
  out.precision(17);
  out << graph.num_vertices() << " vertices, " << graph.num_arcs() << " arcs, weights "
      << static_cast<int>(graph.weight_kind) << (graph.symmetric ? ", symmetric" : "") << "\n";
  for (vertex_t v = 0; v < graph.num_vertices(); ++v) {
    out << v << ":";
    for (shoal::arc_t a = graph.offsets[v]; a < graph.offsets[v + 1]; ++a) {
      out << " " << graph.targets[a];
      if (graph.weight_kind == WeightKind::int32) out << "/" << graph.int_weights[a];
      if (graph.weight_kind == WeightKind::float64) out << "/" << graph.real_weights[a];
    }
    out << "\n";
  }
  return out.str();
}

/// A random graph with loops, parallel arcs, and a last vertex without arcs.
inline Csr random_graph(std::int64_t n, std::int64_t edges, WeightKind kind, bool undirected, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<vertex_t> sources, targets;
  std::vector<std::int32_t> whole;
  std::vector<double> real;
  for (std::int64_t i = 0; i < edges; ++i) {
    sources.push_back(static_cast<vertex_t>(random() % (n - 1)));
    targets.push_back(i % 17 == 0 ? sources.back() : static_cast<vertex_t>(random() % (n - 1)));
    if (kind == WeightKind::int32) whole.push_back(static_cast<std::int32_t>(random() % 1000));
    if (kind == WeightKind::float64) real.push_back(static_cast<double>(random()) / 3.0 - 5e8);
  }
  Csr graph = shoal::csr_from_arcs(n, sources, targets, whole, real, undirected);
  graph.symmetric = graph.symmetric || shoal::is_symmetric(graph);
  return graph;
}

/// The folder of real graphs, or an empty path.
inline std::filesystem::path data_folder() {
  const char* set = std::getenv("SHOAL_DATA");
  const std::filesystem::path folder = set != nullptr ? set : SHOAL_SOURCE_DIR "/../shared/data";
  return std::filesystem::exists(folder / "graphs") ? folder / "graphs" : std::filesystem::path();
}

/// The message of the UsageError that `f` throws, or "(no error)". Other exceptions propagate.
template <class F>
std::string usage_error_of(F&& f) {
  try {
    f();
  } catch (const shoal::UsageError& error) {
    return error.what();
  }
  return "(no error)";
}

}  // namespace shoal_test
