// Shortest paths on 1 to 8 GPUs, strategy delta: checks every source, then times it, and prints what it took.
//
//   gpu_sssp_delta [--gpus N] [--trials N] [--seed N] [--wide] [--tune NAME=VALUE[,NAME=VALUE...]]... [--no-check]
//                  [--phases] [--partition block|edges|random] [--json FILE] GRAPH...
//
// GRAPH is a generator such as kron:24; it is generated on the devices, with weights hash255 (1 to 255). Sources are
// drawn from the vertices with arcs, the same for every tuning. Seconds are the search alone: distances cleared, kernels
// launched, every device waited for. Bound: what one device needs to read its arcs and their weights once, at 3.9 TB/s.
// Checked: every distance is the least that its in-arcs offer, which is enough where no weight is zero.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "shoal/algo/sssp_delta_gpu.hpp"
#include "shoal/algo/sssp_reference.hpp"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"
#include "shoal/data/edge_functions.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/pgas/device_graph.hpp"

namespace {

using namespace shoal;

struct Arguments {
  int gpus = 1, trials = 16;
  std::uint64_t seed = 1;
  bool wide = false, check = true, phases = false;
  PartitionKind partition = PartitionKind::edges;
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
    if (arg == "--gpus") {
      a.gpus = std::stoi(value());
    } else if (arg == "--trials") {
      a.trials = std::stoi(value());
    } else if (arg == "--seed") {
      a.seed = std::stoull(value());
    } else if (arg == "--wide") {
      a.wide = true;
    } else if (arg == "--phases") {
      a.phases = true;
    } else if (arg == "--no-check") {
      a.check = false;
    } else if (arg == "--tune") {
      a.tunings.push_back(value());
    } else if (arg == "--json") {
      a.json = value();
    } else if (arg == "--partition") {
      const std::string kind = value();
      if (kind != "block" && kind != "edges" && kind != "random") throw UsageError("--partition " + kind);
      a.partition = kind == "block"   ? PartitionKind::block
                    : kind == "edges" ? PartitionKind::edges
                                      : PartitionKind::random;
    } else if (arg.rfind("--", 0) == 0) {
      throw UsageError(arg + ": no such option; see the head of bench/gpu_sssp_delta.cu");
    } else {
      a.graphs.push_back(arg);
    }
  }
  if (a.graphs.empty()) throw UsageError("name a graph, for instance kron:22");
  if (a.tunings.empty()) a.tunings.push_back("");
  if (a.trials < 1) throw UsageError("--trials wants at least 1");
  return a;
}

/// Applies "name=value,name=value" to the defaults.
SsspDeltaGpuTuning tuning_of(const std::string& text) {
  SsspDeltaGpuTuning t;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
    if (equals == std::string::npos || equals > comma) throw UsageError("--tune " + text + ": NAME=VALUE is wanted");
    const std::string name = text.substr(at, equals - at);
    const double x = std::stod(text.substr(equals + 1, comma - equals - 1));
    if (name == "delta") {
      t.delta = x;
    } else if (name == "far_widths") {
      t.far_widths = x;
    } else if (name == "sweep_enter") {
      t.sweep_enter = x;
    } else if (name == "sweep_leave") {
      t.sweep_leave = x;
    } else if (name == "pull_width") {
      t.pull_width = x;
    } else if (name == "pull_enter") {
      t.pull_enter = x;
    } else if (name == "pull_growth") {
      t.pull_growth = x;
    } else if (name == "pulls") {
      t.pulls = static_cast<int>(x);
    } else if (name == "after_width") {
      t.after_width = x;
    } else if (name == "pull_degree") {
      t.pull_degree = x;
    } else if (name == "round_steps") {
      t.round_steps = static_cast<int>(x);
    } else if (name == "narrow") {
      t.narrow = x != 0;
    } else if (name == "narrow_after") {
      t.narrow_after = static_cast<int>(x);
    } else if (name == "narrow_enter") {
      t.narrow_enter = static_cast<int>(x);
    } else if (name == "narrow_leave") {
      t.narrow_leave = static_cast<int>(x);
    } else if (name == "cluster_blocks") {
      t.cluster_blocks = static_cast<int>(x);
    } else if (name == "block_threads") {
      t.block_threads = static_cast<int>(x);
    } else if (name == "blocks_per_sm") {
      t.blocks_per_sm = static_cast<int>(x);
    } else {
      throw UsageError("--tune " + name + ": no such tuning; see SsspDeltaGpuTuning");
    }
    at = comma + 1;
  }
  return t;
}

/// Placed numbers of random vertices with out-arcs.
std::vector<vertex_t> draw_sources(const PlacedGraph& g, int trials, std::uint64_t seed) {
  std::vector<vertex_t> sources;
  for (std::uint64_t i = 0; static_cast<int>(sources.size()) < trials; ++i) {
    if (i == 1000000) throw UsageError("no vertex with arcs was drawn in a million tries");
    const auto v = g.partition.placed(static_cast<vertex_t>(mix64(seed * 1000003 + i) % g.num_vertices));
    const CsrView& out = g.out[g.partition.owner(v)];
    arc_t ends[2];
    SHOAL_CUDA(cudaMemcpy(ends, out.offsets + out.local(v), sizeof(ends), cudaMemcpyDefault));
    if (ends[1] != ends[0]) sources.push_back(v);
  }
  return sources;
}

struct Judgement {
  unsigned long long reached, arcs, wrong;
};

/// A warp looks at each vertex.
template <class W>
__global__ void judge(CsrView in, ArcWeights weights, const W* distance, vertex_t source, bool check, Judgement* out) {
  const vertex_t warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, warps = gridDim.x * blockDim.x / 32;
  Judgement mine{};
  for (vertex_t i = warp; i < in.count; i += warps) {
    const vertex_t v = in.first + i;
    if (threadIdx.x % 32 == 0 && distance[v] != kUnreachedDistance<W>) {
      ++mine.reached;
      mine.arcs += in.offsets[i + 1] - in.offsets[i];
    }
    if (!check) continue;
    Arrival<W> best = best_arrival(in, weights, distance, v, threadIdx.x % 32, 32);
    for (int step = 16; step > 0; step /= 2) {
      Arrival<W> other;
      other.distance = __shfl_xor_sync(0xFFFFFFFFu, best.distance, step);
      best.merge(other);
    }
    if (threadIdx.x % 32 == 0 && !distance_is_right(v, source, distance[v], best)) ++mine.wrong;
  }
  if (mine.reached != 0) atomicAdd(&out->reached, mine.reached);
  if (mine.arcs != 0) atomicAdd(&out->arcs, mine.arcs);
  if (mine.wrong != 0) atomicAdd(&out->wrong, mine.wrong);
}

template <class W>
Judgement judge_all(const PlacedGraph& g, const SsspDeltaGpu& search, vertex_t source, bool check) {
  Judgement sum{};
  for (pe_t p = 0; p < g.n_pes(); ++p) {
    DeviceGuard guard(g.devices[p]);
    DeviceArray<W> all(g.num_vertices, "distances of all vertices, to check");
    DeviceArray<Judgement> out(1, "judgement");
    out.fill_bytes(0);
    for (pe_t q = 0; q < g.n_pes(); ++q) {
      SHOAL_CUDA(cudaMemcpy(all.data() + g.out[q].first, search.words(q), std::size_t{g.out[q].count} * sizeof(W),
                            cudaMemcpyDefault));
    }
    judge<W><<<1056, 256>>>(g.in[p], g.in_weights[p], all.data(), source, check, out.data());
    SHOAL_CUDA(cudaGetLastError());
    Judgement host{};
    out.download(&host, 1);
    sum.reached += host.reached;
    sum.arcs += host.arcs;
    sum.wrong += host.wrong;
  }
  return sum;
}

double median(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  return x.size() % 2 == 1 ? x[x.size() / 2] : (x[x.size() / 2 - 1] + x[x.size() / 2]) / 2;
}

/// Of the last search: milliseconds of each PE in each kind of phase, and millions of messages sent.
void print_phases(const SsspDeltaGpu& search, pe_t n_pes) {
  for (pe_t p = 0; p < n_pes; ++p) {
    std::printf("    PE %d:", p);
    for (const auto& [what, seconds] : search.phases(p)) {
      if (seconds > 0) std::printf(" %s %.3f", what, seconds * 1e3);
    }
    std::printf("; sent %.3fM\n", static_cast<double>(search.messages(p)) * 1e-6);
  }
}

/// Checks, then times. @return a JSON object
std::string measure(const std::string& name, const PlacedGraph& g, const Arguments& a, const std::string& tune,
                    const std::vector<vertex_t>& sources) {
  SsspDeltaGpu search(g, a.wide, tuning_of(tune));
  std::vector<Judgement> found;
  for (const vertex_t source : sources) {
    Report report;
    search.search(source, report);
    found.push_back(a.wide ? judge_all<std::uint64_t>(g, search, source, a.check)
                           : judge_all<std::uint32_t>(g, search, source, a.check));
    if (found.back().wrong != 0) {
      throw Error(name + " [" + tune + "] source " + std::to_string(source) +
                  ": WRONG: " + std::to_string(found.back().wrong) + " distances");
    }
  }
  std::vector<double> seconds, arcs, popped;
  std::string trials, chosen;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Report report;
    search.search(sources[i], report);
    seconds.push_back(report.seconds);
    arcs.push_back(static_cast<double>(report.pushed) / static_cast<double>(found[i].arcs));
    popped.push_back(static_cast<double>(report.run) / static_cast<double>(found[i].reached));
    chosen = report.chosen.back().second;
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s{\"source\": %u, \"seconds\": %.9f, \"steps\": %lld, \"expanded\": %lld, \"relaxed\": %lld, "
                  "\"reached\": %llu, \"reached_arcs\": %llu}",
                  i == 0 ? "" : ", ", sources[i], report.seconds, static_cast<long long>(report.rounds),
                  static_cast<long long>(report.run), static_cast<long long>(report.pushed), found[i].reached,
                  found[i].arcs);
    trials += line;
  }
  const double bound = 8.0 * static_cast<double>(g.num_arcs) / g.n_pes() / 3.9e12;
  std::printf("%-11s %d GPU %-24s %8.3f ms (%.3f to %.3f; bound %.2f) vertices x%.2f arcs x%.2f %s\n", name.c_str(),
              g.n_pes(), tune.c_str(), median(seconds) * 1e3, *std::min_element(seconds.begin(), seconds.end()) * 1e3,
              *std::max_element(seconds.begin(), seconds.end()) * 1e3, bound * 1e3, median(popped), median(arcs),
              a.check ? "right" : "NOT CHECKED");
  std::printf("    delta %s; prepared %.1f ms, %.2f GB\n", chosen.c_str(), search.prepare_seconds() * 1e3,
              static_cast<double>(search.extra_bytes()) * 1e-9);
  if (a.phases) print_phases(search, g.n_pes());
  std::fflush(stdout);
  return "{\"graph\": \"" + name + "\", \"gpus\": " + std::to_string(g.n_pes()) + ", \"tuning\": \"" + tune +
         "\", \"delta\": " + std::to_string(search.delta()) + ", \"vertices\": " + std::to_string(g.num_vertices) +
         ", \"arcs\": " + std::to_string(g.num_arcs) + ", \"checked\": " + (a.check ? "true" : "false") +
         ", \"prepare_seconds\": " + std::to_string(search.prepare_seconds()) +
         ", \"extra_bytes\": " + std::to_string(search.extra_bytes()) + ", \"trials\": [" + trials + "]}";
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
    const PlacedGraph g =
        generate_on_devices(parse_generator(name), a.gpus, a.partition, devices, 1, WeightSource::hash255);
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
  std::fprintf(stderr, "gpu_sssp_delta: %s\n", e.what());
  return 1;
}
