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

/// What tells a file from another, or from what it was before: as it was when it was opened. A file with the same size and
/// modification time may have another content, if it was renamed, unpacked or copied to this place.
struct FileFacts {
  std::uint64_t bytes = 0;
  std::int64_t mtime_ns = 0;
  std::uint64_t inode = 0;
  std::int64_t ctime_ns = 0;  ///< of the last change of its content, name, owner or mode
  bool operator==(const FileFacts&) const = default;
};

/// The name of standard input, on the command line and in messages.
inline constexpr const char* kStandardInput = "-";

inline constexpr const char* kIsDirectory = ": is a directory; name a graph file in it";

/// The end of the error about --undirected for a file that says itself which arcs it has.
inline constexpr const char* kNotAList =
    "--undirected is for edge lists; leave it out, or convert the file to .el and read that with --undirected";

/// For WeightRemarks::missing, of an edge list whose lines have two columns.
inline constexpr const char* kNoColumn = "as column 3 is missing";

/// The bytes of a regular file or a FIFO; those of standard input if the name is kStandardInput. Large files are mapped, and must
/// not shrink while they are used.
/// @param map    map the file whatever its size; otherwise small files are copied, so that truncation cannot harm
/// @param facts  set if it is a regular file
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
