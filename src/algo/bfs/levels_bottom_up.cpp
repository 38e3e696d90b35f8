// Level-synchronous search on CPU threads: the steps of bottom-up levels.
#include <algorithm>

#include "levels_state.hpp"

namespace shoal {

using bfs_levels::OwnedWords;
using bfs_levels::share;

constexpr int kWordsAtOnce = 32;  // bottom-up: 64-bit bitmap words that a thread takes at once

/// Makes bitmaps of the frontier and of closed vertices from the levels. A bitmap word is written by the PE that owns the first of
/// its vertices that belong to this process.
void BfsLevelsCpu::State::to_bitmap(pe_t pe, int thread) {
  const OwnedWords words(graph.out[pe]);
  const std::int64_t first_word = words.begin == here.begin ? words.first() : (words.begin + 63) / 64;
  const auto [begin, end] = share(std::max(words.last() - first_word, std::int64_t{0}), thread, team.threads_per_pe());
  std::int64_t left = 0;
  for (std::int64_t w = first_word + begin; w < first_word + end; ++w) {
    const int count = static_cast<int>(std::min<std::int64_t>(64, n() - w * 64));
    const std::uint64_t own = here.mask(w);
    front.word(w) = own & bfs_levels::equal_mask(levels.data() + w * 64, level - 1, count);
    const std::uint64_t open =
        own & bfs_levels::equal_mask(levels.data() + w * 64, kUnreached, count) & has_in_arcs.word(w);
    closed.word(w) = exchange ? (closed.word(w) & ~own) | (own & ~open) : ~open;
    left += __builtin_popcountll(open);
  }
  thread_of(pe, thread).left = left;
}

void BfsLevelsCpu::State::look_up(pe_t pe, int thread) {
  constexpr int kAhead = 12;  // rows between the prefetch of a row and its use
  const CsrView& rows = in()[pe];
  const OwnedWords words(rows);
  struct {
    vertex_t v;
    const vertex_t *begin, *end;
  } open[kWordsAtOnce * 64];
  std::int64_t n_found = 0;
  if (exchange) remember_front(static_cast<int>(pe) * team.threads_per_pe() + thread);
  for (;;) {
    const std::int64_t begin = words.first() + pes[pe].words_taken.fetch_add(kWordsAtOnce);
    if (begin >= words.last()) break;
    const std::int64_t end = std::min(begin + kWordsAtOnce, words.last());
    int n_open = 0;
    for (std::int64_t w = begin; w < end; ++w) {
      for (std::uint64_t bits = ~load(closed.word(w)) & words.mask(w); bits != 0; bits &= bits - 1) {
        const vertex_t v = static_cast<vertex_t>(w * 64 + __builtin_ctzll(bits));
        const auto row = rows.neighbors(v);
        open[n_open++] = {v, row.begin(), row.end()};
      }
    }
    std::uint64_t found[kWordsAtOnce] = {};
    for (int i = 0; i < n_open; ++i) {
      if (i + kAhead < n_open) __builtin_prefetch(open[i + kAhead].begin);
      for (const vertex_t* u = open[i].begin; u != open[i].end; ++u) {
        if (!front.test(*u)) continue;
        store(levels[open[i].v], level);
        found[open[i].v / 64 - begin] |= std::uint64_t{1} << (open[i].v % 64);
        ++n_found;
        break;
      }
    }
    for (std::int64_t w = begin; w < end; ++w) {
      const std::uint64_t bits = found[w - begin];
      if (~words.mask(w) == 0) {
        next.word(w) = bits;
        closed.word(w) |= bits;
      } else {  // other PEs may have bits in this word: the bits are disjoint, so adding sets them
        fetch_add(next.word(w), bits);
        fetch_add(closed.word(w), bits);
      }
    }
  }
  thread_of(pe, thread).found = n_found;
}

void BfsLevelsCpu::State::to_queues(pe_t pe, int thread) {
  const OwnedWords words(graph.out[pe]);
  VertexQueue& queue = thread_of(pe, thread).queue[now];
  const auto [begin, end] = share(words.last() - words.first(), thread, team.threads_per_pe());
  for (std::int64_t w = words.first() + begin; w < words.first() + end; ++w) {
    vertex_t* last = queue.reserve(64);
    for (std::uint64_t bits = front.word(w) & words.mask(w); bits != 0; bits &= bits - 1) {
      *last++ = static_cast<vertex_t>(w * 64 + __builtin_ctzll(bits));
    }
    queue.filled_to(last);
  }
}

}  // namespace shoal
