// Buffered output of the commands: files that appear only when they are complete, and standard output.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "algo/algorithm.hpp"
#include "shoal/data/pending_file.hpp"

namespace shoal::cli {

/// A file that gets its name in commit(); without commit() no file is left. "-" is standard output. Links, devices and FIFOs are
/// treated as by io::PendingFile.
class OutputFile {
 public:
  /// Opens now, so that a place that cannot be written is found before a long run.
  /// @throws UsageError naming the file, the reason and the cure
  explicit OutputFile(const std::string& name);

  void write(const void* data, std::size_t bytes);
  void write(const std::string& text) { write(text.data(), text.size()); }
  /// Writes the rest of the buffer and gives the file its name. @throws UsageError (disk full, ...), and leaves no file
  void commit();
  const std::string& name() const { return name_; }

 private:
  void flush();

  std::string name_;
  io::PendingFile file_;
  std::string buffer_;
};

/// A check for CLI11 of a flag that names a file. @return empty, or what is wrong
std::string not_empty(const std::string& text);

/// An answer is written as .npy or as text. @throws UsageError  the name promises something else: .npz .gz .zst
void refuse_other_form(const std::string& flag, const std::string& name);

/// True if a name means standard output. Nothing else may be printed there then.
bool is_standard_output(const std::string& name);

/// A file that a command line names, or none.
struct NamedFile {
  std::string flag;  ///< for messages: "--output", "the graph"
  std::string name;  ///< empty: none; - is standard output or input
};

/// Called before anything runs.
/// @throws UsageError  two outputs are the same file, or an output would overwrite an input
void refuse_same_files(const std::vector<NamedFile>& written, const std::vector<NamedFile>& read);

/// The header of a .npy file of little-endian values in C order. Source: numpy.lib.format, version 1.0.
/// @param type   NumPy's, such as "f8"
/// @param shape  as Python writes a tuple's inside: "3, 4", or "5,"
std::string npy_header(const char* type, const std::string& shape);

/// Writes rows of n values each: as a NumPy array if the name ends in .npy (one row: shape (n,); more: (rows, n), of the widest of
/// the rows' types, int32, int64 or float64), else as text, one line per vertex with a space between the rows' values.
/// Real numbers are written so that reading them gives the same number; infinity is `inf`.
void write_rows(OutputFile& file, const Rows& rows, std::int64_t n);

}  // namespace shoal::cli
