#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "algo/own_vertices.hpp"
#include "engines.hpp"
#include "lockstep/exchange.hpp"
#include "lockstep/step_trace.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

constexpr std::int64_t kRowCost = 4;          // a row costs as much as so many arcs
constexpr std::int64_t kChunkCost = 1 << 16;  // what a thread takes at once
constexpr int kStreams = 2;                   // short rows that are summed in turns
constexpr int kParts = 4;                     // of a sweep, after which far processes are given what has changed

/// What one thread found in a sweep, on lines of its own.
struct alignas(kCacheLine) Part {
  double change = 0, sum = 0, dangling = 0;
};

struct alignas(kCacheLine) PeState {
  std::vector<vertex_t> chunks;                   // local rows at which chunks begin, and the end
  PaddedWord<std::int64_t, Scope::device> taken;  // chunks handed out in this sweep

  /// The chunks that are done when `part` of `parts` of a sweep is.
  std::int64_t chunks_until(int part, int parts) const {
    return static_cast<std::int64_t>(chunks.size() - 1) * part / parts;
  }
};

/// Sum of what a row's vertices give.
template <class Share>
inline double sum_row(const Share* share, const vertex_t* begin, const vertex_t* end) {
  double sum[4] = {};
  for (; end - begin >= 4; begin += 4) {
    for (int k = 0; k < 4; ++k) sum[k] += static_cast<double>(load(share[begin[k]]));
  }
  for (; begin != end; ++begin) sum[0] += static_cast<double>(load(share[*begin]));
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/// The same for short rows: up to four entries take no branch that depends on their number, since it is different in every
/// row of a road network. Entries beyond the end are read and not added.
/// @param last  the end of all targets that may be read
template <class Share>
inline double sum_short_row(const Share* share, const vertex_t* begin, const vertex_t* end, const vertex_t* last) {
  if (last - begin < 4) return sum_row(share, begin, end);
  const std::ptrdiff_t n = end - begin;
  double sum[4];
  for (int k = 0; k < 4; ++k) {
    const double x = static_cast<double>(load(share[begin[k]]));
    sum[k] = k < n ? x : 0;
  }
  const double four = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  return n <= 4 ? four : four + sum_row(share, begin + 4, end);
}

}  // namespace

double pagerank_rounding(const PageRankRules& rules) {
  // A contribution is rounded once; float64 also stands for its sums, whose rounding grows with the logarithm of a row.
  return rules.alpha / (1 - rules.alpha) * (rules.wide ? 0x1p-50 : 0x1p-24);
}

struct PageRankPullCpu::State {
  const PlacedGraph& graph;
  ThreadTeam& team;
  PageRankRules rules;
  HostArray<double> y;  // [n] by placed number: each PE's part is a contiguous slice
  HostArray<float> share32;
  HostArray<double> share64;                     // [n] y over out-degree, one of the two; 0 for dangling vertices
  std::unique_ptr<lockstep::Exchange> exchange;  // has that array; null: there is one process
  std::deque<PeState> pes;
  std::vector<Part> parts;
  std::optional<SpinBarrier> barrier;
  lockstep::StepTrace trace;
  bool short_rows = false;

  // Written by the last thread at the barrier, read by all after it.
  const double* personal = nullptr;
  double c = 1, omega = 1, last_residual = 0;
  double sum = 1, bound = 0;
  std::int64_t sweeps = 0, limit = 0;
  bool relax = false, done = false;

  State(const PlacedGraph& graph, ThreadTeam& team, const PageRankRules& rules, World* world);
  bool some_far() const { return exchange && !exchange->far().empty(); }
  int sweep_parts() const { return some_far() ? kParts : 1; }
  const std::vector<CsrView>& in() const { return graph.symmetric ? graph.out : graph.in; }
  double uniform() const { return 1.0 / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1)); }

  template <class Share>
  HostArray<Share> shares(World* world);
  void rank(Report& report);
  template <class Share>
  void work(pe_t pe, int thread, Share* share);
  template <class Share>
  bool sweep_part(pe_t pe, int thread, int number, Share* share);
  bool meet();
  template <class Share>
  void put_share(pe_t pe, int thread, std::int64_t first, std::int64_t last, int process);
  template <class Share>
  void begin(pe_t pe, int thread, Share* share);
  template <bool kShort, class Share>
  void sweep(pe_t pe, vertex_t first, vertex_t last, Share* share, Part& part);
  bool decide();
  void plan_factor(double residual);
};

PageRankPullCpu::State::State(const PlacedGraph& g, ThreadTeam& t, const PageRankRules& r, World* world)
    : graph(g),
      team(t),
      rules(r),
      y(g.num_vertices),
      pes(g.n_pes()),
      parts(t.size()),
      trace("sweep", g.first_pe, g.n_pes(), t.threads_per_pe()) {
  short_rows = graph.num_arcs < 8 * graph.num_vertices;
  if (rules.wide) {
    share64 = shares<double>(world);
  } else {
    share32 = shares<float>(world);
  }
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& rows = in()[p];
    const arc_t base = rows.count > 0 ? rows.offsets[0] : 0;
    const auto cost_before = [&](std::int64_t row) { return rows.offsets[row] - base + row * kRowCost; };
    std::vector<vertex_t>& chunks = pes[p].chunks;
    chunks.push_back(0);
    while (chunks.back() < rows.count) {
      const std::int64_t wanted = cost_before(chunks.back()) + kChunkCost;
      std::int64_t low = chunks.back() + 1, high = rows.count;
      while (low < high) {  // the first row that the chunk need not hold
        const std::int64_t middle = (low + high) / 2;
        if (cost_before(middle) < wanted) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      chunks.push_back(static_cast<vertex_t>(low));
    }
  }
}

/// Memory for what vertices give; of several processes, one that all use, or where the others can put something.
template <class Share>
HostArray<Share> PageRankPullCpu::State::shares(World* world) {
  if (world == nullptr || world->n_processes() == 1) return HostArray<Share>(graph.num_vertices);
  exchange = std::make_unique<lockstep::Exchange>(*world, graph.num_vertices * sizeof(Share), "what vertices give");
  std::byte* const memory = exchange->common() != nullptr ? exchange->common() : exchange->at(0);
  return HostArray<Share>(reinterpret_cast<Share*>(memory), graph.num_vertices, nullptr);
}

/// The first guess: as if nothing moved, which is right in sum for each component of a symmetric graph.
template <class Share>
void PageRankPullCpu::State::begin(pe_t pe, int thread, Share* share) {
  const CsrView& rows = graph.out[pe];
  const std::int64_t n = rows.count, threads = team.threads_per_pe();
  for (std::int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) {
    const std::int64_t v = rows.first + i;
    const auto degree = static_cast<double>(rows.offsets[i + 1] - rows.offsets[i]);
    y[v] = (personal != nullptr ? personal[v] : uniform()) * (degree > 0 ? 1 : 1 - rules.alpha);
    share[v] = static_cast<Share>(degree > 0 ? y[v] / degree : 0);
  }
}

template <bool kShort, class Share>
void PageRankPullCpu::State::sweep(pe_t pe, vertex_t first, vertex_t last, Share* share, Part& part) {
  const CsrView& rows = in()[pe];
  const arc_t* const out = graph.out[pe].offsets;
  const vertex_t* const end_of_targets = rows.targets + rows.offsets[rows.count];
  const double keep = 1 - omega, pull = omega * rules.alpha, jump = omega * c;
  const double everywhere = jump * uniform();
  double* const ranks = y.data();  // in registers: for all the compiler knows, the stores below change members
  const bool copies = exchange && exchange->common() == nullptr;  // that this process stores to
  std::byte* const* const near = copies ? exchange->near().data() : nullptr;
  const std::size_t n_near = copies ? exchange->near().size() : 0;
  double change = 0, sum_y = 0, dangling = 0;
  const auto one = [&](vertex_t i) {
    const vertex_t v = rows.first + i;
    const arc_t degree = out[i + 1] - out[i];
    const double inverse = degree > 0 ? 1.0 / static_cast<double>(degree) : 0;
    const double old = ranks[v];
    const double rest = keep * old + (personal != nullptr ? jump * personal[v] : everywhere);
    const vertex_t *const begin = rows.targets + rows.offsets[i], *const end = rows.targets + rows.offsets[i + 1];
    const double given = kShort ? sum_short_row(share, begin, end, end_of_targets) : sum_row(share, begin, end);
    const double now = rest + pull * given;
    const auto gives = static_cast<Share>(now * inverse);
    store(share[v], gives);
    for (std::size_t p = 0; p < n_near; ++p) store(reinterpret_cast<Share*>(near[p])[v], gives);
    ranks[v] = now;
    change += std::abs(now - old);
    sum_y += now;
    dangling += degree == 0 ? now : 0;
  };
  // Short rows wait for the result of the row before, often a neighbour: rows far apart are taken in turns.
  const vertex_t stride = kShort ? (last - first) / kStreams : 0;
  for (vertex_t i = first; i < first + stride; ++i) {
    for (int k = 0; k < kStreams; ++k) one(i + k * stride);
  }
  for (vertex_t i = first + kStreams * stride; i < last; ++i) one(i);
  part.change += change;
  part.sum += sum_y;
  part.dangling += dangling;
}

/// Of what rows [first, last) of a PE give, puts this thread's part into another process.
template <class Share>
void PageRankPullCpu::State::put_share(pe_t pe, int thread, std::int64_t first, std::int64_t last, int process) {
  const std::int64_t n = last - first, threads = team.threads_per_pe();
  const std::int64_t begin = first + n * thread / threads, end = first + n * (thread + 1) / threads;
  const std::size_t at = (graph.out[pe].first + begin) * sizeof(Share);
  exchange->put(process, at, exchange->at(at), (end - begin) * sizeof(Share));
}

/// A part of a sweep, or all of it. @return false: the run is over
template <class Share>
bool PageRankPullCpu::State::sweep_part(pe_t pe, int thread, int number, Share* share) {
  Part& part = parts[pe * team.threads_per_pe() + thread];
  PeState& mine = pes[pe];
  const std::int64_t begin = mine.chunks_until(number, sweep_parts()),
                     end = mine.chunks_until(number + 1, sweep_parts());
  trace.time(pe, thread, [&] {
    for (std::int64_t chunk; (chunk = begin + mine.taken.fetch_add(1)) < end && !barrier->cancelled();) {
      const vertex_t first = mine.chunks[chunk], last = mine.chunks[chunk + 1];
      short_rows ? sweep<true>(pe, first, last, share, part) : sweep<false>(pe, first, last, share, part);
    }
  });
  const auto all_have_swept = [&] {
    for (auto& one : pes) one.taken.store(0);
    if (!(number + 1 == sweep_parts() ? decide() : exchange->meet())) barrier->cancel();
  };
  if (!barrier->arrive_and_wait(all_have_swept) || done) return false;
  if (!some_far()) return true;
  for (const int process : exchange->far()) put_share<Share>(pe, thread, mine.chunks[begin], mine.chunks[end], process);
  return meet();
}

/// All threads, of all processes. @return false: the run is over
bool PageRankPullCpu::State::meet() {
  return barrier->arrive_and_wait([&] {
    if (exchange && !exchange->meet()) barrier->cancel();
  });
}

template <class Share>
void PageRankPullCpu::State::work(pe_t pe, int thread, Share* share) {
  try {
    begin(pe, thread, share);
    for (int p = 0; exchange && p < exchange->processes(); ++p) {
      if (p != exchange->process() && exchange->common() == nullptr)
        put_share<Share>(pe, thread, 0, graph.out[pe].count, p);
    }
    if (!meet()) return;
    while (!done) {
      parts[pe * team.threads_per_pe() + thread] = {};
      for (int i = 0; i < sweep_parts(); ++i) {
        if (!sweep_part(pe, thread, i, share)) return;
      }
    }
  } catch (...) {
    barrier->cancel();
    if (exchange) exchange->leave();
    throw;
  }
}

/// After each sweep, by the last thread to end it. @return false: another process has left the run
bool PageRankPullCpu::State::decide() {
  const auto sum_of = [](const std::vector<Part>& found) {
    Part all;
    for (const Part& part : found) {
      all.change += part.change;
      all.sum += part.sum;
      all.dangling += part.dangling;
    }
    return all;
  };
  Part all = sum_of(parts);
  if (exchange) {
    std::vector<Part> of_processes;
    if (!exchange->meet(all, of_processes)) return false;
    all = sum_of(of_processes);
  }
  for (pe_t from = 0; trace.on() && from < graph.n_pes(); ++from) {
    const std::int64_t bytes =
        graph.out[from].count * static_cast<std::int64_t>(rules.wide ? sizeof(double) : sizeof(float));
    for (pe_t to = 0; to < graph.n_pes(); ++to) trace.gives(from, to, "shares", bytes);
  }
  trace.step_ends(nullptr);
  ++sweeps;
  sum = all.sum;
  const double next_c = (1 - rules.alpha) * all.sum + rules.alpha * all.dangling;
  const double residual = (std::abs(1 / omega - 1) + rules.alpha) * all.change + std::abs(next_c - c);
  bound =
      sum > 0 ? residual / sum / (1 - rules.alpha) + pagerank_rounding(rules) : std::numeric_limits<double>::infinity();
  c = next_c;
  done = bound <= rules.tolerance || sweeps >= limit;
  plan_factor(all.change / omega);
  return true;
}

/// The factor, from the rate at which residuals shrink: Young's relation between the rate, the factor in use and the largest
/// eigenvalue. Early rates are too small, so it grows.
void PageRankPullCpu::State::plan_factor(double residual) {
  const double rate = last_residual > 0 ? residual / last_residual : 0;
  last_residual = residual;
  if (!relax || sweeps < 3 || rate <= 0) return;
  if (rate >= 1.1) {  // not what the relation is about
    relax = false;
    omega = 1;
    return;
  }
  const double eigenvalue = std::min((rate + omega - 1) / (omega * std::sqrt(rate)), rules.alpha);
  omega = std::max(omega, 2 / (1 + std::sqrt(1 - eigenvalue * eigenvalue)));
}

PageRankPullCpu::PageRankPullCpu(const PlacedGraph& graph, ThreadTeam& team, const PageRankRules& rules, World* world) {
  if (!graph.devices.empty()) {
    throw UsageError(
        "this ranking runs on CPU threads, but the graph was placed on GPUs; use --device gpu, or place it again");
  }
  if (team.n_pes() != graph.n_pes()) {
    throw UsageError("the graph was placed on " + std::to_string(graph.n_pes()) + " PEs, the team has " +
                     std::to_string(team.n_pes()) + "; both must be the same");
  }
  state_ = std::make_unique<State>(graph, team, rules, world);
}

PageRankPullCpu::~PageRankPullCpu() = default;

void PageRankPullCpu::run(const double* personal, PageRankOutcome& outcome, Report& report) {
  State& s = *state_;
  const double alpha = s.rules.alpha;
  s.personal = personal;
  s.c = 1 - alpha;
  s.omega = 1;
  s.last_residual = s.bound = 0;
  s.sweeps = 0;
  // Each sweep of Gauss-Seidel shrinks the error by alpha at least; twice that many, for the sum of a graph not yet scaled.
  s.limit =
      50 +
      (alpha > 0 ? static_cast<std::int64_t>(2 * std::log(s.rules.tolerance * (1 - alpha) / 8) / std::log(alpha)) : 0);
  s.relax = s.graph.symmetric && !s.some_far();
  s.done = s.graph.num_vertices == 0;
  s.barrier.emplace(s.team.size());
  for (auto& pe : s.pes) pe.taken.store(0);
  lockstep::run_together(s.exchange.get(), report, [&s](Report& mine) { s.rank(mine); });
  for_shares(s.team, s.graph, [&](pe_t, int, vertex_t begin, vertex_t end) {
    for (vertex_t v = begin; v < end; ++v) s.y[v] /= s.sum;
  });
  outcome = {s.bound, s.sweeps};
}

void PageRankPullCpu::State::rank(Report& report) {
  const auto begin = std::chrono::steady_clock::now();
  trace.begin_run();
  {
    const std::stop_callback when_called_off(interrupt_token(), [&] {
      barrier->cancel();
      if (exchange) exchange->leave();
    });
    team.run([&](pe_t pe, int thread) {
      if (rules.wide) {
        work(pe, thread, share64.data());
      } else {
        work(pe, thread, share32.data());
      }
    });
  }
  throw_if_interrupted();
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  report.seconds += seconds.count();
  report.rounds += sweeps;
  if (bound > rules.tolerance) {
    throw DeviceError("PageRank did not settle: after " + std::to_string(sweeps) + " sweeps the error may be " +
                      rough(bound) + ", " + exact(rules.tolerance) + " was asked for");
  }
  report.chosen.push_back({"sweep", "in place; last factor " + rough(omega),
                           !graph.symmetric ? "arcs without their reverse, no over-relaxation"
                           : some_far()     ? "processes that share no memory, no over-relaxation"
                                            : "from the rate of the changes"});
}

Words PageRankPullCpu::words() const {
  return Words::of(state_->graph, [this](pe_t pe) { return state_->y.data() + state_->graph.out[pe].first; });
}

std::unique_ptr<PageRankEngine> make_pagerank_pull_cpu(const Machine& machine, const PlacedGraph& graph,
                                                       const PageRankPlan& plan) {
  return std::make_unique<PageRankPullCpu>(graph, machine.team(), plan.rules, machine.world());
}

}  // namespace shoal
