// Shortest paths with strategy delta on 1 to 8 GPUs: checks the search from every source, then times it, and prints the times.
//
//   gpu_sssp_delta [--pes N] [--trials N] [--rest MS] [--seed N] [--wide] [--tune NAME=VALUE[,NAME=VALUE...]]... [--no-check]
//                  [--phases] [--partition block|edges|random] [--json FILE] GRAPH...
//
// GRAPH is a generator such as kron:24, which is generated on the devices, or a file. Weights are hash255 (1 to 255). Sources are
// drawn from the vertices with arcs, the same for every tuning. Seconds are the search alone: clearing distances, launching
// kernels, and waiting for every device. The bound is the time that one device needs to read its arcs and their weights once, at
// 3.9 TB/s. The check: every distance is the smallest that its in-arcs offer, which is sufficient if no weight is zero.
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "algo/sssp/delta_gpu.hpp"
#include "algo/sssp/reference.hpp"
#include "gpu_bed.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace {

using namespace shoal;

struct Arguments : bed::Arguments {
  bool wide = false, phases = false;
  std::string json;
  std::vector<std::string> tunings;
};

/// The defaults with settings of the form "name=value,name=value".
SsspDeltaGpuTuning tuning_of(const std::string& text) {
  SsspDeltaGpuTuning t;
  const auto set = [](auto& member) {
    return [&member](double x) { member = static_cast<std::remove_reference_t<decltype(member)>>(x); };
  };
  bed::apply_tuning(text, {{"delta", set(t.delta)},
                           {"far_widths", set(t.far_widths)},
                           {"sweep_enter", set(t.sweep_enter)},
                           {"sweep_leave", set(t.sweep_leave)},
                           {"pull_degree", set(t.pull_degree)},
                           {"pull_enter", set(t.pull_enter)},
                           {"pull_share", set(t.pull_share)},
                           {"pulls", set(t.pulls)},
                           {"pull_width", set(t.pull_width)},
                           {"pull_growth", set(t.pull_growth)},
                           {"range_windows", set(t.range_windows)},
                           {"after_width", set(t.after_width)},
                           {"narrow", set(t.narrow)},
                           {"narrow_after", set(t.narrow_after)},
                           {"narrow_enter", set(t.narrow_enter)},
                           {"narrow_leave", set(t.narrow_leave)},
                           {"cluster_blocks", set(t.cluster_blocks)},
                           {"round_steps", set(t.round_steps)},
                           {"block_threads", set(t.block_threads)},
                           {"blocks_per_sm", set(t.blocks_per_sm)},
                           {"deadline_seconds", set(t.deadline_seconds)}});
  return t;
}

struct Judgement {
  unsigned long long reached, arcs, wrong;
};

/// Checks distances, one warp per vertex.
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

/// Prints, for the last search, the milliseconds of each PE in each kind of phase, and the millions of messages that it sent.
void print_phases(const SsspDeltaGpu& search, pe_t n_pes) {
  for (pe_t p = 0; p < n_pes; ++p) {
    std::printf("    PE %d:", p);
    for (const auto& [what, seconds] : search.phases(p)) {
      if (seconds > 0) std::printf(" %s %.3f", what, seconds * 1e3);
    }
    std::printf("; sent %.3fM\n", static_cast<double>(search.messages(p)) * 1e-6);
  }
}

/// Checks the search from each source, then times it. @return a JSON object
std::string measure(const std::string& name, const PlacedGraph& g, const Arguments& a, const std::string& tune,
                    const std::vector<vertex_t>& sources) {
  SsspDeltaGpu search(g, a.wide, tuning_of(tune));
  std::vector<Judgement> found;
  for (const vertex_t source : sources) {
    Report report;
    search.search(source, report);
    found.push_back(a.wide ? judge_all<std::uint64_t>(g, search, source, !a.no_check)
                           : judge_all<std::uint32_t>(g, search, source, !a.no_check));
    if (found.back().wrong != 0) {
      throw Error(name + " [" + tune + "] source " + std::to_string(source) +
                  ": WRONG: " + std::to_string(found.back().wrong) + " distances");
    }
  }
  std::vector<double> seconds, arcs, popped;
  std::string trials, chosen;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Report report;
    a.wait();
    search.search(sources[i], report);
    seconds.push_back(report.seconds);
    arcs.push_back(static_cast<double>(report.pushed) / static_cast<double>(found[i].arcs));
    popped.push_back(static_cast<double>(report.run) / static_cast<double>(found[i].reached));
    chosen = to_text(report.chosen.back());
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
              g.n_pes(), tune.c_str(), bed::median(seconds) * 1e3, bed::smallest(seconds) * 1e3,
              bed::largest(seconds) * 1e3, bound * 1e3, bed::median(popped), bed::median(arcs),
              !a.no_check ? "right" : "NOT CHECKED");
  std::printf("    delta %s; prepared %.1f ms, %.2f GB\n", chosen.c_str(), search.prepare_seconds() * 1e3,
              static_cast<double>(search.extra_bytes()) * 1e-9);
  if (a.phases) print_phases(search, g.n_pes());
  std::fflush(stdout);
  return "{\"graph\": \"" + name + "\", \"gpus\": " + std::to_string(g.n_pes()) + ", \"tuning\": \"" + tune +
         "\", \"delta\": " + std::to_string(search.delta()) + ", \"vertices\": " + std::to_string(g.num_vertices) +
         ", \"arcs\": " + std::to_string(g.num_arcs) + ", \"checked\": " + (!a.no_check ? "true" : "false") +
         ", \"prepare_seconds\": " + std::to_string(search.prepare_seconds()) +
         ", \"extra_bytes\": " + std::to_string(search.extra_bytes()) + ", \"trials\": [" + trials + "]}";
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Shortest paths on GPUs, strategy delta: checks, then times");
  Arguments a;
  a.add_to(app);
  app.add_flag("--wide", a.wide, "words of 64 bits");
  app.add_flag("--phases", a.phases, "say where the last search's time went");
  app.add_option("--tune", a.tunings, "NAME=VALUE[,NAME=VALUE...]; each is measured")->allow_extra_args(false);
  app.add_option("--json", a.json, "write all trials there");
  CLI11_PARSE(app, argc, argv);
  if (a.tunings.empty()) a.tunings.emplace_back();
  std::vector<std::string> objects;
  for (const std::string& name : a.graphs) {
    const PlacedGraph g = a.place(name, WeightSource::hash255);
    const std::vector<vertex_t> sources = bed::draw_sources(g, a.trials, a.seed);
    for (const std::string& tune : a.tunings) objects.push_back(measure(name, g, a, tune, sources));
  }
  if (!a.json.empty()) bed::write_json(a.json, objects);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gpu_sssp_delta: %s\n", e.what());
  return 1;
}
