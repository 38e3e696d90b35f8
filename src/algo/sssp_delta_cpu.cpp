// Delta-stepping on CPU threads. Vertices wait in buckets of distances delta wide. The first bucket is worked off: light arcs
// (weight below delta) of its vertices are relaxed, which may bring vertices into the same bucket, until none is left; then
// the vertices that were in it are final, and their heavy arcs are relaxed once.
//
// Sources: Meyer and Sanders, Delta-stepping: a parallelizable shortest path algorithm (2003); a thread goes on with few
// entries of its own without a barrier (Zhang et al., GraphIt's bucket fusion, 2020); heavy arcs are looked at from the far
// side where that is less (Chakaravarthy et al., IPDPS 2014). Differs: rows are sorted by weight, so the far side of an arc
// stops at the first weight that cannot help it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <deque>
#include <optional>

#include "shoal/core/error.hpp"
#include "sssp_delta_parts.hpp"
#include "sssp_engines.hpp"

namespace shoal {
namespace {

using sssp_delta::Buckets;
using sssp_delta::Entry;
using sssp_delta::Rows;

constexpr std::int64_t kChunk = 128;       // entries that a thread takes at once
constexpr std::int64_t kPullChunk = 2048;  // vertices
constexpr std::int64_t kGoOnAlone = 1024;  // entries of its own with which a thread goes on without the others
constexpr std::int64_t kSamples = 512;     // vertices looked at to estimate what pulling costs

enum class Step { light, heavy, pull, done };

template <class Math>
class DeltaCpu : public SsspEngine {
  using Word = typename Math::Word;
  using Arc = typename Rows<Math>::Arc;
  static constexpr Word kUnreachedWord = kUnreachedDistance<Word>;

 public:
  DeltaCpu(const Machine& machine, const PlacedGraph& graph, double delta)
      : graph_(graph),
        team_(machine.team()),
        delta_(delta),
        rows_(graph, delta),
        distance_(graph.num_vertices),
        expanded_(graph.num_vertices),
        threads_(static_cast<std::size_t>(team_.size())),
        pulled_(static_cast<std::size_t>(team_.n_pes())),
        traffic_(static_cast<std::size_t>(graph.n_pes()) * graph.n_pes()) {
    for (Thread& thread : threads_) thread.outbox.resize(graph.n_pes());
    for (pe_t from = 0; from < graph.n_pes(); ++from) {
      for (pe_t to = 0; to < graph.n_pes(); ++to) traffic_[from * graph.n_pes() + to] = {.from = from, .to = to};
    }
    team_.run([&](pe_t pe, int thread) {  // touched first by the threads that will use it
      const auto [begin, end] = share(pe, thread);
      std::fill(distance_.data() + begin, distance_.data() + end, kUnreachedWord);
      std::fill(expanded_.data() + begin, expanded_.data() + end, 0u);
    });
  }

  void search(vertex_t source, Report& report) override {
    const auto start = std::chrono::steady_clock::now();
    source_ = source;
    if (turn_ > std::numeric_limits<std::uint32_t>::max() / 2) {
      std::fill(expanded_.begin(), expanded_.end(), 0u);
      turn_ = 0;
    }
    first_turn_ = ++turn_;
    current_ = 0;
    floor_ = 0;
    rounds_ = pulls_ = 0;
    expanded_arcs_ = 0;
    step_ = Step::light;
    begun_ = received_ = false;
    for (Traffic& pair : traffic_) pair.items = pair.messages = pair.bytes = 0;
    barrier_.emplace(team_.size());
    team_.run([this](pe_t pe, int thread) { work(pe, thread); });
    report.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    tell(report);
  }

  SsspWords words() const override {
    SsspWords words{sizeof(Word) == 8, {}};
    for (const CsrView& rows : graph_.out) words.pes.push_back(distance_.data() + rows.first);
    return words;
  }

 private:
  /// What one thread has, on lines of its own.
  struct alignas(kCacheLine) Thread {
    Buckets<Word> buckets;
    std::vector<Entry<Word>> now;                  // of the current bucket, being worked off by any thread of the PE
    std::vector<Entry<Word>> own;                  // likewise, by this thread alone
    std::vector<vertex_t> settled;                 // left the current bucket, still with heavy arcs to relax
    std::vector<std::vector<Entry<Word>>> outbox;  // [n_pes] to be judged by their owner
    std::int64_t heavy_arcs = 0;                   // of `settled`
    std::int64_t row_arcs = 0;                     // of all rows first expanded by this thread
    std::int64_t run = 0, stale = 0, pushed = 0;
    PaddedWord<std::int64_t, Scope::device> taken;  // of `now` or `settled`, by whichever threads work through them
  };

  std::pair<std::int64_t, std::int64_t> share(pe_t pe, int thread) const {
    const std::int64_t first = graph_.out[pe].first, n = graph_.out[pe].count, t = team_.threads_per_pe();
    return {first + n * thread / t, first + n * (thread + 1) / t};
  }
  Thread& thread_of(pe_t pe, int thread) { return threads_[pe * team_.threads_per_pe() + thread]; }
  std::int64_t bucket_of(Word distance) const {
    return static_cast<std::int64_t>(Math::value(distance) * (1 / delta_));
  }

  void work(pe_t pe, int thread) {
    Thread& me = thread_of(pe, thread);
    try {
      init(pe, thread);
      if (!barrier_->arrive_and_wait([this] { decide(); })) return;
      while (step_ != Step::done) {
        if (received_) {
          receive(pe, thread, me);
        } else if (step_ == Step::light) {
          expand_light(pe, thread, me);
        } else if (step_ == Step::heavy) {
          expand_heavy(pe, thread, me);
        } else {
          pull(pe, me);
        }
        if (!barrier_->arrive_and_wait([this] { decide(); })) return;
      }
    } catch (...) {
      barrier_->cancel();
      throw;
    }
  }

  // ---- steps: run by all threads, between two barriers --------------------------------------------------------------

  void init(pe_t pe, int thread) {
    Thread& me = thread_of(pe, thread);
    const auto [begin, end] = share(pe, thread);
    std::fill(distance_.data() + begin, distance_.data() + end, kUnreachedWord);
    me.buckets.clear();
    me.now.clear();
    me.settled.clear();
    for (auto& box : me.outbox) box.clear();
    me.heavy_arcs = me.row_arcs = me.run = me.stale = me.pushed = 0;
    if (source_ >= begin && source_ < end) {
      distance_[source_] = 0;
      me.buckets.add(0, 0, {source_, 0});
    }
  }

  /// Offers distances along arcs to their far ends. Entries never go below floor_: a vertex may wait in a later bucket than
  /// its own (when rounding says so), which costs time but no exactness.
  template <bool kManyPes>
  void relax(const CsrView& mine, Thread& me, Word from, const Arc* first, const Arc* last) {
    Word* const distance = distance_.data();
    for (const Arc* arc = first; arc != last; ++arc) {
      const Word offer = Math::add(from, arc->weight);
      if (load(distance[arc->target]) <= offer) continue;
      if (kManyPes && !mine.owns(arc->target)) {
        me.outbox[graph_.partition.owner(arc->target)].push_back({arc->target, offer});
      } else {
        judge(me, {arc->target, offer});
      }
    }
  }
  void relax(const CsrView& mine, Thread& me, Word from, const Arc* first, const Arc* last) {
    graph_.n_pes() > 1 ? relax<true>(mine, me, from, first, last) : relax<false>(mine, me, from, first, last);
  }
  void judge(Thread& me, Entry<Word> entry) {
    if (fetch_min(distance_[entry.v], entry.distance) <= entry.distance) return;
    ++me.pushed;
    me.buckets.add(std::max(bucket_of(entry.distance), floor_), floor_, entry);
  }

  void run_entries(const CsrView& mine, Thread& me, const Entry<Word>* first, const Entry<Word>* last) {
    // Far ahead the row's place, nearer the row: both are in memory, and each lies where the one before says.
    constexpr std::ptrdiff_t kRowAhead = 6, kPlaceAhead = 12;
    for (const Entry<Word>* entry = first; entry != last; ++entry) {
      if (last - entry > kPlaceAhead) {
        __builtin_prefetch(rows_.place(entry[kPlaceAhead].v));
        __builtin_prefetch(&distance_[entry[kPlaceAhead].v]);
      }
      if (last - entry > kRowAhead) __builtin_prefetch(rows_.begin(entry[kRowAhead].v));
      const vertex_t v = entry->v;
      if (load(distance_[v]) != entry->distance) {
        ++me.stale;
        continue;
      }
      ++me.run;
      const Arc* end = rows_.end(v);
      if (rows_.has_heavy()) {
        const std::uint32_t before = load(expanded_[v]);
        if (before < first_turn_) {  // two threads at once is harmless: its heavy arcs are relaxed twice
          store(expanded_[v], turn_);
          me.settled.push_back(v);
          me.heavy_arcs += end - rows_.heavy(v);
          me.row_arcs += end - rows_.begin(v);
        }
        // Nearer although its bucket was over, by rounding: then all arcs at once.
        if (before < first_turn_ || before == turn_) end = rows_.heavy(v);
      }
      relax(mine, me, entry->distance, rows_.begin(v), end);
    }
  }

  void expand_light(pe_t pe, int thread, Thread& me) {
    const CsrView& mine = graph_.out[pe];
    for (int i = 0; i < team_.threads_per_pe(); ++i) {  // first what this thread found, then what others have left
      Thread& from = thread_of(pe, (thread + i) % team_.threads_per_pe());
      const auto size = static_cast<std::int64_t>(from.now.size());
      while (from.taken.load() < size) {
        const std::int64_t begin = from.taken.fetch_add(kChunk);
        if (begin >= size) break;
        run_entries(mine, me, from.now.data() + begin, from.now.data() + std::min(begin + kChunk, size));
      }
    }
    for (;;) {
      auto& bucket = me.buckets[current_];
      if (bucket.empty() || static_cast<std::int64_t>(bucket.size()) > kGoOnAlone) break;
      me.own.swap(bucket);
      bucket.clear();
      run_entries(mine, me, me.own.data(), me.own.data() + me.own.size());
    }
  }

  void expand_heavy(pe_t pe, int thread, Thread& me) {
    const CsrView& mine = graph_.out[pe];
    for (int i = 0; i < team_.threads_per_pe(); ++i) {
      Thread& from = thread_of(pe, (thread + i) % team_.threads_per_pe());
      const auto size = static_cast<std::int64_t>(from.settled.size());
      while (from.taken.load() < size) {
        const std::int64_t begin = from.taken.fetch_add(kChunk);
        for (std::int64_t k = begin; k < std::min(begin + kChunk, size); ++k) {
          const vertex_t v = from.settled[k];
          if (k + 4 < size) __builtin_prefetch(rows_.heavy(from.settled[k + 4]));
          relax(mine, me, load(distance_[v]), rows_.heavy(v), rows_.end(v));
        }
      }
    }
  }

  /// Instead of heavy arcs out of the vertices that just became final, those into all that are not: in a symmetric graph
  /// these are in their own rows. Whoever can offer something new is in the current bucket or a later one, so no nearer
  /// than `least`; a vertex need not look beyond the weight with which even that would be too far.
  void pull(pe_t pe, Thread& me) {
    const std::int64_t first = graph_.out[pe].first, last = first + graph_.out[pe].count;
    const Word least = least_distance();
    for (;;) {
      const std::int64_t begin = first + pulled_[pe].fetch_add(kPullChunk);
      if (begin >= last) break;
      for (std::int64_t i = begin; i < std::min(begin + kPullChunk, last); ++i) {
        const auto v = static_cast<vertex_t>(i);
        if (expanded_[v] >= first_turn_) continue;
        const Word before = distance_[v];
        Word best = before;
        const Arc* const end = rows_.end(v);
        for (const Arc* arc = rows_.heavy(v); arc != end && Math::add(least, arc->weight) < best; ++arc) {
          const Word near = load(distance_[arc->target]);
          if (near != kUnreachedWord) best = std::min(best, Math::add(near, arc->weight));
        }
        if (best == before) continue;
        store(distance_[v], best);  // no other thread writes it during this step
        ++me.pushed;
        me.buckets.add(std::max(bucket_of(best), floor_), floor_, {v, best});
      }
    }
  }

  void receive(pe_t pe, int thread, Thread& me) {
    for (pe_t from = 0; from < team_.n_pes(); ++from) {
      for (int t = 0; t < team_.threads_per_pe(); ++t) {
        const auto& box = thread_of(from, t).outbox[pe];
        const auto size = static_cast<std::int64_t>(box.size());
        const std::int64_t begin = size * thread / team_.threads_per_pe();
        const std::int64_t end = size * (thread + 1) / team_.threads_per_pe();
        for (std::int64_t k = begin; k < end; ++k) judge(me, box[k]);
      }
    }
  }

  // ---- the plan: by the last thread at the barrier -------------------------------------------------------------------

  void decide() {
    if (!begun_) {
      begun_ = true;
      begin_round();
      return;
    }
    if (received_) {
      for (Thread& thread : threads_) {
        for (auto& box : thread.outbox) box.clear();
      }
      received_ = false;
    } else if (graph_.n_pes() > 1 && count_posted() > 0) {
      received_ = true;
      return;
    }
    if (step_ == Step::light) {
      for (Thread& thread : threads_) {
        if (!thread.buckets[current_].empty()) {
          begin_round();
          return;
        }
      }
      if (begin_heavy()) return;
    } else {
      for (Thread& thread : threads_) {
        thread.settled.clear();
        thread.heavy_arcs = 0;
      }
    }
    begin_bucket();
  }

  void begin_round() {
    step_ = Step::light;
    ++rounds_;
    for (Thread& thread : threads_) {
      thread.now.clear();
      thread.now.swap(thread.buckets[current_]);
      thread.taken.store(0);
    }
  }

  bool begin_heavy() {
    std::int64_t vertices = 0, arcs = 0;
    for (Thread& thread : threads_) {
      vertices += static_cast<std::int64_t>(thread.settled.size());
      arcs += thread.heavy_arcs;
      expanded_arcs_ += std::exchange(thread.row_arcs, 0);
      thread.taken.store(0);
    }
    if (vertices == 0) return false;
    floor_ = current_ + 1;
    const bool from_far_side =
        graph_.symmetric && arcs > graph_.num_vertices / 4 && pull_cost() < static_cast<double>(arcs);
    step_ = from_far_side ? Step::pull : Step::heavy;
    ++rounds_;
    pulls_ += from_far_side;
    for (auto& word : pulled_) word.store(0);
    return true;
  }

  void begin_bucket() {
    std::int64_t next = Buckets<Word>::kNone;
    for (Thread& thread : threads_) next = std::min(next, thread.buckets.first(current_));
    if (next == Buckets<Word>::kNone) {
      step_ = Step::done;
      return;
    }
    current_ = floor_ = next;
    ++turn_;
    for (Thread& thread : threads_) {
      if (!thread.buckets.far_reached(current_)) continue;
      thread.buckets.spread_far(current_, [&](const Entry<Word>& entry) {
        return distance_[entry.v] < entry.distance ? Buckets<Word>::kNone : std::max(bucket_of(entry.distance), floor_);
      });
    }
    begin_round();
  }

  /// No distance in the current bucket or a later one is below this.
  Word least_distance() const {
    const double begin = static_cast<double>(current_) * delta_;
    return Math::at_most(std::max(0.0, begin * (1 - 1e-9) - 1e-9));
  }

  /// About how many arcs a pull looks at, from a sample; a vertex costs about as much as two.
  double pull_cost() const {
    const Word least = least_distance();
    const std::int64_t n = graph_.num_vertices, step = std::max<std::int64_t>(n / kSamples, 1);
    std::int64_t arcs = 0, seen = 0, of_rows = 0;
    for (std::int64_t i = step / 2; i < n; i += step) {
      const auto v = static_cast<vertex_t>(i);
      ++seen;
      if (expanded_[v] >= first_turn_) continue;
      const Word far = distance_[v];
      of_rows += rows_.end(v) - rows_.begin(v);
      arcs += std::partition_point(rows_.heavy(v), rows_.end(v),
                                   [&](const Arc& arc) { return Math::add(least, arc.weight) < far; }) -
              rows_.heavy(v);
    }
    if (of_rows == 0) return 0;
    const double share = static_cast<double>(arcs) / static_cast<double>(of_rows);
    return share * static_cast<double>(graph_.num_arcs - expanded_arcs_) + 2.0 * static_cast<double>(n);
  }

  std::int64_t count_posted() {
    std::int64_t all = 0;
    for (std::size_t t = 0; t < threads_.size(); ++t) {
      for (pe_t to = 0; to < graph_.n_pes(); ++to) {
        const auto posted = static_cast<std::int64_t>(threads_[t].outbox[to].size());
        Traffic& pair = traffic_[t / team_.threads_per_pe() * graph_.n_pes() + to];
        pair.items += posted;
        pair.messages += posted > 0;
        pair.bytes += posted * static_cast<std::int64_t>(sizeof(Entry<Word>));
        all += posted;
      }
    }
    return all;
  }

  void tell(Report& report) const {
    report.rounds += rounds_;
    char text[32];
    std::snprintf(text, sizeof text, "%g", delta_);
    report.chosen.emplace_back("delta", std::string(text) + ": width of a bucket");
    for (const Thread& thread : threads_) {
      report.run += thread.run;
      report.stale += thread.stale;
      report.accepted += thread.pushed;
    }
    for (const Traffic& pair : traffic_) {
      if (pair.messages > 0) report.traffic.push_back(pair);
    }
    if (rows_.has_heavy()) {
      report.chosen.emplace_back("direction",
                                 std::to_string(pulls_) + " of " + std::to_string(rounds_) +
                                     " rounds looked at heavy arcs from the far side, where that was less");
    }
  }

  const PlacedGraph& graph_;
  ThreadTeam& team_;
  double delta_;
  Rows<Math> rows_;
  HostArray<Word> distance_;           // [n] by placed number: each PE's part is a contiguous slice of it
  HostArray<std::uint32_t> expanded_;  // [n] the turn in which a vertex was first expanded; below first_turn_: not yet
  std::deque<Thread> threads_;
  std::deque<PaddedWord<std::int64_t, Scope::device>> pulled_;  // [n_pes] vertices handed out
  std::vector<Traffic> traffic_;                                // [from * n_pes + to]
  std::optional<SpinBarrier> barrier_;

  // The plan: written by the last thread at the barrier, read by all after it.
  Step step_ = Step::done;
  bool begun_ = false;
  bool received_ = false;  // the step's outboxes are being received
  vertex_t source_ = kNoVertex;
  std::int64_t current_ = 0;                 // the bucket that is worked off
  std::int64_t floor_ = 0;                   // the lowest bucket that entries may go to
  std::uint32_t turn_ = 0, first_turn_ = 1;  // buckets worked off since the engine was made; the first of this search
  std::int64_t rounds_ = 0, pulls_ = 0;
  arc_t expanded_arcs_ = 0;  // of the rows of all vertices that are final
};

}  // namespace

std::unique_ptr<SsspEngine> make_sssp_delta_cpu(const Machine& machine, const PlacedGraph& graph, double delta,
                                                bool wide) {
  const bool real = graph.weight_kind == WeightKind::float64;
  if (delta == 0) delta = default_delta(graph);
  if (!real) delta = std::max(1.0, std::round(delta));
  // The numbers of buckets have 63 bits, and 1 / delta is to be finite.
  const double longest = static_cast<double>(graph.num_vertices) * graph.max_weight;
  delta = std::max({delta, longest * 0x1p-60, 0x1p-1000});
  if (real) return std::make_unique<DeltaCpu<sssp_delta::Real>>(machine, graph, delta);
  if (wide) return std::make_unique<DeltaCpu<sssp_delta::Wide>>(machine, graph, delta);
  return std::make_unique<DeltaCpu<sssp_delta::Narrow>>(machine, graph, delta);
}

}  // namespace shoal
