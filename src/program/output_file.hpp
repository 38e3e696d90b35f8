// Files that a command line names: outputs that appear only when they are complete, and standard output.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "shoal/data/pending_file.hpp"

namespace shoal {

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

/// For programs that print their own words. @throws UsageError  an output is standard output
void refuse_standard_output(const std::vector<NamedFile>& written);

}  // namespace shoal
