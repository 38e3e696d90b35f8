// Connected components on one or several H200: times by graph, with checked answers, and optionally the time of each kernel.
//
//   gpu_components [--pes N] [--partition KIND] [--exchange WAY] [--trials N] [--rest MS] [--tile N] [--profile] [--no-check]
//                  GRAPH...
//
// GRAPH is a generator (kron:22, road:4096), and is generated on the devices. Prints the median and the fastest of the trials, and
// a lower bound: reading the offsets and one 32-byte sector of every row, and writing the labels once, at 4 TB/s per GPU.
#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "algo/components/hook_gpu.hpp"
#include "algo/components/verify_gpu.hpp"
#include "gpu_bed.cuh"
#include "shoal/core/error.hpp"

namespace {

using namespace shoal;

/// Times, then checks. @return 1 if the labels are wrong
int measure(const std::string& text, const bed::Arguments& a, const ComponentsHookGpuTuning& tuning, bool profile) {
  const PlacedGraph graph = a.place(text);
  ComponentsHookGpu hook(graph, tuning);
  Report report;
  hook.run(report);
  std::vector<double> ms;
  for (int i = 0; i < a.trials; ++i) {
    a.wait();
    report = {};
    hook.run(report);
    ms.push_back(report.seconds * 1e3);
  }
  const double bytes = graph.num_vertices * 12.0 + std::min(graph.num_vertices * 32.0, graph.num_arcs * 4.0);
  std::printf("%s: %lld vertices, %lld arcs, %d PEs: median %.3f ms, fastest %.3f (floor %.3f)", text.c_str(),
              static_cast<long long>(graph.num_vertices), static_cast<long long>(graph.num_arcs), a.pes,
              bed::median(ms), bed::smallest(ms), bytes / (4e9 * a.pes));
  for (const Decision& decision : report.chosen) std::printf("; %s", to_text(decision).c_str());
  std::printf("; cut %.3f of the arcs, imbalance %.3f\n",
              static_cast<double>(graph.partition.cut_arcs) / static_cast<double>(std::max<arc_t>(graph.num_arcs, 1)),
              graph.partition.imbalance);
  if (profile) {
    for (const ComponentsHookStep& step : hook.profile())
      std::printf("  %s %.1f us;", step.name.c_str(), step.microseconds);
    std::printf("\n");
  }
  if (a.no_check) return 0;
  std::vector<const vertex_t*> labels;
  for (pe_t p = 0; p < a.pes; ++p) labels.push_back(hook.label(p));
  const std::string wrong = verify_components_on_devices(graph, labels.data());
  std::printf("  %s\n", wrong.empty() ? "verified" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  using namespace shoal;
  CLI::App app("Connected components on GPUs: times and steps.");
  bed::Arguments a;
  bool profile = false;
  const std::map<std::string, ComponentsExchange> exchanges = {{"auto", ComponentsExchange::automatic},
                                                               {"hooks", ComponentsExchange::hooks},
                                                               {"forests", ComponentsExchange::forests}};
  ComponentsHookGpuTuning tuning;
  a.add_to(app);
  app.add_option("--exchange", tuning.exchange, "of several PEs: auto, hooks, forests")
      ->transform(CLI::CheckedTransformer(exchanges));
  app.add_option("--tile", tuning.tile, "vertices that a block unites in shared memory (default: by the graph's size)");
  app.add_flag("--profile", profile, "also each kernel");
  CLI11_PARSE(app, argc, argv);
  int wrong = 0;
  for (const std::string& text : a.graphs) wrong += measure(text, a, tuning, profile);
  return wrong == 0 ? 0 : 1;
} catch (const shoal::Error& error) {
  std::fprintf(stderr, "gpu_components: %s\n", error.what());
  return 2;
}
