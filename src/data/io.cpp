// The public functions. They find the format from the file name, and make sure that every error names the file.
#include "shoal/data/io.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>

#include "core/memory.hpp"
#include "formats.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/pending_file.hpp"
#include "text.hpp"

namespace shoal {
namespace io {
namespace {

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array<Ending, 14> kEndings{{{".mtx", Format::matrix_market},
                                           {".gr", Format::dimacs},
                                           {".graph", Format::metis},
                                           {".el", Format::edge_list},
                                           {".edges", Format::edge_list},
                                           {".edgelist", Format::edge_list},
                                           {".txt", Format::edge_list},
                                           {".wel", Format::weighted_edge_list},
                                           {".tsv", Format::tsv},
                                           {".csv", Format::csv},
                                           {".sg", Format::gapbs},
                                           {".wsg", Format::gapbs_weighted},
                                           {".npz", Format::npz},
                                           {".shoal", Format::shoal}}};
constexpr const char* kKnown =
    ".mtx .gr .graph .el .edges .edgelist .wel .txt .tsv .csv (each also .gz or .zst), .sg .wsg .npz .shoal";

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() > ending.size() && same_word(text.substr(text.size() - ending.size()), ending);
}

/// Reports compressed data under a name without .gz or .zst as such. A text reader would report strange numbers.
void refuse_hidden_compression(const Source& source) {
  const std::string_view bytes = source.view();
  const char* ending = bytes.starts_with("\x1f\x8b") ? ".gz" : bytes.starts_with("\x28\xb5\x2f\xfd") ? ".zst" : nullptr;
  if (ending != nullptr)
    source.raise(std::string("holds compressed data; let the name end in ") + ending +
                 ", give the format with it, such as --format el" + ending + ", or unpack it");
  if (bytes.starts_with("PK\x03\x04"))
    source.raise(
        "holds a zip archive; unpack it, or if it is a SciPy matrix, let its name end in .npz, or add --format npz");
  if (bytes.starts_with("BZh") || bytes.starts_with("\xfd"
                                                    "7zXZ"))
    source.raise("holds data compressed by bzip2 or xz, which is not read; unpack it (bunzip2, unxz)");
}

/// Removes the byte order mark with which editors on Windows begin a text.
Source plain_text(const Source& source) {
  Source text = source;
  const std::string_view bytes = source.view();
  if (bytes.starts_with("\xff\xfe") || bytes.starts_with("\xfe\xff"))
    source.raise("is UTF-16 text, which is not read; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)");
  if (bytes.starts_with(kTextMark)) {
    text.bytes.data += kTextMark.size();
    text.bytes.size -= kTextMark.size();
  }
  return text;
}

CacheKey cache_key(const FileFacts& facts, const ReadOptions& options, Format format) {
  const auto asked = options.format.empty() ? 0u : static_cast<std::uint32_t>(format) + 1;
  const auto flags = (options.undirected ? 1u : 0u) | (options.dedup ? 2u : 0u) | asked << 2;
  return {facts, flags, static_cast<std::uint64_t>(options.num_vertices.value_or(-1) + 1)};
}

void check_range(const Source& source) {
  const auto& n = source.options.num_vertices;
  if (n && (*n < 0 || *n > kMaxVertices))
    source.raise("--vertices " + std::to_string(*n) + " is out of range; legal are 0 to " +
                 std::to_string(kMaxVertices));
}

/// @param is_list  the format is one of edge lists, in which a line may stand for two arcs
void check_undirected(const Source& source, const Csr& graph, bool is_list) {
  if (source.options.undirected && !is_list && !graph.symmetric) source.raise(kNotAList);
}

void check_vertices(const Source& source, const Csr& graph) {
  const auto& n = source.options.num_vertices;
  if (n && *n != graph.num_vertices())
    source.raise("declares " + counted(graph.num_vertices(), "vertex", "vertices") + ", but --vertices is " +
                 grouped(*n) + "; leave --vertices out");
}

/// Finds the kind of a file from the ending of its name.
/// @param begin  the start of the error message
/// @return false: the ending is not known
/// @throws UsageError  the format cannot be compressed, but the name ends in .gz or .zst
bool find_kind(std::string_view plain, const std::string& begin, FileKind& kind) {
  kind = {};
  if (ends_with(plain, ".gz")) kind.compression = Compression::gzip;
  if (ends_with(plain, ".zst")) kind.compression = Compression::zstd;
  if (kind.compression != Compression::none) plain.remove_suffix(kind.compression == Compression::gzip ? 3 : 4);
  for (const Ending& ending : kEndings) {
    if (!ends_with(plain, ending.text)) continue;
    kind.format = ending.format;
    if (kind.compression != Compression::none && !is_text(kind.format))
      throw UsageError(
          begin + std::string(ending.text) +
          " files are not read or written compressed; unpack it, or leave the ending of the compression out");
    return true;
  }
  return false;
}

}  // namespace

bool is_text(Format format) { return format < Format::gapbs; }

const char* name(Format format) {
  static constexpr const char* kNames[] = {"mtx", "gr", "graph", "el",  "wel",  "tsv",
                                           "csv", "sg", "wsg",   "npz", "shoal"};
  return kNames[static_cast<int>(format)];
}

FileKind kind_of(const std::string& file, const std::string& known) {
  FileKind kind{};
  const std::string begin = file + ": " + known;
  if (find_kind(file, begin, kind)) return kind;
  if (file == kStandardInput || file == "/dev/stdin")
    throw UsageError(
        file +
        ": standard input has no file name that tells the graph format; give it, such as --format el (in Python, "
        "format=\"el\"); known are " +
        kKnown);
  // Formats that NetworkX reads and shoal does not.
  for (const std::string_view foreign :
       {".gml", ".graphml", ".gexf", ".net", ".dot", ".adjlist", ".json", ".g6", ".s6"})
    if (ends_with(file, foreign))
      throw UsageError(
          begin + std::string(foreign) +
          " files are not read; read it with NetworkX, and write it with "
          "networkx.write_weighted_edgelist(networkx.convert_node_labels_to_integers(graph), 'graph.wel')");
  throw UsageError(begin + "the name has no ending of a graph format; the known endings are " + kKnown +
                   "; to read a file of any name, give its format, such as --format el");
}

FileKind kind_to_write(const std::string& file) {
  FileKind kind{};
  if (find_kind(file, file + ": ", kind)) return kind;
  if (file == "-" || is_standard_output(file))
    throw UsageError(file +
                     ": a graph is not written to standard output, which has no ending that names a format; give a "
                     "file or FIFO with one, such as graph.el (mkfifo graph.el); the known endings are " +
                     kKnown);
  throw UsageError(
      file + ": the name of a graph to write needs an ending that names its format; the known endings are " + kKnown);
}

FileKind kind_named(const std::string& ending) {
  FileKind kind{};
  const std::string dotted = std::string("x") + (ending.starts_with('.') ? "" : ".") + ending;
  if (ending.find('/') != std::string::npos || !find_kind(dotted, "format '" + ending + "': ", kind))
    throw UsageError("format '" + ending + "' is not known; the known endings are " + kKnown);
  return kind;
}

void Source::raise(const std::string& message) const { throw UsageError(name + ": " + message); }

void Source::require_bytes() const {
  if (bytes.size == 0) raise("the file is empty; a graph was expected");
}

void Source::require_room(const GraphSize& size, std::int64_t bytes, const std::function<std::string()>& place) const {
  if (options.needs) bytes = std::max(bytes, options.needs(size));
  if (bytes <= memory_bytes) return;
  throw CapacityError((place ? place() : name + ":") + " " + too_large(size.vertices, size.arcs, bytes, memory_bytes));
}

Source plain_source(const Source& file) {
  check_range(file);
  refuse_hidden_compression(file);
  Source source = plain_text(file);
  source.require_bytes();
  return source;
}

Csr read_graph_source(Format format, const Source& file) {
  check_range(file);
  const Source source = is_text(format) ? plain_source(file) : file;
  source.require_bytes();
  Csr graph;
  switch (format) {
    case Format::matrix_market:
      graph = read_matrix_market(source);
      break;
    case Format::dimacs:
      graph = read_dimacs(source);
      break;
    case Format::metis:
      graph = read_metis(source);
      break;
    case Format::edge_list:
    case Format::weighted_edge_list:
    case Format::tsv:
    case Format::csv:
      graph = read_edge_list(source, format);
      break;
    case Format::gapbs:
      graph = read_gapbs(source, false);
      break;
    case Format::gapbs_weighted:
      graph = read_gapbs(source, true);
      break;
    case Format::npz:
      graph = read_npz(source);
      break;
    case Format::shoal:
      graph = read_shoal(source);
      break;
  }
  graph.name = source.name;
  check_vertices(source, graph);
  const bool is_list = format == Format::edge_list || format == Format::weighted_edge_list || format == Format::tsv ||
                       format == Format::csv;
  check_undirected(source, graph, is_list);
  if (source.options.progress) source.options.progress(1);
  return graph;
}

Csr read_graph_bytes(Format format, std::string_view bytes, const std::string& name, const ReadOptions& options,
                     std::int64_t memory_bytes) {
  return read_graph_source(format, Source{{bytes.data(), bytes.size(), nullptr}, name, options, memory_bytes});
}

}  // namespace io

namespace {

/// The kind of a file, by its name. If the ending is not known and there is no such file, the name may be a misspelt generator,
/// so the error lists the generators.
io::FileKind kind_to_read(const std::string& file) {
  std::error_code ignored;
  const bool none = file != io::kStandardInput && !std::filesystem::exists(file, ignored);
  try {
    return io::kind_of(file, none ? "there is no such file, and " : "");
  } catch (const UsageError& error) {
    if (!none) throw;
    if (file.find_first_of("./") != std::string::npos) throw FileError(ENOENT, file, error.what());
    throw FileError(ENOENT, file,
                    file +
                        ": there is no such file, and no such generator; generators are kron:S road:N uniform:S "
                        "community:S chain:N star:N complete:N, for example kron:18; the known endings are " +
                        io::kKnown);
  }
}

/// A cache is kept beside a regular file only. It is written without being asked for by name, so it must not replace anything else.
/// @throws UsageError  `file` is a pipe; or `cache` is there, and is no cache or cannot be read
void check_place_of_cache(const std::string& file, const std::string& cache) {
  std::error_code ignored;
  const auto is_other = [&](const std::string& name) {
    return std::filesystem::exists(name, ignored) && !std::filesystem::is_regular_file(name, ignored);
  };
  if (is_other(file))
    throw UsageError(file + ": a cache is kept beside a regular file, which this is not; leave --cache out");
  if (!std::filesystem::exists(cache, ignored) || std::filesystem::is_directory(cache, ignored)) return;
  const bool other = is_other(cache);
  const io::Bytes there = other ? io::Bytes{} : io::read_file(cache, true);
  if (other || (there.size > 0 && !io::is_cache(there.view())))
    throw UsageError(cache +
                     ": is there and is no cache, so --cache does not replace it; move it away, or leave --cache out");
}

Csr read_file_as_graph(const std::string& file, const ReadOptions& options, std::int64_t memory_bytes) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored)) throw FileError(EISDIR, file, file + io::kIsDirectory);
  const io::FileKind kind = options.format.empty() ? kind_to_read(file) : io::kind_named(options.format);
  if (options.use_cache && file == io::kStandardInput)
    throw UsageError(file + ": a cache is kept beside a file, but standard input is not a file; leave --cache out");
  io::Source source;
  source.name = file;
  source.options = options;
  source.memory_bytes = memory_bytes;
  const bool mapped = kind.format == io::Format::shoal;
  const bool cached = options.use_cache && !mapped;
  const std::string cache = file + ".shoal";
  io::FileFacts facts;
  if (cached) check_place_of_cache(file, cache);
  source.bytes = io::read_file(file, mapped, &facts);
  const io::CacheKey key = io::cache_key(facts, options, kind.format);
  if (cached) {
    try {
      io::Source stored = source;
      stored.bytes = io::read_file(cache, true);
      stored.options.dedup = false;  // already done when the cache was made
      if (io::shoal_matches(stored.view(), key)) {
        Csr graph = io::read_graph_source(io::Format::shoal, stored);
        graph.name = file;
        return graph;
      }
    } catch (const UsageError&) {
      // There is no cache, or it is damaged: the file itself is read, and the cache is made anew.
    }
  }
  if (kind.compression != io::Compression::none) {
    const io::Progress progress(options.progress, 0, 0.5);
    source.bytes = io::expand(kind.compression, source.view(), file, source.memory_bytes,
                              [&](double fraction) { progress.at(fraction); });
    source.memory_bytes -= static_cast<std::int64_t>(source.bytes.size);
  }
  Csr graph = io::read_graph_source(kind.format, source);
  if (cached) {
    try {
      io::write_shoal(graph, cache, key);
    } catch (const UsageError&) {
      // The place is not writable. The graph has been read all the same; only the next read will not be faster.
    }
  }
  return graph;
}

}  // namespace

Csr read_graph(const std::string& file, const ReadOptions& options) {
  const std::int64_t memory_bytes = available_memory();
  try {
    return read_file_as_graph(file, options, memory_bytes);
  } catch (const std::bad_alloc&) {
    throw CapacityError(file + ": reading it takes more than the " + grouped(memory_bytes >> 20) +
                        " MB of memory that are available; use a machine with more memory, or a smaller graph");
  }
}

std::unique_ptr<std::istream> open_text_file(const std::string& file, const std::string& what) {
  std::error_code ignored;
  if (std::filesystem::is_directory(file, ignored))
    throw FileError(EISDIR, file, file + ": is a directory; name a file with " + what);
  errno = 0;
  auto in = std::make_unique<std::ifstream>(file);
  if (!*in) {
    const int code = errno;
    throw FileError(code, file,
                    file + ": cannot be opened: " + std::strerror(code) +
                        "; check the name and its permissions, or write a file with " + what);
  }
  return in;
}

void write_graph(const Csr& graph, const std::string& file) {
  const io::FileKind kind = io::kind_to_write(file);
  if (graph.offsets.empty()) throw UsageError(file + ": there is no graph to write (its offsets are missing)");
  using io::Format;
  switch (kind.format) {
    case Format::matrix_market:
      return io::write_matrix_market(graph, file, kind.compression);
    case Format::dimacs:
      return io::write_dimacs(graph, file, kind.compression);
    case Format::metis:
      return io::write_metis(graph, file, kind.compression);
    case Format::edge_list:
    case Format::weighted_edge_list:
    case Format::tsv:
    case Format::csv:
      return io::write_edge_list(graph, file, kind.format, kind.compression);
    case Format::gapbs:
      return io::write_gapbs(graph, file, false);
    case Format::gapbs_weighted:
      return io::write_gapbs(graph, file, true);
    case Format::npz:
      return io::write_npz(graph, file);
    case Format::shoal:
      return io::write_shoal(graph, file);
  }
}

}  // namespace shoal
