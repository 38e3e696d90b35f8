#include "shoal/worklist/launch_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/worker/worker.hpp"

namespace shoal {
namespace {

// The measurements behind each constant are in docs/decisions/0023-what-auto-goes-by.md, and those behind the slots of channels in
// 0067-rings-that-do-not-fill.md.
constexpr double kItemsOfAnElement = 2, kItemsOfAnElementAmongPes = 8;  ///< items per element for which spill has space
constexpr std::int64_t kMostOfARing = 1 << 24, kMostOfARingOnGpus = 1 << 27;  ///< of a ring; small items: 16 bytes each
constexpr ticket_t kSlotsOfAChannel = 1 << 12, kChannels = 4;  ///< fewest slots; channels from a GPU to another
constexpr ticket_t kSlotsToAll = 1 << 23;                      ///< most slots of a GPU's channels to all others
constexpr ticket_t kSlotsOfMore = 1 << 22;  ///< with so many slots to another GPU, there are twice as many channels
constexpr double kFanOutOfLooks = 4;        ///< from this mean fan-out on, warps look at items before they judge them
constexpr double kFanOutOfBlocks = 7;       ///< from this mean fan-out on, workers are blocks and not warps

/// Records one decision; its reason is `reason`, unless the user asked for the value.
template <class T>
void note(Decisions& why, const char* option, const T& value, bool asked, const std::string& reason) {
  std::string text;
  if constexpr (std::is_convertible_v<T, std::string>)
    text = value;
  else if constexpr (std::is_floating_point_v<T>)
    text = exact(value);
  else
    text = std::to_string(value);
  why.push_back({option, text, asked ? "asked for" : reason});
}

/// The options given that only the worklist uses: "--worker, --fetch".
std::string worklist_options(const Options& o) {
  return given_names({{o.worker != WorkerKind::automatic, "--worker"},
                      {o.kernel != KernelKind::automatic, "--kernel"},
                      {o.fetch > 0, "--fetch"},
                      {o.capacity > 0, "--capacity"},
                      {o.spill >= 0, "--spill"},
                      {o.workers > 0, "--workers"},
                      {o.queue != QueueKind::automatic, "--queue"},
                      {o.threshold >= 0, "--threshold"},
                      {o.threshold_delta > 0, "--threshold-delta"},
                      {o.buckets > 0, "--buckets"},
                      {o.keep >= 0, "--keep"},
                      {o.overlap >= 0, "--overlap"},
                      {o.judge != JudgeKind::automatic, "--judge"},
                      {o.combine != CombineKind::automatic, "--combine"},
                      {o.batch_bytes >= 0, "--batch-bytes"},
                      {o.batch_wait > 0 || o.batch_wait_us > 0, "--batch-wait"}});
}

/// A chunk costs four operations on counters that all workers of the PE share, whatever its size, and its items wait until it is
/// full or its worker moves on. Four items for each thread of a block are worth that cost (docs/decisions/0021-chunks-of-spill.md).
/// Each worker may hold chunks that are not full, so a small spill needs small chunks.
lane_t chunk_items_for(const LaunchPlan& plan, const Options& options) {
  constexpr lane_t kSmall = 64;
  const bool little = options.spill >= 0 && options.spill < 1 << 16;
  if (plan.worker != WorkerKind::block || little) return kSmall;
  return std::max(kSmall, static_cast<lane_t>(4 * plan.block_threads));
}

/// Size of a segment that is carried to another process, or that waits: large enough that the fixed cost per segment does not
/// count.
constexpr std::int64_t kBytesOfASegment = 4096;
/// Total size, over all PEs, of the segments when every item pushed for another GPU travels: there are many items in each segment
/// then, so a worker that claims a part of one finds many (docs/decisions/0051-blocks-send-together.md).
constexpr std::int64_t kBytesOfFullSegments = 1 << 17;

constexpr ticket_t kItemsOfSegments = 1 << 20;  ///< most items in all segments from a PE to another

/// Lets items go to other PEs in segments of `bytes` bytes, or one by one if `bytes` is 0.
void set_batch_bytes(LaunchPlan& plan, std::int64_t bytes) {
  plan.batch_bytes = bytes;
  if (bytes > 0) plan.channel_capacity = std::min(plan.channel_capacity, kItemsOfSegments);
}

/// Decides how items go to other PEs.
void plan_batches(const Options& options, bool processes, LaunchPlan& plan, Decisions& why) {
  const bool waits = options.batch_wait > 0 || options.batch_wait_us > 0;
  const bool in_segments = options.batch_bytes > 0 || processes || waits;
  set_batch_bytes(plan, options.batch_bytes > 0 ? options.batch_bytes : in_segments ? kBytesOfASegment : 0);
  plan.batch_wait = static_cast<lane_t>(options.batch_wait);
  plan.batch_wait_us = static_cast<lane_t>(options.batch_wait_us);
  const bool asked = options.batch_bytes > 0 || (options.batch_bytes == 0 && !processes);
  note(why, "batch_bytes", plan.batch_bytes, asked,
       processes ? "items are sent to other processes in segments"
       : waits   ? "batch wait needs segments"
                 : "item by item: each arrives sooner");
  if (waits) note(why, "batch_wait", batch_wait_text(options), true, "");
}

}  // namespace

bool asks_for_worklist(const Options& options) { return !worklist_options(options).empty(); }

void note_unused(const Options& options, Decisions& why) {
  const std::string names = worklist_options(options);
  if (!names.empty()) why.push_back({"not used", names, "these options are for the worklist (strategy async)"});
}

LaunchPlan plan_launch(const Options& options, bool on_gpu, pe_t n_pes, std::int64_t items, double fan_out,
                       Decisions& why, bool processes) {
  LaunchPlan plan;
  if (!on_gpu && (options.worker == WorkerKind::warp || options.worker == WorkerKind::block)) {
    throw UsageError(std::string("worker ") + name(options.worker) +
                     " runs on GPUs only; on CPU threads use --worker thread");
  }
  const bool worker_asked = options.worker != WorkerKind::automatic;
  // A block takes many items with one reservation. When few items are in flight at any time, a warp finishes sooner.
  const bool wide = fan_out >= kFanOutOfBlocks;
  plan.worker = worker_asked ? options.worker
                : !on_gpu    ? WorkerKind::thread
                : wide       ? WorkerKind::block
                             : WorkerKind::warp;
  note(why, "worker", name(plan.worker), worker_asked,
       !on_gpu ? "CPU threads"
       : wide
           ? "each item has many elements, which fill the lanes of a block"
           : "each item has few elements, which keep the lanes of a warp busy, and warps do not wait for each other");
  plan.block_threads = options.block_threads > 0 ? options.block_threads : kMostBlockThreads;
  if (plan.worker == WorkerKind::block)
    note(why, "block_threads", plan.block_threads, options.block_threads > 0, "default");

  // On road networks a warp has about a dozen items to judge at a time. The atomics that a look would save are in flight together, and the
  // look makes every hop longer (docs/decisions/0075-from-a-push-to-a-run.md).
  plan.looks = plan.worker != WorkerKind::warp || fan_out >= kFanOutOfLooks;

  const bool kernel_asked = options.kernel != KernelKind::automatic;
  plan.kernel = kernel_asked ? options.kernel : KernelKind::persistent;
  note(why, "kernel", name(plan.kernel), kernel_asked, "no launch and no barrier between rounds");

  // Fetch enough items to fill what a worker judges at once, or half of it if batches are short, since one item of each lane is
  // judged then. While few items wait, a worker takes fewer (Taking::share).
  const double lanes = plan.worker == WorkerKind::block ? plan.block_threads : plan.worker == WorkerKind::warp ? 32 : 1;
  const double at_once = lanes > 1 && wide ? kOffersOfALane * lanes : lanes / 2;
  const int fitting = static_cast<int>(std::clamp(std::round(at_once / std::max(fan_out, 1.0)), 1.0, lanes));
  const int most = on_gpu ? static_cast<int>(lanes) : static_cast<int>(CpuThread::kMaxFetch);
  plan.fetch = static_cast<lane_t>(options.fetch > 0 ? std::min<std::int64_t>(options.fetch, most)
                                   : on_gpu          ? fitting
                                                     : 16);
  note(why, "fetch", static_cast<int>(plan.fetch), options.fetch > 0 && options.fetch <= most,
       options.fetch > most ? "the most that such a worker takes; asked for " + std::to_string(options.fetch)
       : on_gpu             ? "items judged at once, divided by the mean fan-out of " + rough(fan_out)
                            : "a cache line or two of items");

  // If vertices wait in the ring more than once, as in shortest paths in FIFO order, and it is full, the rest is run from spill, newest
  // first, and so more than twice as often (docs/decisions/0067-rings-that-do-not-fill.md).
  const std::int64_t wanted = on_gpu ? std::clamp<std::int64_t>(items + items / 2, 1 << 12, kMostOfARingOnGpus)
                                     : std::clamp<std::int64_t>(items, 1 << 12, kMostOfARing);
  plan.capacity =
      std::bit_ceil(static_cast<ticket_t>(options.capacity > 0 ? std::max<std::int64_t>(options.capacity, 2) : wanted));
  note(why, "capacity", static_cast<std::int64_t>(plan.capacity), options.capacity > 0,
       static_cast<std::int64_t>(plan.capacity) < items ? "the most by default; what finds no slot waits in spill"
       : on_gpu                                         ? "more than the number of vertices of a PE"
                                                        : "about the number of vertices of a PE");
  // Channel slots are cheap where memory is plentiful, and an item that finds no slot costs its pusher tens of times as much.
  const ticket_t slots = std::bit_floor(kSlotsToAll / static_cast<ticket_t>(std::max<pe_t>(n_pes - 1, 1)));
  plan.channel_capacity = on_gpu && options.capacity == 0 ? std::min(plan.capacity, slots)
                                                          : std::clamp<ticket_t>(plan.capacity / 4, 2, 1 << 18);
  // While one worker drains a channel, the others wait for it, for some microseconds (docs/decisions/0054-channels-in-parallel.md).
  // A worker of one lane would poll one channel after the other.
  if (on_gpu && plan.worker != WorkerKind::thread) {
    const ticket_t most = plan.channel_capacity >= kSlotsOfMore ? 2 * kChannels : kChannels;
    plan.channels = static_cast<lane_t>(std::clamp<ticket_t>(plan.channel_capacity / kSlotsOfAChannel, 1, most));
  }
  plan.workers = options.workers;
  // With more, more warps wait for the same counters. But see more_warps().
  if (plan.worker == WorkerKind::warp) plan.warps_per_multiprocessor = 8;
  // Twice as many would fit, but they run three times as many items twice: docs/decisions/0029-short-batches.md.
  if (plan.worker == WorkerKind::thread) plan.warps_per_multiprocessor = 16;
  plan.queue = options.queue == QueueKind::priority ? QueueKind::priority : QueueKind::fifo;
  plan.threshold = options.threshold >= 0 ? options.threshold : 0;
  plan.threshold_delta = options.threshold_delta > 0 ? options.threshold_delta : 1;
  plan.buckets = static_cast<lane_t>(options.buckets > 0 ? options.buckets : 4);
  if (plan.queue == QueueKind::priority) {
    note(why, "queue", "priority", true, "");
    note(why, "threshold", plan.threshold, options.threshold >= 0, "every item waits for its bucket");
    note(why, "threshold_delta", plan.threshold_delta, options.threshold_delta > 0,
         "the threshold moves by one unit of priority");
    if (options.overlap > 0 && (plan.kernel != KernelKind::persistent || processes)) {
      why.push_back({"not used", "--overlap",
                     processes ? "several processes agree on the threshold when nothing is left below it"
                               : "in rounds the threshold moves between two rounds"});
    } else if (options.overlap >= 0) {
      plan.overlap = static_cast<lane_t>(options.overlap);
      note(why, "overlap", options.overlap, true, "");
    }
    note(why, "buckets", static_cast<int>(plan.buckets), options.buckets > 0,
         "three for the next priorities, one for all beyond");
  }
  // A PE can run items that find no slot in its own ring, but not those that find no slot at other PEs. In an order far from the
  // best, a task makes several items per element, and in a round of a star all vertices but one wait at once.
  const double elements = static_cast<double>(items) * std::max(fan_out, 1.0);
  const auto spilled = static_cast<std::int64_t>(
      std::clamp(elements * (n_pes > 1 ? kItemsOfAnElementAmongPes : kItemsOfAnElement), 65536.0, 134217728.0));
  const std::int64_t more = on_gpu ? 1 << 18 : 1 << 16;
  const std::int64_t parked =
      plan.queue == QueueKind::priority ? std::clamp<std::int64_t>(4 * items, 1 << 16, 1 << 27) : 0;
  plan.spill = options.spill >= 0 ? options.spill : std::max({spilled, items, parked}) + more;
  plan.chunk_items = chunk_items_for(plan, options);
  note(why, "spill", plan.spill, options.spill >= 0,
       std::string("room for ") + (n_pes > 1 ? "eight" : "two") +
           " items per element of a PE's items (items times fan-out), and some more");
  plan.judge_remote = options.judge == JudgeKind::remote && n_pes > 1;
  if (options.judge != JudgeKind::automatic) note(why, "judge", name(options.judge), true, "");
  plan.combine = options.combine == CombineKind::on && n_pes > 1;
  if (options.combine != CombineKind::automatic) note(why, "combine", name(options.combine), true, "");
  if (n_pes > 1) {
    plan_batches(options, processes, plan, why);
  }
  plan.stall_timeout_seconds = options.stall_timeout_seconds;
  return plan;
}

void fit_to_wires(LaunchPlan& plan) {
  if (plan.judge_remote) {
    throw UsageError(
        "judge 'remote' needs PEs that access each other's memory, but this run has several processes; use "
        "--judge owner");
  }
  if (plan.batch_bytes <= 0) set_batch_bytes(plan, kBytesOfASegment);
}

void fit_to_gpus(const LaunchPlan& plan) {
  if (plan.batch_wait_us == 0) return;
  throw UsageError("batch wait " + std::to_string(plan.batch_wait_us) +
                   "us is for CPU threads only; on GPUs give a number of times, such as --batch-wait 20");
}

std::string full_line(const LaunchPlan& plan, std::int64_t waiting, std::int64_t spill) {
  // The run has ended before all its items were made, so how many would wait is not known. The spill that plan_launch() chooses is
  // enough for nearly every task, so a smaller one need only be left out. That of a plan with more may have been chosen so.
  const bool was_given = plan.spill < LaunchPlan().spill;
  const std::int64_t more = 8 * std::max({waiting, spill, std::int64_t{plan.chunk_items}});
  const std::string items = waiting < 1    ? "an item finds no space"
                            : waiting == 1 ? "1 item waits"
                                           : std::to_string(waiting) + " items wait";
  return "worklist full: " + items + ", but a PE has a ring of " + std::to_string(plan.capacity) +
         " items and spill of " + std::to_string(spill) + ", in chunks of " + std::to_string(plan.chunk_items) +
         ", each of one worker; " +
         (plan.queue == QueueKind::priority ? "items beyond the threshold wait only in spill: " : "") +
         "leave --spill out" + (was_given ? "" : " or, if it was not given, use --spill " + std::to_string(more));
}

void gather_in_segments(LaunchPlan& plan, const Options& options, bool on_gpu, pe_t n_pes, bool processes,
                        Decisions& why) {
  if (!on_gpu || n_pes == 1 || processes || options.batch_bytes >= 0) return;
  set_batch_bytes(plan,
                  static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(kBytesOfFullSegments / n_pes))));
  std::erase_if(why, [](const Decision& one) { return one.option == "batch_bytes"; });
  note(why, "batch_bytes", plan.batch_bytes, false,
       "every item pushed for another GPU is sent, so a segment gets many items");
}

void allow_remote_judge(LaunchPlan& plan, const Options& options, pe_t n_pes, bool processes, Decisions& why) {
  if (processes) {
    if (options.judge == JudgeKind::remote) {
      throw UsageError(
          "judge remote needs PEs that access each other's memory, but this run has several processes; use --judge "
          "owner");
    }
    plan.judge_remote = false;
    if (options.judge == JudgeKind::automatic)
      note(why, "judge", "owner", false, "PEs cannot access the memory of other processes");
    return;
  }
  if (n_pes == 1 || options.judge != JudgeKind::automatic) return;
  plan.judge_remote = !plan.combine;
  note(why, "judge", plan.judge_remote ? "remote" : "owner", false,
       plan.judge_remote ? "many items are dropped, and a dropped item need not be sent"
                         : "items are combined before they are judged");
}

void keep_items(LaunchPlan& plan, const Options& options, double fan_out, WarpTraits task, Decisions& why) {
  // At least four lanes for an item: most vertices of a road network have no more arcs. Where paths are short, most batches are full, or
  // have long ranges beside short ones, and dealing takes longer (docs/decisions/0082-short-batches-are-dealt.md).
  constexpr lane_t kLanes = 32, kMostDealt = kLanes / 4;
  plan.deals = plan.worker == WorkerKind::warp && task.deals && task.long_paths ? kMostDealt : 0;
  if (plan.queue != QueueKind::priority && !task.any_order) return;  // check_order() has refused --keep
  if (plan.worker != WorkerKind::warp || plan.kernel != KernelKind::persistent) {
    if (options.keep >= 0) {
      why.push_back({"not used", "--keep", "only warps of GPUs keep items, in the persistent kernel"});
    }
    return;
  }
  // A batch with more elements than lanes takes a second turn, and then every hop is longer
  // (docs/decisions/0078-items-that-a-warp-keeps.md).
  double fill = std::clamp(std::round(kLanes / std::max(fan_out, 1.0)), 1.0, double{kLanes});
  // No more than can be dealt out, unless most lanes would then have no element.
  if (plan.deals > 0 && fan_out >= 2) fill = std::min(fill, double{kMostDealt});
  plan.keeps = static_cast<lane_t>(options.keep >= 0 ? options.keep : !task.long_paths ? 0 : task.shares ? fill : 1);
  note(why, "keep", static_cast<int>(plan.keeps), options.keep >= 0,
       !task.long_paths ? "paths are not known to be long"
       : task.shares    ? "items whose elements fill the lanes of a warp need not go through the ring"
                        : "a warp runs one item after another, so it keeps one and leaves the others to other warps");
}

void overlap_buckets(LaunchPlan& plan, const Options& options, int gpus, Decisions& why) {
  if (options.overlap >= 0 || gpus == 0) return;
  if (plan.queue != QueueKind::priority || plan.kernel != KernelKind::persistent) return;
  constexpr lane_t kStays = 2048;  // one or two for each warp of a GPU (docs/decisions/0083-buckets-overlap.md)
  plan.overlap = kStays * static_cast<lane_t>(gpus);
  note(why, "overlap", static_cast<int>(plan.overlap), false,
       "workers without items need not wait for the end of a bucket");
}

void more_warps(LaunchPlan& plan, const Options& options, pe_t n_pes, std::int64_t items, WarpTraits task,
                Decisions& why) {
  if (plan.worker != WorkerKind::warp || plan.kernel != KernelKind::persistent || options.workers > 0) return;
  // More warps wait for the same counters, which makes each hop longer. Where paths are short, or warps keep items and so seldom use
  // these counters, throughput counts for more (docs/decisions/0079-more-warps.md, 0080). The kernel for several PEs has registers for
  // twelve warps.
  constexpr std::int64_t kManyNear = 1 << 19;
  const std::int64_t many = !task.long_paths ? kManyNear : task.many_items;
  if ((task.long_paths && plan.keeps == 0) || items / n_pes < many) return;
  plan.warps_per_multiprocessor = n_pes > 1 ? 12 : 16;
  note(why, "workers", std::to_string(plan.warps_per_multiprocessor) + " warps per multiprocessor", false,
       "many items run at a time");
}

}  // namespace shoal
