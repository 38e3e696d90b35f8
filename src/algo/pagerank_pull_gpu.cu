// Sweeps on GPUs: memory, launches, and what came of them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "pagerank_engines.hpp"
#include "shoal/algo/pagerank_readers.cuh"
#include "shoal/algo/pagerank_sweep.cuh"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/error.hpp"
#include "shoal/runtime/lockstep_team.cuh"

namespace shoal {
namespace {

using namespace pagerank_gpu;

double as_double(std::uint64_t bits) {
  double x;
  static_assert(sizeof x == sizeof bits);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", x);
  return text;
}

/// @tparam Share  what contributions are kept in: float or double
template <class Share>
class PullGpu : public PageRankEngine {
 public:
  PullGpu(const PlacedGraph& graph, const PageRankRules& rules)
      : graph_(graph), team_(graph.devices, "PageRank"), rows_(graph), readers_(graph, rows_), pes_(graph.n_pes()) {
    const double n = static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
    const double mean = static_cast<double>(graph.num_arcs) / n;
    rules_.alpha = rules.alpha;
    rules_.tolerance = rules.tolerance;
    rules_.rounding = pagerank_rounding(rules);
    rules_.fixed_c = graph.symmetric;
    // Random graphs of degree d have their eigenvalues within 2 / sqrt(d), save one; where rows are short, nothing is known.
    rules_.rho = !graph.symmetric ? 0 : mean >= 8 ? 0.47 * rules.alpha : rules.alpha;
    by_degree_ = graph.symmetric && !rows_.sorted() && graph.num_arcs > 0;
    // Twice what the slowest eigenvalue needs.
    rules_.most_sweeps =
        50 + (rules.alpha > 0
                  ? static_cast<u32>(2 * std::log(rules.tolerance * (1 - rules.alpha) / 8) / std::log(rules.alpha))
                  : 0);
    for (pe_t p = 0; p < graph.n_pes(); ++p) set_up(p);
    for (Pe& pe : pes_) {
      for (pe_t q = 0; q < graph.n_pes(); ++q) {
        for (int i = 0; i < 2; ++i) pe.view.peer_share[i][q] = pes_[q].share[i].data();
      }
    }
    blocks_ = team_.prepare(kernel(), kThreads, 0, kBlocksPerSm);
  }

  PageRankOutcome rank(const double* personal, Report& report) override {
    if (graph_.num_vertices == 0) return {};
    if (rules_.alpha == 0) return jump_alone(personal);
    Rules rules = rules_;
    rules.per_arc = by_degree_ && personal == nullptr ? rules.alpha / static_cast<double>(graph_.num_arcs) : 0;
    std::vector<std::vector<void*>> params(pes_.size());
    std::vector<void**> all;
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      Pe& pe = pes_[p];
      const CsrView& own = graph_.out[p];
      DeviceGuard guard(graph_.devices[p]);
      if (personal != nullptr && pe.personal.size() == 0)
        pe.personal = DeviceArray<double>(own.count, "personalization");
      if (personal != nullptr) pe.personal.upload(personal + own.first, own.count);
      pe.view.personal = personal != nullptr ? pe.personal.data() : nullptr;
      params[p] = {&pe.view, &rules};
      all.push_back(params[p].data());
    }
    report.seconds += team_.run(kernel(), blocks_, kThreads, 0, all);
    const auto& word = team_.outcome(0).word;
    PageRankOutcome outcome;
    outcome.sweeps = static_cast<std::int64_t>(word[kSweeps]);
    outcome.error_bound = as_double(word[kBound]);
    report.rounds += outcome.sweeps;
    if (word[kSettled] == 0) {
      throw DeviceError("PageRank did not settle: after " + std::to_string(outcome.sweeps) +
                        " sweeps the error may be " + number(outcome.error_bound) + ", " + number(rules.tolerance) +
                        " was asked for");
    }
    const double rho = as_double(word[kRho]);
    report.chosen.emplace_back(
        "sweep", rules.rho == 0 ? "power iteration: there are arcs without their reverse"
                                : "Chebyshev for eigenvalues up to " + number(rho) +
                                      (rho == rules.rho ? ": first guess held" : ": from the rate of the changes"));
    report.chosen.emplace_back(
        "rows", rows_.sorted() ? "by length: skewed or long" : "as they were: short, neighbours are near");
    if (graph_.n_pes() > 1) {
      report.chosen.emplace_back(
          "sends", std::to_string(readers_.sent()) + " contributions in a sweep: to the PEs whose rows read them");
    }
    return outcome;
  }

  /// With alpha 0 nothing moves along arcs: the ranks are where jumps lead.
  PageRankOutcome jump_alone(const double* personal) {
    const HostArray<double> even(personal != nullptr ? 0 : graph_.num_vertices,
                                 1 / static_cast<double>(graph_.num_vertices));
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& own = graph_.out[p];
      DeviceGuard guard(graph_.devices[p]);
      if (own.count > 0) pes_[p].rank.upload((personal != nullptr ? personal : even.data()) + own.first, own.count);
    }
    PageRankOutcome outcome;
    outcome.error_bound = rules_.rounding;
    return outcome;
  }

  void fetch_ranks(pe_t pe, double* to) const override { pes_[pe].rank.download(to, graph_.out[pe].count); }
  PageRankCheck check(double alpha, const double* personal) const override {
    HostArray<double> ranks(graph_.num_vertices);
    for (pe_t p = 0; p < graph_.n_pes(); ++p) fetch_ranks(p, ranks.data() + graph_.out[p].first);
    return check_pagerank_on_devices(graph_, ranks.data(), alpha, personal);
  }

 private:
  struct Pe {
    View<Share> view{};
    DeviceArray<double> y, rank, personal;
    DeviceArray<Share> step, share[2];
    DeviceArray<u32> taken;
  };

  const void* kernel() const {
    return pes_.size() > 1 ? reinterpret_cast<const void*>(rank_kernel<true, Share>)
                           : reinterpret_cast<const void*>(rank_kernel<false, Share>);
  }

  void set_up(pe_t p) {
    Pe& pe = pes_[p];
    DeviceGuard guard(graph_.devices[p]);
    const std::int64_t own = graph_.out[p].count, all = graph_.num_vertices + 1;
    pe.y = DeviceArray<double>(own, "ranks");
    pe.rank = DeviceArray<double>(own, "ranks");
    if (rules_.rho != 0) pe.step = DeviceArray<Share>(own, "changes of ranks");
    for (auto& share : pe.share) {
      share = DeviceArray<Share>(all, "contributions of all PEs");
      share.fill_bytes(0);
    }
    pe.taken = DeviceArray<u32>(6, "counters");
    pe.taken.fill_bytes(0);
    SHOAL_CUDA(cudaDeviceSynchronize());
    View<Share>& v = pe.view;
    v.team = team_.view(p);
    v.rows = rows_.rows(p);
    v.y = pe.y.data();
    v.step = pe.step.data();
    for (int i = 0; i < 2; ++i) v.share[i] = pe.share[i].data();
    v.taken = pe.taken.data();
    v.uniform = 1.0 / static_cast<double>(std::max<std::int64_t>(graph_.num_vertices, 1));
    v.rank = pe.rank.data();
    v.readers = readers_.of(p);
  }

  const PlacedGraph& graph_;
  LockstepTeam team_;
  PageRankRowsGpu rows_;
  PageRankReadersGpu readers_;
  std::vector<Pe> pes_;
  Rules rules_{};
  bool by_degree_ = false;
  std::vector<int> blocks_;
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_pull_gpu(const Machine&, const PlacedGraph& graph,
                                                       const PageRankRules& rules) {
  if (rules.wide) return std::make_unique<PullGpu<double>>(graph, rules);
  return std::make_unique<PullGpu<float>>(graph, rules);
}

}  // namespace shoal
