// Level-synchronous search on CPU threads: the steps of a top-down level, and a run of small levels by one thread.
#include <algorithm>

#include "levels_state.hpp"

namespace shoal {

using bfs_levels::Others;
using bfs_levels::share;

constexpr arc_t kHubArcsAtOnce = 4096;

/// Judges the vertices at the far ends of a row's arcs: keeps those that are ours and unreached, posts those that are not
/// ours to their owner. Two threads may both find a vertex unreached; they write the same level, and it is expanded twice,
/// which is harmless and rare, where a compare-and-swap for each arc is neither.
template <Others kOthers>
inline void BfsLevelsCpu::State::expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found,
                                            const vertex_t* first, const vertex_t* last) {
  level_t* const level_of = levels.data();  // in registers: for all the compiler knows, the stores below change members
  const level_t reached = level;
  vertex_t* end = found.reserve(last - first);
  for (const vertex_t* target = first; target != last; ++target) {
    const vertex_t v = *target;
    if (kOthers == Others::elsewhere && (v < here.begin || v >= here.end)) {
      if (closed.set(v)) me.outbox[graph.partition.owner(v)].append(v);
      continue;
    }
    if (load(level_of[v]) != kUnreached) continue;
    if (kOthers != Others::none && !rows.owns(v)) {
      me.outbox[graph.partition.owner(v)].append(v);
      continue;
    }
    store(level_of[v], reached);
    *end++ = v;
  }
  found.filled_to(end);
}

template <Others kOthers, bool kShareHubs>
void BfsLevelsCpu::State::expand_rows(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                                      const vertex_t* last) {
  // Far ahead the row's place, nearer the row: both are in memory, and each lies where the one before says.
  constexpr std::ptrdiff_t kRowAhead = 8, kPlaceAhead = 16;
  for (const vertex_t* u = first; u != last; ++u) {
    if (last - u > kPlaceAhead) __builtin_prefetch(&rows.offsets[rows.local(u[kPlaceAhead])]);
    if (last - u > kRowAhead) __builtin_prefetch(&rows.targets[rows.offsets[rows.local(u[kRowAhead])]]);
    const auto row = rows.neighbors(*u);
    if (kShareHubs && row.size() > tuning.hub_arcs) {
      me.hubs.append(*u);
    } else {
      expand_row<kOthers>(rows, me, found, row.begin(), row.end());
    }
  }
}

void BfsLevelsCpu::State::expand(pe_t pe, int thread) {
  const int n_threads = team.threads_per_pe();
  ThreadState& me = thread_of(pe, thread);
  const CsrView& rows = graph.out[pe];
  VertexQueue& found = me.queue[1 - now];
  for (int i = 0; i < n_threads; ++i) {  // first what this thread found, then what others have left
    ThreadState& from = thread_of(pe, (thread + i) % n_threads);
    const VertexQueue& queue = from.queue[now];
    for (;;) {
      if (from.taken.load() >= queue.size()) break;
      const std::int64_t begin = from.taken.fetch_add(tuning.chunk);
      if (begin >= queue.size()) break;
      const vertex_t* first = queue.begin() + begin;
      const vertex_t* last = queue.begin() + std::min<std::int64_t>(begin + tuning.chunk, queue.size());
      if (exchange) {
        expand_rows<Others::elsewhere, true>(rows, me, found, first, last);
      } else if (graph.n_pes() > 1) {
        expand_rows<Others::here, true>(rows, me, found, first, last);
      } else if (n_threads > 1) {
        expand_rows<Others::none, true>(rows, me, found, first, last);
      } else {
        expand_rows<Others::none, false>(rows, me, found, first, last);
      }
    }
  }
}

void BfsLevelsCpu::State::expand_hubs(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  const CsrView& rows = graph.out[pe];
  VertexQueue& found = me.queue[1 - now];
  std::int64_t mine = pes[pe].hub_taken.fetch_add(1);  // pieces are numbered over all hubs of the PE
  std::int64_t before = 0;
  for (int t = 0; t < team.threads_per_pe(); ++t) {
    for (vertex_t u : thread_of(pe, t).hubs) {
      const auto row = rows.neighbors(u);
      const std::int64_t pieces = (row.size() + kHubArcsAtOnce - 1) / kHubArcsAtOnce;
      for (; mine < before + pieces; mine = pes[pe].hub_taken.fetch_add(1)) {
        const vertex_t* first = row.begin() + (mine - before) * kHubArcsAtOnce;
        const vertex_t* last = std::min(first + kHubArcsAtOnce, row.end());
        if (exchange) {
          expand_row<Others::elsewhere>(rows, me, found, first, last);
        } else if (graph.n_pes() > 1) {
          expand_row<Others::here>(rows, me, found, first, last);
        } else {
          expand_row<Others::none>(rows, me, found, first, last);
        }
      }
      before += pieces;
    }
  }
}

void BfsLevelsCpu::State::receive(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  const CsrView& rows = graph.out[pe];
  VertexQueue& found = me.queue[1 - now];
  const auto judge = [&](const vertex_t* box, std::int64_t size) {
    const auto [begin, end] = share(size, thread, team.threads_per_pe());
    expand_row<Others::none>(rows, me, found, box + begin, box + end);
  };
  for (pe_t from = 0; from < team.n_pes(); ++from) {
    for (int t = 0; t < team.threads_per_pe(); ++t) {
      const VertexQueue& box = thread_of(from, t).outbox[graph.first_pe + pe];
      judge(box.begin(), box.size());
    }
  }
  for (int from = 0; exchange && from < exchange->processes(); ++from) {
    if (from == exchange->process()) continue;
    const Span<const vertex_t> box = arrived(from, pe);
    judge(box.begin(), box.size());
  }
}

void BfsLevelsCpu::State::expand_alone(ThreadState& me) {
  VertexQueue& from = me.queue[now];
  for (auto& thread : threads) {
    if (&thread == &me) continue;
    for (vertex_t u : thread.queue[now]) from.append(u);
    thread.queue[now].clear();
  }
  VertexQueue& found = me.queue[1 - now];
  expand_rows<Others::none, false>(graph.out[0], me, found, from.begin(), from.end());
  from.clear();
  now = 1 - now;
  frontier = found.size();
  ++level;
  ++alone;
}

}  // namespace shoal
