// Files that are there whole or not at all.
#pragma once
#include <cstdint>
#include <string>
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

/// Rows of int32, all of equal length: a NumPy array if the name ends in .npy (one row: shape (n,); more: (rows, n)), else
/// one line per vertex with the rows' values separated by a space.
void write_rows(OutputFile& file, const std::vector<const std::int32_t*>& rows, std::int64_t n);

}  // namespace shoal::cli
