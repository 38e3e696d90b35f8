// Names, parsers and ranges of the options of a run.
#include "shoal/world/options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/kinds.hpp"
#include "shoal/core/text.hpp"
#include "world/option_ranges.hpp"

namespace shoal {
namespace {

constexpr Named<DeviceKind> kDevices[] = {
    {DeviceKind::automatic, "auto"}, {DeviceKind::cpu, "cpu"}, {DeviceKind::gpu, "gpu"}};
constexpr Named<WorkerKind> kWorkers[] = {{WorkerKind::automatic, "auto"},
                                          {WorkerKind::thread, "thread"},
                                          {WorkerKind::warp, "warp"},
                                          {WorkerKind::block, "block"}};
constexpr Named<KernelKind> kKernels[] = {
    {KernelKind::automatic, "auto"}, {KernelKind::persistent, "persistent"}, {KernelKind::discrete, "discrete"}};
constexpr Named<QueueKind> kQueues[] = {
    {QueueKind::automatic, "auto"}, {QueueKind::fifo, "fifo"}, {QueueKind::priority, "priority"}};
constexpr Named<JudgeKind> kJudges[] = {
    {JudgeKind::automatic, "auto"}, {JudgeKind::owner, "owner"}, {JudgeKind::remote, "remote"}};
constexpr Named<CombineKind> kCombines[] = {
    {CombineKind::automatic, "auto"}, {CombineKind::off, "off"}, {CombineKind::on, "on"}};
constexpr Named<PartitionKind> kPartitions[] = {
    {PartitionKind::automatic, "auto"}, {PartitionKind::block, "block"},   {PartitionKind::edges, "edges"},
    {PartitionKind::strips, "strips"},  {PartitionKind::random, "random"}, {PartitionKind::modulo, "modulo"},
    {PartitionKind::metis, "metis"},    {PartitionKind::one, "one"},       {PartitionKind::file, "file"}};

struct WholeRange {
  const char* option;
  std::int64_t least, most;
  const char* beside = "";
};
constexpr int kMostBatchWait = 1 << 16, kMostBatchWaitUs = 100'000;
constexpr WholeRange kWholeRanges[] = {
    {"pes", 0, kMaxPes, " (0 chooses)"},
    {"pes_per_gpu", 1, kMaxPesPerGpu},
    {"threads", 0, 4096, " (0 chooses)"},
    {"workers", 0, 1 << 24, " (0 chooses)"},
    {"fetch", 0, 1 << 20, " (0 chooses)"},
    {"capacity", 0, std::int64_t{1} << 40, " (0 chooses)"},
    {"spill", -1, std::int64_t{1} << 40, " (-1 chooses, 0 switches it off)"},
    {"buckets", 0, 16, " (0 chooses)"},
    {"keep", -1, 32, " (-1 chooses, 0 switches it off)"},
    {"overlap", -1, 1 << 30, " (-1 chooses, 0 switches it off)"},
    {"batch_bytes", -1, 1 << 20, " (-1 chooses, 0: channels, item by item)"},
    {"batch_wait", 0, kMostBatchWait, " times, or 0us to 100000us"},
};
constexpr char kThresholdRange[] = "0 to 1e18 (-1 chooses)";
constexpr char kThresholdDeltaRange[] = "above 0, to 1e18 (0 chooses)";
constexpr char kStallTimeoutRange[] = "above 0, to 1e9";

std::string legal(const WholeRange& range) {
  return std::to_string(range.least) + " to " + std::to_string(range.most) + range.beside;
}

/// The option as it is given to a command: "--pes-per-gpu".
std::string flag_of(std::string option) {
  std::replace(option.begin(), option.end(), '_', '-');
  return "--" + option;
}

[[noreturn]] void out_of_range(const std::string& option, const std::string& value) {
  throw UsageError(flag_of(option) + " " + value + " is out of range: " + legal_range(option));
}

void check_range(const std::string& option, std::int64_t value) {
  for (const WholeRange& range : kWholeRanges) {
    if (range.option == option && (value < range.least || value > range.most)) {
      out_of_range(option, std::to_string(value));
    }
  }
}

void check_block_threads(const std::string& text, int threads) {
  if (threads >= 64 && threads <= kMostBlockThreads && threads % 32 == 0) return;
  throw UsageError("worker '" + text + "': a block has 64 to " + std::to_string(kMostBlockThreads) +
                   " threads, a multiple of 32 (for example block:256)");
}

}  // namespace

const char* name(DeviceKind kind) { return name_of(kDevices, kind); }
const char* name(WorkerKind kind) { return name_of(kWorkers, kind); }
const char* name(KernelKind kind) { return name_of(kKernels, kind); }
const char* name(QueueKind kind) { return name_of(kQueues, kind); }
const char* name(JudgeKind kind) { return name_of(kJudges, kind); }
const char* name(CombineKind kind) { return name_of(kCombines, kind); }
const char* name(PartitionKind kind) { return name_of(kPartitions, kind); }

DeviceKind parse_device(const std::string& text) { return kind_of(kDevices, "device", text); }
KernelKind parse_kernel(const std::string& text) { return kind_of(kKernels, "kernel", text); }
QueueKind parse_queue(const std::string& text) { return kind_of(kQueues, "queue", text); }
JudgeKind parse_judge(const std::string& text) { return kind_of(kJudges, "judge", text); }
CombineKind parse_combine(const std::string& text) { return kind_of(kCombines, "combine", text); }

void parse_worker(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const WorkerKind kind = kind_of(kWorkers, "worker", text.substr(0, colon), ", block:THREADS");
  int threads = 0;
  if (colon != std::string::npos) {
    const char* begin = text.data() + colon + 1;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(begin, end, threads);
    if (kind != WorkerKind::block || error != std::errc() || rest != end) {
      throw UsageError("worker '" + text + "' is not known; legal: auto, thread, warp, block, block:THREADS");
    }
    check_block_threads(text, threads);
  }
  options.worker = kind;
  options.block_threads = threads;
}

void parse_partition(const std::string& text, Options& options) {
  const std::size_t colon = text.find(':');
  const PartitionKind kind = kind_of(kPartitions, "partition", text.substr(0, colon), ":PATH");
  const std::string file = colon == std::string::npos ? "" : text.substr(colon + 1);
  if ((kind == PartitionKind::file) == file.empty() || (colon != std::string::npos && kind != PartitionKind::file)) {
    throw UsageError(
        "partition '" + text +
        "' is not known; legal: auto, block, edges, strips, random, modulo, metis, one, file:PATH (PATH names a "
        "file with one PE number per line)");
  }
  options.partition = kind;
  options.partition_file = file;
}

void parse_batch_wait(const std::string& text, Options& options) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit(rest, end);
  if (error == std::errc::invalid_argument || (unit != "" && unit != "us")) {
    throw UsageError("batch wait '" + text +
                     "' is not known; legal: a number of times, such as 20, or of microseconds, such as 20us");
  }
  const std::int64_t most = unit == "us" ? kMostBatchWaitUs : kMostBatchWait;
  if (error != std::errc() || number < 0 || number > most) {
    out_of_range("batch_wait", text);
  }
  options.batch_wait = unit == "us" ? 0 : static_cast<int>(number);
  options.batch_wait_us = unit == "us" ? static_cast<int>(number) : 0;
}

std::string batch_wait_text(const Options& o) {
  return o.batch_wait_us > 0 ? std::to_string(o.batch_wait_us) + "us" : std::to_string(o.batch_wait);
}

void check_options(const Options& o) {
  check_range("pes", o.pes);
  check_range("pes_per_gpu", o.pes_per_gpu);
  check_range("threads", o.threads);
  check_range("workers", o.workers);
  check_range("fetch", o.fetch);
  check_range("capacity", o.capacity);
  check_range("spill", o.spill);
  check_range("buckets", o.buckets);
  check_range("keep", o.keep);
  check_range("overlap", o.overlap);
  check_range("batch_bytes", o.batch_bytes);
  check_range("batch_wait", o.batch_wait);
  if (o.batch_wait_us < 0 || o.batch_wait_us > kMostBatchWaitUs) {
    out_of_range("batch_wait", std::to_string(o.batch_wait_us) + "us");
  }
  if (o.threshold < 0 && o.threshold != -1) {
    throw UsageError(
        "--threshold " + exact(o.threshold) + " is out of range: " + kThresholdRange +
        "; all priorities below 0 are in the first bucket, so a task that has some adds a constant to them");
  }
  if (!(o.threshold <= 1e18)) out_of_range("threshold", exact(o.threshold));  // also catches NaN
  if (!(o.threshold_delta >= 0 && o.threshold_delta <= 1e18)) {
    out_of_range("threshold_delta", exact(o.threshold_delta));
  }
  if (o.queue == QueueKind::fifo && (o.threshold != -1 || o.threshold_delta != 0 || o.buckets != 0)) {
    throw UsageError(
        "threshold, threshold delta and buckets belong to queue 'priority', but queue 'fifo' was asked for; use queue "
        "'priority', or leave them out");
  }
  if (o.batch_wait > 0 && o.batch_wait_us > 0) {
    throw UsageError("batch wait is given as a number of times (" + std::to_string(o.batch_wait) +
                     ") and in microseconds (" + std::to_string(o.batch_wait_us) + "); give one of them");
  }
  if ((o.batch_wait > 0 || o.batch_wait_us > 0) && o.batch_bytes == 0) {
    throw UsageError("batch wait " + batch_wait_text(o) +
                     " needs segments, but batch bytes is 0; use --batch-bytes 4096");
  }
  if (o.batch_wait_us > 0 && o.batch_wait_us * 4 / 1e6 > o.stall_timeout_seconds) {
    throw UsageError("batch wait " + batch_wait_text(o) + " is too long for a stall timeout of " +
                     exact(o.stall_timeout_seconds) + " s; use --stall-timeout " + exact(o.batch_wait_us * 4 / 1e6) +
                     " or more");
  }
  if (o.capacity == 1)
    throw UsageError(
        "--capacity 1 is too small: a ring has at least 2 slots; use --capacity 2 or more, or leave it out");
  if (o.block_threads != 0) check_block_threads("block:" + std::to_string(o.block_threads), o.block_threads);
  if (o.engine != "auto" && o.engine != "self" && o.engine != "threads" && o.engine != "peer" &&
      o.engine != "openshmem") {
    throw UsageError("engine '" + o.engine + "' is not known; legal: auto, self, threads, peer, openshmem");
  }
  if (!(o.stall_timeout_seconds > 0 && o.stall_timeout_seconds <= 1e9)) {  // also catches NaN
    out_of_range("stall_timeout", exact(o.stall_timeout_seconds));
  }
  if (o.pes_per_gpu > 1 && o.device == DeviceKind::cpu) {
    throw UsageError("pes per GPU " + std::to_string(o.pes_per_gpu) +
                     " was asked for, but device 'cpu' has no GPUs; leave it out, or use device 'gpu'");
  }
  if (o.engine == "peer" && o.device == DeviceKind::cpu) {
    throw UsageError("engine 'peer' is for GPUs, but device 'cpu' was asked for; use engine 'threads' or device 'gpu'");
  }
  if (o.engine == "threads" && o.device == DeviceKind::gpu) {
    throw UsageError("engine 'threads' is for CPU threads, but device 'gpu' was asked for; use engine 'peer'");
  }
  if (o.engine == "self" && o.pes > 1) {
    throw UsageError("engine 'self' runs one PE, but " + std::to_string(o.pes) + " were asked for; use engine 'auto'");
  }
}

std::string given_names(std::initializer_list<std::pair<bool, const char*>> options) {
  std::string names;
  for (const auto& [given, name] : options) {
    if (given) names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return names;
}

void check_order(const Options& o, QueueKind queue, bool has_priority, bool any_order) {
  const std::string names = given_names({{o.threshold >= 0, "--threshold"},
                                         {o.threshold_delta > 0, "--threshold-delta"},
                                         {o.buckets > 0, "--buckets"},
                                         {o.keep > 0 && !any_order, "--keep"},
                                         {o.overlap > 0, "--overlap"}});
  if (names.empty() || queue == QueueKind::priority) return;
  throw UsageError(names + ": only queue priority uses this, " +
                   (has_priority ? "but this run has queue fifo; add --queue priority, or leave it out"
                                 : "which these tasks cannot have; leave it out"));
}

std::string legal_range(const std::string& option) {
  for (const WholeRange& range : kWholeRanges) {
    if (range.option == option) return legal(range);
  }
  if (option == "threshold") return kThresholdRange;
  if (option == "threshold_delta") return kThresholdDeltaRange;
  if (option == "stall_timeout") return std::string(kStallTimeoutRange) + " seconds";
  if (option == "seed") return "0 to " + std::to_string(std::numeric_limits<decltype(Options::seed)>::max());
  return "";
}

std::string to_json(const Options& o) {
  std::string worker = name(o.worker);
  if (o.block_threads != 0) worker += ":" + std::to_string(o.block_threads);
  std::string partition = name(o.partition);
  if (o.partition == PartitionKind::file) partition += ":" + o.partition_file;
  nlohmann::ordered_json batch_wait = o.batch_wait;
  if (o.batch_wait_us > 0) batch_wait = batch_wait_text(o);
  const nlohmann::ordered_json json = {{"pes", o.pes},
                                       {"pes_per_gpu", o.pes_per_gpu},
                                       {"device", name(o.device)},
                                       {"engine", o.engine},
                                       {"worker", worker},
                                       {"kernel", name(o.kernel)},
                                       {"threads", o.threads},
                                       {"workers", o.workers},
                                       {"fetch", o.fetch},
                                       {"capacity", o.capacity},
                                       {"spill", o.spill},
                                       {"queue", name(o.queue)},
                                       {"threshold", o.threshold},
                                       {"threshold_delta", o.threshold_delta},
                                       {"buckets", o.buckets},
                                       {"keep", o.keep},
                                       {"overlap", o.overlap},
                                       {"judge", name(o.judge)},
                                       {"combine", name(o.combine)},
                                       {"batch_bytes", o.batch_bytes},
                                       {"batch_wait", batch_wait},
                                       {"partition", partition},
                                       {"stall_timeout", o.stall_timeout_seconds},
                                       {"seed", o.seed}};
  return json.dump();
}

}  // namespace shoal
