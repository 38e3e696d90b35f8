// LaunchPlan: how a worklist is launched, with a value for every parameter. plan_launch() decides those that the options leave
// open.
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
  int warps_per_multiprocessor = 0;     ///< most warps per multiprocessor of a GPU; 0: as many as fit
  ticket_t capacity = 1 << 16;          ///< slots of a PE's ring; a power of two
  ticket_t channel_capacity = 1 << 14;  ///< slots of all channels from one PE to another; a power of two
  lane_t channels = 1;           ///< most from one PE to another: kMaxPes and the slots may allow fewer; a power of two
  std::int64_t spill = 1 << 16;  ///< items of a PE's spill (besides chunks per worker); 0: none at all
  lane_t chunk_items = 64;       ///< items of a chunk of spill, the unit in which workers take and return spill
  QueueKind queue = QueueKind::fifo;
  double threshold = 0;        ///< queue priority: where bucket 1 begins
  double threshold_delta = 1;  ///< queue priority: width of a bucket
  lane_t buckets = 1;          ///< queue priority: buckets kept apart, 1 to kMostLists; 1 is Atos's pair of queues
  /// Persistent kernels of one process, queue priority: the threshold moves as soon as about so many items that may run are left. 0: when
  /// none is left, so that buckets run strictly one after another.
  lane_t overlap = 0;
  /// Whether promising() is asked about a PE's own items before they are judged. It saves judging what accept() would refuse. Blocks and
  /// CPU threads always ask.
  bool looks = true;
  /// Persistent kernels, queue priority or tasks with kAnyOrder: most accepted items that a warp keeps for its own next batch in place
  /// of queueing them. At most 32.
  lane_t keeps = 0;
  /// Warps, tasks with DealsOut: the most items of a batch to which a warp deals its lanes out (worklist/run_batch.hpp). At most 32.
  lane_t deals = 0;
  /// Whether the pusher judges (needs accept_at or ask_at, and PEs that reach each other's memory).
  bool judge_remote = false;
  bool combine = false;  ///< whether items with equal keys are merged before they are sent (needs key and combine)
  std::int64_t batch_bytes = 0;  ///< about the bytes of a segment for another PE, at least one item; 0: channels
  lane_t batch_wait = 0;         ///< how many times in a row the notification of a partly filled segment is put off
  lane_t batch_wait_us = 0;      ///< or for how many microseconds it is put off; CPU threads only
  double stall_timeout_seconds = 10;
};

/// True if an option was given that only the worklist uses, so that the user must want strategy async.
bool asks_for_worklist(const Options& options);

/// For strategies without a worklist: notes in `why` which of the given options are not used.
void note_unused(const Options& options, Decisions& why);

/// The plan for a task that has up to about `items` items per PE at the same time, each of which pushes about `fan_out`
/// more. Appends each decision and its reason to `why`.
/// @param processes  the PEs belong to several processes
/// @throws UsageError  a worker that the machine does not have (warp and block on CPU threads)
LaunchPlan plan_launch(const Options& options, bool on_gpu, pe_t n_pes, std::int64_t items, double fan_out,
                       Decisions& why, bool processes = false);

/// Adapts a plan to runs of several processes, which wires connect: items travel in segments, and their owners judge them.
/// @throws UsageError: judging by the pusher was asked for
void fit_to_wires(LaunchPlan& plan);

/// Checks a plan for a run on GPUs.
/// @throws UsageError: notifications were to be put off by time (batch_wait_us), which GPUs do not support
void fit_to_gpus(const LaunchPlan& plan);

/// The message of a CapacityError: the sizes of ring and spill, how many items wait, and which option would help.
/// @param waiting  items that wait on all PEs of this process; below 1: not known
/// @param spill    the most items that the spill of a PE could hold
std::string full_line(const LaunchPlan& plan, std::int64_t waiting, std::int64_t spill);

/// For tasks whose every push for another PE travels, because they have neither worth_sending() nor accept_at() or ask_at():
/// between GPUs of one process, items then travel in segments unless the user has set the batch bytes. To be called after
/// plan_launch().
void gather_in_segments(LaunchPlan& plan, const Options& options, bool on_gpu, pe_t n_pes, bool processes,
                        Decisions& why);

/// What keep_items() and more_warps() need to know of a task.
struct WarpTraits {
  bool any_order = false;  ///< AnyOrder
  bool shares = true;      ///< FanOutTask: the lanes share the elements of all items
  bool deals = true;       ///< DealsOut: a warp may deal its lanes out to the items of a short batch
  bool long_paths = true;  ///< items follow from one another in long chains
  std::int64_t many_items =
      3 << 20;  ///< of a PE: from so many on, more may run at a time than there are warps that keep items
};
/// Decides how many items a warp keeps, and to how many it deals its lanes out. To be called after plan_launch().
/// @param fan_out  as for plan_launch()
void keep_items(LaunchPlan& plan, const Options& options, double fan_out, WarpTraits task, Decisions& why);
/// For tasks that correct what ran too early: lets the buckets of a run on GPUs overlap, unless the user has said how far. To be called
/// after plan_launch().
/// @param gpus  that run it; 0: it runs on CPUs
void overlap_buckets(LaunchPlan& plan, const Options& options, int gpus, Decisions& why);
/// Decides whether a multiprocessor of a GPU has more than eight warps. To be called after keep_items(), with the same traits.
/// @param items  those of all PEs
void more_warps(LaunchPlan& plan, const Options& options, pe_t n_pes, std::int64_t items, WarpTraits task,
                Decisions& why);

/// For tasks with accept_at() or ask_at(): decides who judges if the user did not (--judge auto). To be called after
/// plan_launch().
/// @param processes  the PEs belong to several processes, so that not all reach each other's memory
/// @throws UsageError  the user asked for judging by the pusher, and the PEs belong to several processes
void allow_remote_judge(LaunchPlan& plan, const Options& options, pe_t n_pes, bool processes, Decisions& why);

}  // namespace shoal
