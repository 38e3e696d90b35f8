// Text files as they are parsed: a view with a name, errors that name the line, and numbers read digit by digit.
#pragma once
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "shoal/core/types.hpp"

namespace shoal::io {

inline constexpr std::string_view kTextMark = "\xef\xbb\xbf";  ///< with which editors on Windows begin a text in UTF-8

/// What is wrong and where; thrown while parsing (on any thread) and turned into a UsageError by Text::raise.
struct ParseError {
  const char* at;       ///< a byte of the offending line
  std::string message;  ///< `what; cure`
};

/// A text in memory. Lines are counted only when an error must name one.
struct Text {
  std::string_view bytes;
  std::string name;

  const char* begin() const { return bytes.data(); }
  const char* end() const { return bytes.data() + bytes.size(); }
  /// One-based line of a position in the text; the end belongs to the last line.
  std::int64_t line(const char* at) const;
  /// `name:line:`
  std::string place(const char* at) const { return name + ":" + std::to_string(line(at)) + ":"; }
  /// Throws UsageError `name:line: what; cure`.
  [[noreturn]] void raise(const char* at, const std::string& message) const;
  [[noreturn]] void raise(const ParseError& error) const { raise(error.at, error.message); }
};

/// The next line of a text: [begin, end) without its line ending, and where the one after it starts.
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

/// The bytes from p up to the next blank (or comma) or end, quoted and made printable, for messages.
std::string quoted(const char* p, const char* end, bool commas = false);
/// All of the text, quoted, made printable and cut after 40 bytes.
std::string quoted(std::string_view text);

/// Reads an unsigned decimal number: digits only, no sign. @throws ParseError saying `what` was expected
const char* read_count(const char* p, const char* end, const char* what, std::int64_t& value);

/// Splits a line at blanks. For headers; not for the body.
struct Words {
  static constexpr int kMost = 8;
  std::string_view word[kMost];
  int count = 0;  ///< words found; when more than kMost, only kMost are kept
  explicit Words(const Line& line);
};

/// True if both are equal but for the case of ASCII letters.
bool same_word(std::string_view a, std::string_view b);

}  // namespace shoal::io
