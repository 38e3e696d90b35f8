// Delta-stepping on CPU threads. Vertices wait in buckets that are delta wide in distance. The threads process the first bucket:
// they relax the light arcs (weight below delta) of its vertices, which may bring vertices into the same bucket, until it is empty.
// The vertices that were in it are then final, and their heavy arcs are relaxed once.
//
// Sources: Meyer and Sanders, Delta-stepping: a parallelizable shortest path algorithm (2003); a thread with few entries of its own
// continues without a barrier (Zhang et al., GraphIt's bucket fusion, 2020); heavy arcs are pulled by their targets where that is
// less work (Chakaravarthy et al., IPDPS 2014). Difference: rows are sorted by weight, so that a pulling vertex stops at the first
// weight that cannot help it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <optional>
#include <stop_token>

#include "delta_steps.hpp"
#include "engines.hpp"
#include "shoal/core/interrupt.hpp"

namespace shoal {
namespace {

using sssp_delta::Buckets;
using sssp_delta::Entry;
using sssp_delta::Steps;

constexpr std::int64_t kSamples = 512;  // vertices sampled to estimate the cost of pulling

enum class Step { light, heavy, pull, done };

template <class Math>
class DeltaCpu : public SsspEngine {
  using Word = typename Math::Word;
  using Arc = typename Steps<Math>::Arc;
  using Thread = typename Steps<Math>::Thread;

 public:
  DeltaCpu(const Machine& machine, const PlacedGraph& graph, double delta)
      : graph_(graph),
        team_(machine.team()),
        steps_(graph, machine.team(), delta),
        traffic_(static_cast<std::size_t>(graph.n_pes()) * graph.n_pes()) {
    for (pe_t from = 0; from < graph.n_pes(); ++from) {
      for (pe_t to = 0; to < graph.n_pes(); ++to) traffic_[from * graph.n_pes() + to] = {.from = from, .to = to};
    }
  }

  void run(vertex_t source, Report& report) override {
    const auto start = std::chrono::steady_clock::now();
    steps_.source = source;
    if (steps_.turn > std::numeric_limits<std::uint32_t>::max() / 2) {
      std::fill(steps_.expanded.begin(), steps_.expanded.end(), 0u);
      steps_.turn = 0;
    }
    steps_.first_turn = ++steps_.turn;
    steps_.current = 0;
    steps_.floor = 0;
    rounds_ = pulls_ = 0;
    expanded_arcs_ = 0;
    step_ = Step::light;
    begun_ = received_ = false;
    for (Traffic& pair : traffic_) pair.items = pair.messages = pair.bytes = 0;
    barrier_.emplace(team_.size());
    {
      const std::stop_callback when_called_off(interrupt_token(), [&] { barrier_->cancel(); });
      team_.run([this](pe_t pe, int thread) { work(pe, thread); });
    }
    throw_if_interrupted();
    report.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    tell(report);
  }

  Words words() const override {
    return Words::of(graph_, [this](pe_t pe) { return steps_.distance.data() + graph_.out[pe].first; });
  }

 private:
  void work(pe_t pe, int thread) {
    Thread& me = steps_.thread_of(pe, thread);
    try {
      steps_.init(pe, thread);
      if (!barrier_->arrive_and_wait([this] { decide(); })) return;
      while (step_ != Step::done) {
        if (received_) {
          steps_.receive(pe, thread, me);
        } else if (step_ == Step::light) {
          steps_.expand_light(pe, thread, me);
        } else if (step_ == Step::heavy) {
          steps_.expand_heavy(pe, thread, me);
        } else {
          steps_.pull(pe, me);
        }
        if (!barrier_->arrive_and_wait([this] { decide(); })) return;
      }
    } catch (...) {
      barrier_->cancel();
      throw;
    }
  }

  // ---- the plan: run by the last thread at the barrier ---------------------------------------------------------------

  void decide() {
    if (!begun_) {
      begun_ = true;
      begin_round();
      return;
    }
    if (received_) {
      for (Thread& thread : steps_.threads) {
        for (auto& box : thread.outbox) box.clear();
      }
      received_ = false;
    } else if (graph_.n_pes() > 1 && count_posted() > 0) {
      received_ = true;
      return;
    }
    if (step_ == Step::light) {
      for (Thread& thread : steps_.threads) {
        if (!thread.buckets[steps_.current].empty()) {
          begin_round();
          return;
        }
      }
      if (begin_heavy()) return;
    } else {
      for (Thread& thread : steps_.threads) {
        thread.settled.clear();
        thread.heavy_arcs = 0;
      }
    }
    begin_bucket();
  }

  void begin_round() {
    step_ = Step::light;
    ++rounds_;
    for (Thread& thread : steps_.threads) {
      thread.now.clear();
      thread.now.swap(thread.buckets[steps_.current]);
      thread.taken.store(0);
    }
  }

  bool begin_heavy() {
    std::int64_t vertices = 0, arcs = 0;
    for (Thread& thread : steps_.threads) {
      vertices += static_cast<std::int64_t>(thread.settled.size());
      arcs += thread.heavy_arcs;
      expanded_arcs_ += std::exchange(thread.row_arcs, 0);
      thread.taken.store(0);
    }
    if (vertices == 0) return false;
    steps_.floor = steps_.current + 1;
    const bool from_far_side =
        graph_.symmetric && arcs > graph_.num_vertices / 4 && pull_cost() < static_cast<double>(arcs);
    step_ = from_far_side ? Step::pull : Step::heavy;
    ++rounds_;
    pulls_ += from_far_side;
    for (auto& word : steps_.pulled) word.store(0);
    return true;
  }

  void begin_bucket() {
    std::int64_t next = Buckets<Word>::kNone;
    // Begins at the floor, which bounds the numbers of added entries: the slot of the bucket before it holds a later bucket by now.
    for (Thread& thread : steps_.threads) next = std::min(next, thread.buckets.first(steps_.floor));
    if (next == Buckets<Word>::kNone) {
      step_ = Step::done;
      return;
    }
    steps_.current = steps_.floor = next;
    ++steps_.turn;
    for (Thread& thread : steps_.threads) {
      if (!thread.buckets.far_reached(steps_.current)) continue;
      thread.buckets.spread_far(steps_.current, [&](const Entry<Word>& entry) {
        return steps_.distance[entry.v] < entry.distance ? Buckets<Word>::kNone
                                                         : std::max(steps_.bucket_of(entry.distance), steps_.floor);
      });
    }
    begin_round();
  }

  /// Estimates from a sample how many arcs a pull reads; each vertex costs about as much as two arcs.
  double pull_cost() const {
    const Word least = steps_.least_distance();
    const std::int64_t n = graph_.num_vertices, step = std::max<std::int64_t>(n / kSamples, 1);
    std::int64_t arcs = 0, of_rows = 0;
    for (std::int64_t i = step / 2; i < n; i += step) {
      const auto v = static_cast<vertex_t>(i);
      if (steps_.expanded[v] >= steps_.first_turn) continue;
      const Word far = steps_.distance[v];
      of_rows += steps_.rows.end(v) - steps_.rows.begin(v);
      arcs += std::partition_point(steps_.rows.heavy(v), steps_.rows.end(v),
                                   [&](const Arc& arc) { return Math::add(least, arc.weight) < far; }) -
              steps_.rows.heavy(v);
    }
    if (of_rows == 0) return 0;
    const double share = static_cast<double>(arcs) / static_cast<double>(of_rows);
    return share * static_cast<double>(graph_.num_arcs - expanded_arcs_) + 2.0 * static_cast<double>(n);
  }

  std::int64_t count_posted() {
    std::int64_t all = 0;
    for (std::size_t t = 0; t < steps_.threads.size(); ++t) {
      for (pe_t to = 0; to < graph_.n_pes(); ++to) {
        const auto posted = static_cast<std::int64_t>(steps_.threads[t].outbox[to].size());
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
    std::snprintf(text, sizeof text, "%g", steps_.delta);
    report.chosen.push_back({"delta", text, "width of a bucket"});
    for (const Thread& thread : steps_.threads) {
      report.run += thread.run;
      report.stale += thread.stale;
      report.accepted += thread.pushed;
    }
    for (const Traffic& pair : traffic_) {
      if (pair.messages > 0) report.traffic.push_back(pair);
    }
    if (steps_.rows.has_heavy()) {
      report.chosen.push_back({"direction",
                               std::to_string(pulls_) + " of " + std::to_string(rounds_) +
                                   " rounds looked at heavy arcs from the far side, where that was less",
                               ""});
    }
  }

  const PlacedGraph& graph_;
  ThreadTeam& team_;
  Steps<Math> steps_;
  std::vector<Traffic> traffic_;  // [from * n_pes + to]
  std::optional<SpinBarrier> barrier_;

  // The plan: the last thread at the barrier writes it, all read it afterwards.
  Step step_ = Step::done;
  bool begun_ = false;
  bool received_ = false;  // the outboxes of the last step are being received
  std::int64_t rounds_ = 0, pulls_ = 0;
  arc_t expanded_arcs_ = 0;  // number of arcs of all vertices that are final
};

}  // namespace

std::unique_ptr<SsspEngine> make_sssp_delta_cpu(const Machine& machine, const PlacedGraph& graph,
                                                const SsspPlan& plan) {
  const bool real = graph.weight_kind == WeightKind::float64;
  double delta = plan.delta > 0 ? plan.delta : default_delta(graph, machine.team().size());
  if (!real) delta = std::max(1.0, std::round(delta));
  // Bucket numbers have 63 bits, and 1 / delta must be finite.
  const double longest = static_cast<double>(graph.num_vertices) * graph.max_weight;
  delta = std::max({delta, longest * 0x1p-60, 0x1p-1000});
  if (real) return std::make_unique<DeltaCpu<sssp_delta::Real>>(machine, graph, delta);
  if (plan.wide) return std::make_unique<DeltaCpu<sssp_delta::Wide>>(machine, graph, delta);
  return std::make_unique<DeltaCpu<sssp_delta::Narrow>>(machine, graph, delta);
}

}  // namespace shoal
