#include "shoal/program/run_flags.hpp"

#include <CLI/CLI.hpp>

namespace shoal {

void RunFlags::add_to(CLI::App& app, const std::string& all_gpus) {
  const char* group = "Where it runs";
  const auto flag = [&](const char* name, const char* type, auto& value, const std::string& text) {
    CLI::Option* option = app.add_option(name, value, text)->group(group)->type_name(type);
    using Value = std::decay_t<decltype(value)>;
    if constexpr (std::is_integral_v<Value>) option->check(whole_number<Value>);
  };
  flag("--device", "KIND", device_, "auto (GPUs if there are any; in several processes CPU threads), cpu or gpu");
  flag("--pes", "N", values_.pes,
       "processing elements (PEs) per process: GPUs, or groups of CPU threads (0: " + all_gpus +
           "; on the CPU one group of all threads; in several processes 1)");
  flag(
      "--pes-per-gpu", "N", values_.pes_per_gpu,
      "most PEs that share a GPU (default: 1); more than 1 tests a run of many GPUs on few, and is slower than one PE");
  flag("--engine", "NAME", values_.engine,
       "how PEs reach each other: auto, self (one PE), threads (CPU threads of this process), peer (GPUs of this "
       "process) or openshmem (CPU threads, or with --device gpu GPUs, of all processes that a launcher started)");
  flag("--threads", "N", values_.threads, "CPU threads per PE (0: all threads of the machine, divided among the PEs)");
  flag("--partition", "KIND", partition_,
       "which PE owns which vertices: auto, block (ranges with equally many vertices), edges (ranges with equally many "
       "arcs), strips (eight such ranges for each PE, in turns, for road maps), random, modulo (vertex number modulo "
       "PEs), metis (few cut arcs), one (all on the first PE), or "
       "file:PATH (one PE number per line)");

  group = "How it runs (what you leave out is chosen; the output says what, and why)";
  flag("--worker", "KIND", worker_,
       "threads that run a task together: auto, thread, warp, block or block:THREADS (64 to " +
           std::to_string(kMostBlockThreads) + ", a multiple of 32)");
  flag("--kernel", "KIND", kernel_,
       "auto, persistent (workers take items as they come) or discrete (in rounds of the items that wait, with a "
       "barrier after each)");
  flag("--workers", "N", values_.workers, "most workers per PE (0: as many as can run at the same time)");
  flag("--fetch", "N", values_.fetch, "items that a worker takes from a queue at once (0 chooses)");
  flag("--capacity", "N", values_.capacity,
       "slots of each ring (queue of accepted items), rounded up to a power of two (0 chooses)");
  flag("--spill", "N", values_.spill,
       "items per PE that may wait in spill while queues are full (-1 chooses, 0: no spill)");
  flag("--queue", "KIND", queue_, "auto, fifo, or priority (items below a threshold run first)");
  flag("--threshold", "X", values_.threshold,
       "queue priority: items with a priority below it run first; 0 or more (-1 chooses)");
  flag("--threshold-delta", "X", values_.threshold_delta,
       "queue priority: how far the threshold moves when no item is left below it (0 chooses)");
  flag("--buckets", "N", values_.buckets,
       "queue priority: number of separate buckets beyond the threshold, 1 to 16 (0 chooses)");
  flag("--keep", "N", values_.keep,
       "queue priority, or tasks whose items may run in any order: most items that a warp of a GPU keeps for its own "
       "next batch, past the ring, 0 to 32 (-1 chooses)");
  flag("--overlap", "N", values_.overlap,
       "queue priority: move the threshold when at most about N items below it are left, 0: when none is (-1 chooses)");
  flag("--judge", "WHO", judge_,
       "which PE accepts or drops an item that another PE owns: auto, owner, or remote (the PE that pushes it)");
  flag("--combine", "KIND", combine_,
       "merge items with equal keys before they are sent to another PE: auto, on or off");
  flag("--batch-bytes", "N", values_.batch_bytes,
       "send items to another PE in segments of this many bytes, at least one item (-1 chooses, 0: item by item)");
  flag("--batch-wait", "N|Nus", batch_wait_,
       "hold back a partly filled segment: up to N times in a row while there is other work, or on CPUs for N "
       "microseconds, such as 20us (0, the default: never)");
  flag("--stall-timeout", "SECONDS", values_.stall_timeout_seconds,
       "end a run with an error after this time without progress (default: 10)");
  flag("--seed", "N", values_.seed, "seed for random sources and for the partitions random and metis (default: 1)");
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
