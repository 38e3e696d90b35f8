// Level-synchronous search on CPU threads: chooses the next step. The last thread to arrive at a barrier runs this while the others
// wait.
#include <algorithm>

#include "levels_state.hpp"

namespace shoal {

constexpr std::int64_t kSamples = 2048;  // frontier vertices that are sampled to estimate the frontier's arcs

void BfsLevelsCpu::State::decide(ThreadState& me) {
  auto any = [&](auto&& member) {
    return std::any_of(threads.begin(), threads.end(), [&](ThreadState& t) { return !member(t).empty(); });
  };
  switch (step) {
    case Step::init:
      level = 1;
      now = 0;
      frontier = 1;
      unexplored_arcs = static_cast<double>(graph.num_arcs);
      return begin_level(me);
    case Step::expand:
      top_down += 1 - (narrow && me.narrow_empty);
      if (narrow) {
        top_down += me.narrow;
        level += static_cast<level_t>(me.narrow);
        meetings += static_cast<std::uint64_t>(me.narrow) + 1;
        narrow = false;
      }
      if (any([](ThreadState& t) -> VertexQueue& { return t.hubs; })) {
        for (auto& pe : pes) pe.hub_taken.store(0);
        step = Step::hubs;
        return;
      }
      [[fallthrough]];
    case Step::hubs:
      for (auto& thread : threads) thread.hubs.clear();
      posted = count_posted();
      rounds = 0;
      if (exchange && !send()) return barrier->cancel();
      if (posted > 0) {
        step = Step::receive;
        return;
      }
      [[fallthrough]];
    case Step::receive:
      if (more > 0) {
        clear_outboxes(graph.first_pe, graph.first_pe + graph.n_pes());
        if (!send()) barrier->cancel();
        return;
      }
      clear_outboxes(0, all_pes());
      return end_top_down(me);
    case Step::to_bitmap:
      left = sum(&ThreadState::left);
      if (exchange && !share_words(front, left)) return barrier->cancel();
      return begin_bottom_up();
    case Step::bottom_up:
      return end_bottom_up();
    case Step::to_queues:
      if (alone_is_better()) return begin_level(me);
      step = Step::expand;  // at least one level top-down: the frontier has just been found too small for bottom-up
      return;
    case Step::done:
      return;
  }
}

void BfsLevelsCpu::State::begin_level(ThreadState& me) {
  while (frontier > 0 && alone_is_better()) {
    if (barrier->cancelled()) return;
    trace.time(0, 0, [&] { expand_alone(me); });
    trace.step_ends("by one thread");
  }
  if (frontier == 0) {
    step = Step::done;
    return;
  }
  step = Step::expand;
  narrow = may_be_narrow();
  if (narrow || tuning.alpha <= 0) return;
  const double threshold = unexplored_arcs / tuning.alpha;
  if (static_cast<double>(frontier) * static_cast<double>(graph.max_degree) <= threshold) return;
  double arcs = frontier_arcs();
  if (exchange && !agree_on_frontier(arcs)) return barrier->cancel();
  if (arcs > threshold) {
    step = Step::to_bitmap;
  } else {
    unexplored_arcs -= arcs;
  }
}

void BfsLevelsCpu::State::end_top_down(ThreadState& me) {
  trace.step_ends("top-down");
  frontier = 0;
  for (auto& thread : threads) {
    thread.queue[now].clear();
    thread.taken.store(0);
    frontier += thread.queue[1 - now].size();
  }
  now = 1 - now;
  ++level;
  if (exchange) frontier = at_most;
  begin_level(me);
}

void BfsLevelsCpu::State::begin_bottom_up() {
  if (left == 0) {
    step = Step::done;
    return;
  }
  for (auto& pe : pes) pe.words_taken.store(0);
  for (const auto& rows : graph.out) {  // threads add to words that several PEs share, and overwrite the others
    const std::int64_t end = static_cast<std::int64_t>(rows.first) + rows.count;
    if (end % 64 != 0) next.word(end / 64) = 0;
  }
  if (here.begin % 64 != 0) next.word(here.begin / 64) = 0;
  step = Step::bottom_up;
}

void BfsLevelsCpu::State::end_bottom_up() {
  std::int64_t found = sum(&ThreadState::found);
  if (exchange && !share_words(next, found)) return barrier->cancel();
  const bool grew = found >= frontier;
  for (pe_t from = 0; trace.on() && from < graph.n_pes(); ++from) {
    for (pe_t to = 0; to < graph.n_pes(); ++to) trace.gives(from, to, "frontier", graph.out[from].count / 8);
  }
  trace.step_ends("bottom-up");
  ++bottom_up;
  ++level;
  frontier = found;
  left -= found;
  front.swap(next);
  if (frontier == 0) {
    step = Step::done;
  } else if (grew || static_cast<double>(frontier) > static_cast<double>(n()) / tuning.beta) {
    begin_bottom_up();
  } else {
    for (auto& thread : threads) thread.queue[now].clear();
    step = left == 0 ? Step::done : Step::to_queues;
  }
}

bool BfsLevelsCpu::State::alone_is_better() {
  if (all_pes() > 1 || frontier > tuning.solo) return false;  // only a PE's own threads write its levels
  if (frontier * graph.max_degree <= tuning.solo_arcs) return true;
  arc_t arcs = 0;
  for (auto& thread : threads) {
    for (vertex_t u : thread.queue[now]) arcs += graph.out[0].neighbors(u).size();
  }
  return arcs <= tuning.solo_arcs;
}

/// Also sets narrow_most.
bool BfsLevelsCpu::State::may_be_narrow() {
  if (exchange || all_pes() == 1 || team.threads_per_pe() > 1 || trace.on()) return false;
  narrow_most = tuning.narrow;
  if (tuning.alpha > 0) {
    const double most = unexplored_arcs / tuning.alpha / static_cast<double>(std::max<arc_t>(graph.max_degree, 1));
    narrow_most = std::min(narrow_most, static_cast<std::int64_t>(most));
  }
  return frontier <= narrow_most;
}

/// Out-arcs of the frontier: exact when it is small, otherwise estimated from a sample spread evenly over every queue.
double BfsLevelsCpu::State::frontier_arcs() {
  const std::int64_t stride = std::max<std::int64_t>(1, frontier / kSamples);
  double arcs = 0;
  for (pe_t pe = 0; pe < graph.n_pes(); ++pe) {
    for (int t = 0; t < team.threads_per_pe(); ++t) {
      const VertexQueue& queue = thread_of(pe, t).queue[now];
      for (std::int64_t i = 0; i < queue.size(); i += stride) {
        const auto counted = std::min(stride, queue.size() - i);
        arcs += static_cast<double>(counted) * static_cast<double>(graph.out[pe].neighbors(queue.begin()[i]).size());
      }
    }
  }
  return arcs;
}

std::int64_t BfsLevelsCpu::State::sum(std::int64_t ThreadState::*member) {
  std::int64_t total = 0;
  for (auto& thread : threads) total += thread.*member;
  return total;
}

/// Counts the vertices in the outboxes, and adds them to the report's traffic.
std::int64_t BfsLevelsCpu::State::count_posted() {
  if (all_pes() == 1) return 0;
  std::int64_t total = 0;
  for (pe_t from = 0; from < graph.n_pes(); ++from) {
    for (int t = 0; t < team.threads_per_pe(); ++t) {
      for (pe_t to = 0; to < all_pes(); ++to) {
        const std::int64_t items = thread_of(from, t).outbox[to].size();
        if (items == 0) continue;
        count_posted(from, to, items);
        total += items;
        const pe_t to_here = to - graph.first_pe;
        if (to_here >= 0 && to_here < graph.n_pes()) {
          trace.gives(from, to_here, "vertices", items * static_cast<std::int64_t>(sizeof(vertex_t)));
        }
      }
    }
  }
  return total;
}

/// Adds to the report's traffic.
void BfsLevelsCpu::State::count_posted(pe_t from, pe_t to, std::int64_t items) {
  if (items == 0) return;
  Traffic& pair = traffic_of(from, to);
  pair.items += items;
  pair.messages += 1;
  pair.bytes += items * static_cast<std::int64_t>(sizeof(vertex_t));
}

/// Clears the outboxes of all threads for PEs in [begin, end).
void BfsLevelsCpu::State::clear_outboxes(pe_t begin, pe_t end) {
  for (auto& thread : threads) {
    for (pe_t to = begin; to < end; ++to) thread.outbox[to].clear();
  }
}

}  // namespace shoal
