// Parsing of text files: a view with a name, errors that name the line, and numbers that are read digit by digit.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "shoal/core/types.hpp"

namespace shoal::io {

inline constexpr std::string_view kTextMark = "\xef\xbb\xbf";  ///< byte order mark of UTF-8, written on Windows

/// An error and its place. It is thrown while parsing (on any thread), and Text::raise turns it into a UsageError.
struct ParseError {
  const char* at;       ///< a byte of the offending line
  std::string message;  ///< `what; cure`
};

/// A text in memory. Lines are counted only if an error must name one.
struct Text {
  std::string_view bytes;
  std::string name;

  const char* begin() const { return bytes.data(); }
  const char* end() const { return bytes.data() + bytes.size(); }
  /// The one-based number of the line at a position; the end of the text belongs to the last line.
  std::int64_t line(const char* at) const;
  /// `name:line:`
  std::string place(const char* at) const { return name + ":" + std::to_string(line(at)) + ":"; }
  /// Throws UsageError `name:line: what; cure`.
  [[noreturn]] void raise(const char* at, const std::string& message) const;
  [[noreturn]] void raise(const ParseError& error) const { raise(error.at, error.message); }
};

/// A line of a text: [begin, end) without its line ending, and the start of the next line.
struct Line {
  const char* begin;
  const char* end;
  const char* next;
};
Line line_at(const char* p, const char* text_end);

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }
inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }
inline const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p)) ++p;
  return p;
}

/// The bytes from p up to the next blank (or comma) or `end`, quoted and made printable, for messages.
std::string quoted(const char* p, const char* end, bool commas = false);
/// The text, quoted, made printable and cut after 40 bytes.
std::string quoted(std::string_view text);

/// Reads an unsigned decimal number: digits only, no sign. @throws ParseError saying `what` was expected
const char* read_count(const char* p, const char* end, const char* what, std::int64_t& value);

/// Splits a line at blanks. For headers only.
struct Words {
  static constexpr int kMost = 8;
  std::string_view word[kMost];
  int count = 0;  ///< number of words in the line; only the first kMost are kept
  explicit Words(const Line& line);
};

/// True if both are equal, ignoring the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

}  // namespace shoal::io
