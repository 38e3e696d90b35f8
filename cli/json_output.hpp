// The output of --json: to standard output, or to a file that appears only when it is complete.
#pragma once
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "json.hpp"
#include "output.hpp"
#include "provenance.hpp"

namespace shoal::cli {

/// JSON as text that ends in a line break. Names of files may be invalid UTF-8, which is replaced.
inline std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The flag --json: nothing, standard output, or with --json=FILE a file.
class JsonOutput {
 public:
  /// @param what  for --help: "every run"
  void add_to(CLI::App& app, const std::string& what, const char* group) {
    app.add_flag("--json{-}", place_, "write " + what + " as JSON, to FILE or (--json alone) to standard output")
        ->group(group);
  }
  /// Opens the file before the long part of a command, so that a place that cannot be written is found. @throws UsageError
  void open() {
    if (wanted() && !to_stdout()) file_.emplace(place_);
  }
  void drop() { place_.clear(); }  ///< nothing will be written
  bool wanted() const { return !place_.empty(); }
  /// If true, nothing else may be printed there.
  bool to_stdout() const { return wanted() && is_standard_output(place_); }
  const std::string& place() const { return place_; }
  NamedFile file() const { return {"--json", place_}; }

  /// Adds the arguments, the date and the revision, and writes.
  /// @throws UsageError (disk full, ...), and leaves no file
  void write(Json json) {
    json["arguments"] = provenance().arguments;
    json["date"] = provenance().date;
    json["revision"] = provenance().revision;
    if (to_stdout()) std::cout << json_text(json);
    if (!file_) return;
    file_->write(json_text(json));
    file_->commit();
  }

 private:
  std::string place_;
  std::optional<OutputFile> file_;
};

}  // namespace shoal::cli
