// Level-synchronous search on CPU threads: the steps of a top-down level, and the expansion of small levels by one thread.
#include <algorithm>

#include "levels_state.hpp"

namespace shoal {

using bfs_levels::Others;
using bfs_levels::share;
using bfs_levels::ToldNarrow;

constexpr arc_t kHubArcsAtOnce = 4096;

/// Judges the targets of a row's arcs: keeps own vertices that are unreached, and posts other PEs' vertices to their owners. Two
/// threads may both find a vertex unreached. They then write the same level, and the vertex is expanded twice. This is harmless and
/// rare, whereas a compare-and-swap would cost time on every arc.
template <Others kOthers>
inline void BfsLevelsCpu::State::expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found,
                                            const vertex_t* first, const vertex_t* last) {
  level_t* const level_of = levels.data();  // in registers: the compiler must assume that the stores change members
  const level_t reached = me.level;
  vertex_t* end = found.reserve(last - first);
  for (const vertex_t* target = first; target != last; ++target) {
    const vertex_t v = *target;
    if (kOthers == Others::elsewhere && (v < here.begin || v >= here.end)) {
      if (closed.set(v)) me.boxes[graph.partition.owner(v)].append(v);
      continue;
    }
    if (load(level_of[v]) != kUnreached) continue;
    if (kOthers != Others::none && !rows.owns(v)) {
      me.boxes[graph.partition.owner(v)].append(v);
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
  // Prefetches the row's offset far ahead, and the row itself nearer: both are in memory, and the offset says where the row is.
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
  for (int i = 0; i < n_threads; ++i) {  // first the vertices that this thread found, then those that others have left
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

/// Levels with one meeting: a PE judges what was posted for it after the meeting, at the beginning of its next level. This ends
/// like expand(): what was posted in the last level is not judged yet. Each thread posts to two sets of boxes in turn, so that one
/// set is read while the other is written: a thread that arrives at a meeting has read everything that was written before the
/// previous one.
void BfsLevelsCpu::State::expand_narrow(pe_t pe) {
  ThreadState& me = thread_of(pe, 0);
  const CsrView& rows = graph.out[pe];
  for (me.narrow = 0;; ++me.narrow) {
    const bool odd = me.narrow % 2 != 0;
    std::vector<VertexQueue>& boxes = odd ? me.other_outbox : me.outbox;
    for (auto& box : boxes) box.clear();
    me.boxes = boxes.data();
    me.level = level + static_cast<level_t>(me.narrow);
    VertexQueue &from = me.queue[now], &found = me.queue[1 - now];
    expand_rows<Others::here, false>(rows, me, found, from.begin(), from.end());
    ToldNarrow told{.vertices = found.size(), .some = !from.empty()};
    for (auto& box : boxes) told.vertices += box.size();
    if (!tell(me, meetings + 1 + me.narrow, told)) return;
    me.narrow_empty = !told.some;
    if (told.vertices == 0 || told.vertices > narrow_most) break;
    for (pe_t to = 0; to < all_pes(); ++to) count_posted(pe, to, boxes[to].size());
    from.clear();
    std::swap(from, found);
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      const VertexQueue& box = (odd ? thread_of(p, 0).other_outbox : thread_of(p, 0).outbox)[pe];
      expand_row<Others::none>(rows, me, me.queue[now], box.begin(), box.end());
    }
  }
  if (me.narrow % 2 != 0) me.outbox.swap(me.other_outbox);
}

/// One meeting of narrow levels: each thread publishes one word and reads the words of all threads. A word contains the meeting's
/// number. There are two places for it, used in turn: a thread that has read the words of this meeting writes to this place again
/// only two meetings later.
/// @param told  in: what this thread publishes; out: the combination of what all threads published
/// @return false: the run was called off
bool BfsLevelsCpu::State::tell(ThreadState& me, std::uint64_t meeting, ToldNarrow& told) {
  constexpr int kNumberAt = 40;
  constexpr std::uint64_t kBelow = (std::uint64_t{1} << kNumberAt) - 1;
  const std::uint64_t number = meeting & (~std::uint64_t{0} >> kNumberAt);
  me.told[meeting % 2].store_release(number << kNumberAt | static_cast<std::uint64_t>(told.vertices) << 1 |
                                     std::uint64_t{told.some});
  told = {};
  for (auto& thread : threads) {
    std::uint64_t word;
    for (Backoff backoff; (word = thread.told[meeting % 2].load_acquire()) >> kNumberAt != number;) {
      if (barrier->cancelled()) return false;
      backoff.pause();
    }
    told.vertices += static_cast<std::int64_t>((word & kBelow) >> 1);
    told.some |= (word & 1) != 0;
  }
  return true;
}

void BfsLevelsCpu::State::expand_alone(ThreadState& me) {
  me.level = level;
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
