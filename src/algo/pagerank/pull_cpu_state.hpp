// PageRank by sweeps on CPU threads: the state that the threads share. Sweeps of rows are in sweep_cpu.cpp, the decisions between
// sweeps in pull_cpu.cpp.
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

inline constexpr int kParts = 4;  // parts of a sweep; after each, changes are sent to far processes

/// The findings of one thread in a sweep, on cache lines of its own: in the largest component, and elsewhere.
struct alignas(kCacheLine) Part {
  double change[2] = {}, sum[2] = {}, dangling = 0;
  void add(const Part& other) {
    for (int k = 0; k < 2; ++k) change[k] += other.change[k], sum[k] += other.sum[k];
    dangling += other.dangling;
  }
};

struct alignas(kCacheLine) PeState {
  std::vector<vertex_t> chunks;                   // first row of each chunk, and the end
  std::vector<vertex_t> again;                    // the same for chunks of short rows
  PaddedWord<std::int64_t, Scope::device> taken;  // chunks handed out in this sweep

  /// How many chunks are done when `part` of `parts` of a sweep is done.
  std::int64_t chunks_until(int part, int parts) const {
    return static_cast<std::int64_t>(chunks.size() - 1) * part / parts;
  }
};

/// When the contributions of rows are stored.
enum class Stores {
  at_once,  ///< at once; if short rows lead to near ones, over-relaxation of two old values may not shrink
  by_line,  ///< all of a cache line together: others read the line, and each store takes it away from them
};

}  // namespace pagerank_pull

struct PageRankPullCpu::State {
  const PlacedGraph& graph;
  ThreadTeam& team;
  PageRankRules rules;
  PageRankRowsCpu rows;
  HostArray<double> y;      // [n] by place (rows_cpu.hpp): each PE's part is a contiguous slice
  HostArray<double> ranks;  // [n] by placed number
  HostArray<float> share32;
  HostArray<double> share64;                     // [n] y over out-degree, in one of the two; 0 for dangling vertices
  std::unique_ptr<lockstep::Exchange> exchange;  // holds that array; null: there is one process
  std::deque<pagerank_pull::PeState> pes;
  std::vector<pagerank_pull::Part> parts;
  std::optional<SpinBarrier> barrier;
  lockstep::StepTrace trace;
  pagerank_pull::Stores stores = pagerank_pull::Stores::at_once;
  bool twice = false;
  bool looks_ahead = false;  // whether rows prefetch the contributions for later entries
  double per_arc = 0;        // what moves along arcs in the largest component, per arc

  // The last thread at the barrier writes these, all read them afterwards.
  const double* personal = nullptr;
  double c[2] = {};  // in the largest component, and elsewhere; equal if the graph is not tied
  double omega = 1, last_residual = 0, residual_before = 0;
  double tied = 0;   // sum of p in the largest component; 0: it has no c of its own
  double still = 0;  // sum of the ranks of rows without arcs
  double scale = 1, sum = 1, bound = 0;
  std::int64_t sweeps = 0, limit = 0;
  std::int64_t sweeps_with_factor = 0;  // since omega changed
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
  template <class Share, class Meets>
  bool sweep_chunks(pe_t pe, int thread, const std::vector<vertex_t>& chunks, std::int64_t begin, std::int64_t end,
                    Share* share, pagerank_pull::Part& part, Meets meets);
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
  bool begin_together();
  bool add_processes(pagerank_pull::Part& all);
  template <class Share>
  void sweep(pe_t pe, vertex_t first, vertex_t last, Share* share, pagerank_pull::Part& part);
  template <pagerank_pull::Stores kStores, class Share>
  void sweep_alike(pe_t pe, vertex_t first, vertex_t last, int group, Share* share, pagerank_pull::Part& part);
  void finish(pe_t pe, int thread);
  bool decide();
  void plan_factor(double residual);
};

}  // namespace shoal
