// Every algorithm in every way: answers must equal the serial reference for all PEs, workers, kernels, queues, partitions and
// strategies. And a soak: many runs of the tasks with tiny capacities and fresh seeds.
//
//   algo_matrix [--algorithm NAME]... [--device cpu|gpu] [--pes N] [--data FOLDER] [--soak RUNS] [--seed N] [--quick]
//
// Prints a line per graph and algorithm and `N passed, N failed` last; exit status 1 if anything differed.
#include "algo_matrix.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "shoal/core/error.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/data/io.hpp"
#include "shoal/runtime/devices.hpp"

namespace shoal::matrix {
namespace {

bool have_metis() {
  for (const Feature& library : list_libraries()) {
    if (library.name == "METIS") return library.found;
  }
  return false;
}

/// The asynchronous ways with these options. `keep` says whether the next one is wanted.
template <class Keep>
void add_async(std::vector<Way>& ways, const Subject& subject, Options o, const std::string& where, Keep&& keep) {
  const std::vector<WorkerKind> workers = o.device == DeviceKind::gpu
                                              ? std::vector{WorkerKind::thread, WorkerKind::warp, WorkerKind::block}
                                              : std::vector{WorkerKind::thread};
  o.block_threads = 128;
  for (const WorkerKind worker : workers) {
    for (const KernelKind kernel : {KernelKind::persistent, KernelKind::discrete}) {
      for (const QueueKind queue : {QueueKind::fifo, QueueKind::priority}) {
        for (const bool special : {false, true}) {  // judged by the pusher, or combined: turn by turn
          if (queue == QueueKind::priority && !subject.ordered) continue;
          if (special && (o.pes == 1 || !subject.combines)) continue;
          if (!keep()) continue;
          o.worker = worker;
          o.kernel = kernel;
          o.queue = queue;
          const bool remote = special && ways.size() % 2 == 0;
          o.judge = remote ? JudgeKind::remote : JudgeKind::owner;
          o.combine = special && !remote ? CombineKind::on : CombineKind::off;
          ways.push_back({o, "async",
                          where + ", async, " + name(worker) + ", " + name(kernel) + ", " + name(queue) +
                              (remote    ? ", judge remote"
                               : special ? ", combine"
                                         : "")});
        }
      }
    }
  }
}

/// Every way to run on `device` with up to `most_pes` PEs; `quick` takes a seeded twelfth of the asynchronous ones.
std::vector<Way> all_ways(const Subject& subject, DeviceKind device, pe_t most_pes, bool quick, std::uint64_t seed) {
  std::vector<Way> ways;
  std::uint64_t number = seed * 977;
  for (pe_t pes = 1; pes <= most_pes; ++pes) {
    for (const PartitionKind partition :
         {PartitionKind::block, PartitionKind::edges, PartitionKind::random, PartitionKind::metis}) {
      if (pes == 1 && partition != PartitionKind::block && partition != PartitionKind::random) continue;
      if (partition == PartitionKind::metis && !have_metis()) continue;
      Options o;
      o.device = device;
      o.pes = pes;
      o.partition = partition;
      o.seed = seed;
      if (device == DeviceKind::cpu) o.threads = 2;
      const std::string where = std::to_string(pes) + " PEs, " + name(partition);
      for (const std::string& strategy : subject.bulk) ways.push_back({o, strategy, where + ", " + strategy});
      add_async(ways, subject, o, where, [&] { return !quick || mix(++number) % 12 == 0; });
    }
  }
  return ways;
}

/// Calls f(input) for every graph, one after the other, so that one is in memory at a time.
template <class F>
void for_inputs(const std::string& data, F&& f) {
  for (const char* spec : {"kron:10", "kron:13", "road:48", "road:150", "uniform:10", "uniform:9,directed", "chain:1",
                           "chain:3", "chain:700", "star:400", "complete:65"}) {
    f(Input{spec, generate(parse_generator(spec))});
  }
  f(Input{"two vertices, no arcs", csr_from_arcs(2, {}, {})});
  if (data.empty() || !std::filesystem::exists(data)) {
    std::printf("real graphs skipped: no folder '%s'\n", data.c_str());
    return;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename().string().ends_with(".el.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    ReadOptions reading;  // directed lists by name; either way is a graph
    reading.undirected = file.string().find("bremen") == std::string::npos &&
                         file.string().find("cnr") == std::string::npos &&
                         file.string().find("wiki") == std::string::npos;
    f(Input{file.filename().string(), read_graph(file.string(), reading), std::filesystem::file_size(file) > 250'000});
  }
}

struct Tally {
  std::int64_t passed = 0, failed = 0;

  void run(const std::string& where, const Check& check, const Way& way) {
    std::string wrong;
    try {
      wrong = check(way.options, way.strategy);
    } catch (const std::exception& error) {
      wrong = error.what();
    }
    (wrong.empty() ? passed : failed)++;
    if (!wrong.empty()) std::printf("FAILED %s, %s: %s\n", where.c_str(), way.text.c_str(), wrong.c_str());
  }
};

/// A run with two to eight slots in every ring, drawn from `s`.
Way tiny_way(const Subject& subject, DeviceKind device, pe_t pes, std::uint64_t s) {
  const bool gpu = device == DeviceKind::gpu;
  const WorkerKind kinds[] = {WorkerKind::thread, WorkerKind::warp, WorkerKind::block};
  Options o;
  o.device = device;
  o.pes = pes;
  if (!gpu) o.threads = 1 + static_cast<int>(s >> 20) % 2;
  o.worker = gpu ? kinds[(s >> 8) % 3] : WorkerKind::thread;
  o.kernel = (s >> 12) % 4 == 0 ? KernelKind::discrete : KernelKind::persistent;
  o.queue = subject.ordered && (s >> 13) % 2 == 0 ? QueueKind::priority : QueueKind::fifo;
  o.judge = subject.combines && (s >> 14) % 4 == 0 ? JudgeKind::remote : JudgeKind::owner;
  o.combine =
      subject.combines && (s >> 15) % 4 == 0 && o.judge == JudgeKind::owner ? CombineKind::on : CombineKind::off;
  o.block_threads = 64;
  o.capacity = std::int64_t{2} << ((s >> 16) % 3);
  o.partition = (s >> 24) % 2 == 0 ? PartitionKind::block : PartitionKind::random;
  o.seed = s;
  o.stall_timeout_seconds = 5;
  return {o, "async",
          std::string("soak, ") + name(o.worker) + ", " + name(o.kernel) + ", " + name(o.queue) + ", judge " +
              name(o.judge) + ", combine " + name(o.combine) + ", capacity " + std::to_string(o.capacity) + ", seed " +
              std::to_string(s)};
}

int run(int argc, char** argv) {
  CLI::App app("Algorithms in every way, against their serial references.");
  std::string device_text = "auto", data;
  std::vector<std::string> names;
  pe_t pes = 4;
  std::int64_t soak = 0;
  std::uint64_t seed = 1;
  bool quick = false;
  app.add_option("--algorithm", names, "bfs, sssp, components, pagerank; several, or all of them");
  app.add_option("--device", device_text, "auto, cpu or gpu");
  app.add_option("--pes", pes, "most PEs (GPUs: at most as many as there are)");
  app.add_option("--data", data, "a folder with edge lists *.el.gz");
  app.add_option("--soak", soak, "runs of each task with tiny capacities, on all PEs");
  app.add_option("--seed", seed, "of partitions, graphs and sources");
  app.add_flag("--quick", quick, "a part of the asynchronous ways, small real graphs");
  CLI11_PARSE(app, argc, argv);

  const auto devices = static_cast<pe_t>(list_devices().size());
  DeviceKind device = parse_device(device_text);
  if (device == DeviceKind::automatic) device = devices > 0 ? DeviceKind::gpu : DeviceKind::cpu;
  if (device == DeviceKind::gpu) pes = std::min(pes, devices);
  if (!have_metis()) std::printf("partition metis skipped: built without METIS\n");
  std::vector<Subject> chosen;
  const bool all = names.empty();
  for (Subject& subject : subjects()) {
    if (all || std::erase(names, subject.name) > 0) chosen.push_back(std::move(subject));
  }
  if (!names.empty()) throw UsageError("--algorithm " + names[0] + ": legal: bfs, sssp, components, pagerank");

  Tally tally;
  for_inputs(data, [&](const Input& input) {
    for (const Subject& subject : chosen) {
      if (quick && input.large && !subject.large) {
        std::printf("%-11s %-28s skipped: large, and --quick was asked for\n", subject.name.c_str(),
                    input.name.c_str());
        continue;
      }
      const auto begin = std::chrono::steady_clock::now();
      const std::int64_t before = tally.passed;
      for (const auto& [manner, check] : subject.checks(input, seed)) {
        const std::string where = subject.name + ", " + input.name + (manner.empty() ? "" : ", " + manner);
        for (const Way& way : all_ways(subject, device, pes, quick, seed)) tally.run(where, check, way);
      }
      std::printf("%-11s %-28s %9lld vertices %10lld arcs  %5lld right  %.1f s\n", subject.name.c_str(),
                  input.name.c_str(), static_cast<long long>(input.graph.num_vertices()),
                  static_cast<long long>(input.graph.num_arcs()), static_cast<long long>(tally.passed - before),
                  std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      std::fflush(stdout);
    }
  });
  for (std::int64_t i = 0; i < soak; ++i) {
    const std::uint64_t s = mix(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string spec = (s % 2 == 0 ? "kron:8,seed=" : "road:20,seed=") + std::to_string(s % 100000);
    const Input input{spec, generate(parse_generator(spec))};
    for (const Subject& subject : chosen) {
      if (!subject.soaks) continue;
      for (const auto& [manner, check] : subject.checks(input, s)) {
        tally.run(subject.name + ", " + spec, check, tiny_way(subject, device, pes, s));
      }
    }
  }
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(tally.passed), static_cast<long long>(tally.failed));
  return tally.failed == 0 ? 0 : 1;
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
