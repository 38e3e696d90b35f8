// Runs every algorithm in every way: answers must equal the serial reference for all PEs, workers, kernels, queues, partitions and
// strategies. It can also soak: many runs of the tasks with tiny capacities and new seeds.
//
//   algo_matrix [--algorithm NAME]... [--graph TEXT]... [--device cpu|gpu] [--fewest-pes N] [--pes N] [--pes-per-gpu N]
//               [--data FOLDER] [--ways all|core|rest] [--quick] [--shard I/N] [--soak RUNS] [--only-soak] [--seed N]
//               [--way-seconds N] [--seconds N] [--json FILE]
//
// Several programs may run at the same time, each on GPUs of its own (CUDA_VISIBLE_DEVICES): divide by numbers of PEs, and by
// shards of the ways. Prints a line per graph and algorithm, the counts per algorithm and PEs, and `N passed, N failed` at the end
// (--json: the counts, which scripts/gpu_matrix.py adds up). Exit status 1 if an answer was wrong, or a way was not run because
// time was over; 3 if a way did not end, which is then named.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>

#include "algo/algorithm.hpp"
#include "algo_matrix.hpp"
#include "algo_matrix_inputs.hpp"
#include "algo_matrix_tally.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/generate.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::matrix {
namespace {

/// Parses I/N.
void parse_shard(const std::string& text, Wanted& wanted) {
  char rest = 0;
  if (std::sscanf(text.c_str(), "%zu/%zu%c", &wanted.shard, &wanted.shards, &rest) != 2 ||
      wanted.shard >= wanted.shards) {
    throw UsageError("--shard " + text + ": legal: I/N with 0 <= I < N");
  }
}

void run_matrix(const std::vector<Subject>& chosen, const Wanted& wanted, const std::string& data,
                const std::vector<std::string>& graphs, Tally& tally) {
  const auto run_all = [&](Prepared& prepared) {
    const Input& input = prepared.input;
    for (const auto& [subject, ways, checks, skipped] : prepared.parts) {
      if (skipped) {
        std::printf("%-11s %-28s skipped: large, and --quick was asked for\n", subject->name.c_str(),
                    input.name.c_str());
      }
      if (ways.empty()) continue;
      const auto begin = std::chrono::steady_clock::now();
      const Counts before = tally.all();
      for (const auto& [manner, check] : checks) {
        const std::string where = subject->name + ", " + input.name + (manner.empty() ? "" : ", " + manner);
        for (const Way& way : ways) tally.run({subject->name, "matrix", way.options.pes}, where, check, way);
      }
      const Counts after = tally.all();
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      const long long run = after.right + after.wrong - before.right - before.wrong;
      std::printf("%-11s %-28s %9lld vertices %10lld arcs  %5lld right%s  %.1f s, %.1f ms a way\n",
                  subject->name.c_str(), input.name.c_str(), static_cast<long long>(input.graph.num_vertices()),
                  static_cast<long long>(input.graph.num_arcs()), after.right - before.right,
                  after.not_run > before.not_run
                      ? (", " + std::to_string(after.not_run - before.not_run) + " not run").c_str()
                      : "",
                  seconds, run > 0 ? seconds * 1e3 / static_cast<double>(run) : 0.0);
      std::fflush(stdout);
    }
  };
  for_inputs(
      data, graphs, chosen, wanted, [&tally] { return tally.over(); }, run_all);
}

void run_soak(const std::vector<Subject>& chosen, const Wanted& wanted, std::int64_t runs, Tally& tally) {
  for (const Subject& subject : chosen) {
    const auto begin = std::chrono::steady_clock::now();
    const Counts before = tally.all();
    for (std::int64_t i = 0; i < runs; ++i) {
      const std::uint64_t s = mix(wanted.seed * 1'000'003 + static_cast<std::uint64_t>(i));
      // A skewed graph or a road graph, with the most vertices, or a half or a quarter as many.
      const auto side = static_cast<int>(std::sqrt(subject.soak_vertices >> (s >> 40) % 3));
      const auto scale =
          std::bit_width(static_cast<unsigned>(subject.soak_vertices)) - 1 - static_cast<int>((s >> 40) % 3);
      const std::string spec = (s % 2 == 0 ? "kron:" + std::to_string(scale) : "road:" + std::to_string(side)) +
                               ",seed=" + std::to_string(s % 100000);
      const Input input{spec, generate(parse_generator(spec))};
      for (const std::string& manner : subject.manners(input)) {
        const Check check = tally.over() ? Check{} : subject.check(input, manner, s);
        tally.run({subject.name, "soak", wanted.most_pes}, subject.name + ", " + spec, check,
                  tiny_way(subject, wanted, s));
      }
    }
    const Counts after = tally.all();
    std::printf("%-11s soak of %lld runs with tiny capacities: %lld right, %lld not run  %.1f s\n",
                subject.name.c_str(), static_cast<long long>(runs), after.right - before.right,
                after.not_run - before.not_run,
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }
}

int run(int argc, char** argv) {
  CLI::App app("Algorithms in every way, against their serial references.");
  std::string device_text = "auto", data, shard, json;
  std::vector<std::string> names, graphs;
  Wanted wanted;
  std::int64_t soak = 0;
  bool only_soak = false;
  double way_seconds = 60, seconds = 1e6;
  app.add_option("--algorithm", names, "bfs, sssp, ...: several, or all of them");
  app.add_option("--graph", graphs, "of the matrix, only graphs with this in their name; several, or all of them");
  app.add_option("--device", device_text, "auto, cpu or gpu");
  app.add_option("--pes", wanted.most_pes, "most PEs (GPUs: at most as many as they hold)")->check(CLI::Range(1, 8));
  app.add_option("--pes-per-gpu", wanted.pes_per_gpu, "PEs that may share a GPU")
      ->check(CLI::Range(1, int{kMaxPesPerGpu}));
  app.add_option("--fewest-pes", wanted.fewest_pes, "fewest PEs, of the matrix")->check(CLI::Range(1, 8));
  app.add_option("--data", data, "a folder with edge lists *.el.gz");
  app.add_option("--shard", shard, "I/N: every N-th way, from the I-th (0 to N - 1) on");
  app.add_option("--soak", soak, "runs of each task with tiny capacities, on all PEs");
  app.add_flag("--only-soak", only_soak, "no matrix");
  app.add_option("--seed", wanted.seed, "of partitions, graphs and sources");
  const std::map<std::string, Part> parts = {{"all", Part::all}, {"core", Part::core}, {"rest", Part::rest}};
  app.add_option("--ways", wanted.part, "core, rest (see algo_matrix.hpp) or all")
      ->transform(CLI::CheckedTransformer(parts));
  app.add_flag("--quick", wanted.quick, "a part of the asynchronous ways, small real graphs");
  app.add_option("--way-seconds", way_seconds, "a way that takes longer ends the program, and is named");
  app.add_option("--seconds", seconds, "ways that would begin later are not run");
  app.add_option("--json", json, "file for the counts");
  CLI11_PARSE(app, argc, argv);

  const auto devices = static_cast<pe_t>(list_devices().size());
  DeviceKind device = parse_device(device_text);
  if (device == DeviceKind::automatic) device = devices > 0 ? DeviceKind::gpu : DeviceKind::cpu;
  if (device != DeviceKind::gpu && wanted.pes_per_gpu > 1) throw UsageError("--pes-per-gpu: no GPU takes part");
  if (device == DeviceKind::gpu) wanted.most_pes = std::min(wanted.most_pes, devices * wanted.pes_per_gpu);
  wanted.device = device;
  if (!shard.empty()) parse_shard(shard, wanted);
  if (!have_metis()) std::printf("partition metis skipped: built without METIS\n");
  std::vector<Subject> chosen;
  const bool all = names.empty();
  for (Subject& subject : subjects()) {
    if (all || std::erase(names, subject.name) > 0) chosen.push_back(std::move(subject));
  }
  if (!names.empty()) find_algorithm(names[0]);  // throws, and lists the known algorithms

  Tally tally(way_seconds, seconds, json, device);
  if (!only_soak) run_matrix(chosen, wanted, data, graphs, tally);
  if (soak > 0) run_soak(chosen, wanted, soak, tally);
  tally.print();
  tally.write();
  const Counts sum = tally.all();
  return sum.wrong == 0 && sum.not_run == 0 ? 0 : 1;
}

}  // namespace
}  // namespace shoal::matrix

int main(int argc, char** argv) {
  try {
    return shoal::matrix::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "algo_matrix: %s\n", error.what());
    return 2;
  }
}
