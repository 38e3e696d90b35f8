#include "shoal/program/run_flags.hpp"

#include <CLI/CLI.hpp>

namespace shoal {

void RunFlags::add_to(CLI::App& app) {
  const char* group = "Where it runs";
  const auto flag = [&](const char* name, const char* type, auto& value, const char* text) {
    CLI::Option* option = app.add_option(name, value, text)->group(group)->type_name(type);
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) option->check(whole_number<Value>);
  };
  flag("--device", "KIND", device_, "auto, cpu or gpu");
  flag("--pes", "N", values_.pes,
       "processing elements of a process: GPUs, or groups of CPU threads (0: all GPUs, one for a small graph; or one "
       "group; of several processes, one each)");
  flag("--pes-per-gpu", "N", values_.pes_per_gpu,
       "PEs that share a GPU: more than one tries a run of many GPUs on few (slower than one PE)");
  flag(
      "--engine", "NAME", values_.engine,
      "auto, self (one PE), threads (CPU), peer (GPUs of this process), openshmem (CPU threads of all processes that a "
      "launcher started; with --device gpu, GPUs of those of one host)");
  flag("--threads", "N", values_.threads, "CPU threads per PE (0: the machine's, shared among the PEs)");
  flag("--partition", "KIND", partition_,
       "auto, block, edges, random, modulo, metis, one (all vertices on the first PE), or file:PATH (one PE number per "
       "line)");

  group = "How it runs (auto and 0 choose; the report says what was chosen and why)";
  flag("--worker", "KIND", worker_, "auto, thread, warp, block or block:THREADS (64 to 512)");
  flag("--kernel", "KIND", kernel_, "auto, persistent (one long kernel) or discrete (one per round)");
  flag("--workers", "N", values_.workers, "most workers per PE (0: as many as fit)");
  flag("--fetch", "N", values_.fetch, "items that a worker takes at once");
  flag("--capacity", "N", values_.capacity, "slots of each ring, rounded up to a power of two");
  flag("--spill", "N", values_.spill, "items of spill per PE when rings are full (-1 chooses, 0: none)");
  flag("--queue", "KIND", queue_, "auto, fifo, or priority (items below a threshold first)");
  flag("--threshold", "X", values_.threshold, "priority: items below it run first (-1 chooses)");
  flag("--threshold-delta", "X", values_.threshold_delta,
       "priority: how far the threshold moves when nothing is left below it (0 chooses)");
  flag("--buckets", "N", values_.buckets, "priority: buckets kept apart beyond the threshold (0 chooses)");
  flag("--judge", "WHO", judge_, "who judges an item for another PE: auto, owner, or remote (by the pusher)");
  flag("--combine", "KIND", combine_, "merge items of one key before they are sent: auto, on, off");
  flag("--batch-bytes", "N", values_.batch_bytes,
       "gather what goes to another PE in segments of so many bytes (-1 chooses, 0: item by item)");
  flag(
      "--batch-wait", "N|Nus", batch_wait_,
      "segments: hold back a part of one up to N times in turn, while there is other work, or, on CPU PEs, for so many "
      "microseconds: 20us (0: never)");
  flag("--stall-timeout", "SECONDS", values_.stall_timeout_seconds,
       "seconds without progress that end a run in an error");
  flag("--seed", "N", values_.seed, "of random sources and the random partition");
}

void RunFlags::read(Options& options) const {
  options = values_;
  options.device = parse_device(device_);
  options.kernel = parse_kernel(kernel_);
  options.queue = parse_queue(queue_);
  options.judge = parse_judge(judge_);
  options.combine = parse_combine(combine_);
  parse_worker(worker_, options);
  parse_batch_wait(batch_wait_, options);
  parse_partition(partition_, options);
  check_options(options);
}

}  // namespace shoal
