// Measurements of `shoal tune`, made in a separate process, so that the search goes on if a run takes too long or crashes.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "algorithm_flags.hpp"
#include "graph_input.hpp"
#include "json.hpp"
#include "measuring_process.hpp"

namespace shoal::cli {

/// A combination of options, by flag: {"--strategy": "async", "--worker": "warp"}. Empty: all auto.
using Way = std::map<std::string, std::string>;
std::vector<std::string> to_flags(const Way& way);
/// As a user types it; "auto" if it is empty.
std::string to_text(const Way& way);

/// The machine on which runs are made.
struct TuneMachine {
  bool on_gpu = false;
  int n_pes = 1, threads_per_pe = 0;  ///< threads: 0 on GPUs
  std::string described;              ///< describe(Machine), for profiles
  Json json;                          ///< machine_to_json()
};

/// The first run of auto.
struct TuneStart {
  std::vector<vertex_t> sources;  ///< [trials] of all measurements; {0} for algorithms without a source
  Decisions chosen;
  double seconds = 0;
  std::string wrong;  ///< what is wrong with its answer; empty: it is right
};

class TuneMeasure {
 public:
  /// Starts the measuring process, and asks it for the machine. The calling process must not have used CUDA.
  /// @param fixed   flags that every run has ({"--device", "gpu"})
  /// @param shared  the same flags as Options
  /// @param graph  must outlive this; generated on the host when runs are on CPU threads
  /// @throws UsageError for flags that no run would take, DeviceError for a device that is not there
  TuneMeasure(const AlgorithmInfo& info, GraphInput& graph, Way fixed, const Options& shared);

  const TuneMachine& machine() const { return machine_; }

  /// Chooses the sources of all measurements, and runs `auto` once. @throws what this run throws
  TuneStart start(int trials, std::uint64_t seed);

  /// One run to warm up, whose answer is checked, then `trials` runs, which take the sources in turn.
  /// @param hopeless_seconds  if the first run is slower, there are no others
  /// @param limit_seconds     of each run. @throws TooSlow
  /// @param wrong             filled with what is wrong with the answer; empty: it is right
  /// @return seconds of each trial; of the first run alone when it was wrong or hopeless
  std::vector<double> times(const Way& way, int trials, double hopeless_seconds, double limit_seconds,
                            std::string& wrong);

  /// Runs auto and `way` in turns, on each source in turn. @return seconds of auto and of `way`, [trials or more] each
  std::pair<std::vector<double>, std::vector<double>> side_by_side(const Way& way, int trials);

 private:
  MeasuringProcess::Answer begin() const;

  const AlgorithmInfo& info_;
  GraphInput& graph_;
  const Way fixed_;
  const Options shared_;
  std::vector<vertex_t> sources_;
  MeasuringProcess process_;
  TuneMachine machine_;
};

}  // namespace shoal::cli
