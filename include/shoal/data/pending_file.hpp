// Files that appear whole or not at all: they are written without a name, and get it when they are whole.
#pragma once
#include <cstddef>
#include <memory>
#include <string>

namespace shoal::io {

/// Standard output as a name: PendingFile writes it in place, behind what is there.
inline constexpr const char* kStandardOutput = "/proc/self/fd/1";

/// Whether a name stands for standard output, whatever that is: kStandardOutput, /dev/stdout, /dev/fd/1, links to them.
bool is_standard_output(const std::string& file);

/// Whether two names, through links or not, lead to one regular file, or to one place where there is none yet.
bool is_same_file(const std::string& a, const std::string& b);

class TemporaryFile;

/// A file that has not got its name yet. Destroyed without commit(), it leaves nothing; nor does a process that ends, however
/// it does, where the file system has files without a name (O_TMPFILE: ext4, XFS, Btrfs, tmpfs and others). Elsewhere the
/// content has a temporary name beside the target.
///
/// A file that is replaced leaves its mode to the new one, and its owner and group where the system lets us.
/// Links are followed: what they lead to is replaced, and they stay. A device, a FIFO, and an open descriptor under its name
/// in /proc or /dev have no content to protect, and are written in place.
class PendingFile {
 public:
  /// Opens now, so that a place that cannot be written is found before long work. Opening a FIFO waits for its reader.
  /// @throws FileError naming the file, the reason and the cure; Interrupted, before a FIFO has its reader
  explicit PendingFile(const std::string& file);
  ~PendingFile();
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  /// Appends bytes. @throws FileError with the system's reason (disk full ...); Interrupted, while a FIFO is full
  void write(const void* data, std::size_t bytes);
  /// Makes the content durable and gives it its name, replacing what was there.
  void commit();

  /// For formats that are not written from front to back. @throws UsageError if this file is written in place
  int descriptor() const;
  /// @throws UsageError: the file, `reason`, and `cure` if there is one
  [[noreturn]] void fail(const std::string& reason, const std::string& cure = "") const;
  /// The same as a FileError. @param error  the system's number for it
  [[noreturn]] void fail(int error) const;

 private:
  void open_in_place(const std::string& path, int descriptor);
  void open_fifo(const std::string& path);
  std::string line(const std::string& reason, const std::string& cure) const;

  std::string file_;
  std::unique_ptr<TemporaryFile> temporary_;  // null: written in place, or committed
  int fd_ = -1;
};

/// Removes the temporary names of this process, for those who end it without destructors. Safe in handlers of signals.
void remove_pending_files() noexcept;

/// From now on signals that end this process remove its temporary names first. What ignores a signal, or has a handler for it,
/// keeps that. For programs: a library leaves signals to its program.
void remove_pending_files_on_signals();

}  // namespace shoal::io
