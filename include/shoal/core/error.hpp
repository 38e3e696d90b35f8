// The errors that the library throws. A run throws the same error on every PE. The message says what was wrong, what was
// needed and what was available.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace shoal {

/// Base class of the errors below; `what()` is one line that a user can act on.
class Error : public std::runtime_error {
 public:
  /// @param line  may contain names of files, and these may contain any bytes, so what() is printable(line)
  explicit Error(const std::string& line);
};

/// The caller or an input file is wrong (Python: ValueError). The line names the input, the place, and what to do.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// The system failed to open, read or write a file (in Python also a FileNotFoundError or a similar class).
class FileError : public UsageError {
 public:
  /// @param code  the system's error number (errno)
  FileError(int code, std::string file, const std::string& line)
      : UsageError(line), code_(code), file_(std::move(file)) {}
  int code() const { return code_; }
  const std::string& file() const { return file_; }

 private:
  int code_;
  std::string file_;
};

/// A worklist, spill or memory was too small (Python: MemoryError). The line names the available and the needed sizes.
class CapacityError : public Error {
 public:
  using Error::Error;
};

/// A PE cannot be reached, or an operation of the transport failed (Python: ConnectionError).
class TransportError : public Error {
 public:
  using Error::Error;
};

/// A device failed or is missing, or a run made no progress (Python: RuntimeError).
class DeviceError : public Error {
 public:
  using Error::Error;
};

}  // namespace shoal
