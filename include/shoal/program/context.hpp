// A program's view of the PE on which it runs. A program's body runs once on every PE, at the same time. Calls marked "Every
// PE" are collective: all PEs make them.
#pragma once
#include <cstddef>
#include <exception>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/placement/placed_graph.hpp"
#include "shoal/worklist/launch_plan.hpp"
#include "shoal/worklist/worklist.hpp"
#include "shoal/world/machine.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"
#include "shoal/world/world.hpp"

namespace shoal {

/// An array in one PE's memory, for the data that a task changes. This object owns the memory. Only tasks may dereference
/// data(): on GPUs it is a device pointer. The host uses Context::read and Context::write.
template <class T>
class PeArray {
 public:
  PeArray(std::shared_ptr<void> memory, std::int64_t n) : memory_(std::move(memory)), size_(n) {}
  T* data() const { return static_cast<T*>(memory_.get()); }
  std::int64_t size() const { return size_; }

 private:
  std::shared_ptr<void> memory_;
  std::int64_t size_;
};

/// Is told of the runs of a program.
class RunLog {
 public:
  virtual void note(const Report& report) = 0;

 protected:
  ~RunLog() = default;
};

/// All PEs must make the calls marked "Every PE" in the same order; otherwise the program ends with a UsageError that
/// says at which call each PE is. These calls throw DeviceError if the body of another PE threw.
class Context {
 public:
  /// @param size  of the problem, for a program without a graph; else 0
  /// @param log   is told of each run, on PE 0's thread; null: nobody is
  Context(pe_t me, const Machine& machine, const Options& options, const PlacedGraph& placed, const Csr& input,
          vertex_t source, std::int64_t size, World& world, RunLog* log = nullptr)
      : me_(me),
        machine_(machine),
        options_(options),
        placed_(placed),
        input_(input),
        source_(source),
        size_(size),
        world_(world),
        log_(log) {}

  pe_t my_pe() const { return me_; }
  pe_t n_pes() const { return world_.n_pes(); }
  bool leader() const { return me_ == 0; }
  const Machine& machine() const { return machine_; }
  /// The options of the command line; run() takes others.
  const Options& options() const { return options_; }

  /// The size of the problem in a program without a graph (`--size`); 0 in a program with a graph. In a program without a
  /// graph, the functions below work on a graph of one vertex and no arcs.
  std::int64_t size() const { return size_; }

  /// This PE's rows of the program's graph, in its own memory; and below, which PE owns which vertex.
  CsrView graph() const { return placed_.out[here()]; }
  const OwnerTable& owners() const { return placed_.partition.owner; }
  /// The arcs that lead to this PE's vertices: the rows of the same vertices, whose targets are where the arcs come from.
  CsrView in_graph() const { return placed_.in[here()]; }
  /// The weights of the arcs of graph(), and of in_graph(), in this PE's memory: arc a, from v's offsets[local(v)] on, has the weight
  /// ints[a], or reals[a] if the weights are real; the other pointer is null. Both may be null if this PE has no arcs: input().weight_kind
  /// tells the type. Weights are as they were read, so they may be negative.
  /// @throws UsageError  the graph has no weights
  ArcWeights weights() const { return weights_of(placed_.out_weights); }
  ArcWeights in_weights() const { return weights_of(placed_.in_weights); }
  const PlacedGraph& placed() const { return placed_; }
  /// The graph as it was read or generated, on the host: for references and verification.
  const Csr& input() const { return input_; }
  /// The source vertex that the user gave, in the input's numbers, as a reference needs it; and below, its placed number, as a
  /// task needs it.
  /// @throws UsageError  the graph has no vertices, and so no source
  vertex_t source() const {
    if (placed_.num_vertices == 0) {
      throw UsageError("the graph has no vertices, so there is no source to search from");
    }
    return source_;
  }
  vertex_t placed_source() const { return placed_vertex(source()); }
  /// The placed number of any vertex, for instance for a seed.
  /// @param input  the vertex in the input's numbers
  /// @throws UsageError  the graph has no such vertex
  vertex_t placed_vertex(std::int64_t input) const {
    if (input < 0 || input >= placed_.num_vertices) {
      throw UsageError("vertex " + std::to_string(input) + ": the graph has " + std::to_string(placed_.num_vertices) +
                       " vertices, numbered from 0");
    }
    return placed_.partition.placed(static_cast<vertex_t>(input));
  }

  /// Allocates `n` elements in this PE's memory, each set to `value`.
  /// @throws UsageError  n is negative, or more than memory can hold; CapacityError  there is not enough memory
  template <class T>
  PeArray<T> alloc(std::int64_t n, T value) const {
    constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(T));
    if (n < 0 || n > kMost) {
      throw UsageError("alloc(" + std::to_string(n) + "): an array has 0 to " + std::to_string(kMost) +
                       " elements of " + std::to_string(sizeof(T)) + " bytes");
    }
    PeArray<T> array(machine_.allocate(here(), static_cast<std::size_t>(n) * sizeof(T), "a program's array"), n);
    const HostArray<T> filled(n, value);
    if (n > 0) machine_.copy_in(here(), array.data(), filled.data(), static_cast<std::size_t>(n) * sizeof(T));
    return array;
  }

  /// Copies one of this PE's arrays to the host. To be called while no task runs.
  template <class T>
  std::vector<T> read(const PeArray<T>& mine) const {
    std::vector<T> copy(static_cast<std::size_t>(mine.size()));
    if (mine.size() > 0) machine_.copy_out(here(), copy.data(), mine.data(), copy.size() * sizeof(T));
    return copy;
  }

  /// Overwrites one of this PE's arrays. To be called while no task runs.
  /// @param values  [mine.size()] on the host
  /// @throws UsageError  `values` has another size; nothing has changed
  template <class T>
  void write(const PeArray<T>& mine, const std::vector<T>& values) const {
    if (static_cast<std::int64_t>(values.size()) != mine.size()) {
      throw UsageError("write: " + std::to_string(values.size()) + " values for an array of " +
                       std::to_string(mine.size()) + " elements; give one value per element");
    }
    if (mine.size() > 0) machine_.copy_in(here(), mine.data(), values.data(), values.size() * sizeof(T));
  }

  /// Every PE: combines arrays that have one element per vertex of their PE. Returns, on every PE, an array for all vertices:
  /// [num_vertices] in the input's numbers.
  /// @param mine  [graph().count], on every PE; for arrays of other sizes there is concatenate()
  /// @throws UsageError on every PE: some PE's array has another size; names the PE
  template <class T>
  std::vector<T> gather(const PeArray<T>& mine) {
    const std::vector<T> here = read(mine);
    return exchange<T>("gather", here, [&](const auto& slice) {
      const vertex_t* const begin = owners().begin;
      for (pe_t p = 0; p < n_pes(); ++p) {
        const vertex_t count = begin[p + 1] - begin[p];
        if (slice(p).size() == count) continue;
        throw UsageError("gather: PE " + std::to_string(p) + " has " + std::to_string(count) +
                         " vertices and gave an array of " + std::to_string(slice(p).size()) +
                         " elements; give one element per vertex, or use concatenate");
      }
      std::vector<T> out(static_cast<std::size_t>(placed_.num_vertices));
      for (pe_t p = 0; p < n_pes(); ++p) {
        for (std::size_t i = 0; i < slice(p).size(); ++i) {
          out[placed_.partition.input(begin[p] + static_cast<vertex_t>(i))] = slice(p)[i];
        }
      }
      return out;
    });
  }

  /// Every PE: the arrays of all PEs one after another, PE 0's first; the same on every PE. Their sizes may differ.
  template <class T>
  std::vector<T> concatenate(const PeArray<T>& mine) {
    const std::vector<T> here = read(mine);
    return exchange<T>("concatenate", here, [&](const auto& part) {
      std::vector<T> out;
      for (pe_t p = 0; p < n_pes(); ++p) out.insert(out.end(), part(p).begin(), part(p).end());
      return out;
    });
  }

  /// Every PE: the sum of the PEs' values. They are added in the order of the PEs, so the result is the same on every PE. T is
  /// trivially copyable.
  template <class T>
  T reduce_sum(T mine) {
    return exchange<T>("reduce_sum", {&mine, 1}, [&](const auto& part) {
      T sum{};
      for (pe_t p = 0; p < n_pes(); ++p) sum += part(p)[0];
      return sum;
    });
  }

  /// Every PE: waits for all PEs.
  void barrier() { world_.barrier(me_); }
  /// Every PE: publishes a pointer. Returns [n_pes] the pointers of all PEs; null for a PE whose memory this PE cannot reach.
  std::vector<const void*> show(const void* mine) {
    std::vector<const void*> pointers;
    for (const World::Given& given : world_.all_gather(me_, World::Call{"show"}, World::Given{{}, mine}))
      pointers.push_back(given.pointer);
    return pointers;
  }

  /// The PEs of the run, and their collective calls.
  World& world() const { return world_; }
  /// Called by run(), on every PE: for --stats and --json.
  void note(const Report& report) const {
    if (log_ != nullptr && leader()) log_->note(report);
  }

 private:
  pe_t here() const { return me_ - world_.first_here(); }  ///< this PE's number among the PEs of this process
  ArcWeights weights_of(const std::vector<ArcWeights>& slices) const {
    if (slices.empty() || placed_.weight_kind == WeightKind::none) {
      throw UsageError("the graph has no weights; use --weights hash255 or unit, or a file with weights");
    }
    return slices[here()];
  }

  /// Every PE: exchanges `mine`, and returns read(part), where part(p) is what PE p gave.
  template <class T, class Read>
  auto exchange(const char* name, std::span<const T> mine, Read read) {
    static_assert(std::is_trivially_copyable_v<T>, "what PEs give each other is copied by bytes");
    const std::vector<World::Given>& all =
        world_.all_gather(me_, World::Call::of<T>(name), World::Given{std::as_bytes(mine), nullptr});
    const auto part = [&](pe_t p) {
      const std::span<const std::byte> bytes = all[static_cast<std::size_t>(p)].bytes;
      return std::span<const T>(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    std::invoke_result_t<Read, decltype(part)> result{};
    std::exception_ptr error;
    try {
      result = read(part);
    } catch (...) {
      error = std::current_exception();
    }
    world_.leave_call(me_);  // no PE's data may be destroyed before all have read it, even if reading failed
    if (error) std::rethrow_exception(error);
    return result;
  }

  const pe_t me_;
  const Machine& machine_;
  const Options& options_;
  const PlacedGraph& placed_;
  const Csr& input_;
  const vertex_t source_;
  const std::int64_t size_;
  World& world_;
  RunLog* const log_;
};

/// What one PE gives to a call of run(): its task and a vector of seeds.
struct GivenToRun {
  const void* task;
  const void* seeds;
};
/// What the plan of a run depends on of its task.
struct TaskNeeds {
  bool priority, remote_judge, in_segments;  ///< the last: whether its items may be gathered in segments
  WarpTraits warps;
};
template <class TaskT>
constexpr TaskNeeds needs_of_task() {
  return {.priority = HasPriority<TaskT>,
          .remote_judge = HasRemoteJudge<TaskT>,
          .in_segments = !HasWorthSending<TaskT> && !HasWorthOfAnswer<TaskT> && !HasRemoteJudge<TaskT>,
          .warps = {.any_order = AnyOrder<TaskT>, .shares = FanOutTask<TaskT>, .deals = DealsOut<TaskT>}};
}
/// Every PE: run() without the task's type, so that a program does not compile it again.
/// @param call   names the call and the task's type
/// @param start  called on one PE of each process: runs the tasks of its PEs as planned
Report run_together(Context& ctx, const World::Call& call, const TaskNeeds& needs, const Options& options,
                    GivenToRun given, Report (*start)(const Machine&, const LaunchPlan&, std::span<const GivenToRun>));

/// Every PE: runs `task`, beginning with the seeds of all PEs, until no item is left anywhere. Each PE passes its own
/// task, with pointers into its own memory.
/// @param seeds  the items that this PE pushes first; their owners judge them. The workers of the PE push them when they have
///   nothing else to do, so there may be millions. A search has one seed, on one PE.
/// @param options  how this run works, the same on every PE: a copy of ctx.options() with changes, such as
///   `options.queue = QueueKind::priority`. Where it runs is decided before the program's body begins: other values of device, pes,
///   pes_per_gpu, engine, threads, partition, partition_file and seed have no effect.
/// @return the same on every PE
/// @throws CapacityError, TransportError, DeviceError on every PE; UsageError if options do not fit or are not the same on every PE, or
///   owner() returned a number that is no PE; on CPUs also what a member of the task threw
template <class TaskT>
Report run(Context& ctx, const TaskT& task, const std::vector<typename TaskT::Item>& seeds, const Options& options) {
  using Seeds = std::vector<typename TaskT::Item>;
  return run_together(ctx, World::Call::of<TaskT>("run"), needs_of_task<TaskT>(), options, {&task, &seeds},
                      [](const Machine& machine, const LaunchPlan& plan, std::span<const GivenToRun> all) {
                        std::vector<TaskT> tasks;
                        std::vector<Seeds> seeds_of;
                        for (const GivenToRun& one : all) {
                          tasks.push_back(*static_cast<const TaskT*>(one.task));
                          seeds_of.push_back(*static_cast<const Seeds*>(one.seeds));
                        }
                        return Worklist<TaskT>(machine, plan).run(tasks, seeds_of);
                      });
}

/// Every PE: the same with the options of the command line.
template <class TaskT>
Report run(Context& ctx, const TaskT& task, const std::vector<typename TaskT::Item>& seeds) {
  return run(ctx, task, seeds, ctx.options());
}

}  // namespace shoal
