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
  /// The expanded size of a member, as the archive states it. @throws UsageError if it is absent, or the size is impossible
  std::uint64_t size(const std::string& member) const;
  /// The first `most` bytes of a member at most, expanded. @throws UsageError if it is absent or damaged
  std::string front(const std::string& member, std::size_t most) const;
  /// A member, expanded, with its checksum verified. @throws UsageError if it is absent, damaged or too large
  Bytes read(const std::string& member) const;

 private:
  struct State;
  State* state_ = nullptr;
};

/// One member: `head`, followed by `bytes` bytes at `data`, which must stay valid until write_zip returns.
struct ZipMember {
  std::string name;
  std::string head;
  const void* data = nullptr;
  std::size_t bytes = 0;
};
/// Writes deflated members to a file that gets its name when it is complete (PendingFile). @throws UsageError with the reason
void write_zip(const std::string& file, const std::vector<ZipMember>& members);

}  // namespace shoal::io
