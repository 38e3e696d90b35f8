// The tables of an experiment: the paper's numbers and ours, graph by graph.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "bench_run.hpp"
#include "shoal/core/text.hpp"

namespace shoal::cli {
namespace {

std::string number(double value) {
  if (std::isnan(value)) return "-";
  char text[32];
  std::snprintf(text, sizeof text,
                value >= 1000  ? "%.0f"
                : value >= 100 ? "%.1f"
                : value >= 1   ? "%.2f"
                               : "%.3f",
                value);
  return text;
}

const BenchRun* find_run(const std::vector<BenchRun>& runs, const Series& series, int pes) {
  for (const BenchRun& run : runs) {
    if (series.ours && run.graph == series.graph && "shoal " + run.way == series.system && run.pes == pes) return &run;
  }
  return nullptr;
}

/// A run that was ended: its time is known to be longer than the limit, and nothing else is.
std::string too_slow(const BenchRun& run, Quantity quantity) {
  if (quantity != Quantity::milliseconds) return "too slow";
  return std::string("> ").append(number(run.over_seconds * 1e3));
}

std::string cell(const std::vector<BenchRun>& runs, const Series& series, int pes, double value, Quantity quantity) {
  const BenchRun* run = find_run(runs, series, pes);
  if (run != nullptr && !run->wrong.empty()) return "WRONG";
  if (run != nullptr && !run->failed.empty()) return "failed";
  if (run != nullptr && run->over_seconds > 0) return too_slow(*run, quantity);
  return number(value) + (run != nullptr && run->pes_per_gpu > 1 ? "*" : "");
}

/// "soc-LiveJournal1 (4.8 M, 68 M); here kron:12,directed=1 (4,096 vertices, 61,000 arcs)"
std::string graph_line(const Experiment& experiment, const std::vector<BenchRun>& runs, const std::string& graph) {
  std::string text = graph;
  for (const StandIn& stand_in : experiment.graphs) {
    if (stand_in.name == graph) text += " (" + stand_in.size + ")";
  }
  const BenchRun* shown = nullptr;  // one that ran is preferred, since it knows the graph's size
  for (const BenchRun& run : runs) {
    if (run.graph == graph && (shown == nullptr || shown->num_vertices == 0)) shown = &run;
  }
  if (shown == nullptr) return text;
  text += "; here " + shown->generator;
  if (shown->num_vertices == 0) return text;
  return text + " (" + counted(shown->num_vertices, "vertex", "vertices") + ", " +
         counted(shown->num_arcs, "arc", "arcs") + ")";
}

/// The lines below a table: why a cell is empty, or marked.
std::vector<std::string> remarks(const std::vector<BenchRun>& runs) {
  std::vector<std::string> lines;
  for (const BenchRun& run : runs) {
    const std::string who = run.graph + ", " + run.way + ", " + counted(run.pes, "PE", "PEs");
    if (!run.wrong.empty()) lines.push_back("WRONG: " + who + ": " + run.wrong);
    if (!run.failed.empty()) lines.push_back("failed: " + who + ": " + run.failed);
    if (run.over_seconds > 0) lines.push_back("too slow: " + who + ": ended after " + number(run.over_seconds) + " s");
  }
  const bool shared = std::any_of(runs.begin(), runs.end(), [](const BenchRun& run) { return run.pes_per_gpu > 1; });
  if (shared) lines.push_back("*: PEs shared GPUs; counts of items are valid, but times are not those of as many GPUs");
  return lines;
}

}  // namespace

const char* unit(Quantity quantity) {
  switch (quantity) {
    case Quantity::milliseconds:
      return "ms";
    case Quantity::inflation:
      return "items taken / vertices reached";
    case Quantity::speedup:
      return "times faster than on one PE";
    case Quantity::items:
      return "million items run";
  }
  return "?";
}

std::vector<Series> lay_side_by_side(const Experiment& experiment, const std::vector<BenchRun>& runs,
                                     std::vector<int>& columns) {
  std::set<int> all;
  std::vector<std::string> graphs;
  for (const BenchRun& run : runs) {
    all.insert(run.pes);
    if (std::find(graphs.begin(), graphs.end(), run.graph) == graphs.end()) graphs.push_back(run.graph);
  }
  for (const Reported& row : experiment.reported) all.insert(row.pes.begin(), row.pes.end());
  columns.assign(all.begin(), all.end());
  const auto place = [&](Series& series, int pes, double value) {
    series.values[static_cast<std::size_t>(std::find(columns.begin(), columns.end(), pes) - columns.begin())] = value;
  };
  std::vector<Series> out;
  for (const std::string& graph : graphs) {
    for (const Reported& row : experiment.reported) {
      if (row.graph != paper_name(graph)) continue;
      out.push_back({graph, row.system, false, "", std::vector<double>(columns.size(), kNotReported)});
      for (std::size_t i = 0; i < row.pes.size(); ++i) place(out.back(), row.pes[i], row.values[i]);
    }
    for (const BenchWay& way : experiment.ways) {
      out.push_back(
          {graph, "shoal " + way.label, true, way.follows, std::vector<double>(columns.size(), kNotReported)});
      for (const BenchRun& run : runs) {
        if (run.graph == graph && run.way == way.label) place(out.back(), run.pes, run.value);
      }
    }
  }
  return out;
}

std::string text_table(const Experiment& experiment, const std::vector<BenchRun>& runs) {
  std::vector<int> columns;
  std::string out, graph;
  char text[64];
  for (const Series& series : lay_side_by_side(experiment, runs, columns)) {
    if (series.graph != graph) {
      graph = series.graph;
      out += (out.empty() ? "" : "\n") + graph_line(experiment, runs, graph) + "\n";
      std::snprintf(text, sizeof text, "  %-42s", unit(experiment.quantity));
      out += text;
      for (const int pes : columns) {
        std::snprintf(text, sizeof text, " %9d", pes);
        out += text;
      }
      out += "\n";
    }
    std::snprintf(text, sizeof text, "  %-42s", (series.system + (series.ours ? "" : " (paper)")).c_str());
    out += text;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      std::snprintf(text, sizeof text, " %9s",
                    cell(runs, series, columns[i], series.values[i], experiment.quantity).c_str());
      out += text;
    }
    out += "\n";
  }
  for (const std::string& line : remarks(runs)) out += line + "\n";
  return out;
}

std::string markdown_table(const Experiment& experiment, const std::vector<BenchRun>& runs) {
  std::vector<int> columns;
  const std::vector<Series> all = lay_side_by_side(experiment, runs, columns);
  std::string out = "## " + experiment.name + ": " + experiment.title + "\n\n" + experiment.source + "; " +
                    experiment.machine + ". " + experiment.note + " The paper finds: " + experiment.sees + ".\n\n| " +
                    unit(experiment.quantity) + " |";
  for (const int pes : columns) out += " " + counted(pes, "PE", "PEs") + " |";
  out += "\n|---|";
  for (std::size_t i = 0; i < columns.size(); ++i) out += "---:|";
  out += "\n";
  std::string graph;
  for (const Series& series : all) {
    if (series.graph != graph) {
      graph = series.graph;
      out += "| **" + graph_line(experiment, runs, graph) + "** |";
      for (std::size_t i = 0; i < columns.size(); ++i) out += " |";
      out += "\n";
    }
    out += "| " + series.system + (series.ours ? "" : " (paper)") + " |";
    for (std::size_t i = 0; i < columns.size(); ++i)
      out += " " + cell(runs, series, columns[i], series.values[i], experiment.quantity) + " |";
    out += "\n";
  }
  for (const std::string& line : remarks(runs)) out += "\n" + line + "\n";
  return out;
}

Json to_json(const Experiment& experiment, const BenchOptions& options, const std::vector<BenchRun>& runs) {
  const auto finite = [](double value) { return std::isnan(value) ? Json() : Json(value); };
  Json json = {{"experiment", experiment.name},          {"title", experiment.title}, {"source", experiment.source},
               {"paper_machine", experiment.machine},    {"sees", experiment.sees},   {"note", experiment.note},
               {"unit", unit(experiment.quantity)},      {"quick", options.quick},    {"trials", options.trials},
               {"limit_seconds", options.limit_seconds}, {"seed", options.seed}};
  json["runs"] = Json::array();
  for (const BenchRun& run : runs) {
    json["runs"].push_back({{"graph", run.graph},
                            {"graph_line", graph_line(experiment, runs, run.graph)},
                            {"generator", run.generator},
                            {"num_vertices", run.num_vertices},
                            {"num_arcs", run.num_arcs},
                            {"way", run.way},
                            {"flags", run.flags},
                            {"pes", run.pes},
                            {"pes_per_gpu", run.pes_per_gpu},
                            {"sources", run.sources},
                            {"seconds", run.seconds},
                            {"items_run", run.items_run},
                            {"items_taken", run.items_taken},
                            {"reached", run.reached},
                            {"value", finite(run.value)},
                            {"chosen", run.chosen},
                            {"verified", !run.seconds.empty() && run.wrong.empty()}});
    if (run.over_seconds > 0) json["runs"].back()["over_seconds"] = run.over_seconds;
    if (!run.failed.empty()) json["runs"].back()["failed"] = run.failed;
    if (!run.wrong.empty()) json["runs"].back()["wrong"] = run.wrong;
  }
  std::vector<int> columns;
  json["series"] = Json::array();
  for (const Series& series : lay_side_by_side(experiment, runs, columns)) {
    Json values = Json::array();
    for (const double value : series.values) values.push_back(finite(value));
    json["series"].push_back(
        {{"graph", series.graph}, {"system", series.system}, {"ours", series.ours}, {"values", values}});
    if (!series.follows.empty()) json["series"].back()["follows"] = series.follows;
  }
  json["columns"] = columns;
  return json;
}

}  // namespace shoal::cli
