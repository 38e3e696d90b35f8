// The doors: the format follows from the name; errors of every reader carry the file's name.
#include "shoal/data/io.hpp"

#include <array>

#include "formats.hpp"
#include "shoal/core/error.hpp"
#include "text.hpp"

namespace shoal {
namespace io {
namespace {

struct Ending {
  std::string_view text;
  Format format;
};
constexpr std::array<Ending, 12> kEndings{{{".mtx", Format::matrix_market},
                                           {".gr", Format::dimacs},
                                           {".graph", Format::metis},
                                           {".el", Format::edge_list},
                                           {".txt", Format::edge_list},
                                           {".wel", Format::weighted_edge_list},
                                           {".tsv", Format::tsv},
                                           {".csv", Format::csv},
                                           {".sg", Format::gapbs},
                                           {".wsg", Format::gapbs_weighted},
                                           {".npz", Format::npz},
                                           {".shoal", Format::shoal}}};
constexpr const char* kKnown = ".mtx .gr .graph .el .wel .txt .tsv .csv (each also .gz or .zst), .sg .wsg .npz .shoal";

bool ends_with(std::string_view text, std::string_view ending) {
  return text.size() > ending.size() && same_word(text.substr(text.size() - ending.size()), ending);
}

/// A compressed file under a plain name is said to be one, rather than full of strange numbers.
void refuse_hidden_compression(const Source& source) {
  const std::string_view bytes = source.view();
  const char* ending = bytes.starts_with("\x1f\x8b") ? ".gz" : bytes.starts_with("\x28\xb5\x2f\xfd") ? ".zst" : nullptr;
  if (ending != nullptr)
    source.raise(std::string("holds compressed data; let the name end in ") + ending + ", or unpack it");
  if (bytes.starts_with("BZh") || bytes.starts_with("\xfd"
                                                    "7zXZ"))
    source.raise("holds data compressed by bzip2 or xz, which is not read; unpack it (bunzip2, unxz)");
}

std::uint32_t read_flags(const ReadOptions& options) {
  return (options.undirected ? 1u : 0u) | (options.dedup ? 2u : 0u);
}

}  // namespace

bool is_text(Format format) { return format < Format::gapbs; }

const char* name(Format format) {
  static constexpr const char* kNames[] = {"mtx", "gr", "graph", "el",  "wel",  "tsv",
                                           "csv", "sg", "wsg",   "npz", "shoal"};
  return kNames[static_cast<int>(format)];
}

FileKind kind_of(const std::string& file) {
  std::string_view plain = file;
  FileKind kind{};
  if (ends_with(plain, ".gz")) kind.compression = Compression::gzip;
  if (ends_with(plain, ".zst")) kind.compression = Compression::zstd;
  if (kind.compression != Compression::none) plain.remove_suffix(kind.compression == Compression::gzip ? 3 : 4);
  for (const Ending& ending : kEndings) {
    if (!ends_with(plain, ending.text)) continue;
    kind.format = ending.format;
    if (kind.compression != Compression::none && !is_text(kind.format))
      throw UsageError(file + ": " + std::string(ending.text) + " files are not read or written compressed; unpack it");
    return kind;
  }
  const bool like_generator = file.find_first_of("./") == std::string::npos;
  throw UsageError(file + ": the name says no graph format; the known endings are " + kKnown +
                   (like_generator ? "; generators are kron:S road:N uniform:S chain:N star:N complete:N" : ""));
}

void Source::raise(const std::string& message) const { throw UsageError(name + ": " + message); }

void Source::require_room(std::int64_t vertices, std::int64_t arcs, std::int64_t bytes_per_arc) const {
  const std::int64_t wanted = (vertices + 1) * static_cast<std::int64_t>(sizeof(arc_t)) + arcs * bytes_per_arc;
  if (wanted > memory_bytes)
    throw CapacityError(name + ": " + std::to_string(vertices) + " vertices and " + std::to_string(arcs) +
                        " arcs take " + std::to_string(wanted) + " bytes, " + std::to_string(memory_bytes) +
                        " are free; use a machine with more memory, or renumber the vertices without gaps");
}

Csr read_graph_source(Format format, const Source& source) {
  if (source.bytes.size == 0) source.raise("the file is empty; a graph was expected");
  if (is_text(format)) refuse_hidden_compression(source);
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
  if (source.options.progress) source.options.progress(1);
  return graph;
}

Csr read_graph_bytes(Format format, std::string_view bytes, const std::string& name, const ReadOptions& options,
                     std::int64_t memory_bytes) {
  return read_graph_source(format, Source{{bytes.data(), bytes.size(), nullptr}, name, options, memory_bytes});
}

}  // namespace io

Csr read_graph(const std::string& file, const ReadOptions& options) {
  const io::FileKind kind = io::kind_of(file);
  io::Source source;
  source.name = file;
  source.options = options;
  source.memory_bytes = io::available_memory();
  const bool mapped = kind.format == io::Format::shoal;
  const bool cached = options.use_cache && !mapped;
  const std::string cache = file + ".shoal";
  io::FileFacts facts;
  source.bytes = io::read_file(file, mapped, &facts);
  const io::CacheKey key{facts.bytes, facts.mtime_ns, io::read_flags(options)};
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
      // No cache, or a damaged one: the file itself is read and the cache made anew.
    }
  }
  if (kind.compression != io::Compression::none) {
    const io::Progress progress(options.progress, 0, 0.5);
    source.bytes = io::expand(kind.compression, source.view(), file, source.memory_bytes,
                              [&](double fraction) { progress.at(fraction); });
  }
  Csr graph = io::read_graph_source(kind.format, source);
  if (cached) {
    try {
      io::write_shoal(graph, cache, key);
    } catch (const UsageError&) {
      // The place is not writable: the graph is there all the same, only the next read will not be faster.
    }
  }
  return graph;
}

void write_graph(const Csr& graph, const std::string& file) {
  const io::FileKind kind = io::kind_of(file);
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
