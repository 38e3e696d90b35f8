// The steps of delta-stepping on CPU threads: the work of all threads between two barriers, and the data that they share. The plan,
// which chooses the next step, is in delta_cpu.cpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "delta_parts.hpp"
#include "shoal/worker/thread_team.hpp"

namespace shoal::sssp_delta {

inline constexpr std::int64_t kChunk = 128;       ///< entries that a thread takes at once
inline constexpr std::int64_t kPullChunk = 2048;  ///< vertices that a thread takes at once in pull()
inline constexpr std::int64_t kGoOnAlone = 1024;  ///< with up to this many own entries, a thread continues alone

template <class Math>
struct Steps {
  using Word = typename Math::Word;
  using Arc = typename Rows<Math>::Arc;
  static constexpr Word kUnreachedWord = kUnreachedDistance<Word>;

  /// The state of one thread, on cache lines of its own.
  struct alignas(kCacheLine) Thread {
    Buckets<Word> buckets;
    std::vector<Entry<Word>> now;                  // entries of the current bucket, which any thread of the PE may take
    std::vector<Entry<Word>> own;                  // entries of the current bucket, for this thread alone
    std::vector<vertex_t> settled;                 // have left the current bucket; heavy arcs not relaxed yet
    std::vector<std::vector<Entry<Word>>> outbox;  // [n_pes] entries that their owner must judge
    std::int64_t heavy_arcs = 0;                   // number of heavy arcs of `settled`
    std::int64_t row_arcs = 0;                     // number of arcs of all rows that this thread was first to expand
    std::int64_t run = 0, stale = 0, pushed = 0;
    PaddedWord<std::int64_t, Scope::device> taken;  // entries of `now` or `settled` that threads have taken so far
  };

  const PlacedGraph& graph;
  ThreadTeam& team;
  const double delta;
  Rows<Math> rows;
  HostArray<Word> distance;           // [n] by placed number: each PE's part is a contiguous slice of it
  HostArray<std::uint32_t> expanded;  // [n] turn in which a vertex was first expanded; below first_turn: not yet
  std::deque<Thread> threads;
  std::deque<PaddedWord<std::int64_t, Scope::device>> pulled;  // [n_pes] vertices handed out in pull()

  // Set by the plan.
  vertex_t source = kNoVertex;
  std::int64_t current = 0;                // the bucket that is being processed
  std::int64_t floor = 0;                  // the lowest bucket that entries may go to
  std::uint32_t turn = 0, first_turn = 1;  // buckets processed since construction; the same at this search's start

  Steps(const PlacedGraph& placed, ThreadTeam& all, double width)
      : graph(placed),
        team(all),
        delta(width),
        rows(placed, width),
        distance(placed.num_vertices),
        expanded(placed.num_vertices),
        threads(static_cast<std::size_t>(all.size())),
        pulled(static_cast<std::size_t>(all.n_pes())) {
    for (Thread& thread : threads) thread.outbox.resize(graph.n_pes());
    team.run([&](pe_t pe, int thread) {  // first touched by the threads that will use it
      const auto [begin, end] = share(pe, thread);
      std::fill(distance.data() + begin, distance.data() + end, kUnreachedWord);
      std::fill(expanded.data() + begin, expanded.data() + end, 0u);
    });
  }

  std::pair<std::int64_t, std::int64_t> share(pe_t pe, int thread) const {
    const std::int64_t first = graph.out[pe].first, n = graph.out[pe].count, t = team.threads_per_pe();
    return {first + n * thread / t, first + n * (thread + 1) / t};
  }
  Thread& thread_of(pe_t pe, int thread) { return threads[pe * team.threads_per_pe() + thread]; }
  std::int64_t bucket_of(Word distance) const { return static_cast<std::int64_t>(Math::value(distance) * (1 / delta)); }

  /// A lower bound for the distances in the current bucket and in later ones.
  Word least_distance() const {
    const double begin = static_cast<double>(current) * delta;
    return Math::at_most(std::max(0.0, begin * (1 - 1e-9) - 1e-9));
  }

  // ---- steps: all threads run them, between two barriers ------------------------------------------------------------

  void init(pe_t pe, int thread) {
    Thread& me = thread_of(pe, thread);
    const auto [begin, end] = share(pe, thread);
    std::fill(distance.data() + begin, distance.data() + end, kUnreachedWord);
    me.buckets.clear();
    me.now.clear();
    me.settled.clear();
    for (auto& box : me.outbox) box.clear();
    me.heavy_arcs = me.row_arcs = me.run = me.stale = me.pushed = 0;
    if (source >= begin && source < end) {
      distance[source] = 0;
      me.buckets.add(0, 0, {source, 0});
    }
  }

  /// Offers distances to the targets of arcs. Entries never go below `floor`: because of rounding, a vertex may wait in a bucket
  /// after its own, which costs time but no exactness.
  template <bool kManyPes>
  void relax(const CsrView& mine, Thread& me, Word from, const Arc* first, const Arc* last) {
    Word* const known = distance.data();
    for (const Arc* arc = first; arc != last; ++arc) {
      const Word offer = Math::add(from, arc->weight);
      if (load(known[arc->target]) <= offer) continue;
      if (kManyPes && !mine.owns(arc->target)) {
        me.outbox[graph.partition.owner(arc->target)].push_back({arc->target, offer});
      } else {
        judge(me, {arc->target, offer});
      }
    }
  }
  void relax(const CsrView& mine, Thread& me, Word from, const Arc* first, const Arc* last) {
    graph.n_pes() > 1 ? relax<true>(mine, me, from, first, last) : relax<false>(mine, me, from, first, last);
  }
  void judge(Thread& me, Entry<Word> entry) {
    if (fetch_min(distance[entry.v], entry.distance) <= entry.distance) return;
    ++me.pushed;
    me.buckets.add(std::max(bucket_of(entry.distance), floor), floor, entry);
  }

  void run_entries(const CsrView& mine, Thread& me, const Entry<Word>* first, const Entry<Word>* last) {
    // Prefetches a row's place far ahead, and the row itself nearer: both are in memory, and the place says where the row is.
    constexpr std::ptrdiff_t kRowAhead = 6, kPlaceAhead = 12;
    for (const Entry<Word>* entry = first; entry != last; ++entry) {
      if (last - entry > kPlaceAhead) {
        __builtin_prefetch(rows.place(entry[kPlaceAhead].v));
        __builtin_prefetch(&distance[entry[kPlaceAhead].v]);
      }
      if (last - entry > kRowAhead) __builtin_prefetch(rows.begin(entry[kRowAhead].v));
      const vertex_t v = entry->v;
      if (load(distance[v]) != entry->distance) {
        ++me.stale;
        continue;
      }
      ++me.run;
      const Arc* end = rows.end(v);
      if (rows.has_heavy()) {
        const std::uint32_t before = load(expanded[v]);
        if (before < first_turn) {  // if two threads do this at once, heavy arcs are relaxed twice, which is harmless
          store(expanded[v], turn);
          me.settled.push_back(v);
          me.heavy_arcs += end - rows.heavy(v);
          me.row_arcs += end - rows.begin(v);
        }
        // By rounding, a vertex may come nearer after its bucket was finished. Then all its arcs are relaxed at once.
        if (before < first_turn || before == turn) end = rows.heavy(v);
      }
      relax(mine, me, entry->distance, rows.begin(v), end);
    }
  }

  void expand_light(pe_t pe, int thread, Thread& me) {
    const CsrView& mine = graph.out[pe];
    for (int i = 0; i < team.threads_per_pe(); ++i) {  // first what this thread found, then what others have left
      Thread& from = thread_of(pe, (thread + i) % team.threads_per_pe());
      const auto size = static_cast<std::int64_t>(from.now.size());
      while (from.taken.load() < size) {
        const std::int64_t begin = from.taken.fetch_add(kChunk);
        if (begin >= size) break;
        run_entries(mine, me, from.now.data() + begin, from.now.data() + std::min(begin + kChunk, size));
      }
    }
    for (;;) {
      auto& bucket = me.buckets[current];
      if (bucket.empty() || static_cast<std::int64_t>(bucket.size()) > kGoOnAlone) break;
      me.own.swap(bucket);
      bucket.clear();
      run_entries(mine, me, me.own.data(), me.own.data() + me.own.size());
    }
  }

  void expand_heavy(pe_t pe, int thread, Thread& me) {
    const CsrView& mine = graph.out[pe];
    for (int i = 0; i < team.threads_per_pe(); ++i) {
      Thread& from = thread_of(pe, (thread + i) % team.threads_per_pe());
      const auto size = static_cast<std::int64_t>(from.settled.size());
      while (from.taken.load() < size) {
        const std::int64_t begin = from.taken.fetch_add(kChunk);
        for (std::int64_t k = begin; k < std::min(begin + kChunk, size); ++k) {
          const vertex_t v = from.settled[k];
          if (k + 4 < size) __builtin_prefetch(rows.heavy(from.settled[k + 4]));
          relax(mine, me, load(distance[v]), rows.heavy(v), rows.end(v));
        }
      }
    }
  }

  /// Replaces the heavy arcs out of the vertices that just became final by those into all vertices that are not final: in a
  /// symmetric graph these are in the latter vertices' own rows. A vertex that can offer something new is in the current bucket or
  /// a later one, so its distance is at least `least`; a row need not be read beyond the weight at which even `least` would be too
  /// far. (Vertices of the current bucket are included: where the ends of buckets are rounded, one may lie a little more than delta
  /// behind another.)
  void pull(pe_t pe, Thread& me) {
    const std::int64_t first = graph.out[pe].first, last = first + graph.out[pe].count;
    const Word least = least_distance();
    for (;;) {
      const std::int64_t begin = first + pulled[pe].fetch_add(kPullChunk);
      if (begin >= last) break;
      for (std::int64_t i = begin; i < std::min(begin + kPullChunk, last); ++i) {
        const auto v = static_cast<vertex_t>(i);
        if (expanded[v] >= first_turn && expanded[v] != turn) continue;
        const Word before = distance[v];
        Word best = before;
        const Arc* const end = rows.end(v);
        for (const Arc* arc = rows.heavy(v); arc != end && Math::add(least, arc->weight) < best; ++arc) {
          const Word near = load(distance[arc->target]);
          if (near != kUnreachedWord) best = std::min(best, Math::add(near, arc->weight));
        }
        if (best == before) continue;
        store(distance[v], best);  // no other thread writes it during this step
        ++me.pushed;
        me.buckets.add(std::max(bucket_of(best), floor), floor, {v, best});
      }
    }
  }

  void receive(pe_t pe, int thread, Thread& me) {
    for (pe_t from = 0; from < team.n_pes(); ++from) {
      for (int t = 0; t < team.threads_per_pe(); ++t) {
        const auto& box = thread_of(from, t).outbox[pe];
        const auto size = static_cast<std::int64_t>(box.size());
        const std::int64_t begin = size * thread / team.threads_per_pe();
        const std::int64_t end = size * (thread + 1) / team.threads_per_pe();
        for (std::int64_t k = begin; k < end; ++k) judge(me, box[k]);
      }
    }
  }
};

}  // namespace shoal::sssp_delta
