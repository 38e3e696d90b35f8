// The .shoal file: a graph in the same form as in memory, so that it is read by mapping it.
//
//   Header (128 bytes) | section table (32 bytes each) | sections, each beginning at a multiple of 4096, zeros between
//
// All numbers are little-endian. The header's checksum covers the header (with that field zero) and the table; each section has a
// checksum of its own (CRC-32). A change of the layout raises kVersion. Then older files are refused, and caches are made anew.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "data/formats.hpp"
#include "data/output.hpp"
#include "data/parallel.hpp"
#include "shoal/core/error.hpp"
#include "shoal_file.hpp"
#if defined(SHOAL_HAVE_ZLIB)
#include <zlib.h>
#endif

namespace shoal::io {
namespace {

constexpr char kMagic[8] = {'\x89', 'S', 'H', 'O', 'A', 'L', '\r', '\n'};  // 7-bit and text-mode transfers damage it
constexpr std::uint32_t kVersion = 1;
// Raised if a source file is now read differently, or more is kept of it: older caches are made anew.
constexpr std::uint32_t kReading = 2;
constexpr std::uint32_t kEndianMark = 0x01020304;
constexpr std::uint64_t kAlign = 4096;
constexpr std::int64_t kGrain = 1 << 18;
constexpr std::int64_t kChecksumBlock = std::int64_t{4} << 20;

using Header = ShoalHeader;
using Entry = ShoalEntry;
using Contents = ShoalContents;

#if defined(SHOAL_HAVE_ZLIB)
std::uint32_t checksum(const void* data, std::uint64_t bytes) {
  const auto* p = static_cast<const Bytef*>(data);
  const auto size = static_cast<std::int64_t>(bytes);
  const std::int64_t blocks = (size + kChecksumBlock - 1) / kChecksumBlock;
  std::vector<std::uint32_t> parts(static_cast<std::size_t>(blocks));
  auto length = [&](std::int64_t i) { return std::min(kChecksumBlock, size - i * kChecksumBlock); };
  parallel_tasks(blocks, [&](std::int64_t i) {
    parts[i] = static_cast<std::uint32_t>(crc32_z(crc32_z(0, nullptr, 0), p + i * kChecksumBlock, length(i)));
  });
  auto sum = static_cast<std::uint32_t>(crc32_z(0, nullptr, 0));
  for (std::int64_t i = 0; i < blocks; ++i) sum = static_cast<std::uint32_t>(crc32_combine(sum, parts[i], length(i)));
  return sum;
}
#else
std::uint32_t checksum(const void*, std::uint64_t) {
  throw UsageError(".shoal files need zlib, which this build lacks; build with zlib (Debian: zlib1g-dev)");
}
#endif

std::uint32_t header_checksum(Header header, const Entry* entries) {
  header.checksum = 0;
  std::vector<char> bytes(sizeof(Header) + header.sections * sizeof(Entry));
  std::memcpy(bytes.data(), &header, sizeof(Header));
  if (header.sections > 0) std::memcpy(bytes.data() + sizeof(Header), entries, header.sections * sizeof(Entry));
  return checksum(bytes.data(), bytes.size());
}

/// A section as an array: in place if the bytes outlive the call and are aligned, else a copy.
template <class T>
HostArray<T> array_of(const Source& source, const Entry& e) {
  const char* at = source.bytes.data + e.offset;
  const auto count = static_cast<std::int64_t>(e.bytes / sizeof(T));
  if (source.bytes.keep && reinterpret_cast<std::uintptr_t>(at) % alignof(T) == 0)
    return {const_cast<T*>(reinterpret_cast<const T*>(at)), count, source.bytes.keep};
  HostArray<T> copy(count);
  if (count > 0) std::memcpy(copy.data(), at, e.bytes);
  return copy;
}

/// The file and the options from which a cache was made.
CacheKey key_of(const Header& h) {
  return {{h.source_bytes, h.source_mtime_ns, h.source_inode, h.source_ctime_ns}, h.read_flags, h.asked_vertices};
}

}  // namespace

const char* section_name(std::uint32_t kind) {
  static constexpr const char* kNames[] = {"?", "offsets", "targets", "weights", "weights", "name"};
  return kind <= kName ? kNames[kind] : "?";
}

std::uint32_t shoal_checksum(const void* data, std::uint64_t bytes) { return checksum(data, bytes); }

#if defined(SHOAL_HAVE_ZLIB)
std::uint32_t join_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(bytes)));
}
#else
std::uint32_t join_checksums(std::uint32_t first, std::uint32_t, std::uint64_t) { return first; }
#endif

std::string parse_contents(std::string_view bytes, std::uint64_t file_bytes, Contents& out) {
  if (bytes.size() < sizeof(Header))
    return "holds " + std::to_string(bytes.size()) + " bytes, fewer than a header of 128";
  Header& h = out.header;
  std::memcpy(&h, bytes.data(), sizeof(Header));
  if (std::memcmp(h.magic, kMagic, sizeof(kMagic)) != 0) return "does not begin as a .shoal file";
  if (h.endian != kEndianMark) return "was written on a machine of the other byte order";
  if (h.version != kVersion)
    return "has format version " + std::to_string(h.version) + ", this is " + std::to_string(kVersion);
  if (h.file_bytes != file_bytes)
    return "holds " + std::to_string(file_bytes) + " bytes instead of " + std::to_string(h.file_bytes);
  if (h.sections > kMostSections || sizeof(Header) + h.sections * sizeof(Entry) > bytes.size())
    return "has " + std::to_string(h.sections) + " sections";
  out.entries.resize(h.sections);
  if (h.sections > 0) std::memcpy(out.entries.data(), bytes.data() + sizeof(Header), h.sections * sizeof(Entry));
  if (header_checksum(h, out.entries.data()) != h.checksum) return "the checksum of its header is wrong";
  if (h.vertices > static_cast<std::uint64_t>(kMaxVertices)) return "has " + std::to_string(h.vertices) + " vertices";
  if (h.arcs > file_bytes / sizeof(vertex_t)) return "has " + std::to_string(h.arcs) + " arcs";
  if (h.weight_kind > 2) return "has weights of kind " + std::to_string(h.weight_kind);
  std::uint64_t end = sizeof(Header) + h.sections * sizeof(Entry);
  std::uint32_t seen = 0;
  for (const Entry& e : out.entries) {
    if (e.kind < kOffsets || e.kind > kName || (seen >> e.kind & 1) != 0)
      return "section " + std::to_string(e.kind) + " is unknown or occurs twice";
    seen |= 1u << e.kind;
    const std::string which = std::string("section ") + section_name(e.kind);
    if (e.offset % kAlign != 0 || e.offset < end || e.offset > file_bytes || e.bytes > file_bytes - e.offset)
      return which + " lies outside the file or overlaps another";
    end = e.offset + e.bytes;
    const std::uint64_t wanted = e.kind == kOffsets      ? (h.vertices + 1) * sizeof(arc_t)
                                 : e.kind == kTargets    ? h.arcs * sizeof(vertex_t)
                                 : e.kind == kIntWeights ? h.arcs * sizeof(std::int32_t)
                                 : e.kind == kName       ? e.bytes
                                                         : h.arcs * sizeof(double);
    if (e.bytes != wanted) return which + " has the wrong size";
  }
  const std::uint32_t weights = h.weight_kind == 0 ? 0 : h.weight_kind == 1 ? 1u << kIntWeights : 1u << kRealWeights;
  if ((seen & ~(1u << kName)) != (1u << kOffsets | 1u << kTargets | weights)) return "lacks sections or has too many";
  return "";
}

bool shoal_matches(std::string_view bytes, const CacheKey& key) {
  Contents contents;
  const Header& h = contents.header;
  return parse_contents(bytes, bytes.size(), contents).empty() && h.reading == kReading && key_of(h) == key;
}

bool is_cache(std::string_view bytes) {
  if (!bytes.starts_with(std::string_view(kMagic, sizeof kMagic))) return false;
  Header h;
  if (bytes.size() < sizeof h) return true;  // what is left of one
  std::memcpy(&h, bytes.data(), sizeof h);
  return key_of(h) != CacheKey{};
}

std::string reseal_shoal(std::string bytes) {
  Header h;
  if (bytes.size() < sizeof(Header)) return bytes;
  std::memcpy(&h, bytes.data(), sizeof(Header));
  h.file_bytes = bytes.size();
  std::vector<Entry> entries(std::min<std::size_t>(h.sections, (bytes.size() - sizeof(Header)) / sizeof(Entry)));
  char* table = bytes.data() + sizeof(Header);
  if (!entries.empty()) std::memcpy(entries.data(), table, entries.size() * sizeof(Entry));
  for (Entry& e : entries)
    if (e.offset <= bytes.size() && e.bytes <= bytes.size() - e.offset)
      e.checksum = checksum(&bytes[e.offset], e.bytes);
  if (!entries.empty()) std::memcpy(table, entries.data(), entries.size() * sizeof(Entry));
  if (entries.size() == h.sections) h.checksum = header_checksum(h, entries.data());
  std::memcpy(bytes.data(), &h, sizeof(Header));
  return bytes;
}

Csr read_shoal(const Source& source) {
  Contents contents;
  const std::string wrong = parse_contents(source.view(), source.view().size(), contents);
  if (!wrong.empty()) source.raise(wrong + kDamaged);
  for (const Entry& e : contents.entries)
    if (checksum(source.bytes.data + e.offset, e.bytes) != e.checksum)
      source.raise(std::string("the checksum of section ") + section_name(e.kind) + " is wrong" + kDamaged);
  const Header& h = contents.header;
  const auto n = static_cast<std::int64_t>(h.vertices);
  const auto m = static_cast<std::int64_t>(h.arcs);
  const GraphSize size{n, m, static_cast<WeightKind>(h.weight_kind), (h.flags & kSymmetricFlag) != 0};
  source.require_room(size, source.bytes.keep && !source.options.dedup ? 0 : csr_bytes(size));
  Csr graph;
  graph.offsets = array_of<arc_t>(source, *contents.find(kOffsets));
  graph.targets = array_of<vertex_t>(source, *contents.find(kTargets));
  graph.weight_kind = static_cast<WeightKind>(h.weight_kind);
  if (const Entry* e = contents.find(kIntWeights)) graph.int_weights = array_of<std::int32_t>(source, *e);
  if (const Entry* e = contents.find(kRealWeights)) graph.real_weights = array_of<double>(source, *e);
  graph.symmetric = (h.flags & kSymmetricFlag) != 0;
  if (h.weight_kind == 2 && (h.flags & kWideFlag) != 0) {
    parallel_ranges(m, kGrain, [&](std::int64_t b, std::int64_t e) {
      for (std::int64_t a = b; a < e; ++a)
        if (!is_whole_weight(graph.real_weights[a]))
          source.raise("the weight of arc " + std::to_string(a) + " is no whole number up to 2^53, as the header says" +
                       kDamaged);
    });
    graph.weight_remarks.wide = kWideRemark;
  }
  if ((h.flags & kNoColumnFlag) != 0) graph.weight_remarks.missing = kNoColumn;
  if (graph.offsets[0] != 0 || graph.offsets[n] != m)
    source.raise(std::string("the offsets do not span the arcs") + kDamaged);
  parallel_ranges(n, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t v = b; v < e; ++v)
      if (graph.offsets[v] > graph.offsets[v + 1])
        source.raise("the offsets decrease behind vertex " + std::to_string(v) + kDamaged);
  });
  parallel_ranges(m, kGrain, [&](std::int64_t b, std::int64_t e) {
    for (std::int64_t a = b; a < e; ++a)
      if (graph.targets[a] >= n)
        source.raise("arc " + std::to_string(a) + " ends at vertex " + std::to_string(graph.targets[a]) +
                     ", which is outside 0.." + std::to_string(n - 1) + kDamaged);
  });
  if (!rows_sorted(graph)) source.raise(std::string("a row is not sorted") + kDamaged);
  if (source.options.dedup) merge_parallel_arcs(graph);
  return graph;
}

void write_shoal(const Csr& graph, const std::string& file, const CacheKey& key) {
  if (!rows_sorted(graph)) throw UsageError(file + ": the graph's rows are not sorted by target; sort them first");
  struct Part {
    std::uint32_t kind;
    const void* data;
    std::uint64_t bytes;
  };
  auto part = [](std::uint32_t kind, const auto& array) {
    return Part{kind, array.data(), static_cast<std::uint64_t>(array.size()) * sizeof(*array.data())};
  };
  std::vector<Part> parts{part(kOffsets, graph.offsets), part(kTargets, graph.targets)};
  if (graph.weight_kind == WeightKind::int32) parts.push_back(part(kIntWeights, graph.int_weights));
  if (graph.weight_kind == WeightKind::float64) parts.push_back(part(kRealWeights, graph.real_weights));
  if (!graph.name.empty()) parts.push_back({kName, graph.name.data(), graph.name.size()});
  Header h{};
  std::memcpy(h.magic, kMagic, sizeof(kMagic));
  h.endian = kEndianMark;
  h.version = kVersion;
  h.vertices = static_cast<std::uint64_t>(graph.num_vertices());
  h.arcs = static_cast<std::uint64_t>(graph.num_arcs());
  h.weight_kind = static_cast<std::uint32_t>(graph.weight_kind);
  h.flags = (graph.symmetric ? kSymmetricFlag : 0) | (graph.weight_remarks.wide.empty() ? 0 : kWideFlag) |
            (key == CacheKey{} || graph.weight_remarks.missing.empty() ? 0 : kNoColumnFlag);
  h.sections = static_cast<std::uint32_t>(parts.size());
  h.source_bytes = key.source.bytes;
  h.source_mtime_ns = key.source.mtime_ns;
  h.source_inode = key.source.inode;
  h.source_ctime_ns = key.source.ctime_ns;
  h.read_flags = key.read_flags;
  h.reading = kReading;
  h.asked_vertices = key.asked_vertices;
  std::vector<Entry> entries;
  std::uint64_t end = sizeof(Header) + parts.size() * sizeof(Entry);
  for (const Part& p : parts) {
    const std::uint64_t begin = (end + kAlign - 1) / kAlign * kAlign;
    entries.push_back({p.kind, checksum(p.data, p.bytes), begin, p.bytes, 0});
    end = begin + p.bytes;
  }
  h.file_bytes = end;
  h.checksum = header_checksum(h, entries.data());
  PendingFile out(file);
  out.write(&h, sizeof(h));
  out.write(entries.data(), entries.size() * sizeof(Entry));
  std::uint64_t at = sizeof(Header) + entries.size() * sizeof(Entry);
  const std::vector<char> zeros(kAlign, 0);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    out.write(zeros.data(), entries[i].offset - at);
    out.write(parts[i].data, parts[i].bytes);
    at = entries[i].offset + parts[i].bytes;
  }
  out.commit();
}

}  // namespace shoal::io
