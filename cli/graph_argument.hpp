// The graph argument of a command line: a file in any format that shoal reads, or a generator.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "output.hpp"
#include "shoal/data/shared_graph.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/graph_size.hpp"

namespace CLI {
class App;
}

namespace shoal::cli {

class GraphArgument {
 public:
  void add_to(CLI::App& app);
  const std::string& text() const { return text_; }
  /// The input file, without a name if the graph is generated; and the cache beside it, without a name if there is no --cache.
  NamedFile file() const;
  NamedFile cache() const;
  /// Whether the flags ask for another graph, or another format, than the file has by its name.
  bool changes_file() const { return undirected_ || dedup_ || vertices_ || !format_.empty(); }

  /// The generator, if the argument names one; its numbers are checked here.
  /// @throws UsageError (a wrong generator argument; flags that are for files only)
  std::optional<GeneratorSpec> generator() const;

  /// Reads the file or generates the graph on the host.
  /// @param needs  as ReadOptions::needs
  Csr load(bool quiet, const std::function<std::int64_t(const GraphSize&)>& needs) const;
  /// Every process calls it: opens the file, to be read by all processes together. Null: each has to read the whole file.
  std::unique_ptr<SharedGraph> share(bool quiet, const Together& together) const;

 private:
  ReadOptions reading() const;

  std::string text_, format_;
  std::optional<std::int64_t> vertices_;
  bool undirected_ = false, dedup_ = false, cache_ = false;
};

/// "kron:18 (262,144 vertices, 7,600,000 arcs, symmetric)"
std::string describe(const std::string& name, std::int64_t num_vertices, arc_t num_arcs);

}  // namespace shoal::cli
