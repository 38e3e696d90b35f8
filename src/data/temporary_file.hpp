// The content of a file that does not have its name yet.
#pragma once
#include <sys/stat.h>

#include <string>
#include <utility>

namespace shoal::io {

/// A file that is being written. If it is destroyed without commit(), it leaves nothing. Functions return 0 or a value of errno.
///
/// If the file system allows it, the file has no name (O_TMPFILE), and leaves nothing however the process ends. Otherwise it has
/// a temporary name beside the target, `TARGET.tmp-PID-N`, which remove_pending_files() removes.
class TemporaryFile {
 public:
  enum class Naming { unnamed_where_possible, named };

  /// @param target  the path after all links have been followed; it need not exist
  explicit TemporaryFile(std::string target) : target_(std::move(target)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// A new file obeys the umask. A file that replaces another gets its mode, and its owner and group if the system permits this.
  [[nodiscard]] int open(Naming naming = Naming::unnamed_where_possible);
  /// Makes the content durable and gives it the target's name, replacing an existing file. The file stays open.
  [[nodiscard]] int commit();

  int descriptor() const { return fd_; }
  bool has_name() const { return !name_.empty(); }

 private:
  bool open_unnamed(mode_t mode);
  int open_named(mode_t mode);
  int link_and_rename();
  void resemble(const struct stat& replaced) const;
  void take_name();
  void drop_name();

  std::string target_;
  std::string name_;  // empty: it has none
  int fd_ = -1;
  int listed_ = -1;  // slot of name_ in the list for signal handlers; -1: none
};

}  // namespace shoal::io
