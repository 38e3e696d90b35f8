// The ways of the matrix: which options are combined with which.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "algo_matrix.hpp"
#include "shoal/core/error.hpp"
#include "shoal/placement/partition.hpp"
#include "shoal/world/devices.hpp"

namespace shoal::matrix {
namespace {

enum class Extra { none, judge_remote, combine };

std::string text_of(const Options& o) {
  return std::string(name(o.worker)) + ", " + name(o.kernel) + ", " + name(o.queue) +
         (o.judge == JudgeKind::remote ? ", judge remote" : "") + (o.combine == CombineKind::on ? ", combine" : "") +
         (o.batch_bytes > 0 ? ", segments of " + std::to_string(o.batch_bytes) : "") +
         (o.batch_wait > 0 ? ", put off" : "");
}

/// Adds the asynchronous ways with these options that belong to the wanted part. `keep` is called for each way and says whether it
/// is wanted; `draw` is a number that differs between places of the matrix.
template <class Keep>
void add_async(std::vector<Way>& ways, const Subject& subject, const Input& input, Part part, Options o,
               const std::string& where, std::uint64_t draw, Keep&& keep) {
  const std::vector<WorkerKind> workers = o.device == DeviceKind::gpu
                                              ? std::vector{WorkerKind::thread, WorkerKind::warp, WorkerKind::block}
                                              : std::vector{WorkerKind::thread};
  const bool judges = o.pes > 1 && subject.combines;
  const std::uint64_t pairs = (subject.ordered ? 2 : 1) * (judges ? 2 : 1);
  o.block_threads = 128;
  for (const WorkerKind worker : workers) {
    for (const KernelKind kernel : {KernelKind::persistent, KernelKind::discrete}) {
      const std::uint64_t drawn =
          mix(draw * 64 + static_cast<std::uint64_t>(worker) * 8 + static_cast<std::uint64_t>(kernel)) % pairs;
      std::uint64_t pair = 0;  // numbers the pairs of queue and judge
      for (const QueueKind queue : {QueueKind::fifo, QueueKind::priority}) {
        for (const Extra extra : {Extra::none, Extra::judge_remote, Extra::combine}) {
          if (queue == QueueKind::priority && !subject.ordered) continue;
          if (extra != Extra::none && !judges) continue;
          if (!keep()) continue;
          const std::uint64_t number = extra == Extra::combine ? pairs : pair++;
          const bool core = number < pairs && (!subject.every_queue ? number == 0 : !input.large || number == drawn);
          if (part != Part::all && core != (part == Part::core)) continue;
          o.worker = worker;
          o.kernel = kernel;
          o.queue = queue;
          o.judge = extra == Extra::judge_remote ? JudgeKind::remote : JudgeKind::owner;
          o.combine = extra == Extra::combine ? CombineKind::on : CombineKind::off;
          ways.push_back({o, "async", where + ", async, " + text_of(o)});
        }
      }
    }
  }
}

}  // namespace

bool have_metis() {
  for (const Feature& library : list_libraries()) {
    if (library.name == "METIS") return library.found;
  }
  return false;
}

PartitionFiles::~PartitionFiles() {
  for (const std::string& file : files_) {
    if (!file.empty()) std::remove(file.c_str());
  }
}

std::string PartitionFiles::by_metis(pe_t pes) {
  const std::lock_guard lock(mutex_);
  std::string& file = files_[pes];
  if (!file.empty()) return file;
  const Partition partition = make_partition(graph_, pes, PartitionKind::metis, "", seed_);
  static std::atomic<int> number{0};  // two graphs exist at a time
  file = std::filesystem::temp_directory_path() /
         ("algo_matrix_" + std::to_string(::getpid()) + "_" + std::to_string(number++) + ".parts");
  std::ofstream out(file);
  for (vertex_t v = 0; v < partition.n(); ++v) out << static_cast<int>(partition.owner(partition.placed(v))) << '\n';
  out.close();
  if (!out) throw UsageError(file + " could not be written; set TMPDIR to a folder with room");
  return file;
}

std::vector<Way> all_ways(const Subject& subject, const Input& input, const Wanted& wanted, PartitionFiles& files,
                          bool count_only) {
  std::vector<Way> ways;
  std::uint64_t number = wanted.seed * 977;
  std::uint64_t place = wanted.seed;  // the same in every program, whichever part it runs
  for (const char c : input.name + subject.name) place = mix(place + static_cast<unsigned char>(c));
  for (pe_t pes = wanted.fewest_pes; pes <= wanted.most_pes; ++pes) {
    for (const PartitionKind partition : {PartitionKind::block, PartitionKind::edges, PartitionKind::random,
                                          PartitionKind::metis, PartitionKind::one}) {
      if (pes == 1 && partition != PartitionKind::block && partition != PartitionKind::random) continue;
      if (partition == PartitionKind::metis && !have_metis()) continue;
      Options o;
      o.device = wanted.device;
      o.pes = pes;
      o.pes_per_gpu = wanted.pes_per_gpu;
      o.partition = partition;
      o.seed = wanted.seed;
      o.stall_timeout_seconds = 5;
      if (wanted.device == DeviceKind::cpu) o.threads = 2;
      const std::string where = std::to_string(pes) + " PEs, " + name(partition);
      if (wanted.part != Part::rest) {
        for (const std::string& strategy : subject.bulk) ways.push_back({o, strategy, where + ", " + strategy});
      }
      if (partition == PartitionKind::one) continue;
      if (partition == PartitionKind::metis) o.partition = PartitionKind::file;  // METIS takes longer than most runs
      add_async(ways, subject, input, wanted.part, o, where, ++place,
                [&] { return !wanted.quick || mix(++number) % 18 == 0; });
    }
  }
  std::vector<Way> ours;
  for (std::size_t i = wanted.shard; i < ways.size(); i += wanted.shards) ours.push_back(std::move(ways[i]));
  if (count_only) return ours;
  for (Way& way : ours) {
    if (way.options.partition == PartitionKind::file) way.options.partition_file = files.by_metis(way.options.pes);
  }
  return ours;
}

Way tiny_way(const Subject& subject, const Wanted& wanted, std::uint64_t s) {
  const bool gpu = wanted.device == DeviceKind::gpu;
  const WorkerKind kinds[] = {WorkerKind::thread, WorkerKind::warp, WorkerKind::block};
  Options o;
  o.device = wanted.device;
  o.pes = wanted.most_pes;
  o.pes_per_gpu = wanted.pes_per_gpu;
  if (!gpu) o.threads = 1 + static_cast<int>(s >> 20) % 2;
  o.worker = gpu ? kinds[(s >> 8) % 3] : WorkerKind::thread;
  o.kernel = (s >> 12) % 4 == 0 ? KernelKind::discrete : KernelKind::persistent;
  o.queue = subject.ordered && (s >> 13) % 2 == 0 ? QueueKind::priority : QueueKind::fifo;
  o.judge = subject.combines && (s >> 14) % 4 == 0 ? JudgeKind::remote : JudgeKind::owner;
  o.combine =
      subject.combines && (s >> 15) % 4 == 0 && o.judge == JudgeKind::owner ? CombineKind::on : CombineKind::off;
  if (o.pes > 1 && (s >> 26) % 2 == 0) {
    o.batch_bytes = std::int64_t{16} << (2 * ((s >> 27) % 4));
    o.batch_wait = (s >> 29) % 3 == 0 ? 2 : 0;
  }
  o.block_threads = 64;
  o.capacity = std::int64_t{2} << ((s >> 16) % 3);
  o.partition = (s >> 24) % 2 == 0 ? PartitionKind::block : PartitionKind::random;
  o.seed = s;
  o.stall_timeout_seconds = 5;
  return {o, "async",
          "soak, " + text_of(o) + ", capacity " + std::to_string(o.capacity) + ", seed " + std::to_string(s)};
}

}  // namespace shoal::matrix
