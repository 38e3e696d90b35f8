// What --trace writes: a timeline of the runs, for Perfetto.
#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>

#include "output.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/trace.hpp"

namespace shoal::cli {

class TraceOutput {
 public:
  /// @param what  for --help: what is on it
  void add_to(CLI::App& app, const std::string& what, const char* group) {
    app.add_option("--trace", place_, "a timeline for ui.perfetto.dev: " + what)
        ->group(group)
        ->type_name("FILE")
        ->check(not_empty);
  }
  /// Before the runs: a place that cannot be written is found now, and everything from here on is drawn. @throws UsageError
  void open() {
    if (place_.empty()) return;
    file_.emplace(place_);
    trace_.emplace();
    tracing_.emplace(*trace_);
  }
  void drop() { place_.clear(); }  ///< it is not wanted any more
  bool to_stdout() const { return !place_.empty() && is_standard_output(place_); }
  NamedFile file() const { return {"--trace", place_}; }

  /// From its construction to its end: a span of the command's own track.
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

  /// @return a line for people on what does not fit, or nothing. @throws UsageError (disk full, ...); nothing is left then
  std::string write() {
    if (!file_) return "";
    tracing_.reset();
    file_->write(trace_->json());
    file_->commit();
    if (trace_->left_out() == 0) return "";
    return "the trace has the first " + grouped(static_cast<std::int64_t>(trace_->size())) + " events; " +
           grouped(static_cast<std::int64_t>(trace_->left_out())) + " more are left out";
  }

 private:
  std::string place_;
  std::optional<OutputFile> file_;
  std::optional<Trace> trace_;
  std::optional<Tracing> tracing_;
};

}  // namespace shoal::cli
