// A call of run() by all PEs of a program: what does not depend on the type of the task.
#include <algorithm>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include "shoal/program/context.hpp"

namespace shoal {
namespace {

/// What a PE contributes. The first PE of each process sets the report, or the error.
struct Mine {
  GivenToRun given;
  Report report;
  std::exception_ptr error;
};

/// @param changed  the options of the PE with number `first`, where they are not those of the command line
/// @throws UsageError  another PE gave other ones
void check_same_options(const std::vector<World::Given>& all, const std::string& changed, pe_t first) {
  for (std::size_t p = 0; p < all.size(); ++p) {
    const std::string_view theirs(reinterpret_cast<const char*>(all[p].bytes.data()), all[p].bytes.size());
    if (theirs == changed) continue;
    throw UsageError("run: PE " + std::to_string(p) + " gave other options than PE " + std::to_string(first) +
                     "; give the same on every PE");
  }
}

LaunchPlan plan_run(const Context& ctx, const TaskNeeds& needs, const Options& options, Decisions& chosen) {
  const PlacedGraph& g = ctx.placed();
  const bool on_gpu = ctx.machine().on_gpu(), processes = ctx.world().n_processes() > 1;
  const double fan_out = g.num_vertices > 0 ? static_cast<double>(g.num_arcs) / static_cast<double>(g.num_vertices) : 1;
  const std::int64_t items = std::max<std::int64_t>(g.num_vertices, ctx.size());
  LaunchPlan plan = plan_launch(options, on_gpu, ctx.n_pes(), items / ctx.n_pes() + 1, fan_out, chosen, processes);
  check_order(options, plan.queue, needs.priority, needs.warps.any_order);
  WarpTraits traits = needs.warps;
  traits.long_paths = g.num_vertices == 0 || g.has_long_paths();
  keep_items(plan, options, fan_out, traits, chosen);
  more_warps(plan, options, ctx.n_pes(), items, traits, chosen);
  if (needs.priority && plan.queue != QueueKind::priority) {
    chosen.push_back({"queue", "fifo", "the order of arrival; with --queue priority small priorities run first"});
  }
  if (needs.in_segments) gather_in_segments(plan, options, on_gpu, ctx.n_pes(), processes, chosen);
  if (needs.remote_judge) allow_remote_judge(plan, options, ctx.n_pes(), processes, chosen);
  return plan;
}

}  // namespace

Report run_together(Context& ctx, const World::Call& call, const TaskNeeds& needs, const Options& options,
                    GivenToRun given, Report (*start)(const Machine&, const LaunchPlan&, std::span<const GivenToRun>)) {
  Mine mine{given, {}, nullptr};
  World& world = ctx.world();
  const pe_t first_here = world.first_here();
  const std::string changed = options == ctx.options() ? "" : to_json(options);
  const std::vector<World::Given>& all =
      world.all_gather(ctx.my_pe(), call, World::Given{std::as_bytes(std::span(changed)), &mine});
  if (ctx.my_pe() == first_here) {
    try {
      check_options(options);
      check_same_options(all, changed, first_here);
      Decisions chosen = ctx.machine().chosen();
      const LaunchPlan plan = plan_run(ctx, needs, options, chosen);
      std::vector<GivenToRun> here;
      for (const World::Given& one : std::span(all).subspan(first_here, world.n_here())) {
        here.push_back(static_cast<const Mine*>(one.pointer)->given);
      }
      mine.report = start(ctx.machine(), plan, here);
      mine.report.chosen = std::move(chosen);
    } catch (...) {
      mine.error = std::current_exception();
    }
    try {
      mine.report = of_all_processes(world, mine.report, mine.error);
      const Partition& partition = ctx.placed().partition;
      mine.report.cut_arcs = ctx.n_pes() > 1 ? partition.cut_arcs : 0;
      mine.report.imbalance = ctx.n_pes() > 1 ? partition.imbalance : 1;
    } catch (...) {
      mine.error = std::current_exception();
    }
  }
  world.leave_call(ctx.my_pe());
  const Mine& first = *static_cast<const Mine*>(all[first_here].pointer);
  const Report report = first.report;
  const std::exception_ptr error = first.error;
  world.leave_call(ctx.my_pe());  // all PEs have copied `first`, which may be destroyed from here on
  if (error) std::rethrow_exception(error);
  ctx.note(report);
  return report;
}

}  // namespace shoal
