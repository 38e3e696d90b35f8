// Files that appear complete or not at all: they are written without a name, and get their name when they are complete.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace shoal::io {

/// The name of standard output. PendingFile appends to it in place.
inline constexpr const char* kStandardOutput = "/proc/self/fd/1";

/// Whether a name stands for standard output: kStandardOutput, /dev/stdout, /dev/fd/1, or a link to one of them.
bool is_standard_output(const std::string& file);

/// Whether two names, with links followed, lead to the same regular file, or to the same place where no file exists yet.
bool is_same_file(const std::string& a, const std::string& b);

class TemporaryFile;

/// A file that does not have its name yet. If it is destroyed without commit(), it leaves nothing behind. The same holds if
/// the process ends, in any way, on file systems that have files without a name (O_TMPFILE: ext4, XFS, Btrfs, tmpfs and
/// others). On others the content has a temporary name beside the target.
///
/// A file that replaces another gets its mode, and its owner and group if the system permits this. Links are followed: the
/// file that they lead to is replaced, and the links stay. A device, a FIFO, and an open descriptor under its name in /proc or
/// /dev have no content to protect, and are written in place.
class PendingFile {
 public:
  /// Opens the file at once, so that a place that cannot be written is found before long work. Opening a FIFO waits for its
  /// reader.
  /// @throws FileError naming the file, the reason and the cure; Interrupted, while it waits for the reader of a FIFO
  explicit PendingFile(const std::string& file);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Appends bytes. @throws FileError with the system's reason (disk full ...); Interrupted, while a FIFO is full
  void write(const void* data, std::size_t bytes);
  /// Makes the content durable and gives it its name, replacing an existing file. @throws FileError
  void commit();

  /// The descriptor, for formats that are not written from front to back. @throws UsageError if this file is written in place
  int descriptor() const;
  /// @throws UsageError naming the file, `reason`, and `cure` if it is not empty
  [[noreturn]] void fail(const std::string& reason, const std::string& cure = "") const;
  /// @throws FileError naming the file, the system's reason, and a cure. @param error  the value of errno
  [[noreturn]] void fail(int error) const;

 private:
  void open_in_place(const std::string& path, int descriptor);
  void open_fifo(const std::string& path);
  std::string line(const std::string& reason, const std::string& cure) const;

  std::string file_;
  std::unique_ptr<TemporaryFile> temporary_;  // null: written in place, or committed
  int fd_ = -1;
};

/// Removes this process's files that have temporary names, for code that ends the process without running destructors. Safe
/// in signal handlers.
void remove_pending_files() noexcept;

/// Installs signal handlers: from now on signals that end this process remove its temporary files first. Signals that are
/// ignored, or already have a handler, keep that. To be called by programs only, because a library leaves signals to its
/// program.
void remove_pending_files_on_signals();

}  // namespace shoal::io
