// The errors that the library throws. A run throws the same error on every PE. The message has what was wrong, what was
// wanted and what there was.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace shoal {

/// Base of the four; `what()` is one line that a user can act on.
class Error : public std::runtime_error {
 public:
  /// @param line  may hold names of files, which may hold anything: what() is printable(line)
  explicit Error(const std::string& line);
};

/// The caller or an input file is wrong (Python: ValueError). The line names the input, the place and the cure.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A file that the system does not open, read or write (Python: FileNotFoundError and its like as well).
class FileError : public UsageError {
 public:
  /// @param code  the system's: an errno
  FileError(int code, std::string file, const std::string& line)
      : UsageError(line), code_(code), file_(std::move(file)) {}
  int code() const { return code_; }
  const std::string& file() const { return file_; }

 private:
  int code_;
  std::string file_;
};

/// A worklist, spill or memory was too small (Python: MemoryError). Names the sizes had and wanted.
class CapacityError : public Error {
 public:
  using Error::Error;
};

/// A PE cannot be reached, or an operation of the transport failed (Python: ConnectionError).
class TransportError : public Error {
 public:
  using Error::Error;
};

/// A device failed, is missing, or a run made no progress (Python: RuntimeError).
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace shoal
