// Runs an experiment of a paper on this machine, and tabulates its numbers beside the paper's.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "algo/algorithm.hpp"
#include "algorithm_flags.hpp"
#include "experiments.hpp"
#include "json.hpp"

namespace shoal::cli {

struct BenchOptions {
  bool quick = false;           ///< the small stand-ins
  std::string device = "auto";  ///< auto, cpu, gpu
  std::vector<int> pes;  ///< numbers of PEs for each way; empty: 1 to 4 if there are enough GPUs, 1 and 2 on the CPU
  int pes_per_gpu = 1;   ///< most PEs that may share a GPU if there are fewer GPUs than PEs: for counts, not times
  std::vector<std::string> graphs;  ///< names of stand-ins; empty: all
  int trials = 10;
  double limit_seconds = 60;    ///< a longer run is ended; no trial starts after those of its way have taken this long
  double budget_seconds = 1e6;  ///< no way starts after this time; those left out are counted
  std::uint64_t seed = 1;
};

/// The runs of one way on one graph with one number of PEs.
struct BenchRun {
  std::string graph, generator, way;
  std::int64_t num_vertices = 0, num_arcs = 0;
  int pes = 1;
  int pes_per_gpu = 1;  ///< PEs that shared a GPU because there were too few GPUs
  std::vector<std::string> flags;
  std::vector<vertex_t> sources;    ///< [trials]; empty for algorithms without a source
  std::vector<double> seconds;      ///< [trials], or fewer if the limit ended them; empty if none ran
  std::vector<double> items_run;    ///< one per trial, like seconds
  std::vector<double> items_taken;  ///< like seconds: also counts items that were stale when a worker took them
  std::vector<double> reached;      ///< like seconds; only for Quantity::inflation
  double value = kNotReported;      ///< of the experiment's quantity
  double over_seconds = 0;          ///< above 0: a run was ended after this time
  std::string failed;               ///< why it did not run
  std::string wrong;                ///< what is wrong with an answer
  std::string chosen;               ///< by the last run: "async, persistent, warp"
};

/// Runs every way on every graph and number of PEs, and checks every answer where it lies. If a run fails or takes too long,
/// its BenchRun says so, and the others go on. Runs are made in a separate process (measuring_process.hpp), so the calling
/// process must not have used CUDA.
/// @param machine  filled with machine_to_json()
/// @param left_out filled with the number of runs that did not start before the budget was spent
/// @param say      called before each run ("road_usa, auto, 2 PEs") with the fraction that is done
/// @throws UsageError  a graph that the experiment does not have, a device that is not there
std::vector<BenchRun> run_experiment(const Experiment& experiment, const BenchOptions& options, Json& machine,
                                     int& left_out, const std::function<void(const std::string&, double)>& say);

/// One row of a table or curve of a plot, from the paper or from shoal.
struct Series {
  std::string graph, system;
  bool ours = false;
  std::string follows;         ///< a row of shoal: the paper's system that it follows, or empty
  std::vector<double> values;  ///< one per entry of `columns`; kNotReported where there is none
};
/// @param columns  filled with the numbers of PEs, ascending, that the paper's rows or the runs have
std::vector<Series> lay_side_by_side(const Experiment& experiment, const std::vector<BenchRun>& runs,
                                     std::vector<int>& columns);

const char* unit(Quantity quantity);
std::string text_table(const Experiment& experiment, const std::vector<BenchRun>& runs);
std::string markdown_table(const Experiment& experiment, const std::vector<BenchRun>& runs);
/// Everything except the machine: experiment, runs, series.
Json to_json(const Experiment& experiment, const BenchOptions& options, const std::vector<BenchRun>& runs);

}  // namespace shoal::cli
