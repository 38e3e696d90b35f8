#include "shoal/blocks/trace.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "shoal/core/trace.hpp"

namespace shoal::blocks {
namespace {

std::string block_name(std::int64_t block) { return "block " + std::to_string(block); }
std::string step_name(std::uint64_t step) { return "step " + std::to_string(step); }
std::string task_name(std::int64_t block, std::uint64_t step) { return step_name(step) + " of " + block_name(block); }

}  // namespace

void draw_steps(Trace& trace, std::vector<TracedStep> steps, const std::vector<TracedChannel>& channels) {
  std::sort(steps.begin(), steps.end(), [](const TracedStep& a, const TracedStep& b) {
    return std::tie(a.block, a.step, a.begin) < std::tie(b.block, b.step, b.begin);
  });
  std::vector<TracedStep> whole;
  for (const TracedStep& part : steps) {
    if (whole.empty() || whole.back().block != part.block || whole.back().step != part.step) {
      whole.push_back(part);
    } else {
      whole.back().end = std::max(whole.back().end, part.end);
      whole.back().tiles += part.tiles;
    }
  }
  // Tiles of a block may be in several steps at the same time, but spans of a track must not overlap: it gets several tracks.
  using Place = std::pair<Trace::Track, const TracedStep*>;
  std::map<std::pair<std::int64_t, std::uint64_t>, Place> at;
  std::vector<std::int64_t> ends;
  for (const TracedStep& step : whole) {
    if (&step == whole.data() || (&step - 1)->block != step.block) ends.clear();
    const auto free =
        std::find_if(ends.begin(), ends.end(), [&](std::int64_t end) { return end <= step.begin; }) - ends.begin();
    if (free == std::ssize(ends)) ends.push_back(0);
    ends[free] = step.end;
    const Trace::Track track =
        trace.track("blocks", block_name(step.block) + (free > 0 ? ", beside " + std::to_string(free) : std::string()));
    trace.span(track, step_name(step.step), step.begin, step.end,
               Trace::Facts()
                   .add("task", task_name(step.block, step.step))
                   .add("block", step.block)
                   .add("step", static_cast<std::int64_t>(step.step))
                   .add("tiles", step.tiles));
    at[{step.block, step.step}] = {track, &step};
  }
  for (const TracedStep& step : whole) {
    for (auto c = std::lower_bound(channels.begin(), channels.end(), step.block,
                                   [](const TracedChannel&c, std::int64_t block) { return c.from < block; });
         c != channels.end() && c->from == step.block; ++c) {
      const auto next = at.find({c->to, step.step + 1});
      if (next == at.end()) continue;
      trace.flow("message", at.at({step.block, step.step}).first, std::max(step.begin, step.end - 1),
                 next->second.first, next->second.second->begin,
                 Trace::Facts()
                     .add("data", "side " + std::to_string(c->side) + " of " + block_name(c->from) + " after " +
                                      step_name(step.step))
                     .add("from", task_name(c->from, step.step))
                     .add("to", task_name(c->to, step.step + 1))
                     .add("bytes", c->bytes));
    }
  }
}

void draw_tiles(Trace& trace, const std::vector<TileLog>& logs, const TickTimes& times,
                const std::vector<std::vector<std::int64_t>>& blocks, const std::vector<TracedChannel>& channels) {
  std::vector<TracedStep> steps;
  const std::size_t workers = logs.size() / blocks.size();
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (logs[i].size() == 0) continue;
    const Trace::Track track =
        trace.track("PE " + std::to_string(i / workers), "worker " + std::to_string(i % workers));
    for (std::size_t n = 0; n < logs[i].size(); ++n) {
      const TileLog::Tile& t = logs[i][n];
      const std::int64_t came = times.at(logs[i].came(n)), began = times.at(t.began),
                         unpacked = times.at(t.began + t.unpacked), updated = times.at(t.began + t.updated),
                         ended = times.at(t.began + t.ended);
      const std::int64_t block = blocks[i / workers][t.slot];
      steps.push_back({block, t.step, began, ended, 1});
      if (began - came > 1000) trace.span(track, "waits", came, began);
      trace.span(track, block_name(block), began, ended,
                 Trace::Facts()
                     .add("task", task_name(block, t.step))
                     .add("block", block)
                     .add("step", static_cast<std::int64_t>(t.step))
                     .add("tile", std::int64_t{t.tile}));
      trace.span(track, "unpack", began, unpacked);
      trace.span(track, "update", unpacked, updated);
      trace.span(track, "pack", updated, ended);
    }
  }
  draw_steps(trace, std::move(steps), channels);
}

}  // namespace shoal::blocks
