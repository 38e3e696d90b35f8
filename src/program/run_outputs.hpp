// What a program writes about its runs, whatever the program is: the flags --stats, --json and --trace.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "output_file.hpp"
#include "shoal/program/context.hpp"
#include "trace_output.hpp"

namespace shoal {

/// Of several processes, process 0 writes for all.
class RunOutputs final : public RunLog {
 public:
  void add_to(CLI::App& app);
  /// Every process, after join_processes() and before the first run: opens the files, so that a place that cannot be written is
  /// found.
  /// @param read  files that the program reads, which no output may replace
  /// @throws UsageError
  void open(const std::vector<NamedFile>& read);
  void note(const Report& report) override;
  /// What --json says besides the runs.
  struct About {
    std::string program;
    std::vector<std::string> arguments;
    std::string graph;  ///< its name; empty: a program without a graph
    std::int64_t num_vertices = 0, num_arcs = 0, size = 0;
    bool right = true;
  };
  /// Every process, after the last run: writes the files. @throws UsageError (disk full, ...), and leaves no file
  void write(const About& about, const Options& options);

 private:
  std::string json_place_;
  bool stats_ = false;
  std::optional<OutputFile> json_;
  TraceOutput trace_;
  std::vector<std::string> runs_;  ///< each as JSON
  std::int64_t n_runs_ = 0;
};

}  // namespace shoal
