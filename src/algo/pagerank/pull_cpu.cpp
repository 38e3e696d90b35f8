// PageRank by sweeps on CPU threads: how chunks of rows are handed out, and the decisions between two sweeps.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>
#include <vector>

#include "algo/bfs/levels_parts.hpp"
#include "engines.hpp"
#include "pull_cpu_state.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "short_rows.hpp"

namespace shoal {

using namespace pagerank_pull;

namespace {

constexpr std::int64_t kRowCost = 4;            // a row costs as much as this many arcs
constexpr std::int64_t kChunkCost = 1 << 16;    // cost of a chunk, which a thread takes at once
constexpr std::int64_t kShortMean = 8;          // mean arcs of a row; below it, many lead to rows swept just before
constexpr std::int64_t kLeastByLine = 1 << 14;  // vertices; below this, vertices of a cache line may be neighbours
// Rows prefetch for later entries (sweep_cpu.cpp) if the contributions of all vertices take at least this many bytes: more than
// second-level caches hold. If no row is much longer than others, branches are predicted correctly, and prefetching pays only from
// a larger size on.
constexpr std::size_t kAheadBytes = 1 << 20, kAheadBytesAlike = 8 << 20;
constexpr arc_t kSkewed = 16;  // from this multiple of the mean length on, a row counts as much longer

// Where arcs have no reverse, over-relaxation is given up if two sweeps leave this many times the changes that it promises.
constexpr double kTooSlow = 2.5;

/// The first row of each chunk of rows [first, last), and the end; each chunk costs about kChunkCost.
std::vector<vertex_t> chunks_of(const CsrView& rows, vertex_t first, vertex_t last) {
  const auto cost_before = [&](std::int64_t row) { return rows.offsets[row] + row * kRowCost; };
  std::vector<vertex_t> chunks{first};
  while (chunks.back() < last) {
    const std::int64_t wanted = cost_before(chunks.back()) + kChunkCost;
    std::int64_t low = chunks.back() + 1, high = last;
    while (low < high) {  // finds the first row beyond the chunk
      const std::int64_t middle = (low + high) / 2;
      if (cost_before(middle) < wanted) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    chunks.push_back(static_cast<vertex_t>(low));
  }
  return chunks;
}

/// The factor that is right for this largest eigenvalue.
double factor_for(double eigenvalue) { return 2 / (1 + std::sqrt(1 - eigenvalue * eigenvalue)); }

/// The world if it has several processes, else null.
World* others_of(World* world) { return world != nullptr && world->n_processes() > 1 ? world : nullptr; }

Part sum_of(const std::vector<Part>& found) {
  Part all;
  for (const Part& part : found) all.add(part);
  return all;
}

}  // namespace

double pagerank_rounding(const PageRankRules& rules) {
  // A contribution is rounded once. The float64 value also covers its sums, whose rounding grows with the logarithm of a row.
  return rules.alpha / (1 - rules.alpha) * (rules.wide ? 0x1p-50 : 0x1p-24);
}

PageRankPullCpu::State::State(const PlacedGraph& g, ThreadTeam& t, const PageRankRules& r, World* world)
    : graph(g),
      team(t),
      rules(r),
      rows(g, t, others_of(world)),
      y(g.num_vertices),
      ranks(g.num_vertices),
      pes(g.n_pes()),
      parts(t.size()),
      trace("sweep", g.first_pe, g.n_pes(), t.threads_per_pe()) {
  const bool short_rows = graph.num_arcs < kShortMean * graph.num_vertices;
  const bool dependent = (short_rows && rows.near()) || graph.num_vertices < kLeastByLine;
  stores = dependent ? Stores::at_once : Stores::by_line;
  if (rules.wide) {
    share64 = shares<double>(others_of(world));
  } else {
    share32 = shares<float>(others_of(world));
  }
  struct Counts {
    arc_t arcs = 0, in_short_rows = 0;
    std::int64_t vertices = 0;
  } mine, all;
  arc_t longest = 0;
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const PageRankCpuRows& its = rows.of(p);
    const arc_t* const offsets = its.in.offsets;
    pes[p].chunks = chunks_of(its.in, 0, its.active);
    for (vertex_t i = 0; i < its.active; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
    vertex_t first_short = its.tied;
    while (first_short > 0 && offsets[first_short] - offsets[first_short - 1] <= kPageRankShortRow) --first_short;
    pes[p].again = chunks_of(its.in, first_short, its.active);
    mine.vertices += its.largest;
    mine.arcs += offsets[its.largest] - offsets[0];
    mine.in_short_rows += offsets[its.active] - offsets[first_short];
  }
  for (const Counts& its : of_processes(others_of(world), mine)) {
    all.vertices += its.vertices;
    all.arcs += its.arcs;
    all.in_short_rows += its.in_short_rows;
  }
  if (all.arcs > 0) {
    per_arc = rules.alpha * static_cast<double>(all.vertices) * uniform() / static_cast<double>(all.arcs);
  }
  const bool skewed = longest * graph.num_vertices > kSkewed * graph.num_arcs;
  const std::size_t bytes = graph.num_vertices * (rules.wide ? sizeof(double) : sizeof(float));
  looks_ahead = bytes >= (skewed ? kAheadBytes : kAheadBytesAlike);
  twice = rows.tied() && pays_to_sweep_again(all.in_short_rows, all.arcs);
}

/// Memory for contributions; with several processes, memory that all use, or into which the others can put.
template <class Share>
HostArray<Share> PageRankPullCpu::State::shares(World* world) {
  if (world == nullptr) return bfs_levels::large_array<Share>(graph.num_vertices);
  exchange =
      std::make_unique<lockstep::Exchange>(*world, graph.num_vertices * sizeof(Share), "contributions of vertices");
  std::byte* const memory = exchange->common() != nullptr ? exchange->common() : exchange->at(0);
  return HostArray<Share>(reinterpret_cast<Share*>(memory), graph.num_vertices, nullptr);
}

/// The first guess: as if nothing moved along arcs, which gives the right sum for each component without dangling vertices. In the
/// largest component of a graph: jumps, plus the rest in proportion to arcs.
template <class Share>
void PageRankPullCpu::State::begin(pe_t pe, int thread, Share* share) {
  const PageRankCpuRows& mine = rows.of(pe);
  const std::int64_t n = mine.in.count, threads = team.threads_per_pe();
  Part& part = parts[pe * team.threads_per_pe() + thread];
  part = {};
  for (std::int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) {
    const vertex_t v = mine.in.first + static_cast<vertex_t>(i);
    const double degree = mine.degree[i];
    const double jump = jumps_to(mine, static_cast<vertex_t>(i));
    if (i < mine.largest && personal == nullptr) {
      y[v] = (1 - rules.alpha) * jump + per_arc * static_cast<double>(mine.in.offsets[i + 1] - mine.in.offsets[i]);
      part.sum[1] += degree > 0 ? 0 : y[v];
    } else {
      y[v] = jump * (degree > 0 ? 1 : 1 - rules.alpha);
    }
    share[v] = static_cast<Share>(degree > 0 ? y[v] / degree : 0);
    if (i < mine.tied) part.sum[0] += jump;
    if (i >= mine.active) part.dangling += y[v];
  }
}

/// Called by the last thread that has finished begin(). @return false: another process has left the run
bool PageRankPullCpu::State::begin_together() {
  Part all = sum_of(parts);
  if (!add_processes(all)) return false;
  tied = rows.tied() && all.sum[0] >= kPageRankLeastTied ? all.sum[0] : 0;
  still = all.dangling;
  if (!graph.symmetric) c[0] = c[1] = 1 - rules.alpha + rules.alpha * all.sum[1];
  return true;
}

/// Replaces this process's sums by those of all. @return false: another process has left the run
bool PageRankPullCpu::State::add_processes(Part& all) {
  if (!exchange) return true;
  std::vector<Part> of_processes;
  if (!exchange->meet(all, of_processes)) return false;
  all = sum_of(of_processes);
  return true;
}

/// Puts this thread's share of the contributions of a PE's rows [first, last) into another process.
template <class Share>
void PageRankPullCpu::State::put_share(pe_t pe, int thread, std::int64_t first, std::int64_t last, int process) {
  const std::int64_t n = last - first, threads = team.threads_per_pe();
  const std::int64_t begin = first + n * thread / threads, end = first + n * (thread + 1) / threads;
  const std::size_t at = (graph.out[pe].first + begin) * sizeof(Share);
  exchange->put(process, at, exchange->at(at), (end - begin) * sizeof(Share));
}

/// Sweeps some chunks of rows of a PE, and puts what they give into far processes.
/// @param meets  called by the last thread that has swept: meets the other processes. @return false: one has left the run
/// @return false: the run is over
template <class Share, class Meets>
bool PageRankPullCpu::State::sweep_chunks(pe_t pe, int thread, const std::vector<vertex_t>& chunks, std::int64_t begin,
                                          std::int64_t end, Share* share, Part& part, Meets meets) {
  auto& taken = pes[pe].taken;
  trace.time(pe, thread, [&] {
    for (std::int64_t chunk; (chunk = begin + taken.fetch_add(1)) < end && !barrier->cancelled();) {
      sweep(pe, chunks[chunk], chunks[chunk + 1], share, part);
    }
  });
  const auto all_have_swept = [&] {
    for (auto& one : pes) one.taken.store(0);
    if (!meets()) barrier->cancel();
  };
  if (!barrier->arrive_and_wait(all_have_swept) || done) return false;
  if (!some_far()) return true;
  for (const int process : exchange->far()) put_share<Share>(pe, thread, chunks[begin], chunks[end], process);
  return meet();
}

/// A part of a sweep, or all of it. @return false: the run is over
template <class Share>
bool PageRankPullCpu::State::sweep_part(pe_t pe, int thread, int number, Share* share) {
  const PeState& mine = pes[pe];
  return sweep_chunks(pe, thread, mine.chunks, mine.chunks_until(number, sweep_parts()),
                      mine.chunks_until(number + 1, sweep_parts()), share, parts[pe * team.threads_per_pe() + thread],
                      [&] { return number + 1 == sweep_parts() ? decide() : exchange->meet(); });
}

/// Before a sweep, sweeps the short rows of the largest component, and all rows of the others: these are many vertices with few
/// arcs, and settle last. All threads have finished this when the sweep begins, so that whatever the sweep reads has changed at
/// most once since. @return false: the run is over
template <class Share>
bool PageRankPullCpu::State::sweep_again(pe_t pe, int thread, Share* share) {
  Part unused;
  const std::vector<vertex_t>& chunks = pes[pe].again;
  return sweep_chunks(pe, thread, chunks, 0, static_cast<std::int64_t>(chunks.size() - 1), share, unused,
                      [&] { return !exchange || exchange->meet(); });
}

/// Called by all threads, of all processes, after begin(). @return false: the run is over
bool PageRankPullCpu::State::begun() {
  return barrier->arrive_and_wait([&] {
    if (!begin_together()) barrier->cancel();
  });
}

/// A meeting of all threads of all processes. @return false: the run is over
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
    if (!begun()) return;
    while (!done) {
      if (twice && sweeps > 0 && !sweep_again(pe, thread, share)) return;
      parts[pe * team.threads_per_pe() + thread] = {};
      for (int i = 0; i < sweep_parts(); ++i) {
        if (!sweep_part(pe, thread, i, share)) break;
      }
      if (barrier->cancelled()) return;
    }
    finish(pe, thread);
  } catch (...) {
    barrier->cancel();
    if (exchange) exchange->leave();
    throw;
  }
}

/// Writes the ranks in placed order, with sum 1.
void PageRankPullCpu::State::finish(pe_t pe, int thread) {
  const PageRankCpuRows& mine = rows.of(pe);
  double* const to = ranks.data();
  const double in_largest = scale / sum, elsewhere = 1 / sum;
  const std::int64_t n = mine.in.count, threads = team.threads_per_pe();
  for (std::int64_t i = n * thread / threads; i < n * (thread + 1) / threads; ++i) {
    const auto row = static_cast<vertex_t>(i);
    to[mine.placed(row)] = y[mine.in.first + row] * (row < mine.tied ? in_largest : elsewhere);
  }
}

/// Called after each sweep by the last thread to finish it. @return false: another process has left the run
bool PageRankPullCpu::State::decide() {
  Part all = sum_of(parts);
  if (!add_processes(all)) return false;
  for (pe_t from = 0; trace.on() && from < graph.n_pes(); ++from) {
    const std::int64_t bytes =
        graph.out[from].count * static_cast<std::int64_t>(rules.wide ? sizeof(double) : sizeof(float));
    for (pe_t to = 0; to < graph.n_pes(); ++to) trace.gives(from, to, "shares", bytes);
  }
  trace.step_ends(nullptr);
  ++sweeps;
  const double jump = 1 - rules.alpha, wrong = std::abs(1 / omega - 1) + rules.alpha;
  double residual = 0;
  if (tied > 0) {  // after multiplication by `scale`, these ranks are for a c of 1 - alpha, like all others
    const double next = jump * all.sum[0] / tied;
    scale = jump / next;
    residual = scale * std::abs(next - c[0]) * tied;
    c[0] = next;
  }
  const double change = scale * all.change[0] + all.change[1], dangling = all.dangling + still;
  sum = scale * all.sum[0] + all.sum[1] + still;
  const double next_c = jump * sum + rules.alpha * dangling;
  residual += wrong * change + std::abs(next_c - c[1]);
  bound = sum > 0 ? residual / sum / jump + pagerank_rounding(rules) : std::numeric_limits<double>::infinity();
  if (!rows.tied()) c[0] = c[1] = next_c;
  done = bound <= rules.tolerance || sweeps >= limit;
  plan_factor(change / omega);
  return true;
}

/// Computes the over-relaxation factor from the rate at which residuals shrink, by Young's relation between the rate, the factor in
/// use and the largest eigenvalue. Early rates are too small, so the factor grows.
void PageRankPullCpu::State::plan_factor(double residual) {
  const double rate = last_residual > 0 ? residual / last_residual : 0;
  const double rate_of_two = residual_before > 0 ? residual / residual_before : 0;
  residual_before = last_residual;
  last_residual = residual;
  if (!relax || sweeps < 3) return;
  ++sweeps_with_factor;
  // What two sweeps leave of the changes: without over-relaxation at most, and with it by the relation.
  const double without = std::max(rules.alpha, 0.5) * std::max(rules.alpha, 0.5);
  const double promised = (omega - 1) * (omega - 1);
  const bool settled = omega >= factor_for(rules.alpha) && sweeps_with_factor > 2;
  const bool does_not_hold = omega > 1 && rate_of_two > without;  // Young's relation
  // Where arcs have no reverse, eigenvalues may be complex, and the largest factor may slow down what it should speed up.
  const bool slows_down = omega > 1 && !graph.symmetric && settled && rate_of_two > kTooSlow * promised;
  if (does_not_hold || slows_down) {
    relax = does_not_hold && stores == Stores::by_line;  // try once more, if that may be the reason
    stores = Stores::at_once;                            // more rows read the value in the same sweep
    omega = 1;
    last_residual = residual_before = 0;
    return;
  }
  if (rate <= omega - 1) return;  // the relation holds for factors that are too small
  const double factor = factor_for(std::min((rate + omega - 1) / (omega * std::sqrt(rate)), rules.alpha));
  if (factor <= omega) return;
  omega = factor;
  sweeps_with_factor = 0;
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
  s.c[0] = s.c[1] = 1 - alpha;
  s.omega = s.scale = s.sum = 1;
  s.last_residual = s.residual_before = s.bound = s.tied = s.still = 0;
  s.sweeps = s.sweeps_with_factor = 0;
  // Each sweep of Gauss-Seidel shrinks the error at least by a factor of alpha; the limit is twice that many sweeps, because the
  // sum of a graph may not be scaled yet.
  s.limit =
      50 +
      (alpha > 0 ? static_cast<std::int64_t>(2 * std::log(s.rules.tolerance * (1 - alpha) / 8) / std::log(alpha)) : 0);
  s.relax = !s.some_far();
  s.done = s.graph.num_vertices == 0;
  s.barrier.emplace(s.team.size());
  for (auto& pe : s.pes) pe.taken.store(0);
  lockstep::run_together(s.exchange.get(), report, [&s](Report& mine) { s.rank(mine); });
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
    throw DeviceError("PageRank did not converge: after " + std::to_string(sweeps) + " sweeps the error may be " +
                      rough(bound) + ", but " + exact(rules.tolerance) + " was asked for");
  }
  report.chosen.push_back({"sweep", "in place; last factor " + rough(omega),
                           some_far() ? "no over-relaxation: the processes share no memory"
                           : relax    ? "from how fast the changes shrink"
                                      : "no over-relaxation: the changes did not shrink"});
}

Words PageRankPullCpu::words() const {
  return Words::of(state_->graph, [this](pe_t pe) { return state_->ranks.data() + state_->graph.out[pe].first; });
}

std::unique_ptr<PageRankEngine> make_pagerank_pull_cpu(const Machine& machine, const PlacedGraph& graph,
                                                       const PageRankPlan& plan) {
  return std::make_unique<PageRankPullCpu>(graph, machine.team(), plan.rules, machine.world());
}

}  // namespace shoal
