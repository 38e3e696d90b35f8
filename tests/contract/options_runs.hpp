// Runs the tasks of options_tasks.hpp and checks their results, on CPU threads and on GPUs.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "options_tasks.hpp"
#include "shoal/worklist/worklist.hpp"

namespace shoal::contract {

/// Whether pushers judge, whether items are combined, and whether items travel in segments.
enum class Sending { plain, judge_remote, combine, segments, combine_in_segments };
inline constexpr Sending kSendings[] = {Sending::plain, Sending::judge_remote, Sending::combine, Sending::segments,
                                        Sending::combine_in_segments};

inline void apply(LaunchPlan& plan, Sending sending, lane_t buckets, double threshold, double delta) {
  plan.judge_remote = sending == Sending::judge_remote;
  plan.combine = sending == Sending::combine || sending == Sending::combine_in_segments;
  if (sending == Sending::segments || sending == Sending::combine_in_segments) {
    plan.batch_bytes = 64;
    plan.batch_wait = plan.capacity == 8 ? 3 : 0;
  }
  plan.queue = buckets > 0 ? QueueKind::priority : QueueKind::fifo;
  plan.buckets = buckets > 0 ? buckets : 1;
  if (buckets > 0 && plan.worker == WorkerKind::warp && plan.kernel == KernelKind::persistent) {
    plan.keeps = plan.capacity == 8 ? 3 : 20;
  }
  // With two buckets in strict order, as users' tasks run by default.
  if (buckets > 0 && buckets != 2 && plan.kernel == KernelKind::persistent)
    plan.overlap = plan.capacity == 8 ? 5 : 2000;
  plan.threshold = threshold;
  plan.threshold_delta = delta;
}
inline std::string describe_options(const LaunchPlan& plan) {
  std::string text = ", " + std::string(name(plan.queue));
  if (plan.queue == QueueKind::priority) text += " of " + std::to_string(plan.buckets);
  if (plan.keeps > 0) text += ", warps keep " + std::to_string(plan.keeps);
  if (plan.overlap > 0) text += ", overlap " + std::to_string(plan.overlap);
  if (plan.judge_remote) text += ", judged by the pusher";
  if (plan.combine) text += ", combining";
  if (plan.batch_bytes > 0) text += ", segments of " + std::to_string(plan.batch_bytes) + " bytes";
  return text;
}

/// Checks the two equations that hold for the report of every complete run.
inline void expect_sums(const Report& r) {
  EXPECT_EQ(r.pushed, r.withheld + r.combined + r.accepted + r.dropped);
  EXPECT_EQ(r.accepted, r.run + r.stale);
}

/// The number of vertices v < vertices that PE p of n owns, that is, with v % n == p.
inline std::uint32_t share(std::uint32_t vertices, pe_t p, pe_t n) {
  return (vertices + static_cast<std::uint32_t>(n - p) - 1) / static_cast<std::uint32_t>(n);
}

/// Shortest paths on the PEs of a machine. One object serves several runs.
template <class Task>
class PathRuns {
 public:
  PathRuns(const Machine& machine, const Roads& roads, std::uint32_t lazy = 0, std::size_t most_parts = 0)
      : machine_(machine),
        roads_(roads),
        lazy_(lazy),
        most_parts_(most_parts),
        offsets_(machine, roads.offsets.size()),
        targets_(machine, roads.targets.size()),
        weights_(machine, roads.targets.size()),
        distance_(machine, roads.size()),
        offered_(machine, roads.size()),
        looks_(machine, most_parts) {
    offsets_.fill(roads.offsets), targets_.fill(roads.targets), weights_.fill(roads.weights);
  }

  /// Searches from `source` and compares with `expected`, the serial distances.
  template <class List>
  Report run(List& list, std::uint32_t source, const std::vector<std::uint32_t>& expected) {
    const pe_t n = machine_.n_pes();
    SharedWord<std::uint32_t> far;
    far.store(~0u);
    distance_.fill(far), offered_.fill(far);
    looks_.fill(SharedWord<std::uint32_t>{});
    std::vector<Task> tasks(n);
    std::vector<std::vector<PathItem>> seeds(n);
    std::uint32_t farthest = 0;
    for (const std::uint32_t d : expected) farthest = d == ~0u ? farthest : std::max(farthest, d);
    for (pe_t p = 0; p < n; ++p) {
      Task& task = tasks[p];
      task.offsets = offsets_.at(p), task.targets = targets_.at(p), task.weights = weights_.at(p);
      for (pe_t q = 0; q < n; ++q) task.distance[q] = distance_.at(q);
      task.horizon = farthest, task.me = p, task.n_pes = n;
      if constexpr (HasIdle<Task>) {
        task.offered = offered_.at(p), task.looks = looks_.at(p);
        task.vertices = share(roads_.size(), p, n);
        task.lazy = lazy_, task.most_parts = static_cast<std::uint32_t>(most_parts_);
      }
    }
    seeds[n - 1].push_back({source, 0});
    const Report report = list.run(tasks, seeds);
    std::vector<std::uint32_t> found(roads_.size());
    for (pe_t p = 0; p < n; ++p) {
      const auto words = distance_.read(p);
      for (std::uint32_t i = 0; i < share(roads_.size(), p, n); ++i) found[i * n + p] = words[i].load();
    }
    EXPECT_EQ(found, expected);
    expect_sums(report);
    return report;
  }
  /// How often idle() was called for each part of PE p in the last run.
  std::vector<SharedWord<std::uint32_t>> looks(pe_t p) const { return looks_.read(p); }

 private:
  const Machine& machine_;
  const Roads& roads_;
  std::uint32_t lazy_;
  std::size_t most_parts_;
  PerPe<std::uint32_t> offsets_, targets_, weights_;
  PerPe<SharedWord<std::uint32_t>> distance_, offered_, looks_;
};

/// Runs `sprays` sprays over a table and compares every row with serial sums.
template <class List>
Report run_sums(const Machine& machine, List& list, std::uint32_t rows, std::uint32_t sprays, std::uint32_t updates) {
  const pe_t n = machine.n_pes();
  PerPe<SharedWord<std::uint64_t>> table(machine, rows / static_cast<std::uint32_t>(n) + 1);
  std::vector<Sprays> tasks(n);
  std::vector<std::vector<Sprays::Item>> seeds(n);
  std::vector<std::uint64_t> expected(rows, 0);
  for (pe_t p = 0; p < n; ++p) {
    for (pe_t q = 0; q < n; ++q) tasks[p].table[q] = table.at(q);
    tasks[p].rows = rows, tasks[p].updates = updates, tasks[p].me = p, tasks[p].n_pes = n;
  }
  for (std::uint32_t s = 0; s < sprays; ++s) {
    const Sprays::Item spray{rows + s, 0};
    seeds[s / 3 % static_cast<std::uint32_t>(n)].push_back(spray);
    for (std::uint32_t i = 0; i < updates; ++i) {
      const Sprays::Item update = tasks[0].make(spray, i);
      expected[update.index] += update.amount;
    }
  }
  const Report report = list.run(tasks, seeds);
  for (pe_t p = 0; p < n; ++p) {
    const auto words = table.read(p);
    for (std::uint32_t r = static_cast<std::uint32_t>(p); r < rows; r += static_cast<std::uint32_t>(n)) {
      EXPECT_EQ(words[r / static_cast<std::uint32_t>(n)].load(), expected[r]) << "row " << r;
    }
  }
  EXPECT_EQ(report.pushed, std::int64_t{sprays} * (1 + updates));
  EXPECT_EQ(report.run, sprays);
  expect_sums(report);
  return report;
}

/// Gives amounts to some vertices and compares what each vertex passed on. No vertex may hold anything at the end.
template <class List>
Report run_flow(const Machine& machine, List& list, std::uint32_t vertices, bool direct, std::uint64_t seed) {
  const pe_t n = machine.n_pes();
  const auto n32 = static_cast<std::uint32_t>(n);
  PerPe<SharedWord<std::uint64_t>> held(machine, vertices / n32 + 1), total(machine, vertices / n32 + 1);
  std::vector<Flow> tasks(n);
  std::vector<std::vector<Flow::Item>> seeds(n);
  std::vector<std::uint64_t> given(vertices, 0);
  for (pe_t p = 0; p < n; ++p) {
    for (pe_t q = 0; q < n; ++q) tasks[p].held[q] = held.at(q);
    tasks[p].total = total.at(p);
    tasks[p].vertices = vertices, tasks[p].direct = direct, tasks[p].me = p, tasks[p].n_pes = n;
  }
  for (std::uint32_t i = 0; i < 3; ++i) {
    const std::uint64_t h = mix(seed * 31 + i);
    const Flow::Item item{i == 0 ? vertices - 1 : static_cast<std::uint32_t>(h % vertices), 0, h >> 50};
    given[item.v] += item.amount;
    seeds[(h >> 32) % n32].push_back(item);
  }
  const Report report = list.run(tasks, seeds);
  const std::vector<std::uint64_t> expected = Flow::totals(given);
  for (pe_t p = 0; p < n; ++p) {
    const auto left = held.read(p), passed = total.read(p);
    for (auto v = static_cast<std::uint32_t>(p); v < vertices; v += n32) {
      EXPECT_EQ(left[v / n32].load(), 0u) << "vertex " << v << " still holds something";
      EXPECT_EQ(passed[v / n32].load(), expected[v]) << "vertex " << v;
    }
  }
  expect_sums(report);
  return report;
}

}  // namespace shoal::contract
