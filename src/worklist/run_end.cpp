#include "shoal/worklist/run_end.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/trace.hpp"
#include "shoal/queue/channel.hpp"
#include "shoal/worklist/phase.hpp"

namespace shoal {
namespace {

/// What the workers of PE p of this process counted and sent.
Report counted(const RunCounts& counts, pe_t p) {
  Report report;
  const PeControl& now = counts.after[p];
  const SentBefore* const before = counts.before.data() + p * (counts.all_pes << now.log_channels);
  for_lane_counters([](Merge, auto& word, std::int64_t& count) { count = static_cast<std::int64_t>(word.load()); },
                    now.counts, report);
  for (pe_t q = 0; q < counts.all_pes; ++q) {
    std::int64_t items = 0, messages = 0;
    const pe_t channels = 1 << now.log_channels;
    for (pe_t i = q * channels; i < (q + 1) * channels; ++i) {
      items += static_cast<std::int64_t>(now.ends[i].send.tail.load() - before[i].items);
      messages += static_cast<std::int64_t>(now.ends[i].send.messages.load() - before[i].messages);
    }
    const auto bytes = items * static_cast<std::int64_t>(counts.item_bytes) +
                       messages * static_cast<std::int64_t>(counts.message_bytes);
    if (items > 0) report.traffic.push_back({counts.first + p, q, items, messages, bytes});
  }
  return report;
}

void check_owners(const RunCounts& counts) {
  const pe_t n = counts.all_pes;
  for (std::size_t p = 0; p < counts.after.size(); ++p) {
    const std::uint64_t refused = counts.after[p].refused.load();
    if (refused == 0) continue;
    const pe_t owner = RefusedOwner::owner(refused);
    const std::string returned = "the task's owner() returned " + std::to_string(owner) + " for an item pushed on PE " +
                                 std::to_string(counts.first + static_cast<pe_t>(p));
    if (owner >= 0 && owner < n) {
      throw UsageError(returned + ", but owns(" + std::to_string(owner) + ", item) was false; both must say the same");
    }
    throw UsageError(
        returned + "; with " + std::to_string(n) + (n == 1 ? " PE" : " PEs") + " it must be 0" +
        (n == 1 ? "" : " to " + std::to_string(n - 1)) +
        (owner == n ? " (an OwnerTable returns the number of PEs for a number that is no vertex of the graph)" : ""));
  }
}

/// How the run ended; throws if it ended with an error.
/// @param left  number of seeds and pushed items that were not judged or run
RunState check_end(const LaunchPlan& plan, const RunCounts& counts, std::int64_t left) {
  check_owners(counts);
  const std::uint64_t chunks = counts.chunks;
  std::vector<PeSnapshot> pes;
  for (const PeControl& counter : counts.after) {
    pes.push_back(snapshot(counter, counts.all_pes, chunks));
    pes.back().first = counts.first;
  }
  const RunEnd end = end_of(pes);
  if (end.how == RunState::interrupted) throw Interrupted();
  if (end.how == RunState::worklist_full) {
    const bool knows = static_cast<pe_t>(counts.after.size()) == counts.all_pes;  // items came from other processes
    throw CapacityError(full_line(plan, knows ? left : 0, static_cast<std::int64_t>(chunks * plan.chunk_items)) + "; " +
                        std::to_string(pes[end.where].spilled_chunks) + " of " + std::to_string(chunks) +
                        " chunks were taken when it ended");
  }
  if (end.how == RunState::transport_failed) {
    throw TransportError("an operation of PE " + std::to_string(counts.first + end.where) +
                         " towards another PE failed; " + diagnose(pes));
  }
  if (end.how == RunState::stalled) throw DeviceError(stall_line(plan.stall_timeout_seconds, pes));
  const bool all_here = static_cast<pe_t>(counts.after.size()) == counts.all_pes;
  if (end.how == RunState::done && all_here && outstanding(pes) != 0) {
    throw DeviceError("the run ended with " + std::to_string(outstanding(pes)) + " items left: " + diagnose(pes));
  }
  return end.how;
}

/// Draws the run as one task of each PE of this process, and the items that these PEs sent each other.
void draw_run(Trace& trace, const RunCounts& counts, const Report& report) {
  static std::atomic<std::int64_t> runs = 0;
  const std::int64_t run = runs++, end = trace_now(), begin = end - static_cast<std::int64_t>(report.seconds * 1e9);
  const auto name = [](pe_t pe) { return "PE " + std::to_string(pe); };
  const auto task = [&](pe_t pe) { return "run " + std::to_string(run) + " of " + name(pe); };
  const auto track = [&](pe_t pe) { return trace.track(name(pe), "runs"); };
  const pe_t first = counts.first, here = static_cast<pe_t>(counts.after.size());
  for (pe_t p = 0; p < here; ++p) {
    trace.span(track(first + p), "run " + std::to_string(run), begin, end,
               Trace::Facts().add("task", task(first + p)).add("items", counted(counts, p).run));
  }
  for (const Traffic& pair : report.traffic) {
    if (pair.to < first || pair.to >= first + here) continue;
    trace.flow("message", track(pair.from), begin, track(pair.to), end,
               Trace::Facts()
                   .add("data", grouped(pair.items) + (pair.items == 1 ? " item of " : " items of ") + name(pair.from) +
                                    " for " + name(pair.to) + " in run " + std::to_string(run))
                   .add("from", task(pair.from))
                   .add("to", task(pair.to))
                   .add("bytes", pair.bytes));
  }
}

}  // namespace

void check_plan(const LaunchPlan& plan, std::int64_t item_bytes, bool priority, bool remote_judge, bool combine) {
  const bool powers = std::has_single_bit(plan.capacity) && std::has_single_bit(plan.channel_capacity) &&
                      std::has_single_bit(plan.channels);
  if (!powers || plan.capacity < 2 || plan.fetch < 1 || plan.chunk_items < 1 || plan.spill < 0) {
    throw UsageError(
        "a plan has a capacity, a channel capacity and a number of channels that are powers of two, a capacity of at "
        "least 2, a fetch and chunk items of at least 1, and a spill of at least 0");
  }
  if (plan.queue == QueueKind::priority && !priority) {
    throw UsageError("queue 'priority' needs a task with priority(item); this one has none: use --queue fifo");
  }
  if (plan.judge_remote && !remote_judge) {
    throw UsageError(
        "judge 'remote' needs a task with accept_at(pe, item) or ask_at(asks, pe, item); this one has none: use "
        "--judge owner");
  }
  if (plan.combine && !combine) {
    throw UsageError("combining needs a task with key(item) and combine(a, b); this one has none: use --combine off");
  }
  if (plan.combine && plan.judge_remote) {
    throw UsageError("combining merges items before they are judged; with judge 'remote' use --combine off");
  }
  if (plan.buckets < 1 || plan.buckets > kMostLists || !(plan.threshold_delta > 0)) {
    throw UsageError("a priority queue has 1 to 16 buckets and a threshold delta above 0");
  }
  if (plan.keeps > 32) throw UsageError("a warp keeps at most 32 items");
  if (plan.batch_bytes > 0 && plan.batch_bytes < item_bytes) {
    const std::string least = std::to_string(item_bytes);
    throw UsageError("--batch-bytes " + std::to_string(plan.batch_bytes) + " is less than one item, which has " +
                     least + " bytes here; use --batch-bytes " + least + " or more, or leave it out");
  }
}

void check_lists(pe_t n_pes, std::size_t tasks, std::size_t lists_of_seeds) {
  if (tasks != static_cast<std::size_t>(n_pes) || lists_of_seeds != tasks) {
    throw UsageError(std::to_string(tasks) + " tasks and " + std::to_string(lists_of_seeds) + " lists of seeds for " +
                     std::to_string(n_pes) + " PEs; give one of each per PE");
  }
}

std::vector<SentBefore> sent_before(std::span<const PeControl> counters, pe_t all_pes) {
  std::vector<SentBefore> sent;
  for (const PeControl& of : counters) {
    for (pe_t i = 0; i < all_pes << of.log_channels; ++i) {
      sent.push_back({of.ends[i].send.tail.load(), of.ends[i].send.messages.load()});
    }
  }
  return sent;
}

RunState end_run(const LaunchPlan& plan, const RunCounts& counts, Report& report) {
  for (pe_t p = 0; p < static_cast<pe_t>(counts.after.size()); ++p) report += counted(counts, p);
  if (counts.phased) report.thresholds = static_cast<std::int64_t>(Phase::number(counts.after[0].phase.load()));
  report.left = report.pushed - report.withheld - report.combined - report.dropped - report.stale - report.run;
  for (std::size_t p = 0; p < counts.after.size(); ++p) {
    report.left +=
        static_cast<std::int64_t>(counts.seeds[p] - std::min(counts.seeds[p], counts.after[p].seeds_taken.load()));
  }
  const RunState how = check_end(plan, counts, report.left);
  if (Trace* const trace = tracing()) draw_run(*trace, counts, report);
  report.whole = how != RunState::enough;
  if (report.whole && static_cast<pe_t>(counts.after.size()) == counts.all_pes) check_sums(report);
  return how;
}

}  // namespace shoal
