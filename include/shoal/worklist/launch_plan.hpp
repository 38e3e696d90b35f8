// How a worklist is launched, with every field decided. plan_launch() decides what the options leave open.
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
  ticket_t channel_capacity = 1 << 14;  ///< slots of all channels from one PE to another; a power of two
  lane_t channels = 1;               ///< from one PE to another, as far as kMaxPes and the slots allow; a power of two
  std::int64_t spill_own = 1 << 16;  ///< device spill: items in the PE's own memory (besides chunks per worker)
  std::int64_t spill_host = 0;       ///< host spill: items in host memory
  lane_t chunk_items = 64;           ///< items of a chunk of spill, the unit in which workers take and hand over
  QueueKind queue = QueueKind::fifo;
  double threshold = 0;        ///< queue priority: where bucket 1 begins
  double threshold_delta = 1;  ///< queue priority: width of a bucket
  lane_t buckets = 1;          ///< queue priority: buckets kept apart, 1 to kMostLists; 1 is Atos's pair of queues
  bool judge_remote =
      false;  ///< whether the pusher judges (needs accept_at or ask_at, and PEs that reach each other's memory)
  bool combine = false;  ///< whether items with equal keys are merged before they are sent (needs key and combine)
  std::int64_t batch_bytes = 0;  ///< size of a segment of what goes to another PE, about; 0: channels, item by item
  lane_t batch_wait = 0;         ///< how often in turn what is in a part of a segment is not told to the other PE
  lane_t batch_wait_us = 0;      ///< or for how many microseconds; CPU threads alone
  double stall_timeout_seconds = 10;
};

/// True if an option was given that only the worklist has, so the user wants strategy async.
bool asks_for_worklist(const Options& options);

/// For strategies without a worklist: notes which of the given options are not used.
void note_unused(const Options& options, Decisions& why);

/// The plan for a task that has up to about `items` items per PE at the same time, each of which pushes about `fan_out`
/// more.
/// @param processes  the PEs belong to several processes
/// @throws UsageError  a worker that the machine does not have (warp and block on CPU threads)
LaunchPlan plan_launch(const Options& options, bool on_gpu, pe_t n_pes, std::int64_t items, double fan_out,
                       Decisions& why, bool processes = false);

/// Where wires lead to other processes: items travel in segments, and their owners judge.
/// @throws UsageError: judging by the pusher was asked for
void fit_to_wires(LaunchPlan& plan);

/// On GPUs.
/// @throws UsageError: parts of segments were to wait by the clock
void fit_to_gpus(const LaunchPlan& plan);

/// The line of a CapacityError: what there was, and what would help.
/// @param waiting  items that wait on all PEs
/// @param spill    items for which a PE had spill
std::string full_line(const LaunchPlan& plan, std::int64_t waiting, std::int64_t spill);

/// For tasks of which each push for another PE travels, with neither worth_sending() nor accept_at() or ask_at(): between GPUs of a process it
/// travels in segments, unless the user has said how. Called after plan_launch().
void gather_in_segments(LaunchPlan& plan, const Options& options, bool on_gpu, pe_t n_pes, bool processes,
                        Decisions& why);

/// For tasks with accept_at() or ask_at(): what --judge auto means. Called after plan_launch().
/// @param processes  the PEs belong to several processes, so that not all reach each other's memory
/// @throws UsageError  the pusher was to judge, and cannot
void allow_remote_judge(LaunchPlan& plan, const Options& options, pe_t n_pes, bool processes, Decisions& why);

}  // namespace shoal
