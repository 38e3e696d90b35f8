// All options of a run. If an option is `automatic`, or has the value for which its comment says "chooses", the library
// decides from the graph and the machine. The report shows each decision and its reason.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>

#include "shoal/core/types.hpp"
#include "shoal/placement/partition.hpp"

namespace shoal {

enum class DeviceKind { automatic, cpu, gpu };
enum class WorkerKind { automatic, thread, warp, block };
enum class KernelKind { automatic, persistent, discrete };
enum class QueueKind { automatic, fifo, priority };
enum class JudgeKind { automatic, owner, remote };
enum class CombineKind { automatic, off, on };

/// Most threads of a worker that is a block. A multiprocessor holds two such blocks, with 80 registers for each thread. With 512 threads
/// a thread had 64, and what did not fit them cost more than the additional threads gained (docs/decisions/0068-registers-of-blocks.md).
inline constexpr int kMostBlockThreads = 384;

struct Options {
  pe_t pes = 0;          ///< PEs of each process; 0: all GPUs (algorithms may take one), or one PE of all CPU threads
  pe_t pes_per_gpu = 1;  ///< most PEs that share a GPU; more than one lets few GPUs test a run of many
  DeviceKind device = DeviceKind::automatic;
  std::string engine = "auto";  ///< self, threads, peer, openshmem (world/processes.hpp)
  WorkerKind worker = WorkerKind::automatic;
  int block_threads = 0;  ///< threads of a block worker (block:256), at most kMostBlockThreads; 0 chooses
  KernelKind kernel = KernelKind::automatic;
  int threads = 0;            ///< CPU threads per PE; 0: the machine's, shared among the PEs
  int workers = 0;            ///< most workers per PE; 0: as many as can be co-resident
  int fetch = 0;              ///< items that a worker takes at a time; 0 chooses
  std::int64_t capacity = 0;  ///< slots of a ring, rounded up to a power of two; 0 chooses; 2 is legal
  std::int64_t spill = -1;    ///< items of spill per PE; -1 chooses, 0: no spill
  QueueKind queue = QueueKind::automatic;
  double threshold = -1;       ///< priority queue: items below it run first; at least 0; -1 chooses
  double threshold_delta = 0;  ///< priority queue: how far the threshold moves when no item is below it; 0 chooses
  int buckets = 0;             ///< priority queue: separate buckets beyond the threshold, 1 (as Atos) to 16; 0 chooses
  int keep =
      -1;  ///< priority queue or kAnyOrder, warps: most items that a warp keeps for its next batch, 0 to 32; -1 chooses
  /// Priority queue, persistent kernels: the threshold moves as soon as about so many items below it are left; 0: when none is; -1
  /// chooses: 0, but 2,048 for the library's shortest paths on GPUs, unless the graph is skewed.
  int overlap = -1;
  JudgeKind judge = JudgeKind::automatic;        ///< who judges an item of another PE: its owner, or the pusher
  CombineKind combine = CombineKind::automatic;  ///< whether items with equal keys are merged before they are sent
  std::int64_t batch_bytes = -1;  ///< of a segment of items for another PE, at least one item; -1 chooses, 0: channels
  /// Segments: how many times in a row the sender puts off telling the receiver about items in a segment that is only partly
  /// filled; 0: it tells the receiver at once.
  int batch_wait = 0;
  int batch_wait_us = 0;  ///< or for how many microseconds it puts this off (CPU PEs); one of the two is 0
  PartitionKind partition = PartitionKind::automatic;
  std::string partition_file;
  double stall_timeout_seconds = 10;  ///< a run without progress for this long ends with a DeviceError
  std::uint64_t seed = 1;             ///< for random sources and the random partition

  bool operator==(const Options&) const = default;
};

const char* name(DeviceKind);
const char* name(WorkerKind);
const char* name(KernelKind);
const char* name(QueueKind);
const char* name(JudgeKind);
const char* name(CombineKind);
const char* name(PartitionKind);

// The inverse of name(), for command lines and bindings; `auto` is always legal.
// @throws UsageError naming the text and the legal values
DeviceKind parse_device(const std::string& text);
KernelKind parse_kernel(const std::string& text);
QueueKind parse_queue(const std::string& text);
JudgeKind parse_judge(const std::string& text);
CombineKind parse_combine(const std::string& text);
/// `auto`, `thread`, `warp`, `block` or `block:THREADS`; sets worker and block_threads. THREADS: 64 to
/// kMostBlockThreads, a multiple of 32.
void parse_worker(const std::string& text, Options& options);
/// `auto`, `block`, `edges`, `strips`, `random`, `modulo`, `metis`, `one` or `file:PATH`; sets partition and partition_file.
void parse_partition(const std::string& text, Options& options);

/// Sets batch_wait and batch_wait_us: `20` means 20 times in a row, `20us` means 20 microseconds.
void parse_batch_wait(const std::string& text, Options& options);
/// The inverse of parse_batch_wait().
std::string batch_wait_text(const Options& options);

/// Refuses values outside their ranges, without regard to the machine. Every entry point calls it before anything is built.
/// @throws UsageError naming the option, its value and its range
void check_options(const Options& options);

/// The names of options that were given, from pairs of whether and name: "--threshold, --buckets".
std::string given_names(std::initializer_list<std::pair<bool, const char*>> options);
/// Refuses options of a priority queue for a run with another queue.
/// @param has_priority  whether the task can have a priority queue
/// @param any_order     the task's items may run in any order: then keep is used with any queue
void check_order(const Options& options, QueueKind queue, bool has_priority, bool any_order = false);

/// One JSON object with every option's name and value, as the command line accepts them.
std::string to_json(const Options& options);

}  // namespace shoal
