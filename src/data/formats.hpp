// The file formats of read_graph and write_graph. Private to this folder, but also used by tests and fuzzers.
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
  csv,                 ///< .csv: as tsv, but written with commas
  gapbs,               ///< .sg
  gapbs_weighted,      ///< .wsg
  npz,                 ///< .npz
  shoal,               ///< .shoal
};
bool is_text(Format format);
const char* name(Format format);

/// The format and the compression of a file.
struct FileKind {
  Format format;
  Compression compression = Compression::none;
};
/// Finds the kind of a file by its name. @throws UsageError listing the known endings
/// @param known  text for the error message about the file: "there is no such file, and "
FileKind kind_of(const std::string& file, const std::string& known = "");
/// The same for a file that is to be written.
FileKind kind_to_write(const std::string& file);
/// The same for an ending alone, with or without its dot. @throws UsageError listing the known endings
FileKind kind_named(const std::string& ending);

/// The input of a reader.
struct Source {
  Bytes bytes;       ///< the whole file, expanded
  std::string name;  ///< for messages
  ReadOptions options;
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  ///< most bytes that the arrays may take

  std::string_view view() const { return bytes.view(); }
  /// @throws UsageError `name: message`
  [[noreturn]] void raise(const std::string& message) const;
  /// @throws UsageError  the file is empty
  void require_bytes() const;
  /// Checks that there is enough memory for a graph of this size.
  /// @param bytes  that reading it takes
  /// @param place  returns the start of the error message, `file:line: ...`; called only if it throws; default: the file
  /// @throws CapacityError if memory_bytes is less than `bytes`, or less than options.needs returns
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

/// The file and the options from which a cache was made; all zero in a .shoal file that is not a cache.
struct CacheKey {
  FileFacts source;
  std::uint32_t read_flags = 0;      ///< 1: undirected, 2: dedup; bits 2 and up: 1 + the format that was asked for
  std::uint64_t asked_vertices = 0;  ///< 1 + the number of vertices that was asked for; 0: none was asked for
  bool operator==(const CacheKey&) const = default;
};
void write_shoal(const Csr& graph, const std::string& file, const CacheKey& key = {});
/// True if `bytes` begin with an intact header of a cache made with this key.
bool shoal_matches(std::string_view bytes, const CacheKey& key);
/// True if `bytes` begin as a cache does, of whatever file, also if what follows is damaged.
bool is_cache(std::string_view bytes);

/// The same file with checksums and length corrected to match its content, as far as the content allows. With it, tests get past
/// the checksums, to the checks that follow them.
std::string reseal_shoal(std::string bytes);

/// Reads a graph of the given format from memory, for tests and fuzzers.
/// @param bytes         expanded (no .gz or .zst); read only during the call
/// @param name          used in messages, and as the graph's name
/// @param memory_bytes  a graph whose arrays would be larger is refused with CapacityError
Csr read_graph_bytes(Format format, std::string_view bytes, const std::string& name, const ReadOptions& options = {},
                     std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max());

/// Prepares a source for a reader of text: removes a byte order mark (kTextMark). @throws UsageError  it is not plain text
Source plain_source(const Source& file);

/// As read_graph_bytes, but the graph may keep the bytes (of a mapped file).
Csr read_graph_source(Format format, const Source& source);

// Checks and steps that several formats use.

/// True if a whole weight beyond 32 bits may have this value.
inline bool is_whole_weight(double w) {
  return std::abs(w) <= static_cast<double>(kMostWholeWeight) && w == std::trunc(w);
}
/// The end of remarks on such weights.
inline constexpr const char* kBeyondInt32 = " is beyond 32 bits (2147483647)";

/// True if all weights are known to be whole numbers: they are int32, or whole weights beyond 32 bits stored as float64.
inline bool has_whole_weights(const Csr& graph) {
  return graph.weight_kind == WeightKind::int32 || !graph.weight_remarks.wide.empty();
}

/// Loads a number of a file from any address, aligned or not, in the machine's byte order.
template <class T>
T load(const char* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

/// An arc that lacks its reverse (with the same weight, equally often): its row and target. `found` is false if there is none.
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

/// Reports progress from 0 to 1 as the part [from, to] of a long read.
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
