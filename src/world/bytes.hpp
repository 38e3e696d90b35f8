// Serialises numbers and texts into bytes, for messages between processes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace shoal {

inline void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  const std::size_t begin = to.size();
  to.resize(begin + bytes.size());
  if (!bytes.empty()) std::memcpy(to.data() + begin, bytes.data(), bytes.size());
}
inline void append(std::vector<std::byte>& to, std::uint64_t number) {
  append(to, std::as_bytes(std::span(&number, std::size_t{1})));
}
inline void append(std::vector<std::byte>& to, const std::string& text) {
  append(to, text.size());
  append(to, std::as_bytes(std::span(text)));
}
/// Reads them back from the front. Beyond the end it returns no bytes, 0 or an empty text.
struct Reader {
  std::span<const std::byte> rest;

  std::span<const std::byte> bytes(std::size_t n) {
    n = std::min(n, rest.size());
    const auto front = rest.first(n);
    rest = rest.subspan(n);
    return front;
  }
  std::uint64_t number() {
    std::uint64_t value = 0;
    const auto raw = bytes(sizeof value);
    std::memcpy(&value, raw.data(), raw.size());
    return value;
  }
  std::string text() {
    const auto raw = bytes(number());
    return {reinterpret_cast<const char*>(raw.data()), raw.size()};
  }
};

}  // namespace shoal
