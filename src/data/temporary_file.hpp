// The content of a file that has not got its name yet.
#pragma once
#include <sys/stat.h>

#include <string>
#include <utility>

namespace shoal::io {

/// A file that is being written. Destroyed without commit(), it leaves nothing. Functions return 0 or the system's error.
///
/// It has no name where the file system allows that (O_TMPFILE): then nothing is left, whatever ends the process. Otherwise
/// it has a name of its own beside the target, `TARGET.tmp-PID-N`, which remove_pending_files() removes.
class TemporaryFile {
 public:
  enum class Naming { unnamed_where_possible, named };

  /// @param target  where links have led; it need not exist
  explicit TemporaryFile(std::string target) : target_(std::move(target)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// A new file obeys the umask; one that replaces another has its mode, and its owner and group where the system lets us.
  [[nodiscard]] int open(Naming naming = Naming::unnamed_where_possible);
  /// Makes the content durable and gives it the target's name, replacing what was there. The file stays open.
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
  int listed_ = -1;  // where handlers of signals find name_
};

}  // namespace shoal::io
