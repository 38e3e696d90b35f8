// What --json writes: to standard output, or to a file that is there whole or not at all.
#pragma once
#include <CLI/CLI.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "json.hpp"
#include "output.hpp"
#include "provenance.hpp"

namespace shoal::cli {

/// As text, with a line's end. Names from files need not be UTF-8.
inline std::string json_text(const Json& json) {
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// The flag --json: nothing, standard output, or with --json=FILE a file.
class JsonOutput {
 public:
  /// @param what  for --help: "every run"
  void add_to(CLI::App& app, const std::string& what, const char* group) {
    app.add_flag("--json{-}", place_, what + " as JSON: --json=FILE, or alone to standard output")->group(group);
  }
  /// Before the long part: a place that cannot be written is found now. @throws UsageError
  void open() {
    if (wanted() && !to_stdout()) file_.emplace(place_);
  }
  void drop() { place_.clear(); }  ///< it is not wanted any more
  bool wanted() const { return !place_.empty(); }
  /// Then nothing else may be printed there.
  bool to_stdout() const { return wanted() && is_standard_output(place_); }
  const std::string& place() const { return place_; }
  NamedFile file() const { return {"--json", place_}; }

  /// Adds the arguments, the date and the revision.
  /// @throws UsageError (disk full, ...); nothing is left then
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
