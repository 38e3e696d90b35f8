// Runs an experiment of a paper on this machine, and lays its numbers beside the paper's.
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
  std::vector<int> pes;         ///< each way is run on so many PEs; empty: 1 to 4, as GPUs have room, or 1,2 on the CPU
  int pes_per_gpu = 1;  ///< where there are fewer GPUs than PEs, so many PEs may share one: for counts, not times
  std::vector<std::string> graphs;  ///< names of stand-ins; empty: all
  int trials = 10;
  double limit_seconds = 60;    ///< a run that takes longer is ended; all trials of a way may take as long together
  double budget_seconds = 1e6;  ///< no way is begun after so long; what is left out is counted
  std::uint64_t seed = 1;
};

/// One way on one graph with one number of PEs.
struct BenchRun {
  std::string graph, generator, way;
  std::int64_t num_vertices = 0, num_arcs = 0;
  int pes = 1;
  int pes_per_gpu = 1;  ///< so many shared a GPU, for want of GPUs
  std::vector<std::string> flags;
  std::vector<vertex_t> sources;    ///< [trials]; empty for algorithms without a source
  std::vector<double> seconds;      ///< [trials], or fewer where the limit allowed no more; empty when it did not run
  std::vector<double> items_run;    ///< as seconds
  std::vector<double> items_taken;  ///< as seconds: those that were stale when their turn came as well
  std::vector<double> reached;      ///< as seconds; only for Quantity::inflation
  double value = kNotReported;      ///< what the experiment asks for
  double over_seconds = 0;          ///< above 0: a run was ended after so long
  std::string failed;               ///< why it did not run
  std::string wrong;                ///< what is wrong with an answer
  std::string chosen;               ///< by the last run: "async, persistent, warp"
};

/// Every answer is checked where it lies. What cannot run here, or takes too long, is said in its BenchRun; the rest goes
/// on. Runs are made in a process of their own (measuring_process.hpp): this one must not have used CUDA.
/// @param machine  filled with machine_to_json()
/// @param left_out filled with how many runs the budget did not last for
/// @param say      called before each run ("road_usa, auto, 2 PEs") with the part that is done, in [0, 1]
/// @throws UsageError  a graph that the experiment does not have, a device that is not there
std::vector<BenchRun> run_experiment(const Experiment& experiment, const BenchOptions& options, Json& machine,
                                     int& left_out, const std::function<void(const std::string&, double)>& say);

/// One line of a table or curve of a plot: the paper's, or ours.
struct Series {
  std::string graph, system;
  bool ours = false;
  std::string follows;         ///< ours: the paper's system that it follows, or empty
  std::vector<double> values;  ///< one per entry of `columns`; kNotReported where there is none
};
/// @param columns  filled with the numbers of PEs, ascending, that the paper or our runs have
std::vector<Series> lay_side_by_side(const Experiment& experiment, const std::vector<BenchRun>& runs,
                                     std::vector<int>& columns);

const char* unit(Quantity quantity);
std::string text_table(const Experiment& experiment, const std::vector<BenchRun>& runs);
std::string markdown_table(const Experiment& experiment, const std::vector<BenchRun>& runs);
/// Everything, without the machine: experiment, runs, series.
Json to_json(const Experiment& experiment, const BenchOptions& options, const std::vector<BenchRun>& runs);

}  // namespace shoal::cli
