#include "text.hpp"

#include <algorithm>
#include <cstring>

#include "shoal/core/error.hpp"

namespace shoal::io {

std::int64_t Text::line(const char* at) const {
  at = std::clamp(at, begin(), end());
  // The end of a text that ends with a newline belongs to the line before that newline.
  if (at == end() && at != begin() && at[-1] == '\n') --at;
  return 1 + std::count(begin(), at, '\n');
}

void Text::raise(const char* at, const std::string& message) const { throw UsageError(place(at) + " " + message); }

Line line_at(const char* p, const char* text_end) {
  const void* found = p < text_end ? std::memchr(p, '\n', static_cast<std::size_t>(text_end - p)) : nullptr;
  const char* stop = found != nullptr ? static_cast<const char*>(found) : text_end;
  const char* next = found != nullptr ? stop + 1 : text_end;
  if (stop > p && stop[-1] == '\r') --stop;
  return {p, stop, next};
}

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  static constexpr std::size_t kMost = 40;
  std::string out = "'";
  for (const char c : text.substr(0, kMost)) {
    const auto u = static_cast<unsigned char>(c);
    if (u >= 0x20 && u < 0x7f) {
      out += c;
    } else {
      out += "\\x";
      out += kHex[u >> 4];
      out += kHex[u & 15];
    }
  }
  if (text.size() > kMost) out += "...";
  return out + "'";
}

std::string quoted(const char* p, const char* end, bool commas) {
  const char* q = p;
  while (q < end && !is_blank(*q) && !(commas && *q == ',')) ++q;
  return quoted(std::string_view(p, static_cast<std::size_t>(q - p)));
}

const char* read_count(const char* p, const char* end, const char* what, std::int64_t& value) {
  if (p == end) throw ParseError{p, std::string("the line ends where ") + what + " is expected; is the file complete?"};
  const auto [rest, status] = std::from_chars(p, end, value);
  const bool whole = rest == end || is_blank(*rest);
  if (!is_digit(*p) || (status == std::errc() && !whole))
    throw ParseError{p, std::string(what) + " must be a whole number written in digits, not " + quoted(p, end)};
  if (status != std::errc())
    throw ParseError{p, std::string(what) + " " + quoted(p, end) + " does not fit 64 bits; correct the number"};
  return rest;
}

Words::Words(const Line& line) {
  for (const char* p = skip_blanks(line.begin, line.end); p < line.end; p = skip_blanks(p, line.end)) {
    const char* first = p;
    while (p < line.end && !is_blank(*p)) ++p;
    if (count < kMost) word[count] = {first, static_cast<std::size_t>(p - first)};
    ++count;
  }
}

bool same_word(std::string_view a, std::string_view b) {
  auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

}  // namespace shoal::io
