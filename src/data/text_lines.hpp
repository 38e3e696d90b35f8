// The lines of small text files that are no graphs.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>

namespace shoal::io {

/// Reads line by line, and never holds more than one, of at most kMostBytes: a device or pipe that goes on for ever is refused.
class TextLines {
 public:
  static constexpr std::size_t kMostBytes = 4095;

  /// @param what  what the file holds, for messages: "a partition: one PE number per line"
  /// @throws UsageError  it cannot be opened, or is a directory
  TextLines(const std::string& file, const std::string& what);
  ~TextLines();

  /// Goes to the next line. False where the file ends.
  /// @throws UsageError  the line is too long, or the file cannot be read on
  bool next();
  const std::string& line() const { return line_; }  ///< without its end, and without kTextMark
  /// @throws UsageError `file:line: what`
  [[noreturn]] void fail(const std::string& what) const;
  std::int64_t number() const {
    return number_;
  }  ///< of the line, from 1 on; at the end of the file, of the one behind it

 private:
  std::string file_, line_;
  std::int64_t number_ = 0;
  std::unique_ptr<std::istream> in_;
};

}  // namespace shoal::io
