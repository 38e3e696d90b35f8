// A graph file that several processes read together. Each takes the rows of its own vertices, in memory in proportion to them.
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

/// Which of several processes this is, and how it hears the others.
struct Together {
  int process = 0, processes = 1;
  /// Every process: what each of them gives, [processes].
  std::function<std::vector<std::vector<std::byte>>(std::span<const std::byte>)> all_of;
};

/// Which arcs the row of a vertex has.
enum class RowsOf {
  out,        ///< those that begin there, as the file has them
  in,         ///< those that end there; what the row names is where they begin
  undirected  ///< its neighbours, each once and without weights: no arc has a direction, and there are no loops
};

/// Every process calls the same functions in the same order. What one process finds wrong, all throw.
class SharedGraph {
 public:
  virtual ~SharedGraph() = default;
  const std::string& name() const { return name_; }
  /// Of the whole graph, before parallel arcs are merged.
  const GraphSize& size() const { return size_; }
  const std::string& vertices_remark() const { return vertices_remark_; }

  // Vertices in steps of 2^shift(), between which rows are dealt out.

  virtual int shift() const { return 0; }
  /// Arcs of all steps before this one.
  virtual arc_t arcs_before(std::int64_t step) const = 0;

  /// Rows of the vertices [first, first + count): row 0 is that of `first`, targets are vertices. Sorted; parallel arcs are merged
  /// if the options said so.
  /// @param weighted  with the file's weights, if it has some
  /// @throws UsageError `file:line: what is wrong; cure` (binary formats: without a line)
  virtual Csr rows(vertex_t first, vertex_t count, RowsOf which, bool weighted) const = 0;
  /// About the most bytes that a process holds while it reads its part.
  virtual std::int64_t reading_bytes() const = 0;
  /// The whole graph, as read_graph() reads it. Of one process alone.
  Csr whole() const { return read_graph(name_, options_); }
  const Together& together() const { return together_; }
  /// Every process: what `work` throws in some process, all throw, that of the first. UsageError, CapacityError, std::bad_alloc.
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

/// True for formats that processes read together: .shoal, and edge lists that are not compressed (.el .edges .edgelist .txt .wel
/// .tsv .csv). A cache and standard input are not.
bool can_share(const std::string& file, const ReadOptions& options);

/// Every process: a .shoal file's header is read, and its checksums are computed, a part by each; the lines of an edge list are
/// counted, a part by each.
/// @throws UsageError  as read_graph()
std::unique_ptr<SharedGraph> open_shared(const std::string& file, const ReadOptions& options, const Together& together);

}  // namespace shoal
