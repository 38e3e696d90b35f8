// The experiments of the papers as data: what was measured, what they reported, and which generated graphs stand in.
#pragma once
#include <limits>
#include <string>
#include <vector>

namespace shoal::cli {

inline constexpr double kNotReported = std::numeric_limits<double>::quiet_NaN();

/// A generated graph that stands in for a graph of a paper.
struct StandIn {
  std::string name;   ///< of the paper's graph: "soc-LiveJournal1"; ends in "-local" if the stand-in has communities
  std::string size;   ///< vertices and arcs of the paper's graph: "4.8 M, 68 M"
  std::string full;   ///< generator of about that size and kind
  std::string quick;  ///< the same kind, small enough for two CPU threads
};

/// One way to run shoal in an experiment, and the paper's system that it follows.
struct BenchWay {
  std::string label;  ///< "persistent, FIFO"
  std::vector<std::string> flags;
  std::string follows = {};  ///< Reported::system whose trends it should show; empty: none
};

/// What a paper reported: one value per number of GPUs.
struct Reported {
  std::string graph, system;  ///< the paper's name of the graph; the row is shown with each of its stand-ins
  std::vector<int> pes;
  std::vector<double> values;  ///< [pes.size()]; kNotReported where there is none
};

/// What a value is.
enum class Quantity {
  milliseconds,
  inflation,  ///< items taken from queues over vertices reached (Atos, Table III)
  speedup,    ///< time of the same way on one PE, over its time on this number of PEs
  items,      ///< millions of items run
};

struct Experiment {
  std::string name;     ///< of the command line: "atos-table2"
  std::string title;    ///< one line
  std::string source;   ///< paper and item
  std::string machine;  ///< on which the paper measured
  std::string algorithm;
  Quantity quantity = Quantity::milliseconds;
  std::string sees;  ///< what the paper concludes, to compare trends
  std::string note;  ///< how this experiment differs from the paper's
  std::vector<StandIn> graphs;
  std::vector<BenchWay> ways;
  std::vector<Reported> reported;
};

const std::vector<Experiment>& experiments();
/// The paper's name of the graph that a stand-in of that name stands for.
std::string paper_name(const std::string& stand_in);
/// An experiment that compares shoal with other programs; bench/paper_figures.py measures it.
struct ScriptedExperiment {
  std::string name, title, source;
};
const std::vector<ScriptedExperiment>& scripted_experiments();
/// The experiment with queues alone. It has no graph and no algorithm, so a separate program measures it.
inline constexpr const char* kQueueExperiment = "atos-fig1";
/// The experiment of that name, or all whose names begin with it and a dash: atos-fig5 has two parts.
/// Empty for one of scripted_experiments().
/// @throws UsageError naming the text and the legal names
std::vector<const Experiment*> find_experiments(const std::string& name);

}  // namespace shoal::cli
