// Members of a zip archive, through libzip.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/input.hpp"

namespace shoal::io {

/// A zip archive in memory.
class ZipReader {
 public:
  /// @param bytes  must outlive the reader
  /// @throws UsageError  not a zip archive, damaged, or this build lacks libzip
  ZipReader(std::string_view bytes, const std::string& name, std::int64_t memory_bytes);
  ~ZipReader();
  ZipReader(const ZipReader&) = delete;
  ZipReader& operator=(const ZipReader&) = delete;

  bool has(const std::string& member) const;
  /// Bytes of a member, expanded, as the archive says. @throws UsageError when it is absent, or that cannot be
  std::uint64_t size(const std::string& member) const;
  /// The first bytes of a member, expanded: at most so many. @throws UsageError when it is absent or damaged
  std::string front(const std::string& member, std::size_t most) const;
  /// A member, expanded, its checksum compared. @throws UsageError when it is absent, damaged or too large
  Bytes read(const std::string& member) const;

 private:
  struct State;
  State* state_ = nullptr;
};

/// One member: pieces that follow each other; the pieces must live until write_zip returns.
struct ZipMember {
  std::string name;
  std::string head;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
/// Writes deflated members through a temporary name. @throws UsageError with the reason
void write_zip(const std::string& file, const std::vector<ZipMember>& members);

}  // namespace shoal::io
