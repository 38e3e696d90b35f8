// The layout of a .shoal file: its header and section table.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::io {

inline constexpr std::uint32_t kSymmetricFlag = 1;
inline constexpr std::uint32_t kWideFlag = 2;      ///< the float64 weights are whole numbers beyond 32 bits
inline constexpr std::uint32_t kNoColumnFlag = 4;  ///< in caches only: of an edge list whose lines have two columns
inline constexpr const char* kDamaged = "; the file is damaged, write it again";
inline constexpr const char* kWideRemark = "a whole weight of the file it was made from is beyond 32 bits (2147483647)";

enum ShoalSection : std::uint32_t { kOffsets = 1, kTargets = 2, kIntWeights = 3, kRealWeights = 4, kName = 5 };
const char* section_name(std::uint32_t kind);

struct ShoalHeader {
  char magic[8];
  std::uint32_t endian;
  std::uint32_t version;
  std::uint64_t file_bytes;
  std::uint64_t vertices;
  std::uint64_t arcs;
  std::uint32_t weight_kind;
  std::uint32_t flags;
  std::uint32_t sections;
  std::uint32_t checksum;
  std::uint64_t source_bytes;
  std::int64_t source_mtime_ns;
  std::uint32_t read_flags;
  std::uint32_t reading;
  std::uint64_t asked_vertices;
  std::uint64_t source_inode;
  std::int64_t source_ctime_ns;
  char reserved[24];
};
static_assert(sizeof(ShoalHeader) == 128, "the header is a part of the file format");

struct ShoalEntry {
  std::uint32_t kind;
  std::uint32_t checksum;
  std::uint64_t offset;
  std::uint64_t bytes;
  std::uint64_t reserved;
};
static_assert(sizeof(ShoalEntry) == 32, "the section table is a part of the file format");

inline constexpr std::size_t kMostSections = 16;
inline constexpr std::size_t kMostHeadBytes = sizeof(ShoalHeader) + kMostSections * sizeof(ShoalEntry);

/// The header and the table, checked against each other and against the size of the file. The sections are not read.
struct ShoalContents {
  ShoalHeader header;
  std::vector<ShoalEntry> entries;
  const ShoalEntry* find(std::uint32_t kind) const {
    const auto at = std::find_if(entries.begin(), entries.end(), [&](const ShoalEntry& e) { return e.kind == kind; });
    return at == entries.end() ? nullptr : &*at;
  }
};

/// Reads the header and the table. @return what is wrong with them; empty: nothing
/// @param head        the first kMostHeadBytes bytes of the file, or all if it has fewer
/// @param file_bytes  the size of the file
std::string parse_contents(std::string_view head, std::uint64_t file_bytes, ShoalContents& out);

/// CRC-32. @throws UsageError  this build has no zlib
std::uint32_t shoal_checksum(const void* data, std::uint64_t bytes);
/// The checksum of two consecutive pieces, from the checksum of each. @param bytes  size of the second piece
std::uint32_t join_checksums(std::uint32_t first, std::uint32_t second, std::uint64_t bytes);

}  // namespace shoal::io
