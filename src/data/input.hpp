// Files as bytes in memory: mapped, read, or expanded from gzip or zstd.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::io {

enum class Compression { none, gzip, zstd };

/// Bytes and who owns them.
struct Bytes {
  const char* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<void> keep;  ///< null when somebody else owns the bytes and they live only during the call
  bool mapped = false;         ///< of a file, whose pages may be given back
  std::string_view view() const { return {data, size}; }
};

/// What a file looked like when it was opened.
struct FileFacts {
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
};

/// How standard input is named, on the command line and in messages.
inline constexpr const char* kStandardInput = "-";

inline constexpr const char* kIsDirectory = ": is a directory; name a graph file in it";

/// The bytes of a regular file (large ones mapped, so they must not shrink while they are used) or of a FIFO;
/// of standard input if the name is kStandardInput.
/// @param map  map whatever the size; otherwise small files are copied, which makes them safe against truncation
/// @throws UsageError     naming the file and the system's reason
/// @throws CapacityError  a FIFO that goes on beyond the free memory
Bytes read_file(const std::string& file, bool map = false, FileFacts* facts = nullptr);

/// Expands gzip (also several members) or zstd (also several frames).
/// Refuses what expands to more than 64 MiB and 400 times its size, or beyond `memory_bytes`.
/// @throws CapacityError  more than `memory_bytes`
/// @throws UsageError     cut off, corrupt, trailing bytes, or this build lacks the library
Bytes expand(Compression compression, std::string_view bytes, const std::string& name, std::int64_t memory_bytes,
             const std::function<void(double)>& progress = {});

}  // namespace shoal::io
