// Level-synchronous breadth-first search on 1 to 8 GPUs: checks every source, then times it, and prints what it took.
//
//   gpu_bfs_levels [--gpus N] [--trials N] [--seed N] [--tune NAME=VALUE[,NAME=VALUE...]]... [--steps] [--no-check]
//                  [--json FILE] GRAPH...
//
// GRAPH is a generator such as kron:24; it is generated on the devices. Sources are drawn from the vertices with arcs,
// the same for every tuning. Seconds are the search alone: levels cleared, kernels launched, every device waited for.
// Bound: what one device needs to write its levels and to read one word of every vertex's heads, at 3.9 TB/s.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/algo/bfs_levels_gpu.hpp"
#include "shoal/algo/bfs_verify_gpu.hpp"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/pgas/device_graph.hpp"

namespace {

using namespace shoal;

struct Arguments {
  int gpus = 1, trials = 16;
  std::uint64_t seed = 1;
  bool steps = false, check = true;
  std::string json;
  std::vector<std::string> tunings, graphs;
};

Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 == argc) throw UsageError(arg + " wants a value");
      return argv[++i];
    };
    if (arg == "--gpus")
      a.gpus = std::stoi(value());
    else if (arg == "--trials")
      a.trials = std::stoi(value());
    else if (arg == "--seed")
      a.seed = std::stoull(value());
    else if (arg == "--tune")
      a.tunings.push_back(value());
    else if (arg == "--json")
      a.json = value();
    else if (arg == "--steps")
      a.steps = true;
    else if (arg == "--no-check")
      a.check = false;
    else if (arg.rfind("--", 0) == 0)
      throw UsageError(arg + ": no such option; see the head of bench/gpu_bfs_levels.cu");
    else
      a.graphs.push_back(arg);
  }
  if (a.graphs.empty()) throw UsageError("name a graph, for instance kron:22");
  if (a.tunings.empty()) a.tunings.push_back("");
  if (a.trials < 1) throw UsageError("--trials wants at least 1");
  return a;
}

/// Applies "name=value,name=value" to the defaults.
BfsLevelsGpuTuning tuning_of(const std::string& text) {
  BfsLevelsGpuTuning t;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals == std::string::npos || equals > comma) throw UsageError("--tune " + text + ": NAME=VALUE is wanted");
    const std::string name = text.substr(at, equals - at);
    const double x = std::stod(text.substr(equals + 1, comma - equals - 1));
    if (name == "alpha")
      t.alpha = x;
    else if (name == "beta")
      t.beta = x;
    else if (name == "block_threads")
      t.block_threads = static_cast<int>(x);
    else if (name == "blocks_per_sm")
      t.blocks_per_sm = static_cast<int>(x);
    else if (name == "narrow")
      t.narrow = x != 0;
    else if (name == "narrow_threads")
      t.narrow_threads = static_cast<int>(x);
    else if (name == "narrow_after")
      t.narrow_after = static_cast<int>(x);
    else if (name == "narrow_enter")
      t.narrow_enter = static_cast<std::int64_t>(x);
    else if (name == "narrow_leave")
      t.narrow_leave = static_cast<std::int64_t>(x);
    else if (name == "narrow_check")
      t.narrow_check = static_cast<std::int64_t>(x);
    else if (name == "cluster_blocks")
      t.cluster_blocks = static_cast<int>(x);
    else if (name == "deadline_seconds")
      t.deadline_seconds = x;
    else
      throw UsageError("--tune " + name + ": no such tuning; see BfsLevelsGpuTuning");
    at = comma + 1;
  }
  return t;
}

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

arc_t degree_of(const PlacedGraph& g, vertex_t placed) {
  const CsrView& out = g.out[g.partition.owner(placed)];
  arc_t ends[2];
  SHOAL_CUDA(cudaMemcpy(ends, out.offsets + out.local(placed), sizeof(ends), cudaMemcpyDefault));
  return ends[1] - ends[0];
}

/// Placed numbers of random vertices with out-arcs.
std::vector<vertex_t> draw_sources(const PlacedGraph& g, int trials, std::uint64_t seed) {
  std::vector<vertex_t> sources;
  for (std::uint64_t i = 0; static_cast<int>(sources.size()) < trials; ++i) {
    if (i == 1000000) throw UsageError("no vertex with arcs was drawn in a million tries");
    const auto v = g.partition.placed(static_cast<vertex_t>(mix(seed * 1000003 + i) % g.num_vertices));
    if (degree_of(g, v) != 0) sources.push_back(v);
  }
  return sources;
}

__global__ void sum_reached(CsrView out, const level_t* level, unsigned long long* sums) {
  unsigned long long vertices = 0, arcs = 0;
  for (vertex_t v = blockIdx.x * blockDim.x + threadIdx.x; v < out.count; v += gridDim.x * blockDim.x) {
    if (level[v] == kUnreached) continue;
    ++vertices;
    arcs += out.offsets[v + 1] - out.offsets[v];
  }
  atomicAdd(&sums[0], vertices);
  atomicAdd(&sums[1], arcs);
}

struct Reached {
  unsigned long long vertices = 0, arcs = 0;
};

Reached reached(const PlacedGraph& g, const std::vector<level_t*>& level) {
  Reached r;
  for (pe_t p = 0; p < g.n_pes(); ++p) {
    DeviceGuard guard(g.devices[p]);
    DeviceArray<unsigned long long> sums(2, "sums");
    sums.fill_bytes(0);
    sum_reached<<<512, 256>>>(g.out[p], level[p], sums.data());
    SHOAL_CUDA(cudaDeviceSynchronize());
    unsigned long long host[2];
    sums.download(host, 2);
    r.vertices += host[0];
    r.arcs += host[1];
  }
  return r;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}

void print_steps(const BfsLevelsGpu& search) {
  for (const BfsLevelStep& s : search.steps()) {
    std::printf("    %c level %-5u %12llu vertices %14llu arcs %9.1f us\n", s.side, s.depth,
                static_cast<unsigned long long>(s.vertices), static_cast<unsigned long long>(s.arcs), s.microseconds);
  }
}

/// Checks, then times. @return a JSON object
std::string measure(const std::string& name, const PlacedGraph& g, const Arguments& a, const std::string& tune,
                    const std::vector<vertex_t>& sources) {
  BfsLevelsGpu search(g, tuning_of(tune));
  std::vector<DeviceArray<level_t>> arrays;
  std::vector<level_t*> level;
  for (pe_t p = 0; p < g.n_pes(); ++p) {
    DeviceGuard guard(g.devices[p]);
    arrays.emplace_back(g.out[p].count, "levels");
    arrays.back().fill_bytes(0x5A);
    SHOAL_CUDA(cudaDeviceSynchronize());
    level.push_back(arrays.back().data());
  }
  std::vector<Reached> r(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Report report;
    search.search(sources[i], level.data(), report);
    r[i] = reached(g, level);
    if (!a.check) continue;
    const std::string wrong = verify_levels_on_devices(g, level.data(), sources[i]);
    if (!wrong.empty())
      throw Error(name + " [" + tune + "] source " + std::to_string(sources[i]) + ": WRONG: " + wrong);
  }
  std::vector<double> seconds, rate;
  std::vector<std::int64_t> rounds;
  std::string sides;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Report report;
    search.search(sources[i], level.data(), report);
    seconds.push_back(report.seconds);
    rate.push_back(r[i].arcs / report.seconds);
    rounds.push_back(report.rounds);
    sides = report.chosen.back().second;
  }
  const double bound = 8.0 * g.num_vertices / g.n_pes() / 3.9e12;
  std::printf("%-14s %d GPU %-34s median %8.3f ms  min %8.3f  max %8.3f  %7.1f G arcs/s  bound %.3f ms  %s\n",
              name.c_str(), g.n_pes(), tune.c_str(), median(seconds) * 1e3,
              *std::min_element(seconds.begin(), seconds.end()) * 1e3,
              *std::max_element(seconds.begin(), seconds.end()) * 1e3, median(rate) * 1e-9, bound * 1e3,
              a.check ? "all checked" : "NOT CHECKED");
  std::printf("    last source: %lld levels (%s); prepared in %.1f ms; %.2f GB beside the graph\n",
              static_cast<long long>(rounds.back()), sides.c_str(), search.prepare_seconds() * 1e3,
              search.extra_bytes() * 1e-9);
  if (a.steps) print_steps(search);
  std::fflush(stdout);
  std::string json = "{\"graph\": \"" + name + "\", \"gpus\": " + std::to_string(g.n_pes()) + ", \"tuning\": \"" +
                     tune + "\", \"vertices\": " + std::to_string(g.num_vertices) +
                     ", \"arcs\": " + std::to_string(g.num_arcs) + ", \"checked\": " + (a.check ? "true" : "false") +
                     ", \"prepare_seconds\": " + std::to_string(search.prepare_seconds()) +
                     ", \"extra_bytes\": " + std::to_string(search.extra_bytes()) + ", \"trials\": [";
  for (std::size_t i = 0; i < sources.size(); ++i) {
    char line[256];
    std::snprintf(line, sizeof(line),
                  "%s{\"source\": %u, \"seconds\": %.9f, \"levels\": %lld, \"reached\": %llu, \"reached_arcs\": %llu}",
                  i == 0 ? "" : ", ", sources[i], seconds[i], static_cast<long long>(rounds[i]), r[i].vertices,
                  r[i].arcs);
    json += line;
  }
  return json + "]}";
}

}  // namespace

int main(int argc, char** argv) try {
  const Arguments a = parse(argc, argv);
  if (num_devices() < a.gpus) {
    throw DeviceError(std::to_string(a.gpus) + " GPUs wanted, " + std::to_string(num_devices()) + " found");
  }
  std::vector<int> devices(a.gpus);
  std::iota(devices.begin(), devices.end(), 0);
  std::string json;
  for (const std::string& name : a.graphs) {
    const PlacedGraph g = generate_on_devices(parse_generator(name), a.gpus, PartitionKind::edges, devices);
    const std::vector<vertex_t> sources = draw_sources(g, a.trials, a.seed);
    for (const std::string& tune : a.tunings) {
      json += (json.empty() ? "" : ",\n ") + measure(name, g, a, tune, sources);
    }
  }
  if (!a.json.empty()) {
    std::FILE* file = std::fopen(a.json.c_str(), "w");
    if (file == nullptr) throw UsageError(a.json + " cannot be written");
    std::fprintf(file, "[%s]\n", json.c_str());
    if (std::fclose(file) != 0) throw UsageError(a.json + " could not be written in full");
  }
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gpu_bfs_levels: %s\n", e.what());
  return 1;
}
