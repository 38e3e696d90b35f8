// Files that are there whole or not at all.
#pragma once
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace shoal::cli {

/// A file under a temporary name beside its place, until commit() renames it; without commit() nothing is left.
class OutputFile {
 public:
  /// Creates the temporary file now, so that a place that cannot be written is found before a long run.
  /// @throws UsageError naming the file and the reason
  explicit OutputFile(std::string name);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void write(const void* data, std::size_t bytes);
  void write(const std::string& text) { write(text.data(), text.size()); }
  /// Writes what is left and gives the file its name. @throws UsageError (disk full, ...); nothing is left then
  void commit();
  const std::string& name() const { return name_; }

 private:
  void flush();
  [[noreturn]] void fail(const std::string& doing);

  std::string name_, temporary_;
  std::string buffer_;
  int descriptor_ = -1;
};

/// The values of all vertices, in input order; the length is said beside it.
using Row = std::variant<const std::int32_t*, const std::int64_t*, const double*>;

/// Rows of n values each: a NumPy array if the name ends in .npy (one row: shape (n,); more: (rows, n); of the widest of the
/// rows' types: int32 below int64 below float64), else one line per vertex with the rows' values separated by a space.
/// Real numbers are written so that reading them gives the same number; infinity is `inf`.
void write_rows(OutputFile& file, const std::vector<Row>& rows, std::int64_t n);

}  // namespace shoal::cli
