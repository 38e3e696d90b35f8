// Connected components on one or several H200: time by graph, checked, and where the time goes.
//
//   gpu_components GRAPH [--pes N] [--partition KIND] [--exchange WAY] [--trials N] [--tile N] [--profile] [--no-verify]
//
// GRAPH is a generator's argument (kron:22, road:4096); it is made on the devices. Prints the median and the fastest of the
// trials, and the floor: reading offsets, one 32-byte sector of every row, and writing the labels once, at 4 TB/s per GPU.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/algo/components_hook_gpu.hpp"
#include "shoal/algo/components_verify_gpu.hpp"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/error.hpp"
#include "shoal/pgas/device_graph.hpp"

int main(int argc, char** argv) try {
  using namespace shoal;
  CLI::App app("Connected components on GPUs: times and steps.");
  std::string text;
  pe_t pes = 1;
  int trials = 15;
  bool profile = false, no_verify = false;
  PartitionKind partition = PartitionKind::automatic;
  const std::map<std::string, PartitionKind> partitions = {
      {"block", PartitionKind::block}, {"edges", PartitionKind::edges}, {"random", PartitionKind::random}};
  const std::map<std::string, ComponentsExchange> exchanges = {{"auto", ComponentsExchange::automatic},
                                                               {"hooks", ComponentsExchange::hooks},
                                                               {"forests", ComponentsExchange::forests}};
  ComponentsHookGpuTuning tuning;
  app.add_option("graph", text, "kron:S or road:N ...")->required();
  app.add_option("--pes", pes, "GPUs")->check(CLI::Range(1, 8));
  app.add_option("--partition", partition, "of the vertices: block, edges, random")
      ->transform(CLI::CheckedTransformer(partitions));
  app.add_option("--exchange", tuning.exchange, "of several PEs: auto, hooks, forests")
      ->transform(CLI::CheckedTransformer(exchanges));
  app.add_option("--trials", trials, "timed runs, after one that is not")->check(CLI::Range(1, 10000));
  app.add_option("--tile", tuning.tile, "vertices that a block unites in shared memory");
  app.add_flag("--profile", profile, "also each kernel");
  app.add_flag("--no-verify", no_verify, "do not check the labels");
  CLI11_PARSE(app, argc, argv);
  if (num_devices() < pes)
    throw DeviceError(std::to_string(num_devices()) + " GPUs here, " + std::to_string(pes) + " wanted");
  std::vector<int> devices(pes);
  std::iota(devices.begin(), devices.end(), 0);
  const PlacedGraph graph = generate_on_devices(parse_generator(text), pes, partition, devices);
  ComponentsHookGpu hook(graph, tuning);
  std::vector<double> ms;
  Report report;
  hook.run(report);
  for (int i = 0; i < trials; ++i) {
    report = {};
    hook.run(report);
    ms.push_back(report.seconds * 1e3);
  }
  std::sort(ms.begin(), ms.end());
  const double bytes = graph.num_vertices * 12.0 + std::min(graph.num_vertices * 32.0, graph.num_arcs * 4.0);
  std::printf("%s: %lld vertices, %lld arcs, %d PEs: median %.3f ms, fastest %.3f (floor %.3f)", text.c_str(),
              static_cast<long long>(graph.num_vertices), static_cast<long long>(graph.num_arcs), pes,
              ms[ms.size() / 2], ms[0], bytes / (4e9 * pes));
  for (const auto& [what, why] : report.chosen) std::printf("; %s", why.c_str());
  std::printf(
      "; cut %.3f of the arcs, imbalance %.3f\n",
      graph.num_arcs > 0 ? static_cast<double>(graph.partition.cut_arcs) / static_cast<double>(graph.num_arcs) : 0,
      graph.partition.imbalance);
  if (profile) {
    for (const ComponentsHookStep& step : hook.profile())
      std::printf("  %s %.1f us;", step.name.c_str(), step.microseconds);
    std::printf("\n");
  }
  if (no_verify) return 0;
  std::vector<const vertex_t*> labels;
  for (pe_t p = 0; p < pes; ++p) labels.push_back(hook.label(p));
  const std::string wrong = verify_components_on_devices(graph, labels.data());
  std::printf("  %s\n", wrong.empty() ? "verified" : wrong.c_str());
  return wrong.empty() ? 0 : 1;
} catch (const shoal::Error& error) {
  std::fprintf(stderr, "gpu_components: %s\n", error.what());
  return 2;
}
