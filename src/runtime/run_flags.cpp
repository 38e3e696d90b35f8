#include "shoal/runtime/run_flags.hpp"

#include <CLI/CLI.hpp>

namespace shoal {

void RunFlags::add_to(CLI::App& app) {
  const char* where = "Where it runs";
  app.add_option("--device", device_, "auto, cpu or gpu")->group(where)->type_name("KIND");
  app.add_option("--pes", values_.pes,
                 "processing elements: GPUs, or groups of CPU threads (0: all GPUs, or one group)")
      ->group(where)
      ->type_name("N");
  app.add_option("--engine", values_.engine, "auto, self (one PE), threads (CPU), peer (GPUs of this process)")
      ->group(where)
      ->type_name("NAME");
  app.add_option("--threads", values_.threads, "CPU threads per PE (0: the machine's, shared among the PEs)")
      ->group(where)
      ->type_name("N");
  app.add_option("--partition", partition_,
                 "auto, block, edges, random, modulo, metis, or file:PATH (one PE number per line)")
      ->group(where)
      ->type_name("KIND");

  const char* how = "How it runs (auto and 0 choose; the report says what was chosen and why)";
  app.add_option("--worker", worker_, "auto, thread, warp, block or block:THREADS (64 to 512)")
      ->group(how)
      ->type_name("KIND");
  app.add_option("--kernel", kernel_, "auto, persistent (one long kernel) or discrete (one per round)")
      ->group(how)
      ->type_name("KIND");
  app.add_option("--workers", values_.workers, "most workers per PE (0: as many as fit)")->group(how)->type_name("N");
  app.add_option("--fetch", values_.fetch, "items that a worker takes at once")->group(how)->type_name("N");
  app.add_option("--capacity", values_.capacity, "slots of each ring, rounded up to a power of two")
      ->group(how)
      ->type_name("N");
  app.add_option("--spill", values_.spill, "items of spill per PE when rings are full (-1 chooses, 0: none)")
      ->group(how)
      ->type_name("N");
  app.add_option("--queue", queue_, "auto, fifo, or priority (items below a threshold first)")
      ->group(how)
      ->type_name("KIND");
  app.add_option("--threshold", values_.threshold, "priority: items below it run first (-1 chooses)")
      ->group(how)
      ->type_name("X");
  app.add_option("--threshold-delta", values_.threshold_delta,
                 "priority: how far the threshold moves when nothing is left below it (0 chooses)")
      ->group(how)
      ->type_name("X");
  app.add_option("--buckets", values_.buckets, "priority: buckets kept apart beyond the threshold (0 chooses)")
      ->group(how)
      ->type_name("N");
  app.add_option("--judge", judge_, "who judges an item for another PE: auto, owner, or remote (by the pusher)")
      ->group(how)
      ->type_name("WHO");
  app.add_option("--combine", combine_, "merge items of one key before they are sent: auto, on, off")
      ->group(how)
      ->type_name("KIND");
  app.add_option("--stall-timeout", values_.stall_timeout_seconds,
                 "seconds without progress that end a run in an error")
      ->group(how)
      ->type_name("SECONDS");
  app.add_option("--seed", values_.seed, "of random sources and the random partition")
      ->group(how)
      ->type_name("N")
      ->check(CLI::NonNegativeNumber);
}

void RunFlags::read(Options& options) const {
  options = values_;
  options.device = parse_device(device_);
  options.kernel = parse_kernel(kernel_);
  options.queue = parse_queue(queue_);
  options.judge = parse_judge(judge_);
  options.combine = parse_combine(combine_);
  parse_worker(worker_, options);
  parse_partition(partition_, options);
  check_options(options);
}

}  // namespace shoal
