// Numbers and names as text for people.
#pragma once
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace shoal {

/// 1234567 as 1,234,567.
inline std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  const std::size_t first = value < 0 ? 1 : 0;
  for (std::size_t i = digits.size(); i > first + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

/// A number with a fixed number of decimals: 3.142.
inline std::string fixed(double value, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value);
  return text;
}

/// A number in the fewest digits that read back as the same number: -3, 0.1, 1e+18.
std::string exact(double value);

/// A number with three significant digits: 1.23e-06.
inline std::string rough(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value);
  return text;
}

/// Bytes with a binary unit: 1.50 GiB.
inline std::string bytes_text(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1024 && unit < 4) {
    value /= 1024;
    ++unit;
  }
  return fixed(value, unit == 0 ? 0 : 2) + " " + units[unit];
}

/// Text that a terminal can show: replaces control characters, and bytes that are not valid UTF-8, by escapes like \x1b. For any
/// text that may contain a name from the user; text that is printable already stays as it is.
std::string printable(std::string_view text);

/// The time now in UTC: "2026-11-21T17:49:47Z".
std::string utc_now();

/// A count with its noun: "1 vertex", "2 vertices", "0 vertices".
inline std::string counted(std::int64_t count, const char* one, const char* many) {
  return grouped(count) + " " + (count == 1 ? one : many);
}

}  // namespace shoal
