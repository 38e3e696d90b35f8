// Level-synchronous breadth-first search on 1 to 8 GPUs: checks the search from every source, then times it, and prints the times.
//
//   gpu_bfs_levels [--pes N] [--partition KIND] [--trials N] [--rest MS] [--seed N] [--tune NAME=VALUE[,NAME=VALUE...]]... [--steps]
//                  [--no-check] [--json FILE] GRAPH...
//
// GRAPH is a generator such as kron:24, and is generated on the devices. Sources are drawn from the vertices with arcs, the same
// for every tuning. Seconds are the search alone: clearing levels, launching kernels, and waiting for every device. The bound is
// the time that one device needs to write its levels and to read one word of every vertex's heads, at 3.9 TB/s.
#include <cstdio>
#include <exception>
#include <string>
#include <type_traits>
#include <vector>

#include "algo/bfs/levels_gpu.hpp"
#include "algo/bfs/verify_gpu.hpp"
#include "gpu_bed.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/device_memory.cuh"

namespace {

using namespace shoal;

/// The defaults with settings of the form "name=value,name=value".
BfsLevelsGpuTuning tuning_of(const std::string& text) {
  BfsLevelsGpuTuning t;
  const auto set = [](auto& member) {
    return [&member](double x) { member = static_cast<std::remove_reference_t<decltype(member)>>(x); };
  };
  bed::apply_tuning(text, {{"alpha", set(t.alpha)},
                           {"beta", set(t.beta)},
                           {"block_threads", set(t.block_threads)},
                           {"blocks_per_sm", set(t.blocks_per_sm)},
                           {"narrow", set(t.narrow)},
                           {"narrow_threads", set(t.narrow_threads)},
                           {"narrow_after", set(t.narrow_after)},
                           {"narrow_enter", set(t.narrow_enter)},
                           {"narrow_leave", set(t.narrow_leave)},
                           {"narrow_check", set(t.narrow_check)},
                           {"cluster_blocks", set(t.cluster_blocks)},
                           {"deadline_seconds", set(t.deadline_seconds)}});
  return t;
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

void print_steps(const BfsLevelsGpu& search) {
  for (const BfsLevelStep& s : search.steps()) {
    std::printf("    %c level %-5u %12llu vertices %14llu arcs %9.1f us\n", s.side, s.depth,
                static_cast<unsigned long long>(s.vertices), static_cast<unsigned long long>(s.arcs), s.microseconds);
  }
}

/// Checks the search from each source, then times it. @return a JSON object
std::string measure(const std::string& name, const PlacedGraph& g, const bed::Arguments& a, bool steps,
                    const std::string& tune, const std::vector<vertex_t>& sources) {
  const bool check = !a.no_check;
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
    if (!check) continue;
    const std::string wrong = verify_levels_on_devices(g, level.data(), sources[i]);
    if (!wrong.empty())
      throw Error(name + " [" + tune + "] source " + std::to_string(sources[i]) + ": WRONG: " + wrong);
  }
  std::vector<double> seconds, rate;
  std::vector<std::int64_t> rounds;
  std::string sides;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    Report report;
    a.wait();
    search.search(sources[i], level.data(), report);
    seconds.push_back(report.seconds);
    rate.push_back(r[i].arcs / report.seconds);
    rounds.push_back(report.rounds);
    sides = to_text(report.chosen.back());
  }
  const double bound = 8.0 * g.num_vertices / g.n_pes() / 3.9e12;
  std::printf("%-14s %d GPU %-34s median %8.3f ms  min %8.3f  max %8.3f  %7.1f G arcs/s  bound %.3f ms  %s\n",
              name.c_str(), g.n_pes(), tune.c_str(), bed::median(seconds) * 1e3, bed::smallest(seconds) * 1e3,
              bed::largest(seconds) * 1e3, bed::median(rate) * 1e-9, bound * 1e3,
              check ? "all checked" : "NOT CHECKED");
  std::printf("    last source: %lld levels (%s); prepared in %.1f ms; %.2f GB beside the graph\n",
              static_cast<long long>(rounds.back()), sides.c_str(), search.prepare_seconds() * 1e3,
              search.extra_bytes() * 1e-9);
  if (steps) print_steps(search);
  std::fflush(stdout);
  std::string json = "{\"graph\": \"" + name + "\", \"gpus\": " + std::to_string(g.n_pes()) + ", \"tuning\": \"" +
                     tune + "\", \"vertices\": " + std::to_string(g.num_vertices) +
                     ", \"arcs\": " + std::to_string(g.num_arcs) + ", \"checked\": " + (check ? "true" : "false") +
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
  CLI::App app("Level-synchronous breadth-first search on GPUs: times and steps.");
  bed::Arguments a;
  bool steps = false;
  std::string json;
  std::vector<std::string> tunings{""}, results;
  a.add_to(app);
  app.add_option("--tune", tunings, "NAME=VALUE[,NAME=VALUE...], may be repeated: members of BfsLevelsGpuTuning");
  app.add_flag("--steps", steps, "also each level of the last search");
  app.add_option("--json", json, "write everything here");
  CLI11_PARSE(app, argc, argv);
  for (const std::string& name : a.graphs) {
    const PlacedGraph g = a.place(name);
    const std::vector<vertex_t> sources = bed::draw_sources(g, a.trials, a.seed);
    for (const std::string& tune : tunings) results.push_back(measure(name, g, a, steps, tune, sources));
  }
  if (!json.empty()) bed::write_json(json, results);
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "gpu_bfs_levels: %s\n", e.what());
  return 1;
}
