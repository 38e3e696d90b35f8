#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bfs_levels_parts.hpp"
#include "shoal/algo/bfs_levels.hpp"
#include "shoal/core/error.hpp"

namespace shoal {

using bfs_levels::Bitmap;
using bfs_levels::OwnedWords;
using bfs_levels::VertexQueue;

namespace {

constexpr int kWordsAtOnce = 32;  // bottom-up: words of 64 vertices that a thread takes
constexpr arc_t kHubArcsAtOnce = 4096;
constexpr std::int64_t kSamples = 2048;  // frontier vertices looked at to estimate the frontier's arcs

enum class Step { init, expand, hubs, receive, to_bitmap, bottom_up, to_queues, done };

/// What one thread has, on lines of its own.
struct alignas(kCacheLine) ThreadState {
  VertexQueue queue[2];                           // the frontier's part found by this thread: now, and next
  std::vector<VertexQueue> outbox;                // [n_pes] found by this thread, to be judged by their owner
  VertexQueue hubs;                               // rows left for all threads of the PE
  std::int64_t found = 0;                         // bottom-up: vertices that this step reached
  std::int64_t left = 0;                          // bottom-up: vertices with in-arcs that are still unreached
  PaddedWord<std::int64_t, Scope::device> taken;  // of queue[now] and outbox, by whichever threads work through them
};

/// What the threads of one PE share.
struct alignas(kCacheLine) PeState {
  PaddedWord<std::int64_t, Scope::device> words_taken;  // bottom-up: words handed out
  PaddedWord<std::int64_t, Scope::device> hub_taken;    // pieces of hub rows handed out
};

/// part [index] of `parts` equal parts of [0, n)
std::pair<std::int64_t, std::int64_t> share(std::int64_t n, int index, int parts) {
  return {n * index / parts, n * (index + 1) / parts};
}

}  // namespace

struct BfsLevelsCpu::State {
  const PlacedGraph& graph;
  ThreadTeam& team;
  BfsLevelsTuning tuning;
  HostArray<level_t> levels;  // [n] by placed number: each PE's part is a contiguous slice of it
  Bitmap front, next;         // of the frontier, when it is looked at bottom-up
  Bitmap closed;              // reached, or without in-arcs: nothing to look for
  Bitmap has_in_arcs;
  std::deque<ThreadState> threads;
  std::deque<PeState> pes;
  std::optional<SpinBarrier> barrier;

  // The plan: written by the last thread at the barrier, read by all after it.
  Step step = Step::done;
  vertex_t source = kNoVertex;                          // of the search; kNoVertex when there was none or it failed
  level_t level = 0;                                    // of the vertices that the step reaches
  int now = 0;                                          // which of the two queues is the frontier
  std::int64_t frontier = 0;                            // vertices in it
  std::int64_t left = 0;                                // bottom-up: vertices with in-arcs that are still unreached
  double unexplored_arcs = 0;                           // about
  std::int64_t top_down = 0, alone = 0, bottom_up = 0;  // levels of each kind
  std::vector<Traffic> traffic;                         // [from * n_pes + to]

  State(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning);

  ThreadState& thread_of(pe_t pe, int thread) { return threads[pe * team.threads_per_pe() + thread]; }
  const std::vector<CsrView>& in() const { return graph.symmetric ? graph.out : graph.in; }
  std::int64_t n() const { return graph.num_vertices; }

  void begin(vertex_t source);
  void work(pe_t pe, int thread);
  void tell(Report& report, double seconds) const;

  void clear_levels(pe_t pe, int thread);
  void init(pe_t pe, int thread);
  void expand(pe_t pe, int thread);
  void expand_hubs(pe_t pe, int thread);
  void receive(pe_t pe, int thread);
  void to_bitmap(pe_t pe, int thread);
  void look_up(pe_t pe, int thread);
  void to_queues(pe_t pe, int thread);
  void find_parents(pe_t pe, int thread, Span<vertex_t> parent) const;
  template <bool kManyPes, bool kShareHubs>
  void expand_rows(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                   const vertex_t* last);
  template <bool kManyPes>
  void expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found, const vertex_t* first,
                  const vertex_t* last);

  void decide(ThreadState& me);
  void begin_level(ThreadState& me);
  void end_top_down(ThreadState& me);
  void begin_bottom_up();
  void end_bottom_up();
  bool alone_is_better();
  void expand_alone(ThreadState& me);
  double frontier_arcs();
  std::int64_t sum(std::int64_t ThreadState::*member);
  std::int64_t count_posted();
};

BfsLevelsCpu::State::State(const PlacedGraph& g, ThreadTeam& t, const BfsLevelsTuning& options)
    : graph(g),
      team(t),
      tuning(options),
      levels(bfs_levels::large_array<level_t>(g.num_vertices)),
      front(g.num_vertices),
      next(g.num_vertices),
      closed(g.num_vertices),
      has_in_arcs(g.num_vertices),
      threads(t.size()),
      pes(t.n_pes()),
      traffic(static_cast<std::size_t>(g.n_pes()) * g.n_pes()) {
  for (auto& thread : threads) thread.outbox.resize(graph.n_pes());
  for (pe_t pe = 0; pe < graph.n_pes(); ++pe) {
    for (pe_t to = 0; to < graph.n_pes(); ++to) traffic[pe * graph.n_pes() + to] = {.from = pe, .to = to};
  }
  // Each part is touched first by the threads that will use it, so that the memory is near them.
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
  for (auto& pair : traffic) pair.items = pair.messages = pair.bytes = 0;
  barrier.emplace(team.size());
}

void BfsLevelsCpu::State::tell(Report& report, double seconds) const {
  report.seconds += seconds;
  report.rounds += top_down + alone + bottom_up;
  for (const Traffic& pair : traffic) {
    if (pair.messages > 0) report.traffic.push_back(pair);
  }
  report.chosen.emplace_back("direction", std::to_string(top_down + alone) + " levels top-down, " +
                                              std::to_string(alone) + " of them by one thread, " +
                                              std::to_string(bottom_up) +
                                              " bottom-up: from the arcs of each frontier and those left to explore");
}

void BfsLevelsCpu::State::work(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  try {
    while (step != Step::done) {
      switch (step) {
        case Step::init:
          init(pe, thread);
          break;
        case Step::expand:
          expand(pe, thread);
          break;
        case Step::hubs:
          expand_hubs(pe, thread);
          break;
        case Step::receive:
          receive(pe, thread);
          break;
        case Step::to_bitmap:
          to_bitmap(pe, thread);
          break;
        case Step::bottom_up:
          look_up(pe, thread);
          break;
        case Step::to_queues:
          to_queues(pe, thread);
          break;
        case Step::done:
          break;
      }
      if (!barrier->arrive_and_wait([&] { decide(me); })) return;
    }
  } catch (...) {
    barrier->cancel();
    throw;
  }
}

// ---- steps: run by all threads, between two barriers ----------------------------------------------------------------

void BfsLevelsCpu::State::init(pe_t pe, int thread) {
  ThreadState& me = thread_of(pe, thread);
  clear_levels(pe, thread);
  for (auto& queue : me.queue) queue.clear();
  for (auto& box : me.outbox) box.clear();
  me.hubs.clear();
  me.taken.store(0);
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

/// Judges the vertices at the far ends of a row's arcs: keeps those that are ours and unreached, posts those that are not
/// ours to their owner. Two threads may both find a vertex unreached; they write the same level, and it is expanded twice,
/// which is harmless and rare, where a compare-and-swap for each arc is neither.
template <bool kManyPes>
inline void BfsLevelsCpu::State::expand_row(const CsrView& rows, ThreadState& me, VertexQueue& found,
                                            const vertex_t* first, const vertex_t* last) {
  level_t* const level_of = levels.data();  // in registers: for all the compiler knows, the stores below change members
  const level_t reached = level;
  vertex_t* end = found.reserve(last - first);
  for (const vertex_t* target = first; target != last; ++target) {
    const vertex_t v = *target;
    if (load(level_of[v]) != kUnreached) continue;
    if (kManyPes && !rows.owns(v)) {
      me.outbox[graph.partition.owner(v)].append(v);
      continue;
    }
    store(level_of[v], reached);
    *end++ = v;
  }
  found.filled_to(end);
}

template <bool kManyPes, bool kShareHubs>
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
      expand_row<kManyPes>(rows, me, found, row.begin(), row.end());
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
      if (graph.n_pes() > 1) {
        expand_rows<true, true>(rows, me, found, first, last);
      } else if (n_threads > 1) {
        expand_rows<false, true>(rows, me, found, first, last);
      } else {
        expand_rows<false, false>(rows, me, found, first, last);
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
        if (graph.n_pes() > 1) {
          expand_row<true>(rows, me, found, first, last);
        } else {
          expand_row<false>(rows, me, found, first, last);
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
  for (pe_t from = 0; from < team.n_pes(); ++from) {
    for (int t = 0; t < team.threads_per_pe(); ++t) {
      const VertexQueue& box = thread_of(from, t).outbox[pe];
      const auto [begin, end] = share(box.size(), thread, team.threads_per_pe());
      expand_row<false>(rows, me, found, box.begin() + begin, box.begin() + end);
    }
  }
}

/// Frontier and closed vertices as bits, read off the levels. A word is written by the PE that owns its first vertex.
void BfsLevelsCpu::State::to_bitmap(pe_t pe, int thread) {
  const OwnedWords words(graph.out[pe]);
  const std::int64_t first_word = (words.begin + 63) / 64;
  const auto [begin, end] = share(std::max(words.last() - first_word, std::int64_t{0}), thread, team.threads_per_pe());
  std::int64_t left = 0;
  for (std::int64_t w = first_word + begin; w < first_word + end; ++w) {
    const int count = static_cast<int>(std::min<std::int64_t>(64, n() - w * 64));
    front.word(w) = bfs_levels::equal_mask(levels.data() + w * 64, level - 1, count);
    const std::uint64_t open = bfs_levels::equal_mask(levels.data() + w * 64, kUnreached, count) & has_in_arcs.word(w);
    closed.word(w) = ~open;
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
      } else {  // other PEs may have bits here: theirs and ours differ, so that adding is setting
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

void BfsLevelsCpu::State::find_parents(pe_t pe, int thread, Span<vertex_t> parent) const {
  const CsrView& rows = in()[pe];
  const auto [begin, end] = share(rows.count, thread, team.threads_per_pe());
  for (std::int64_t v = rows.first + begin; v < rows.first + end; ++v) {
    vertex_t smallest = kNoVertex;
    if (levels[v] == 0) {
      smallest = graph.partition.input(static_cast<vertex_t>(v));
    } else if (levels[v] != kUnreached) {
      for (vertex_t u : rows.neighbors(static_cast<vertex_t>(v))) {
        if (levels[u] == levels[v] - 1) smallest = std::min(smallest, graph.partition.input(u));
      }
    }
    parent[v] = smallest;
  }
}

// ---- the plan: made by the last thread at the barrier, while the others wait ----------------------------------------

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
      ++top_down;
      if (any([](ThreadState& t) -> VertexQueue& { return t.hubs; })) {
        for (auto& pe : pes) pe.hub_taken.store(0);
        step = Step::hubs;
        return;
      }
      [[fallthrough]];
    case Step::hubs:
      for (auto& thread : threads) thread.hubs.clear();
      if (count_posted() > 0) {
        step = Step::receive;
        return;
      }
      [[fallthrough]];
    case Step::receive:
      for (auto& thread : threads) {
        for (auto& box : thread.outbox) box.clear();
      }
      return end_top_down(me);
    case Step::to_bitmap:
      left = sum(&ThreadState::left);
      return begin_bottom_up();
    case Step::bottom_up:
      return end_bottom_up();
    case Step::to_queues:
      if (alone_is_better()) return begin_level(me);
      step = Step::expand;  // at least once: the frontier has just been found too small for bottom-up
      return;
    case Step::done:
      return;
  }
}

void BfsLevelsCpu::State::begin_level(ThreadState& me) {
  while (frontier > 0 && alone_is_better()) expand_alone(me);
  if (frontier == 0) {
    step = Step::done;
    return;
  }
  step = Step::expand;
  if (tuning.alpha <= 0) return;
  const double threshold = unexplored_arcs / tuning.alpha;
  if (static_cast<double>(frontier) * static_cast<double>(graph.max_degree) <= threshold) return;
  const double arcs = frontier_arcs();
  if (arcs > threshold) {
    step = Step::to_bitmap;
  } else {
    unexplored_arcs -= arcs;
  }
}

void BfsLevelsCpu::State::end_top_down(ThreadState& me) {
  frontier = 0;
  for (auto& thread : threads) {
    thread.queue[now].clear();
    thread.taken.store(0);
    frontier += thread.queue[1 - now].size();
  }
  now = 1 - now;
  ++level;
  begin_level(me);
}

void BfsLevelsCpu::State::begin_bottom_up() {
  if (left == 0) {
    step = Step::done;
    return;
  }
  for (auto& pe : pes) pe.words_taken.store(0);
  for (const auto& rows : graph.out) {  // words that are not one PE's alone are added to, the others are written
    const std::int64_t end = static_cast<std::int64_t>(rows.first) + rows.count;
    if (end % 64 != 0) next.word(end / 64) = 0;
  }
  step = Step::bottom_up;
}

void BfsLevelsCpu::State::end_bottom_up() {
  const std::int64_t found = sum(&ThreadState::found);
  const bool grew = found >= frontier;
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
  if (graph.n_pes() > 1 || frontier > tuning.solo) return false;  // a PE's levels are written by its own threads only
  if (frontier * graph.max_degree <= tuning.solo_arcs) return true;
  arc_t arcs = 0;
  for (auto& thread : threads) {
    for (vertex_t u : thread.queue[now]) arcs += graph.out[0].neighbors(u).size();
  }
  return arcs <= tuning.solo_arcs;
}

void BfsLevelsCpu::State::expand_alone(ThreadState& me) {
  VertexQueue& from = me.queue[now];
  for (auto& thread : threads) {
    if (&thread == &me) continue;
    for (vertex_t u : thread.queue[now]) from.append(u);
    thread.queue[now].clear();
  }
  VertexQueue& found = me.queue[1 - now];
  expand_rows<false, false>(graph.out[0], me, found, from.begin(), from.end());
  from.clear();
  now = 1 - now;
  frontier = found.size();
  ++level;
  ++alone;
}

/// Out-arcs of the frontier: exact when it is small, else from a sample spread evenly over every queue.
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

/// Counts what waits in the outboxes, into the report's traffic as well.
std::int64_t BfsLevelsCpu::State::count_posted() {
  if (graph.n_pes() == 1) return 0;
  std::int64_t total = 0;
  for (pe_t from = 0; from < graph.n_pes(); ++from) {
    for (int t = 0; t < team.threads_per_pe(); ++t) {
      for (pe_t to = 0; to < graph.n_pes(); ++to) {
        const std::int64_t items = thread_of(from, t).outbox[to].size();
        if (items == 0) continue;
        Traffic& pair = traffic[from * graph.n_pes() + to];
        pair.items += items;
        pair.messages += 1;
        pair.bytes += items * static_cast<std::int64_t>(sizeof(vertex_t));
        total += items;
      }
    }
  }
  return total;
}

// ---- the door -------------------------------------------------------------------------------------------------------

BfsLevelsCpu::BfsLevelsCpu(const PlacedGraph& graph, ThreadTeam& team, const BfsLevelsTuning& tuning) {
  if (!graph.devices.empty()) {
    throw UsageError(
        "this search runs on CPU threads, but the graph was placed on GPUs; use --device gpu, or place it again");
  }
  if (team.n_pes() != graph.n_pes()) {
    throw UsageError("the graph was placed on " + std::to_string(graph.n_pes()) + " PEs, the team has " +
                     std::to_string(team.n_pes()) + "; both must be the same");
  }
  if (tuning.chunk < 1 || tuning.hub_arcs < 1) {
    throw UsageError("chunk and hub_arcs of the level-synchronous search must be at least 1, not " +
                     std::to_string(tuning.chunk) + " and " + std::to_string(tuning.hub_arcs));
  }
  state_ = std::make_unique<State>(graph, team, tuning);
}

BfsLevelsCpu::~BfsLevelsCpu() = default;

void BfsLevelsCpu::search(vertex_t source, Report& report) {
  State& s = *state_;
  if (source >= s.n()) {
    throw UsageError("source " + std::to_string(source) + " is not a vertex: the graph has " + std::to_string(s.n()) +
                     " (numbers begin at 0)");
  }
  s.source = kNoVertex;  // until the search has succeeded, there is no tree to ask for
  s.begin(source);
  const auto begin = std::chrono::steady_clock::now();
  s.team.run([&](pe_t pe, int thread) { s.work(pe, thread); });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  s.source = source;
  s.tell(report, seconds.count());
}

void BfsLevelsCpu::parents(Span<vertex_t> parent) {
  State& s = *state_;
  if (s.source == kNoVertex) throw UsageError("there is no tree before a search has succeeded; call search() first");
  if (parent.size() != s.n()) {
    throw UsageError("room for " + std::to_string(parent.size()) + " parents was given, the graph has " +
                     std::to_string(s.n()) + " vertices");
  }
  s.team.run([&](pe_t pe, int thread) { s.find_parents(pe, thread, parent); });
}

Span<const level_t> BfsLevelsCpu::level(pe_t pe) const {
  const CsrView& rows = state_->graph.out[pe];
  return {state_->levels.data() + rows.first, rows.count};
}

}  // namespace shoal
