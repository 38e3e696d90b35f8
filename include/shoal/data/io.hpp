// Reads and writes graph files. A malformed input is a UsageError that names file, line and cure. A file is never left half
// written.
#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "shoal/graph/csr.hpp"
#include "shoal/graph/graph_size.hpp"

namespace shoal {

struct ReadOptions {
  bool undirected = false;  ///< read an edge list in both directions (other formats state the direction themselves)
  bool dedup = false;       ///< merge parallel arcs, keeping the smallest weight
  /// The number of vertices of an edge list, in [0, 2^31 - 1], including those without arcs. A larger vertex number in an arc
  /// is an error. If the format states the number of vertices, it must be the same. Default: what the file states, or as many
  /// as the largest vertex number requires.
  std::optional<std::int64_t> num_vertices;
  bool use_cache = false;  ///< read and write FILE.shoal beside the input (binary, checksummed, mapped)
  std::string format;  ///< an ending such as "el" or "mtx.gz" to use in place of the file name's; empty: use the name
  /// Returns how many bytes a graph of this size and the work on it will take. If that many are not available, the graph is
  /// refused, and before it is read if its size is known by then.
  std::function<std::int64_t(const GraphSize&)> needs;
  std::function<void(double fraction)> progress;  ///< called now and then during long reads, from one thread
};

/// Reads a graph. The format follows from the file name (.mtx .gr .graph .el .edges .edgelist .wel .txt .tsv .csv .sg .wsg
/// .npz .shoal; text formats also with .gz or .zst). Vertex numbers are zero-based in edge lists, and one-based where the
/// format says so.
/// An edge list has the vertices 0..largest number, or more if its comments say so: `# Nodes: N Edges: M`, `# n=N m=M`,
/// KONECT's `% sym unweighted` and `% M N N` (whose numbers begin at 1), `# shoal vertices=N`. If these disagree with the
/// arcs, vertices_remark says how. Loops and parallel arcs are kept, including parallel entries of a SciPy matrix, unless
/// options.dedup merges parallel arcs. Rows are sorted by target and weight.
/// `-` is standard input, for which options.format must name the format. If a whole weight does not fit 32 bits, all weights
/// are stored as float64, up to 2^53, with a remark in weight_remarks.
/// `symmetric` is true if every arc has its reverse, with the same weight and equally often.
/// A large file is mapped while it is read, and a .shoal file as long as the graph exists. Such a file may be replaced, but
/// must never be shrunk.
/// @throws UsageError     `file:line: what is wrong; cure` (binary formats: without a line)
/// @throws CapacityError  the graph's arrays would not fit in the free memory
Csr read_graph(const std::string& file, const ReadOptions& options = {});

/// Writes a graph in the format of the file name, any that read_graph reads. The file gets its name only when it is complete
/// (PendingFile), so a failure leaves nothing, and programs that have an older file open keep it. Reading the file gives the
/// same graph; for that, an edge list whose last vertices have no arcs begins with `# shoal vertices=N`. Edge lists hold the
/// arcs of symmetric graphs in both directions.
/// @throws UsageError if the format cannot hold the graph (its weights, its missing arcs), or the place is not writable
void write_graph(const Csr& graph, const std::string& file);

/// Opens a small text file that is not a graph, such as `vertex weight` lines.
/// @param what  what the file holds, for messages: "a partition (one PE number per line)"
/// @throws UsageError  it cannot be opened, or is a directory
std::unique_ptr<std::istream> open_text_file(const std::string& file, const std::string& what);

/// Sorts arcs into rows, by target, and arcs with equal targets by weight. Uses all threads.
/// @param num_vertices in [0, 2^31 - 1]; `sources` and `targets` have equal length, and numbers below num_vertices
/// @param int_weights, real_weights  at most one of them is not empty, as long as `sources`; finite
/// @param undirected add the reverse of every arc (a loop is kept once); the result is marked symmetric
/// @param dedup      merge parallel arcs, keeping the smallest weight
/// @throws UsageError naming the arc that is wrong
Csr csr_from_arcs(std::int64_t num_vertices, std::vector<vertex_t> sources, std::vector<vertex_t> targets,
                  std::vector<std::int32_t> int_weights = {}, std::vector<double> real_weights = {},
                  bool undirected = false, bool dedup = false);

/// The graph with every arc reversed; rows are sorted. Uses all threads.
Csr transpose(const Csr& graph);

/// Whether Csr::symmetric is set, every row is sorted and has no target twice, and there are no loops. Uses all threads.
bool is_simple_undirected(const Csr& graph);

/// The graph with its arcs in both directions, without loops, duplicates and weights; rows are sorted. Uses all threads.
Csr simple_undirected(const Csr& graph);

/// True if every arc has its reverse, with the same weight and equally often, so that the lists of in-arcs and out-arcs are
/// the same. Uses all threads.
bool is_symmetric(const Csr& graph);

}  // namespace shoal
