// What PageRank by sweeps on CPU threads has: the state that its threads share. Sweeps of rows are in sweep_cpu.cpp, what is decided
// between them in pull_cpu.cpp.
#pragma once
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "lockstep/exchange.hpp"
#include "lockstep/step_trace.hpp"
#include "pull.hpp"
#include "rows_cpu.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/atomic.hpp"

namespace shoal {
namespace pagerank_pull {

inline constexpr int kParts = 4;  // of a sweep, after which far processes are given what has changed

/// What one thread found in a sweep, on lines of its own: in the largest component, and elsewhere.
struct alignas(kCacheLine) Part {
  double change[2] = {}, sum[2] = {}, dangling = 0;
  void add(const Part& other) {
    for (int k = 0; k < 2; ++k) change[k] += other.change[k], sum[k] += other.sum[k];
    dangling += other.dangling;
  }
};

struct alignas(kCacheLine) PeState {
  std::vector<vertex_t> chunks;                   // rows at which chunks begin, and the end
  std::vector<vertex_t> again;                    // the same of short rows
  PaddedWord<std::int64_t, Scope::device> taken;  // chunks handed out in this sweep

  /// The chunks that are done when `part` of `parts` of a sweep is.
  std::int64_t chunks_until(int part, int parts) const {
    return static_cast<std::int64_t>(chunks.size() - 1) * part / parts;
  }
};

/// When what a row gives is stored.
enum class Stores {
  in_turns,  ///< at once; rows far apart are taken in turns, since short rows wait for the row before, often a neighbour
  at_once,   ///< where short rows lead to near ones: over-relaxation of values that both are old may not shrink
  by_line,   ///< a cache line together: others read it, and each store to it takes it away from them
};

}  // namespace pagerank_pull

struct PageRankPullCpu::State {
  const PlacedGraph& graph;
  ThreadTeam& team;
  PageRankRules rules;
  PageRankRowsCpu rows;
  HostArray<double> y;      // [n] by place (rows_cpu.hpp): each PE's part is a contiguous slice
  HostArray<double> ranks;  // [n] by placed number; empty: y is
  HostArray<float> share32;
  HostArray<double> share64;                     // [n] y over out-degree, one of the two; 0 for dangling vertices
  std::unique_ptr<lockstep::Exchange> exchange;  // has that array; null: there is one process
  std::deque<pagerank_pull::PeState> pes;
  std::vector<pagerank_pull::Part> parts;
  std::optional<SpinBarrier> barrier;
  lockstep::StepTrace trace;
  pagerank_pull::Stores stores = pagerank_pull::Stores::at_once;
  bool twice = false;
  bool looks_ahead = false;  // what entries further on give is asked for beforehand
  double per_arc = 0;        // what moves in the largest component, spread over its arcs

  // Written by the last thread at the barrier, read by all after it.
  const double* personal = nullptr;
  double c[2] = {};  // in the largest component, and elsewhere; the same where that is not known
  double omega = 1, last_residual = 0, residual_before = 0;
  double tied = 0;   // what jumps go to the largest component; 0: it is not apart
  double still = 0;  // the sum of rows without arcs
  double scale = 1, sum = 1, bound = 0;
  std::int64_t sweeps = 0, limit = 0;
  bool relax = false, done = false;

  State(const PlacedGraph& graph, ThreadTeam& team, const PageRankRules& rules, World* world);
  bool some_far() const { return exchange && !exchange->far().empty(); }
  int sweep_parts() const { return some_far() ? pagerank_pull::kParts : 1; }
  double uniform() const { return 1.0 / static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1)); }
  double jumps_to(const PageRankCpuRows& rows, vertex_t row) const {
    return personal != nullptr ? personal[rows.placed(row)] : uniform();
  }

  template <class Share>
  HostArray<Share> shares(World* world);
  void rank(Report& report);
  template <class Share>
  void work(pe_t pe, int thread, Share* share);
  template <class Share>
  bool sweep_part(pe_t pe, int thread, int number, Share* share);
  template <class Share>
  bool sweep_again(pe_t pe, int thread, Share* share);
  bool begun();
  bool meet();
  template <class Share>
  void put_share(pe_t pe, int thread, std::int64_t first, std::int64_t last, int process);
  template <class Share>
  void begin(pe_t pe, int thread, Share* share);
  void begin_together();
  template <class Share>
  void sweep(pe_t pe, vertex_t first, vertex_t last, Share* share, pagerank_pull::Part& part);
  template <pagerank_pull::Stores kStores, class Share>
  void sweep_alike(pe_t pe, vertex_t first, vertex_t last, int group, Share* share, pagerank_pull::Part& part);
  void finish(pe_t pe, int thread);
  bool decide();
  void plan_factor(double residual);
};

}  // namespace shoal
