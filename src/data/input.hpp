// Brings files into memory as bytes: maps them, reads them, or expands them from gzip or zstd.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::io {

enum class Compression { none, gzip, zstd };

/// Bytes, and the owner of their memory.
struct Bytes {
  const char* data = nullptr;
  std::size_t size = 0;
  std::shared_ptr<void> keep;  ///< null: the caller owns the bytes, and they are valid only during the call
  bool mapped = false;         ///< they are a mapped file, whose pages may be given back
  std::string_view view() const { return {data, size}; }
};

/// The size and modification time that a file had when it was opened.
struct FileFacts {
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
};

/// The name of standard input, on the command line and in messages.
inline constexpr const char* kStandardInput = "-";

inline constexpr const char* kIsDirectory = ": is a directory; name a graph file in it";

/// The bytes of a regular file or a FIFO; those of standard input if the name is kStandardInput. Large files are mapped, and must
/// not shrink while they are used.
/// @param map  map the file whatever its size; otherwise small files are copied, so that truncation cannot harm
/// @throws UsageError     naming the file and the system's reason
/// @throws CapacityError  a FIFO gives more bytes than there is free memory
Bytes read_file(const std::string& file, bool map = false, FileFacts* facts = nullptr);

/// Expands gzip (also several members) or zstd (also several frames).
/// Refuses data that expands to more than 64 MiB and more than 400 times its size, or to more than `memory_bytes`.
/// @throws CapacityError  more than `memory_bytes`
/// @throws UsageError     cut off, corrupt, trailing bytes, or this build lacks the library
Bytes expand(Compression compression, std::string_view bytes, const std::string& name, std::int64_t memory_bytes,
             const std::function<void(double)>& progress = {});

}  // namespace shoal::io
