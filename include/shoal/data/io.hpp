// Graph files, in and out. Every malformed input is a UsageError with file, line and cure; nothing is half-written.
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
  bool undirected = false;  ///< read an edge list in both directions (formats that say it themselves are obeyed)
  bool dedup = false;       ///< merge parallel arcs, keeping the smallest weight
  /// Vertices of an edge list, in [0, 2^31 - 1], those without arcs included; a larger number in an arc is an error. Formats
  /// that say it themselves must say the same. Default: what the file says, or the largest number.
  std::optional<std::int64_t> num_vertices;
  bool use_cache = false;  ///< read and write FILE.shoal beside the input (binary, checksummed, mapped)
  std::string format;      ///< an ending such as "el" or "mtx.gz" that stands for the name's; empty: the name says it
  /// The bytes that the graph and what is to be done with it take; a graph for which there are not as many is refused before
  /// it is read, where its size is known by then.
  std::function<std::int64_t(const GraphSize&)> needs;
  std::function<void(double fraction)> progress;  ///< called now and then during long reads, from one thread
};

/// Reads a graph. The format follows from the name (.mtx .gr .graph .el .edges .edgelist .wel .txt .tsv .csv .sg .wsg .npz
/// .shoal, the text formats also .gz or .zst); numbers are zero-based for edge lists, one-based where the format says so.
/// An edge list has the vertices 0..largest number, or more where its comments say so: `# Nodes: N Edges: M`, `# n=N m=M`,
/// KONECT's `% sym unweighted` and `% M N N` (whose numbers begin at 1), `# shoal vertices=N`. Where these and the arcs
/// disagree, vertices_remark says how. Loops and parallel arcs are kept, also parallel entries of a SciPy matrix, as they
/// are, unless options.dedup merges them; rows come out sorted by target and weight.
/// `-` is standard input, whose format options.format must say. Whole weights fit 32 bits, or all of them are kept as
/// float64, up to 2^53, with a remark in weight_remarks.
/// `symmetric` is true wherever every arc has its reverse with the same weight, as often.
/// A large file is mapped while it is read, a .shoal file for the graph's life: replace such a file, never shrink it.
/// @throws UsageError     `file:line: what is wrong; cure` (binary formats: without a line)
/// @throws CapacityError  the graph's arrays would not fit in the free memory
Csr read_graph(const std::string& file, const ReadOptions& options = {});

/// Writes a graph in the format of the name, any that read_graph reads. Through a temporary name beside the target, so
/// that a failure leaves nothing and readers of an older file keep it. A graph that is read back is the same graph; an
/// edge list whose last vertices have no arcs begins with `# shoal vertices=N` for that. Arcs of symmetric graphs stand
/// in edge lists in both directions.
/// @throws UsageError if the format cannot hold the graph (its weights, its missing arcs), or the place is not writable
void write_graph(const Csr& graph, const std::string& file);

/// Opens a small text file that is not a graph, such as `vertex weight` lines.
/// @param what  what the file holds, for messages: "a partition (one PE number per line)"
/// @throws UsageError  it cannot be opened, or is a directory
std::unique_ptr<std::istream> open_text_file(const std::string& file, const std::string& what);

/// Sorts arcs into rows, by target and among equal targets by weight. All threads.
/// @param num_vertices in [0, 2^31 - 1]; `sources` and `targets` have equal length and numbers below it
/// @param int_weights, real_weights  at most one of them, as long as `sources`; finite
/// @param undirected add the reverse of every arc (a loop is kept once); the result is marked symmetric
/// @param dedup      merge parallel arcs, keeping the smallest weight
/// @throws UsageError naming the arc that is wrong
Csr csr_from_arcs(std::int64_t num_vertices, std::vector<vertex_t> sources, std::vector<vertex_t> targets,
                  std::vector<std::int32_t> int_weights = {}, std::vector<double> real_weights = {},
                  bool undirected = false, bool dedup = false);

/// The graph with every arc reversed; rows sorted. All threads.
Csr transpose(const Csr& graph);

/// Whether the graph is symmetric (as it says), has no loops, and names no target twice in a row; rows sorted. All threads.
bool is_simple_undirected(const Csr& graph);

/// The graph with its arcs in both directions, without loops, no target twice in a row, and without weights; rows sorted.
/// All threads.
Csr simple_undirected(const Csr& graph);

/// True if every arc has its reverse, with the same weight and as often: in-arcs and out-arcs are the same lists.
/// All threads.
bool is_symmetric(const Csr& graph);

}  // namespace shoal
