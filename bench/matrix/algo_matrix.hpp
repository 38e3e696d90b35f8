// Every way to run an algorithm, on every graph, against its reference: what a subject is, and which ways there are. Every
// algorithm of the list in src/algo/algorithms.cpp is a subject.
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
  bool large = false;  ///< takes seconds to look at in every way: one source there, and fewer ways in the core
};

/// Runs one way on the graph that it was made for, once or several times. Empty when all is right, else what is wrong;
/// exceptions count as wrong. `strategy` is one of the subject's.
using Check = std::function<std::string(const Options& options, const std::string& strategy)>;

struct Subject {
  std::string name;
  std::vector<std::string> bulk;  ///< strategies to which the worklist's options say nothing
  bool ordered = false;           ///< `async` has priorities
  bool combines = false;          ///< `async` has key and combine, and accept_at
  /// In which manners the graph can be looked at (hashed weights, own weights); one without a name where there is one.
  std::function<std::vector<std::string>(const Input& input)> manners;
  /// Computes the reference of one graph, which outlives the check, from sources that `seed` chooses, once for all ways.
  std::function<Check(const Input& input, const std::string& manner, std::uint64_t seed)> check;
  bool every_queue = true;  ///< the core of its ways has all queues and judges, not only the plain ones
  int soak_vertices = 256;  ///< most in a graph for tiny capacities
  bool large = false;       ///< also on large graphs when only a part of the ways is wanted
};

/// All algorithms; a name selects one.
std::vector<Subject> subjects();

struct Way {
  Options options;
  std::string strategy;
  std::string text;
};

/// METIS's partitions of one graph, each found at its first use and kept in a file until this object goes. For any thread.
class PartitionFiles {
 public:
  /// @param graph  outlives this object
  PartitionFiles(const Csr& graph, std::uint64_t seed) : graph_(graph), seed_(seed) {}
  ~PartitionFiles();
  PartitionFiles(const PartitionFiles&) = delete;
  PartitionFiles& operator=(const PartitionFiles&) = delete;
  /// The file for so many PEs. @throws UsageError when it cannot be written, or METIS gives up
  std::string by_metis(pe_t pes);

 private:
  const Csr& graph_;
  const std::uint64_t seed_;
  std::mutex mutex_;
  std::array<std::string, kMaxPes + 1> files_;
};

/// The core: all partitions x workers x kernels, x queues x judges where the subject says so (on large graphs one drawn pair
/// of those), and the bulk strategies. The rest: everything else, combining among it.
enum class Part { all, core, rest };

/// Which ways are wanted.
struct Wanted {
  Part part = Part::all;
  DeviceKind device = DeviceKind::cpu;
  pe_t fewest_pes = 1, most_pes = 4;
  pe_t pes_per_gpu = 1;
  bool quick = false;  ///< a seeded eighteenth of the asynchronous ones
  std::uint64_t seed = 1;
  std::size_t shard = 0, shards = 1;  ///< every `shards`-th way, from `shard` on
};

bool have_metis();

/// Every way to run `subject` that is wanted on `input`, whose graph is that of `files`; the same ones at every call.
/// @param count_only  METIS is not asked: its ways cannot be run
std::vector<Way> all_ways(const Subject& subject, const Input& input, const Wanted& wanted, PartitionFiles& files,
                          bool count_only);

/// A run on the most PEs that are wanted with two to eight slots in every ring, drawn from `s`.
Way tiny_way(const Subject& subject, const Wanted& wanted, std::uint64_t s);

/// A bijection of 64-bit words that looks random: the matrix and the subjects draw with it.
std::uint64_t mix(std::uint64_t x);

}  // namespace shoal::matrix
