// Every way to run an algorithm, on every graph, compared with its reference: the subjects of the matrix, and the ways that there
// are. Every algorithm in the list of src/algo/algorithms.cpp is a subject.
#pragma once
#include <array>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "shoal/graph/csr.hpp"
#include "shoal/world/options.hpp"

namespace shoal::matrix {

struct Input {
  std::string name;
  Csr graph;
  bool large = false;  ///< too large to be run quickly in every way: it has one source, and fewer ways in the core
};

/// Runs one way on the graph that the check was made for, once or several times. Returns an empty text if all is right, else what
/// is wrong; exceptions count as wrong. `strategy` is one of the subject's.
using Check = std::function<std::string(const Options& options, const std::string& strategy)>;

struct Subject {
  std::string name;
  std::vector<std::string> bulk;  ///< strategies that the worklist's options do not affect
  bool ordered = false;           ///< `async` has priorities
  bool combines = false;          ///< `async` has key and combine, and accept_at
  /// The manners in which a graph can be run (hashed weights, own weights). One manner without a name if there is no choice.
  std::function<std::vector<std::string>(const Input& input)> manners;
  /// Computes the reference of one graph, once for all ways, from sources that `seed` chooses. The graph must outlive the check.
  std::function<Check(const Input& input, const std::string& manner, std::uint64_t seed)> check;
  bool every_queue = true;  ///< the core of its ways has all queues and judges, not only the default ones
  int soak_vertices = 256;  ///< most vertices in a graph for tiny capacities
  bool large = false;       ///< also run on large graphs when only a part of the ways is wanted
};

/// All algorithms; a name selects one.
std::vector<Subject> subjects();

struct Way {
  Options options;
  std::string strategy;
  std::string text;
};

/// METIS's partitions of one graph. Each is computed at its first use, and kept in a file until this object is destroyed.
/// Thread-safe.
class PartitionFiles {
 public:
  /// @param graph  must outlive this object
  PartitionFiles(const Csr& graph, std::uint64_t seed) : graph_(graph), seed_(seed) {}
  ~PartitionFiles();
  PartitionFiles(const PartitionFiles&) = delete;
  PartitionFiles& operator=(const PartitionFiles&) = delete;
  /// The file with the partition for so many PEs. @throws UsageError  the file cannot be written, or METIS fails
  std::string by_metis(pe_t pes);

 private:
  const Csr& graph_;
  const std::uint64_t seed_;
  std::mutex mutex_;
  std::array<std::string, kMaxPes + 1> files_;
};

/// The core: all partitions x workers x kernels, x queues x judges if the subject says so (on large graphs one pair of these, drawn
/// at random), and the bulk strategies. The rest: all other ways, including those that combine.
enum class Part { all, core, rest };

/// Which ways are wanted.
struct Wanted {
  Part part = Part::all;
  DeviceKind device = DeviceKind::cpu;
  pe_t fewest_pes = 1, most_pes = 4;
  pe_t pes_per_gpu = 1;
  bool quick = false;  ///< only a seeded eighteenth of the asynchronous ways
  std::uint64_t seed = 1;
  std::size_t shard = 0, shards = 1;  ///< every `shards`-th way, from `shard` on
};

bool have_metis();

/// Every wanted way to run `subject` on `input`, whose graph is also that of `files`. The same ways at every call.
/// @param count_only  do not compute METIS's partitions; ways that need them cannot be run then
std::vector<Way> all_ways(const Subject& subject, const Input& input, const Wanted& wanted, PartitionFiles& files,
                          bool count_only);

/// A run on the most PEs that are wanted, with two to eight slots in every ring and other options drawn from `s`.
Way tiny_way(const Subject& subject, const Wanted& wanted, std::uint64_t s);

/// A bijection of 64-bit values that looks random. The matrix and the subjects draw with it.
std::uint64_t mix(std::uint64_t x);

}  // namespace shoal::matrix
