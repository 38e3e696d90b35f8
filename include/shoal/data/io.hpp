// Graph files, in and out. Every malformed input is a UsageError with file, line and cure; nothing is half-written.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "shoal/data/csr.hpp"

namespace shoal {

struct ReadOptions {
  bool undirected = false;   ///< read an edge list in both directions (formats that say it themselves are obeyed)
  bool dedup = false;        ///< merge parallel arcs, keeping the smallest weight
  bool use_cache = false;    ///< read and write FILE.shoal beside the input (binary, checksummed, mapped)
  std::function<void(double fraction)> progress;  ///< called now and then during long reads, from one thread
};

/// Reads a graph. The format follows from the name (.mtx .gr .graph .el .wel .txt .tsv .csv .sg .wsg .npz .shoal, each also
/// .gz or .zst for the text formats); numbers are zero-based for edge lists, one-based where the format says so.
/// @throws UsageError  `file:line: what is wrong; cure`
Csr read_graph(const std::string& file, const ReadOptions& options = {});

/// Writes a graph in the format of the name (.sg .wsg .el .wel .mtx .gr .graph .shoal .npz). Through a temporary name, so
/// that a failure leaves nothing. @throws UsageError if the format cannot hold the graph or the place is not writable.
void write_graph(const Csr& graph, const std::string& file);

/// Sorts arcs into rows. `sources`, `targets` have equal length; weights are empty or as long.
/// @param undirected add the reverse of every arc (a loop is kept once)
Csr csr_from_arcs(std::int64_t num_vertices, std::vector<vertex_t> sources, std::vector<vertex_t> targets,
                  std::vector<std::int32_t> int_weights = {}, std::vector<double> real_weights = {},
                  bool undirected = false, bool dedup = false);

/// The graph with every arc reversed.
Csr transpose(const Csr& graph);

/// True if every arc has its reverse.
bool is_symmetric(const Csr& graph);

}  // namespace shoal
