// Reads the lines of small text files that are not graphs.
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>

namespace shoal::io {

/// Reads line by line. It never holds more than one line, of at most kMostBytes, so an endless device or pipe cannot fill the
/// memory.
class TextLines {
 public:
  static constexpr std::size_t kMostBytes = 4095;

  /// @param what  what the file holds, for messages: "a partition: one PE number per line"
  /// @throws UsageError  it cannot be opened, or is a directory
  TextLines(const std::string& file, const std::string& what);
  ~TextLines();

  /// Goes to the next line. @return false: the file has ended
  /// @throws UsageError  the line is too long, or the file cannot be read on
  bool next();
  const std::string& line() const { return line_; }  ///< without its line ending, and without kTextMark
  /// @throws UsageError `file:line: what`
  [[noreturn]] void fail(const std::string& what) const;
  std::int64_t number() const {
    return number_;
  }  ///< number of the line, from 1 on; at the end of the file, one more than the last line's

 private:
  std::string file_, line_;
  std::int64_t number_ = 0;
  std::unique_ptr<std::istream> in_;
};

}  // namespace shoal::io
