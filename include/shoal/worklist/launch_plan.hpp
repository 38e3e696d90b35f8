// How a worklist is launched: every field decided. A task's door fills in what the options leave open.
#pragma once
#include <cstdint>

#include "shoal/core/types.hpp"
#include "shoal/world/decision.hpp"
#include "shoal/world/options.hpp"

namespace shoal {

struct LaunchPlan {
  WorkerKind worker = WorkerKind::thread;
  int block_threads = 256;
  KernelKind kernel = KernelKind::persistent;
  lane_t fetch = 1;
  int workers = 0;                      ///< most workers per PE; 0: as many as are co-resident
  int blocks_per_multiprocessor = 0;    ///< most blocks of a GPU's multiprocessor; 0: as many as fit
  ticket_t capacity = 1 << 16;          ///< slots of a PE's ring; a power of two
  ticket_t channel_capacity = 1 << 14;  ///< slots of a channel; a power of two
  std::int64_t spill_near = 1 << 16;    ///< items of spill in the PE's memory (besides one chunk per worker)
  std::int64_t spill_far = 0;           ///< items of spill in the host's memory
  lane_t chunk_items = 64;              ///< items of a chunk of spill: what a worker takes, or hands over, at once
  QueueKind queue = QueueKind::fifo;
  double threshold = 0;        ///< queue priority: where bucket 1 begins
  double threshold_delta = 1;  ///< queue priority: width of a bucket
  lane_t buckets = 1;          ///< queue priority: lists per worker, 1 to kMostLists; 1 is Atos's pair of queues
  bool judge_remote = false;   ///< the pusher judges (tasks with accept_at; PEs that reach each other's memory)
  bool combine = false;        ///< merge items of one key before they are sent (tasks with key and combine)
  double stall_timeout_seconds = 10;
};

/// True if an option was given that only the worklist knows: its user wants the asynchronous task.
bool asks_for_worklist(const Options& options);

/// For strategies without a worklist: says which of the options given they do not use.
void note_unused(const Options& options, Decisions& why);

/// The plan that the options give for a task that expects about `items` items at once per PE, each with `fan_out` elements.
/// @throws UsageError  a worker that the machine does not have (warp and block on CPU threads)
LaunchPlan plan_launch(const Options& options, bool on_gpu, pe_t n_pes, std::int64_t items, double fan_out,
                       Decisions& why);

/// The line of a CapacityError: what there was, and what would help.
/// @param waiting  items that wait on all PEs
/// @param spill    items for which a PE had spill
std::string full_line(const LaunchPlan& plan, std::int64_t waiting, std::int64_t spill);

/// For tasks with accept_at(): what --judge auto means. Called after plan_launch().
void allow_remote_judge(LaunchPlan& plan, const Options& options, pe_t n_pes, Decisions& why);

}  // namespace shoal
