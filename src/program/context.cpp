#include "shoal/program/context.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "shoal/program/meeting.hpp"

namespace shoal {

const std::vector<const void*>& Context::begin(const MeetingCall& call, const void* mine) {
  return meeting_.begin(me_, call, mine);
}
void Context::wait() { meeting_.wait(me_); }

Report run_together(Context& ctx, const MeetingCall& call, const void* mine, bool remote_judge,
                    const std::function<Report(const std::vector<const void*>& all, const LaunchPlan&)>& on_machine) {
  struct Shown {
    const void* passed;
    Report report;
    std::exception_ptr error;
  } shown{mine, {}, nullptr};
  const std::vector<const void*>& all = ctx.begin(call, &shown);
  if (ctx.leader()) {
    try {
      std::vector<const void*> passed;
      for (const void* p : all) passed.push_back(static_cast<const Shown*>(p)->passed);
      const PlacedGraph& g = ctx.placed();
      const double fan_out =
          g.num_vertices > 0 ? static_cast<double>(g.num_arcs) / static_cast<double>(g.num_vertices) : 1;
      Decisions chosen = ctx.machine().chosen();
      const std::int64_t items = std::max<std::int64_t>(g.num_vertices, ctx.size());
      LaunchPlan plan =
          plan_launch(ctx.options(), ctx.machine().on_gpu(), ctx.n_pes(), items / ctx.n_pes() + 1, fan_out, chosen);
      if (remote_judge) allow_remote_judge(plan, ctx.options(), ctx.n_pes(), chosen);
      shown.report = on_machine(passed, plan);
      shown.report.chosen = std::move(chosen);
    } catch (...) {
      shown.error = std::current_exception();
    }
  }
  ctx.wait();
  const Shown& first = *static_cast<const Shown*>(all[0]);
  const Report report = first.report;
  const std::exception_ptr error = first.error;
  ctx.wait();  // the leader's objects may be destroyed now
  if (error) std::rethrow_exception(error);
  return report;
}

}  // namespace shoal
