// Writes text to a file, compressed or not.
#pragma once
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "input.hpp"
#include "shoal/data/pending_file.hpp"
#include "shoal/graph/csr.hpp"

namespace shoal::io {

/// Compresses a stream of bytes that is written to a file.
class Packer {
 public:
  virtual ~Packer() = default;
  virtual void put(const char* data, std::size_t bytes) = 0;
  virtual void finish() = 0;
};

/// A buffered text file, compressed if asked for.
class TextFile {
 public:
  /// @throws UsageError as PendingFile, or if this build lacks the library for `compression`
  TextFile(const std::string& file, Compression compression);
  ~TextFile();

  TextFile& text(std::string_view s) {
    if (buffer_.size() + s.size() > kBuffer) flush();
    buffer_.insert(buffer_.end(), s.begin(), s.end());
    return *this;
  }
  TextFile& byte(char c) { return text({&c, 1}); }
  template <class T>
  TextFile& number(T value) {
    char digits[40];  // the longest: -1.7976931348623157e+308
    const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
    return text({digits, static_cast<std::size_t>(end - digits)});
  }
  /// Writes the weight of arc a: an integer, or the shortest decimal that is read back as the same float64, and not as an integer.
  TextFile& weight(const Csr& graph, arc_t a) {
    if (graph.weight_kind == WeightKind::int32) return number(graph.int_weights[a]);
    const double weight = graph.real_weights[a];
    if (!graph.weight_remarks.wide.empty()) return number(static_cast<std::int64_t>(weight));
    char digits[40];
    const auto end = std::to_chars(digits, digits + sizeof(digits), weight).ptr;
    const std::string_view written(digits, static_cast<std::size_t>(end - digits));
    text(written);
    return written.find_first_of(".e") == std::string_view::npos ? text(".0") : *this;
  }
  void commit();

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;
  void flush();
  PendingFile file_;
  std::unique_ptr<Packer> packer_;
  std::vector<char> buffer_;
};

}  // namespace shoal::io
