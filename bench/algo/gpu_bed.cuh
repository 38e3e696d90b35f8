// What the benches of algorithms on GPUs share: arguments, graphs, sources, and statistics of a sample.
#pragma once
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/graph/edge_functions.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/graph/weights.hpp"
#include "shoal/placement/device_graph.hpp"

namespace shoal::bed {

/// The arguments that all benches have. A bench adds its own to the same app.
struct Arguments {
  pe_t pes = 1;
  int trials = 16;
  std::uint64_t seed = 1;
  bool no_check = false;
  int rest = 0;
  PartitionKind partition = PartitionKind::automatic;
  std::vector<std::string> graphs;

  void add_to(CLI::App& app) {
    app.add_option("graphs", graphs,
                   "generators, made on the devices: kron:24 road:4096 ...; or files, taken as undirected")
        ->required();
    app.add_option("--pes,--gpus", pes, "GPUs")->check(CLI::Range(1, 8));
    app.add_option("--trials", trials, "timed runs")->check(CLI::Range(1, 10000));
    app.add_option("--seed", seed, "of sources and of the random partition");
    app.add_flag("--no-check", no_check, "do not check the answers");
    app.add_option("--rest", rest, "milliseconds before each trial; after some tens, wires between GPUs are asleep")
        ->check(CLI::Range(0, 10000));
    static const std::map<std::string, PartitionKind> kinds = {
        {"block", PartitionKind::block}, {"edges", PartitionKind::edges}, {"random", PartitionKind::random}};
    app.add_option("--partition", partition, "of the vertices: block, edges, random (default: edges)")
        ->transform(CLI::CheckedTransformer(kinds));
  }
  /// Rests before a trial, if --rest asks for it.
  void wait() const { std::this_thread::sleep_for(std::chrono::milliseconds(rest)); }
  /// Places the graph on the first GPUs. @throws DeviceError  there are too few GPUs
  PlacedGraph place(const std::string& text, std::optional<WeightSource> weights = std::nullopt) const {
    if (num_devices() < pes) {
      throw DeviceError(std::to_string(num_devices()) + " GPUs here, " + std::to_string(pes) + " wanted");
    }
    std::vector<int> devices(pes);
    std::iota(devices.begin(), devices.end(), 0);
    if (is_generator(text)) {
      return generate_on_devices(parse_generator(text), pes, partition, devices, seed, weights);
    }
    ReadOptions reading;
    reading.undirected = true;
    const Csr read = read_graph(text, reading);
    Csr weighted;
    if (weights) weighted = with_weights(read, *weights);
    const Csr& graph = weights ? weighted : read;
    PlacedGraph placed =
        place_on_devices(graph, make_partition(graph, pes, partition, "", seed), devices, weights.has_value());
    if (weights) describe_weights(graph, placed);
    return placed;
  }
};

/// Applies settings of the form "name=value,name=value".
/// @param setters  by name
/// @throws UsageError  a name is unknown, or a value is not a number
inline void apply_tuning(const std::string& text, const std::map<std::string, std::function<void(double)>>& setters) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals == std::string::npos || equals > comma) throw UsageError("--tune " + text + ": use NAME=VALUE");
    const std::string name = text.substr(at, equals - at), value = text.substr(equals + 1, comma - equals - 1);
    char* end = nullptr;
    const double number = std::strtod(value.c_str(), &end);
    if (value.empty() || *end != 0) throw UsageError("--tune " + name + ": '" + value + "' is no number");
    const auto setter = setters.find(name);
    if (setter == setters.end()) {
      std::string known;
      for (const auto& [each, set] : setters) known += " " + each;
      throw UsageError("--tune " + name + ": no such tuning; there are:" + known);
    }
    setter->second(number);
    at = comma + 1;
  }
}

/// Draws random vertices with out-arcs, in placed numbers. The same vertices are drawn for every partition and number of PEs.
inline std::vector<vertex_t> draw_sources(const PlacedGraph& graph, int count, std::uint64_t seed) {
  std::vector<vertex_t> sources;
  for (std::uint64_t i = 0; static_cast<int>(sources.size()) < count; ++i) {
    if (i == 1000000) throw UsageError("no vertex with arcs was drawn in a million tries");
    const auto v = graph.partition.placed(
        static_cast<vertex_t>(mix64(seed * 1000003 + i + 0x9E3779B97F4A7C15ull) % graph.num_vertices));
    const CsrView& out = graph.out[graph.partition.owner(v)];
    arc_t ends[2];
    SHOAL_CUDA(cudaMemcpy(ends, out.offsets + out.local(v), sizeof(ends), cudaMemcpyDefault));
    if (ends[1] != ends[0]) sources.push_back(v);
  }
  return sources;
}

/// Statistics of a sample that is not empty.
inline double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}
inline double smallest(const std::vector<double>& x) { return *std::min_element(x.begin(), x.end()); }
inline double largest(const std::vector<double>& x) { return *std::max_element(x.begin(), x.end()); }

/// Writes objects as one JSON array.
/// @throws UsageError  the file cannot be written
inline void write_json(const std::string& name, const std::vector<std::string>& objects) {
  std::FILE* const file = std::fopen(name.c_str(), "w");
  if (file == nullptr) throw UsageError(name + " cannot be written");
  std::fputs("[", file);
  for (std::size_t i = 0; i < objects.size(); ++i) std::fprintf(file, "%s%s", i == 0 ? "" : ",\n ", objects[i].c_str());
  std::fputs("]\n", file);
  if (std::fclose(file) != 0) throw UsageError(name + " could not be written in full");
}

}  // namespace shoal::bed
