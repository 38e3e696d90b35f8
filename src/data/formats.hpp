// The formats behind read_graph and write_graph. Private to this room; tests and fuzzers use it too.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <string_view>

#include "input.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal::io {

enum class Format {
  matrix_market,       ///< .mtx
  dimacs,              ///< .gr
  metis,               ///< .graph
  edge_list,           ///< .el .edges .edgelist .txt: two or three columns
  weighted_edge_list,  ///< .wel: three columns
  tsv,                 ///< .tsv: as edge_list, with a line of column names if the file has one
  csv,                 ///< .csv: likewise; written with commas
  gapbs,               ///< .sg
  gapbs_weighted,      ///< .wsg
  npz,                 ///< .npz
  shoal,               ///< .shoal
};
bool is_text(Format format);
const char* name(Format format);

/// What a file's name says. @throws UsageError listing the known endings
struct FileKind {
  Format format;
  Compression compression = Compression::none;
};
/// @param known  what is known of the file, for the error: "there is no such file, and ". @throws UsageError
FileKind kind_of(const std::string& file, const std::string& known = "");
/// Likewise for an ending alone, with or without its dot. @throws UsageError listing the known endings
FileKind kind_named(const std::string& ending);

/// What one reader is given.
struct Source {
  Bytes bytes;       ///< the whole file, expanded
  std::string name;  ///< for messages
  ReadOptions options;
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  ///< most bytes that the arrays may take

  std::string_view view() const { return bytes.view(); }
  /// @throws UsageError `name: message`
  [[noreturn]] void raise(const std::string& message) const;
  /// @throws UsageError  there is nothing
  void require_bytes() const;
  /// @param place  what is to blame, `file:line: ...`; called only when there is no room, default: the file
  /// @throws CapacityError when memory_bytes are fewer than the `bytes` that it takes to read a graph of this size, or than
  ///                       options.needs
  void require_room(const GraphSize& size, std::int64_t bytes, const std::function<std::string()>& place = {}) const;
};

Csr read_matrix_market(const Source& source);
Csr read_dimacs(const Source& source);
Csr read_metis(const Source& source);
Csr read_edge_list(const Source& source, Format flavour);
Csr read_gapbs(const Source& source, bool weighted);
Csr read_npz(const Source& source);
Csr read_shoal(const Source& source);

void write_matrix_market(const Csr& graph, const std::string& file, Compression compression);
void write_dimacs(const Csr& graph, const std::string& file, Compression compression);
void write_metis(const Csr& graph, const std::string& file, Compression compression);
void write_edge_list(const Csr& graph, const std::string& file, Format flavour, Compression compression);
void write_gapbs(const Csr& graph, const std::string& file, bool weighted);
void write_npz(const Csr& graph, const std::string& file);

/// What a cache was made from; all zero in a .shoal file that was written as such.
struct CacheKey {
  std::uint64_t source_bytes = 0;
  std::int64_t source_mtime_ns = 0;
  std::uint32_t read_flags = 0;      ///< 1: undirected, 2: dedup; from bit 2: 1 + the format that was asked for
  std::uint64_t asked_vertices = 0;  ///< 1 + the number of vertices that was asked for; 0: none was
  bool operator==(const CacheKey&) const = default;
};
void write_shoal(const Csr& graph, const std::string& file, const CacheKey& key = {});
/// True if `bytes` begin with an intact header of a cache made with this key.
bool shoal_matches(std::string_view bytes, const CacheKey& key);

/// The same file with checksums and length that fit its content, as far as the content lets them be found: how tests
/// reach the checks behind the checksums.
std::string reseal_shoal(std::string bytes);

/// Reads a graph of the given format from memory: the entry point of read_graph, tests and fuzzers.
/// @param bytes         expanded (no .gz or .zst); read only during the call
/// @param name          stands for the file in messages and in the graph's name
/// @param memory_bytes  a graph whose arrays would be larger is refused with CapacityError
Csr read_graph_bytes(Format format, std::string_view bytes, const std::string& name, const ReadOptions& options = {},
                     std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max());

/// What read_graph_source() gives a reader of text: without the mark of an editor. @throws UsageError  it is no text
Source plain_source(const Source& file);

/// As read_graph_bytes, where the graph may keep the bytes (a mapped file).
Csr read_graph_source(Format format, const Source& source);

// Checks and steps shared by the formats.

/// True for what a wide whole weight may be.
inline bool is_whole_weight(double w) {
  return std::abs(w) <= static_cast<double>(kMostWholeWeight) && w == std::trunc(w);
}
/// What remarks on such weights end with.
inline constexpr const char* kBeyondInt32 = " is beyond 32 bits (2147483647)";

/// True if all weights are whole numbers by their kind or origin: int32, or wide ones kept as float64.
inline bool has_whole_weights(const Csr& graph) {
  return graph.weight_kind == WeightKind::int32 || !graph.weight_remarks.wide.empty();
}

/// A number as it lies in a file, at any address, in the machine's byte order.
template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// Where an arc lacks its reverse (with the same weight, as often): row and target. `found` false when there is none.
struct Lonely {
  bool found = false;
  vertex_t source = 0, target = 0;
};
Lonely find_lonely_arc(const Csr& graph);
/// True if every row is sorted by target (and by weight among equal targets).
bool rows_sorted(const Csr& graph);
/// Sorts every row by target, then weight.
void sort_rows(Csr& graph);
/// Merges parallel arcs, keeping the smallest weight. Rows must be sorted.
void merge_parallel_arcs(Csr& graph);

/// Reports the part [from, to] of a long read.
class Progress {
 public:
  Progress(const std::function<void(double)>& call, double from, double to) : call_(call), from_(from), to_(to) {}
  void at(double fraction) const {
    if (call_) call_(from_ + (to_ - from_) * fraction);
  }

 private:
  const std::function<void(double)>& call_;
  double from_, to_;
};

}  // namespace shoal::io
