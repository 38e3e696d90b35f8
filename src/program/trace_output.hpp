// The output of --trace: a timeline of the runs, for Perfetto.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "output_file.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/trace.hpp"

namespace shoal {

class TraceOutput {
 public:
  /// @param what  for --help: what the timeline shows
  void add_to(CLI::App& app, const std::string& what, const char* group) {
    app.add_option("--trace", place_, "write a timeline for ui.perfetto.dev: " + what)
        ->group(group)
        ->type_name("FILE")
        ->check(not_empty);
  }
  /// Called before the runs: opens the file, so that a place that cannot be written is found, and begins a trace.
  /// @throws UsageError
  void open() {
    if (place_.empty()) return;
    file_.emplace(place_);
    trace_.emplace();
    tracing_.emplace(*trace_);
  }
  void drop() { place_.clear(); }  ///< nothing will be written
  bool to_stdout() const { return !place_.empty() && is_standard_output(place_); }
  NamedFile file() const { return {"--trace", place_}; }

  /// A span on the command's own track, from construction to destruction.
  class Part {
   public:
    explicit Part(std::string name) : name_(std::move(name)), begin_(trace_now()) {}
    Part(const Part&) = delete;
    Part& operator=(const Part&) = delete;
    ~Part() {
      Trace* const trace = tracing();
      if (trace != nullptr) trace->span(trace->track("shoal", "command"), name_, begin_, trace_now());
    }

   private:
    std::string name_;
    std::int64_t begin_;
  };

  /// Ends tracing and writes the file. @return a line for the user if events were left out, else empty. @throws UsageError (disk
  /// full, ...), and leaves no file
  std::string write() {
    if (!file_) return "";
    tracing_.reset();
    file_->write(trace_->json());
    file_->commit();
    if (trace_->left_out() == 0) return "";
    return "the trace has the first " + grouped(static_cast<std::int64_t>(trace_->size())) + " events; " +
           grouped(static_cast<std::int64_t>(trace_->left_out())) + " more are left out";
  }
  /// The same; prints that line on stderr. @param program  its name, for the line
  void write_and_say(const std::string& program) {
    if (const std::string left_out = write(); !left_out.empty()) {
      std::fprintf(stderr, "%s: %s\n", program.c_str(), left_out.c_str());
    }
  }

 private:
  std::string place_;
  std::optional<OutputFile> file_;
  std::optional<Trace> trace_;
  std::optional<Tracing> tracing_;
};

}  // namespace shoal
