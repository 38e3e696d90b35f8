// Breadth-first search on every graph, in every way: levels must equal the serial reference for all PEs, workers, kernels,
// partitions and strategies. And a soak: many searches in a row with tiny capacities and fresh seeds.
//
//   bfs_matrix [--device cpu|gpu] [--pes N] [--data FOLDER] [--soak RUNS] [--seed N] [--quick]
//
// Prints a line per graph and `N passed, N failed` last; exit status 1 if anything differed.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "shoal/algo/bfs_reference.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/generate.hpp"
#include "shoal/data/io.hpp"
#include "shoal/runtime/devices.hpp"

namespace {

using namespace shoal;

struct Case {
  BfsOptions options;
  std::string text;
};

std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ x >> 27) * 0x94D049BB133111EBull;
  return x ^ x >> 31;
}

bool have_metis() {
  for (const Feature& library : list_libraries()) {
    if (library.name == "METIS") return library.found;
  }
  return false;
}

/// Every way to run on `device` with up to `most_pes` PEs; `quick` takes a seeded quarter of the asynchronous ones, and
/// all of them with 3 PEs.
std::vector<Case> all_cases(DeviceKind device, pe_t most_pes, bool quick, std::uint64_t seed) {
  std::vector<Case> cases;
  const std::vector<WorkerKind> workers = device == DeviceKind::gpu
                                              ? std::vector{WorkerKind::thread, WorkerKind::warp, WorkerKind::block}
                                              : std::vector{WorkerKind::thread};
  for (pe_t pes = 1; pes <= most_pes; ++pes) {
    for (PartitionKind partition :
         {PartitionKind::block, PartitionKind::edges, PartitionKind::random, PartitionKind::metis}) {
      if (pes == 1 && partition != PartitionKind::block && partition != PartitionKind::random) continue;
      if (partition == PartitionKind::metis && !have_metis()) continue;
      BfsOptions o;
      o.device = device;
      o.pes = pes;
      o.partition = partition;
      o.seed = seed;
      if (device == DeviceKind::cpu) o.threads = 2;
      const std::string where = std::to_string(pes) + " PEs, " + name(partition);
      o.strategy = BfsStrategy::levels;
      cases.push_back({o, where + ", levels"});
      o.strategy = BfsStrategy::async;
      for (WorkerKind worker : workers) {
        for (KernelKind kernel : {KernelKind::persistent, KernelKind::discrete}) {
          if (quick && mix(seed + cases.size() * 977) % 4 != 0 && pes != 3) continue;
          o.worker = worker;
          o.kernel = kernel;
          o.block_threads = 128;
          cases.push_back({o, where + ", async, " + name(worker) + ", " + name(kernel)});
        }
      }
    }
  }
  return cases;
}

struct Input {
  std::string name;
  Csr graph;
};

std::vector<Input> inputs(const std::string& data) {
  std::vector<Input> all;
  for (const char* spec : {"kron:10", "kron:14", "road:48", "road:200", "uniform:10", "uniform:9,directed=1", "chain:1",
                           "chain:3", "chain:700", "star:400", "complete:65"}) {
    try {
      all.push_back({spec, generate(parse_generator(spec))});
    } catch (const UsageError& error) {
      std::printf("%-28s skipped: %s\n", spec, error.what());
    }
  }
  all.push_back({"two vertices, no arcs", csr_from_arcs(2, {}, {})});
  if (data.empty() || !std::filesystem::exists(data)) {
    std::printf("real graphs skipped: no folder '%s'\n", data.c_str());
    return all;
  }
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(data)) {
    if (entry.path().filename().string().ends_with(".el.gz")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    ReadOptions reading;  // directed lists by name; either way is a graph to be searched
    reading.undirected = file.string().find("bremen") == std::string::npos &&
                         file.string().find("cnr") == std::string::npos &&
                         file.string().find("wiki") == std::string::npos;
    all.push_back({file.filename().string(), read_graph(file.string(), reading)});
  }
  return all;
}

/// Empty when the search is right, else what is wrong.
std::string check(BfsRunner& runner, const Csr& graph, vertex_t source, const std::vector<level_t>& want) {
  runner.search(source);
  const std::string wrong = runner.verify();
  if (!wrong.empty()) return wrong;
  const BfsResult result = runner.result();
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
    if (static_cast<level_t>(result.levels[v]) != want[v]) {
      return "vertex " + std::to_string(v) + " has level " + std::to_string(result.levels[v]) + ", reference " +
             std::to_string(static_cast<std::int32_t>(want[v]));
    }
  }
  return "";
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Breadth-first search in every way, against the serial reference.");
  std::string device_text = "auto", data;
  pe_t pes = 4;
  std::int64_t soak = 0;
  std::uint64_t seed = 1;
  bool quick = false;
  app.add_option("--device", device_text, "auto, cpu or gpu");
  app.add_option("--pes", pes, "most PEs (GPUs: at most as many as there are)");
  app.add_option("--data", data, "a folder with edge lists *.el.gz");
  app.add_option("--soak", soak, "searches in a row with tiny capacities, on all PEs");
  app.add_option("--seed", seed, "of partitions, graphs and sources");
  app.add_flag("--quick", quick, "a part of the asynchronous ways");
  CLI11_PARSE(app, argc, argv);

  const auto devices = static_cast<pe_t>(list_devices().size());
  DeviceKind device = parse_device(device_text);
  if (device == DeviceKind::automatic) device = devices > 0 ? DeviceKind::gpu : DeviceKind::cpu;
  if (device == DeviceKind::gpu) pes = std::min(pes, devices);
  if (!have_metis()) std::printf("partition metis skipped: built without METIS\n");
  std::int64_t passed = 0, failed = 0;
  const auto note = [&](const std::string& graph, const std::string& how, const std::string& wrong) {
    (wrong.empty() ? passed : failed)++;
    if (!wrong.empty()) std::printf("FAILED %s, %s: %s\n", graph.c_str(), how.c_str(), wrong.c_str());
  };
  const auto guarded = [&](const std::string& graph, const std::string& how, auto&& body) {
    try {
      body();
    } catch (const std::exception& error) {
      note(graph, how, error.what());
    }
  };

  for (const Input& input : inputs(data)) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t n = input.graph.num_vertices(), before = passed;
    const auto source = static_cast<vertex_t>(mix(seed) % static_cast<std::uint64_t>(n));
    const vertex_t other = n > 1 ? (source + 1) % static_cast<vertex_t>(n) : source;
    const std::vector<level_t> want = bfs_reference(input.graph, source),
                               want_other = bfs_reference(input.graph, other);
    for (const Case& c : all_cases(device, pes, quick, seed)) {
      guarded(input.name, c.text, [&] {
        BfsRunner runner(input.graph, c.options);
        note(input.name, c.text, check(runner, input.graph, source, want));
        note(input.name, c.text, check(runner, input.graph, other, want_other));
      });
    }
    std::printf("%-28s %9lld vertices %10lld arcs  %5lld right  %.1f s\n", input.name.c_str(),
                static_cast<long long>(n), static_cast<long long>(input.graph.num_arcs()),
                static_cast<long long>(passed - before),
                std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    std::fflush(stdout);
  }

  const std::vector<WorkerKind> kinds = {WorkerKind::thread, WorkerKind::warp, WorkerKind::block};
  for (std::int64_t i = 0; i < soak; i += 10) {  // ten searches on each of soak / 10 placed graphs
    const std::uint64_t s = mix(seed * 1'000'003 + static_cast<std::uint64_t>(i));
    const std::string spec = (s % 2 == 0 ? "kron:9,seed=" : "road:24,seed=") + std::to_string(s % 100000);
    BfsOptions o;
    o.device = device;
    o.pes = pes;
    if (device == DeviceKind::cpu) o.threads = 1 + static_cast<int>(s >> 20) % 2;
    o.strategy = BfsStrategy::async;
    o.worker = device == DeviceKind::gpu ? kinds[(s >> 8) % 3] : WorkerKind::thread;
    o.kernel = (s >> 12) % 4 == 0 ? KernelKind::discrete : KernelKind::persistent;
    o.block_threads = 64;
    o.capacity = std::int64_t{2} << ((s >> 16) % 3);  // 2, 4, 8 slots
    o.partition = (s >> 24) % 2 == 0 ? PartitionKind::block : PartitionKind::random;
    o.seed = s;
    o.stall_timeout_seconds = 5;
    const std::string how = std::string("soak, ") + name(o.worker) + ", " + name(o.kernel) + ", capacity " +
                            std::to_string(o.capacity) + ", seed " + std::to_string(s);
    guarded(spec, how, [&] {
      const Csr graph = generate(parse_generator(spec));
      BfsRunner runner(graph, o);
      for (std::int64_t k = 0; k < std::min<std::int64_t>(10, soak - i); ++k) {
        const auto source = static_cast<vertex_t>(mix(s + static_cast<std::uint64_t>(k)) %
                                                  static_cast<std::uint64_t>(graph.num_vertices()));
        note(spec, how, check(runner, graph, source, bfs_reference(graph, source)));
      }
    });
  }
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(passed), static_cast<long long>(failed));
  return failed == 0 ? 0 : 1;
}
