// What a program sees of the PE that it runs on. A program's body runs once on every PE at the same time; whatever takes
// part in it is called by every PE (`ctx` in front says so).
#pragma once
#include <algorithm>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
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

namespace shoal {

/// The host threads that run a program's body, one per PE: a barrier that sleeps, and a board for pointers.
class Meeting {
 public:
  explicit Meeting(pe_t n) : n_(n), board_(static_cast<std::size_t>(n)) {}
  /// Waits for all. @throws DeviceError when another PE has failed: this one leaves as well
  void wait();
  /// Every PE shows a pointer; all see all, until the next wait().
  const std::vector<const void*>& show(pe_t me, const void* mine);
  /// PE `me` has failed; everybody who waits, now or later, leaves.
  void fail();

 private:
  const pe_t n_;
  std::mutex mutex_;
  std::condition_variable all_here_;
  pe_t arrived_ = 0;
  std::uint64_t round_ = 0;
  bool failed_ = false;
  std::vector<const void*> board_;
};

/// An array in one PE's memory: what a task changes. Owner on the host, `data()` goes into the task.
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

class Context {
 public:
  /// @param size  of a program without a graph; else 0
  Context(pe_t me, const Machine& machine, const Options& options, const PlacedGraph& placed, const Csr& input,
          vertex_t source, std::int64_t size, Meeting& meeting)
      : me_(me),
        machine_(machine),
        options_(options),
        placed_(placed),
        input_(input),
        source_(source),
        size_(size),
        meeting_(meeting) {}

  pe_t my_pe() const { return me_; }
  pe_t n_pes() const { return machine_.n_pes(); }
  bool leader() const { return me_ == 0; }
  const Machine& machine() const { return machine_; }
  const Options& options() const { return options_; }

  /// How much there is to do in a program without a graph (`--size`); 0 in one with a graph. Without one, what follows is
  /// about a graph of one vertex and no arc.
  std::int64_t size() const { return size_; }

  /// This PE's rows of the program's graph, in its own memory, and who owns which vertex.
  CsrView graph() const { return placed_.out[me_]; }
  const OwnerTable& owners() const { return placed_.partition.owner; }
  const PlacedGraph& placed() const { return placed_; }
  /// The graph as it was read or generated, on the host: for references and verification.
  const Csr& input() const { return input_; }
  /// The source that the user gave: an input number for the reference, a placed number for the task.
  vertex_t source() const { return source_; }
  vertex_t placed_source() const { return placed_.partition.placed(source_); }

  /// `n` elements in this PE's memory, each `value`.
  template <class T>
  PeArray<T> alloc(std::int64_t n, T value) const {
    PeArray<T> array(machine_.allocate(me_, static_cast<std::size_t>(n) * sizeof(T), "a program's array"), n);
    const HostArray<T> filled(n, value);
    if (n > 0) machine_.copy_in(me_, array.data(), filled.data(), static_cast<std::size_t>(n) * sizeof(T));
    return array;
  }

  /// What is in one of this PE's arrays, on the host. Between runs.
  template <class T>
  std::vector<T> read(const PeArray<T>& mine) const {
    std::vector<T> copy(static_cast<std::size_t>(mine.size()));
    if (mine.size() > 0) machine_.copy_out(me_, copy.data(), mine.data(), copy.size() * sizeof(T));
    return copy;
  }

  /// Every PE: what each wrote about its vertices, [num_vertices] in the input's numbers, on every PE.
  /// @param mine  [graph().count], on every PE; arrays of other sizes are for concatenate()
  /// @throws UsageError on every PE: some PE's array has another size; names the PE
  template <class T>
  std::vector<T> gather(const PeArray<T>& mine) {
    const std::vector<T> placed = read(mine);
    const std::vector<const void*> all = meeting_.show(me_, &placed);
    const auto slice = [&](pe_t p) -> const std::vector<T>& { return *static_cast<const std::vector<T>*>(all[p]); };
    std::string wrong;
    for (pe_t p = 0; p < n_pes() && wrong.empty(); ++p) {
      if (static_cast<std::int64_t>(slice(p).size()) == placed_.out[p].count) continue;
      wrong = "gather: PE " + std::to_string(p) + " has " + std::to_string(placed_.out[p].count) +
              " vertices and gave an array of " + std::to_string(slice(p).size()) +
              " elements; one for each vertex is wanted, and other arrays are for concatenate";
    }
    std::vector<T> out(wrong.empty() ? static_cast<std::size_t>(placed_.num_vertices) : 0);
    for (pe_t p = 0; p < n_pes() && wrong.empty(); ++p) {
      for (std::size_t i = 0; i < slice(p).size(); ++i) {
        out[placed_.partition.input(placed_.out[p].first + static_cast<vertex_t>(i))] = slice(p)[i];
      }
    }
    meeting_.wait();
    if (!wrong.empty()) throw UsageError(wrong);
    return out;
  }

  /// Every PE: the arrays of all PEs one after another, PE 0's first, on every PE. Their sizes may differ.
  template <class T>
  std::vector<T> concatenate(const PeArray<T>& mine) {
    const std::vector<T> part = read(mine);
    const std::vector<const void*> all = meeting_.show(me_, &part);
    std::vector<T> out;
    for (const void* p : all) {
      const auto& of_one = *static_cast<const std::vector<T>*>(p);
      out.insert(out.end(), of_one.begin(), of_one.end());
    }
    meeting_.wait();
    return out;
  }

  /// Every PE: the sum of what each gives, added in the order of the PEs: the same on every PE.
  template <class T>
  T reduce_sum(T mine) {
    const std::vector<const void*> all = meeting_.show(me_, &mine);
    T sum{};
    for (const void* p : all) sum += *static_cast<const T*>(p);
    meeting_.wait();
    return sum;
  }

  /// Every PE: waits for all.
  void barrier() { meeting_.wait(); }
  /// Every PE shows a pointer of its own and sees all; valid until the next collective call.
  const std::vector<const void*>& show(const void* mine) { return meeting_.show(me_, mine); }

 private:
  const pe_t me_;
  const Machine& machine_;
  const Options& options_;
  const PlacedGraph& placed_;
  const Csr& input_;
  const vertex_t source_;
  const std::int64_t size_;
  Meeting& meeting_;
};

/// Every PE: runs `task` (each PE's own copy, with pointers into its own memory) from the seeds of all PEs until no item is
/// left anywhere.
/// @param seeds  what this PE begins with; owners judge them. All its workers push them, side by side, when they
///               have nothing else to do: a program may have millions. For a search one PE has one.
/// @return the same on every PE
/// @throws CapacityError, TransportError, DeviceError on every PE; UsageError when options do not fit, or owner() named no PE;
///         on CPUs also what a member of the task threw
template <class TaskT>
Report run(Context& ctx, const TaskT& task, const std::vector<typename TaskT::Item>& seeds) {
  struct Mine {
    const TaskT* task;
    const std::vector<typename TaskT::Item>* seeds;
    Report report;
    std::exception_ptr error;
  } mine{&task, &seeds, {}, nullptr};
  const std::vector<const void*> all = ctx.show(&mine);
  if (ctx.leader()) {
    try {
      std::vector<TaskT> tasks;
      std::vector<std::vector<typename TaskT::Item>> seeds_of;
      for (const void* p : all) {
        tasks.push_back(*static_cast<const Mine*>(p)->task);
        seeds_of.push_back(*static_cast<const Mine*>(p)->seeds);
      }
      const PlacedGraph& g = ctx.placed();
      const double fan_out =
          g.num_vertices > 0 ? static_cast<double>(g.num_arcs) / static_cast<double>(g.num_vertices) : 1;
      Decisions chosen = ctx.machine().chosen();
      const std::int64_t items = std::max<std::int64_t>(g.num_vertices, ctx.size());
      LaunchPlan plan =
          plan_launch(ctx.options(), ctx.machine().on_gpu(), ctx.n_pes(), items / ctx.n_pes() + 1, fan_out, chosen);
      if constexpr (HasRemoteJudge<TaskT>) allow_remote_judge(plan, ctx.options(), ctx.n_pes(), chosen);
      Worklist<TaskT> worklist(ctx.machine(), plan);
      mine.report = worklist.run(tasks, seeds_of);
      mine.report.chosen = std::move(chosen);
    } catch (...) {
      mine.error = std::current_exception();
    }
  }
  ctx.barrier();
  const Mine& first = *static_cast<const Mine*>(all[0]);
  const Report report = first.report;
  const std::exception_ptr error = first.error;
  ctx.barrier();  // the leader's copy may go now
  if (error) std::rethrow_exception(error);
  return report;
}

}  // namespace shoal
