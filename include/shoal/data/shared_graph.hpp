// A graph file that several processes read together. Each process gets the rows of its own vertices, and needs memory in
// proportion to these.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "shoal/data/io.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/graph_size.hpp"

namespace shoal {

/// Which of several processes this is, and how it communicates with the others.
struct Together {
  int process = 0, processes = 1;
  /// Every process calls it: exchanges bytes. Returns those of each process, [processes].
  std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)> all_of;
};

/// Which arcs the row of a vertex has.
enum class RowsOf {
  out,        ///< the arcs that begin at the vertex, as the file has them
  in,         ///< the arcs that end at the vertex; the row holds their sources
  undirected  ///< the vertex's neighbours whatever an arc's direction, each once, without loops and weights
};

/// Every process calls the same functions in the same order. If one process finds an error, all throw it.
class SharedGraph {
 public:
  virtual ~SharedGraph() = default;
  const std::string& name() const { return name_; }
  /// The size of the whole graph, before parallel arcs are merged.
  const GraphSize& size() const { return size_; }
  const std::string& vertices_remark() const { return vertices_remark_; }

  // Arcs are counted for steps of 2^shift() consecutive vertices. A partition `edges` is cut between steps.

  virtual int shift() const { return 0; }
  /// The number of arcs in all steps before this one.
  virtual arc_t arcs_before(std::int64_t step) const = 0;

  /// Reads the rows of the vertices [first, first + count). Row 0 is that of `first`; targets are vertex numbers of the whole
  /// graph. Rows are sorted. Parallel arcs are merged if the options ask for it.
  /// @param weighted  include the file's weights, if it has any
  /// @throws UsageError `file:line: what is wrong; cure` (binary formats: without a line)
  virtual Csr rows(vertex_t first, vertex_t count, RowsOf which, bool weighted) const = 0;
  /// Estimates the most bytes that a process holds while it reads its part.
  virtual std::int64_t reading_bytes() const = 0;
  /// The whole graph, as read_graph() reads it. One process may call this alone.
  Csr whole() const { return read_graph(name_, options_); }
  const Together& together() const { return together_; }
  /// Every process calls it, and does `work`. If `work` throws UsageError, CapacityError or std::bad_alloc in some process, all
  /// processes throw the error of the first of these; std::bad_alloc becomes CapacityError.
  void agree(const std::function<void()>& work) const;

 protected:
  SharedGraph(std::string name, ReadOptions options, Together together)
      : name_(std::move(name)), options_(std::move(options)), together_(std::move(together)) {}

  std::string name_;
  ReadOptions options_;
  Together together_;
  GraphSize size_;
  std::string vertices_remark_;
};

/// True if processes can read this file together: .shoal, and edge lists that are not compressed (.el .edges .edgelist .txt
/// .wel .tsv .csv). False for standard input, and if options.use_cache is set.
bool can_share(const std::string& file, const ReadOptions& options);

/// Every process calls it. Of a .shoal file, the header is read and the checksums are computed; of an edge list, the arcs are
/// counted. Each process does a part of this.
/// @throws UsageError  as read_graph()
std::unique_ptr<SharedGraph> open_shared(const std::string& file, const ReadOptions& options, const Together& together);

}  // namespace shoal
