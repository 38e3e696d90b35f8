#include <algorithm>
#include <chrono>
#include <stop_token>
#include <string>

#include "engines.hpp"
#include "levels_state.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"

namespace shoal {

using bfs_levels::OwnedWords;
using bfs_levels::share;

BfsLevelsCpu::State::State(const PlacedGraph& g, ThreadTeam& t, const BfsLevelsTuning& options, World* world)
    : graph(g),
      team(t),
      tuning(options),
      here(g.partition.owner.begin[g.first_pe], g.partition.owner.begin[g.first_pe + g.n_pes()]),
      levels(bfs_levels::large_array<level_t>(g.num_vertices)),
      closed(g.num_vertices),
      has_in_arcs(g.num_vertices),
      threads(t.size()),
      pes(t.n_pes()),
      traffic(static_cast<std::size_t>(g.n_pes()) * g.all_pes()),
      trace("level", g.first_pe, g.n_pes(), t.threads_per_pe()) {
  if (world != nullptr && world->n_processes() > 1) {
    make_exchange(*world);
  } else {
    front = Bitmap(n());
    next = Bitmap(n());
  }
  for (auto& thread : threads) {
    thread.outbox.resize(all_pes());
    thread.other_outbox.resize(all_pes());
  }
  for (pe_t pe = 0; pe < graph.n_pes(); ++pe) {
    for (pe_t to = 0; to < all_pes(); ++to) traffic_of(pe, to) = {.from = graph.first_pe + pe, .to = to};
  }
  // The threads that will use a part of an array touch it first, so that its memory is near them.
  team.run([&](pe_t pe, int thread) {
    clear_levels(pe, thread);
    const OwnedWords words(graph.out[pe]);
    const auto [begin, end] = share(words.last() - words.first(), thread, team.threads_per_pe());
    for (std::int64_t w = words.first() + begin; w < words.first() + end; ++w)
      store(has_in_arcs.word(w), std::uint64_t{0});
  });
  team.run([&](pe_t pe, int thread) {
    const CsrView& rows = in()[pe];
    const auto [begin, end] = share(rows.count, thread, team.threads_per_pe());
    for (std::int64_t i = begin; i < end; ++i) {
      if (rows.offsets[i] == rows.offsets[i + 1]) continue;
      const std::int64_t v = rows.first + i;
      fetch_add(has_in_arcs.word(v / 64), std::uint64_t{1} << (v % 64));
    }
  });
}

void BfsLevelsCpu::State::begin(vertex_t from) {
  source = from;
  step = Step::init;
  top_down = alone = bottom_up = 0;
  narrow = false;
  meetings = 0;
  for (auto& pair : traffic) pair.items = pair.messages = pair.bytes = 0;
  barrier.emplace(team.size());
  if (exchange) begin_exchange();
  trace.begin_run();
}

void BfsLevelsCpu::State::tell(Report& report, double seconds) const {
  report.seconds += seconds;
  report.rounds += top_down + alone + bottom_up;
  for (const Traffic& pair : traffic) {
    if (pair.messages > 0) report.traffic.push_back(pair);
  }
  report.chosen.push_back({"direction",
                           std::to_string(top_down + alone) + " levels top-down, " + std::to_string(alone) +
                               " of them by one thread, " + std::to_string(bottom_up) + " bottom-up",
                           "from the arcs of each frontier and those left to explore"});
}

void BfsLevelsCpu::State::work(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  try {
    while (step != Step::done) {
      trace.time(pe, thread, [&] { do_step(pe, thread); });
      if (!barrier->arrive_and_wait([&] { decide(me); })) return;
    }
  } catch (...) {
    barrier->cancel();
    if (exchange) exchange->leave();
    throw;
  }
}

void BfsLevelsCpu::State::do_step(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  me.level = level;
  me.boxes = me.outbox.data();
  switch (step) {
    case Step::init:
      return init(pe, thread);
    case Step::expand:
      return narrow ? expand_narrow(pe) : expand(pe, thread);
    case Step::hubs:
      return expand_hubs(pe, thread);
    case Step::receive:
      return receive(pe, thread);
    case Step::to_bitmap:
      return to_bitmap(pe, thread);
    case Step::bottom_up:
      return look_up(pe, thread);
    case Step::to_queues:
      return to_queues(pe, thread);
    case Step::done:
      return;
  }
}

void BfsLevelsCpu::State::init(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  clear_levels(pe, thread);
  for (auto& queue : me.queue) queue.clear();
  for (auto& box : me.outbox) box.clear();
  for (auto& word : me.told) word.store(0);
  me.hubs.clear();
  me.taken.store(0);
  if (exchange) forget_others(static_cast<int>(pe) * team.threads_per_pe() + thread);
  const auto [begin, end] = share(graph.out[pe].count, thread, team.threads_per_pe());
  if (source >= graph.out[pe].first + begin && source < graph.out[pe].first + end) {
    levels[source] = 0;
    me.queue[0].append(source);
  }
}

void BfsLevelsCpu::State::clear_levels(pe_t pe, int thread) {
  const auto [begin, end] = share(graph.out[pe].count, thread, team.threads_per_pe());
  std::fill(levels.data() + graph.out[pe].first + begin, levels.data() + graph.out[pe].first + end, kUnreached);
}

// ---- public members -------------------------------------------------------------------------------------------------

BfsLevelsCpu::BfsLevelsCpu(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning, World* world) {
  if (!graph.devices.empty()) {
    throw UsageError(
        "this search runs on CPU threads, but the graph was placed on GPUs; use --device gpu, or place it again");
  }
  if (team.n_pes() != graph.n_pes()) {
    throw UsageError("the graph was placed on " + std::to_string(graph.n_pes()) + " PEs, the team has " +
                     std::to_string(team.n_pes()) + "; both must be the same");
  }
  if (tuning.chunk < 1 || tuning.hub_arcs < 1 || tuning.sent_at_once < 1) {
    throw UsageError("chunk, hub_arcs and sent_at_once of the level-synchronous search must be at least 1, not " +
                     std::to_string(tuning.chunk) + ", " + std::to_string(tuning.hub_arcs) + " and " +
                     std::to_string(tuning.sent_at_once));
  }
  state_ = std::make_unique<State>(graph, team, tuning, world);
}

BfsLevelsCpu::~BfsLevelsCpu() = default;

void BfsLevelsCpu::run(vertex_t source, Report& report) {
  State& s = *state_;
  if (source >= s.n()) {
    throw UsageError("source " + std::to_string(source) + " is not a vertex: the graph has " + std::to_string(s.n()) +
                     " (numbers begin at 0)");
  }
  lockstep::run_together(s.exchange.get(), report, [&](Report& mine) {
    s.begin(source);
    const auto begin = std::chrono::steady_clock::now();
    {
      const std::stop_callback when_called_off(interrupt_token(), [&] {
        s.barrier->cancel();
        if (s.exchange) s.exchange->leave();
      });
      s.team.run([&](pe_t pe, int thread) { s.work(pe, thread); });
    }
    throw_if_interrupted();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    s.tell(mine, seconds.count());
  });
}

Span<const level_t> BfsLevelsCpu::level(pe_t pe) const {
  const CsrView& rows = state_->graph.out[pe];
  return {state_->levels.data() + rows.first, rows.count};
}

Words BfsLevelsCpu::words() const {
  return Words::of(state_->graph, [this](pe_t pe) { return level(pe).data(); });
}

std::unique_ptr<BfsEngine> make_bfs_levels_cpu(const Machine& machine, const PlacedGraph& graph, const BfsPlan&) {
  return std::make_unique<BfsLevelsCpu>(graph, machine.team(), BfsLevelsTuning{}, machine.world());
}

}  // namespace shoal
