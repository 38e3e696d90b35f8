// PageRank on GPUs: times, the error that was reached, and the bound set by memory, for graphs named on the command line.
//
//   gpu_pagerank [--pes N] [--trials N] [--tolerance T] [--strategy pull|async] GRAPH...
//
// The bound is the time that one GPU needs to read its arcs once in every sweep, at 3.9 TB/s. The answer is checked. The time for
// placing the graph, which orders and copies the rows once per graph, is printed separately.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/generate.hpp"

namespace {

using namespace shoal;

int bench(const std::string& text, const PageRankOptions& options, int trials) {
  Csr graph;
  const bool generated = is_generator(text);
  if (!generated) graph = read_graph(text, {.undirected = true});
  PageRankRunner runner = generated ? PageRankRunner(parse_generator(text), options) : PageRankRunner(graph, options);
  std::vector<double> ms;
  Report report;
  for (int i = 0; i <= trials; ++i) {  // the first trial only warms up
    report = runner.rank();
    if (i > 0) ms.push_back(report.seconds * 1e3);
  }
  std::sort(ms.begin(), ms.end());
  const std::string wrong = runner.verify();
  double place = 0;
  std::string error, sweep;
  for (const auto& [name, seconds] : report.phase_seconds) place += name == "place" ? seconds : 0;
  for (const Decision& decision : report.chosen) {
    if (decision.option == "error") error = decision.value;
    if (decision.option == "sweep" || decision.option == "strategy") sweep = to_text(decision);
  }
  const double median = ms[ms.size() / 2];
  const double arcs =
      static_cast<double>(runner.num_arcs()) * static_cast<double>(std::max<std::int64_t>(report.rounds, 1));
  const double bound = arcs * sizeof(vertex_t) / options.pes / 3.9e12;
  std::printf(
      "%-12s %d PEs  %8.2f ms (%.2f to %.2f; bound %.2f)  %3lld sweeps  %5.1f G arcs/s  place %.0f ms  error <= %s  %s "
      " "
      "[%s]\n",
      text.c_str(), options.pes, median, ms.front(), ms.back(), bound * 1e3, static_cast<long long>(report.rounds),
      arcs / median / 1e6, place * 1e3, error.c_str(), wrong.empty() ? "right" : wrong.c_str(), sweep.c_str());
  std::fflush(stdout);
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("PageRank on GPUs: times and errors.");
  PageRankOptions options;
  options.device = DeviceKind::gpu;
  options.pes = 1;
  std::string strategy = "auto", precision = "auto";
  int trials = 5;
  std::vector<std::string> graphs;
  app.add_option("--pes", options.pes, "GPUs");
  app.add_option("--trials", trials, "timed runs")->check(CLI::Range(1, 1000));
  app.add_option("--tolerance", options.tolerance, "L1 error");
  app.add_option("--strategy", strategy, "auto, async, pull");
  app.add_option("--precision", precision, "auto, float32, float64");
  app.add_option("graphs", graphs, "generators or files")->required();
  CLI11_PARSE(app, argc, argv);
  int failed = 0;
  for (const std::string& graph : graphs) {
    try {
      options.strategy = parse_pagerank_strategy(strategy);
      options.precision = parse_pagerank_precision(precision);
      failed += bench(graph, options, trials);
    } catch (const Error& error) {
      std::printf("%s: %s\n", graph.c_str(), error.what());
      ++failed;
    }
  }
  return failed == 0 ? 0 : 1;
}
