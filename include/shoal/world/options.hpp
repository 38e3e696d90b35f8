// Everything a run can be told. Each `automatic` or zero is chosen from the graph and the machine, and the report says
// what was chosen and why.
#pragma once
#include <cstdint>
#include <string>

#include "shoal/core/types.hpp"
#include "shoal/placement/partition.hpp"

namespace shoal {

enum class DeviceKind { automatic, cpu, gpu };
enum class WorkerKind { automatic, thread, warp, block };
enum class KernelKind { automatic, persistent, discrete };
enum class QueueKind { automatic, fifo, priority };
enum class JudgeKind { automatic, owner, remote };
enum class CombineKind { automatic, off, on };

struct Options {
  pe_t pes = 0;          ///< 0: all GPUs (one for a small graph), or one PE of all CPU threads
  pe_t pes_per_gpu = 1;  ///< PEs that share a GPU: more than one to try a run of many GPUs on few; each gets its part
  DeviceKind device = DeviceKind::automatic;
  std::string engine = "auto";  ///< self, threads, peer
  WorkerKind worker = WorkerKind::automatic;
  int block_threads = 0;  ///< threads of a block worker (block:256); 0 chooses
  KernelKind kernel = KernelKind::automatic;
  int threads = 0;            ///< CPU threads per PE; 0: the machine's, shared among the PEs
  int workers = 0;            ///< most workers per PE; 0: as many as are co-resident
  int fetch = 0;              ///< items a worker takes at once; 0 chooses
  std::int64_t capacity = 0;  ///< slots of a ring, rounded up to a power of two; 0 chooses; 2 is legal
  std::int64_t spill = -1;    ///< items of spill per PE; -1 chooses, 0 switches it off
  QueueKind queue = QueueKind::automatic;
  double threshold = -1;       ///< priority queue: items below it run first; -1 chooses
  double threshold_delta = 0;  ///< priority queue: how far the threshold moves when none is below it; 0 chooses
  int buckets = 0;             ///< priority queue: kept apart beyond the threshold, 1 (as Atos) to 16; 0 chooses
  JudgeKind judge = JudgeKind::automatic;        ///< who judges a remote item: its owner, or the pusher over the wire
  CombineKind combine = CombineKind::automatic;  ///< merge items of one key before they are sent
  PartitionKind partition = PartitionKind::automatic;
  std::string partition_file;
  double stall_timeout_seconds = 10;  ///< a run without progress for this long ends in a DeviceError
  std::uint64_t seed = 1;             ///< random partition, delays of the faulty transport
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
/// `auto`, `thread`, `warp`, `block` or `block:THREADS`; sets worker and block_threads. THREADS: 64 to 512, a multiple of 32.
void parse_worker(const std::string& text, Options& options);
/// `auto`, `block`, `edges`, `random`, `modulo`, `metis`, `one` or `file:PATH`; sets partition and partition_file.
void parse_partition(const std::string& text, Options& options);

/// Refuses values outside their ranges, whatever the machine. Called by every door before anything is built.
/// @throws UsageError naming the option, its value and its range
void check_options(const Options& options);

/// One JSON object with every option's name and value, as the command line would take them.
std::string to_json(const Options& options);

}  // namespace shoal
