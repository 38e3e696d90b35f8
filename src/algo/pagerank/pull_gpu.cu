// PageRank by sweeps on GPUs: memory, launches and results.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "engines.hpp"
#include "lockstep/peer_memory.cuh"
#include "lockstep/team.cuh"
#include "phases.cuh"
#include "pull_apart.cuh"
#include "readers.cuh"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {
namespace {

using namespace pagerank_gpu;

double as_double(std::uint64_t bits) {
  double x;
  static_assert(sizeof x == sizeof bits);
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

constexpr std::size_t kHotBytes = 192 << 10;  ///< of shared memory for the contributions of hot places
constexpr int kOtherSharedBytes = 4 << 10;    ///< of shared memory for everything else
constexpr u32 kLeastRowsPerHot = 4;           ///< least rows per hot place: caches hold most of a small graph
constexpr arc_t kLeastHotPart = 4;            ///< hot places are used if at least one in this many arcs leads to them

constexpr double kDeadlineSeconds = 30;  ///< longest wait at a barrier

/// What does not depend on the type of contributions.
struct Layout {
  Layout(const PlacedGraph& graph, World* of_all, World::Reach reach)
      : world(reach == World::Reach::memory ? of_all : nullptr),
        team(graph.devices, "PageRank", kDeadlineSeconds, of_all, reach),
        rows(graph, of_all),
        readers(graph, rows, of_all, reach) {
    if (reach == World::Reach::wire) apart = std::make_unique<Apart>(team, "PageRank", *of_all);
  }
  World* const world;  ///< the world of several processes whose PEs can access each other's memory, otherwise null
  LockstepTeam team;
  PageRankRowsGpu rows;
  PageRankReadersGpu readers;
  std::unique_ptr<Apart> apart;  ///< set if PEs cannot access each other's memory
};

/// @tparam Share  type of stored contributions: float or double
template <class Share>
class Sweeps {
 public:
  /// @param layout  made for the graph; both must stay alive
  Sweeps(const PlacedGraph& graph, Layout& layout, const PageRankRules& rules)
      : graph_(graph),
        team_(layout.team),
        rows_(layout.rows),
        readers_(layout.readers),
        memory_(graph.devices, layout.world),
        views_(graph.n_pes()),
        personal_(graph.n_pes()) {
    const double n = static_cast<double>(std::max<std::int64_t>(graph.num_vertices, 1));
    const double mean = static_cast<double>(graph.num_arcs) / n;
    rules_.alpha = rules.alpha;
    rules_.tolerance = rules.tolerance;
    rules_.rounding = pagerank_rounding(rules);
    rules_.fixed_c = graph.symmetric;
    // The eigenvalues of a random graph of degree d are, except one, within 2 / sqrt(d); where rows are short, nothing is known.
    rules_.rho = !graph.symmetric ? 0 : mean >= 8 ? 0.47 * rules.alpha : rules.alpha;
    by_degree_ = graph.symmetric && (rows_.tied() || !rows_.sorted()) && graph.num_arcs > 0;
    phases_ = rows_.in_phases();
    // The limit is twice the number of sweeps that the slowest eigenvalue needs.
    rules_.most_sweeps =
        50 + (rules.alpha > 0
                  ? static_cast<u32>(2 * std::log(rules.tolerance * (1 - rules.alpha) / 8) / std::log(rules.alpha))
                  : 0);
    for (pe_t p = 0; p < graph.n_pes(); ++p) set_up(p);
    if (layout.apart) {
      apart_ = std::make_unique<PageRankSweepsApart<Share>>(graph, team_, *layout.apart, readers_);
      return;
    }
    connect();
    if (graph.all_pes() == 1 && rows_.sorted()) views_[0].num_hot = choose_hot();
    shared_bytes_ = views_[0].num_hot * sizeof(Share);
    blocks_ = prepare(kernel());
    if (phases_) blocks_in_phases_ = prepare(kernel_in_phases());
  }

  /// @return whether the tolerance was reached; if not, the ranks are no result, and `outcome` has the error that was reached
  bool rank(const double* personal, Report& report, PageRankOutcome& outcome) {
    Rules rules = rules_;
    rules.per_arc = by_degree_ && personal == nullptr ? rules.alpha * part_by_degree() / graph_.num_arcs : 0;
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& own = graph_.out[p];
      DeviceGuard guard(graph_.devices[p]);
      if (personal != nullptr && personal_[p].size() == 0)
        personal_[p] = DeviceArray<double>(own.count, "personalization");
      if (personal != nullptr) personal_[p].upload(personal + own.first, own.count);
      views_[p].personal = personal != nullptr ? personal_[p].data() : nullptr;
    }
    PageRankReached reached;
    if (phases_) {
      reached = rank_in_phases(rules, report);
      if (!phases_) report.rounds += reached.sweeps;  // these sweeps were in vain
    }
    const bool in_phases = phases_;
    if (!in_phases) reached = apart_ ? apart_->rank(views_, rules, report) : rank_here(rules, report);
    outcome.sweeps = reached.sweeps;
    outcome.error_bound = reached.bound;
    report.rounds += outcome.sweeps;
    if (!reached.settled) return false;
    const double rho = reached.rho;
    if (in_phases) {
      report.chosen.push_back(
          {"sweep", "in phases",
           "short rows converge last: they are swept " + std::to_string(1 + kShortSweeps) + " times as often"});
    } else if (rules.rho == 0) {
      report.chosen.push_back({"sweep", "power iteration", "some arcs have no reverse arc"});
    } else {
      report.chosen.push_back({"sweep", "Chebyshev for eigenvalues up to " + rough(rho),
                               rho == rules.rho ? "the first estimate held" : "from how fast the changes shrink"});
    }
    report.chosen.push_back({"rows", rows_.sorted() ? "by length" : "as they were",
                             rows_.sorted() ? "rows are of very different lengths, or long"
                                            : "rows are short, and neighbours have near numbers"});
    if (hot()) {
      report.chosen.push_back({"hot", std::to_string(views_[0].num_hot) + " vertices",
                               "most arcs read their contributions, so each block keeps a copy of them"});
    }
    if (graph_.all_pes() > 1) {
      report.chosen.push_back(
          {"sends", std::to_string(readers_.sent()) + " contributions in a sweep", "to the PEs whose rows read them"});
    }
    return true;
  }

  /// With alpha 0 nothing moves along arcs: the ranks are the personalization.
  void jump_alone(const double* personal, PageRankOutcome& outcome) {
    const HostArray<double> even(personal != nullptr ? 0 : graph_.num_vertices,
                                 1 / static_cast<double>(graph_.num_vertices));
    for (pe_t p = 0; p < graph_.n_pes(); ++p) {
      const CsrView& own = graph_.out[p];
      DeviceGuard guard(graph_.devices[p]);
      SHOAL_CUDA(cudaMemcpy(views_[p].rank, (personal != nullptr ? personal : even.data()) + own.first,
                            own.count * sizeof(double), cudaMemcpyDefault));
    }
    outcome.error_bound = rules_.rounding;
  }

  const double* ranks(pe_t pe) const { return views_[pe].rank; }

 private:
  bool hot() const { return shared_bytes_ > 0; }
  int threads() const { return hot() ? kThreads<true> : kThreads<false>; }
  const void* kernel() const {
    return hot()                  ? reinterpret_cast<const void*>(rank_kernel<false, true, Share>)
           : graph_.all_pes() > 1 ? reinterpret_cast<const void*>(rank_kernel<true, false, Share>)
                                  : reinterpret_cast<const void*>(rank_kernel<false, false, Share>);
  }

  const void* kernel_in_phases() const {
    return hot()                  ? reinterpret_cast<const void*>(phases_kernel<false, true, Share>)
           : graph_.all_pes() > 1 ? reinterpret_cast<const void*>(phases_kernel<true, false, Share>)
                                  : reinterpret_cast<const void*>(phases_kernel<false, false, Share>);
  }
  std::vector<int> prepare(const void* of_all) const {
    return team_.prepare(of_all, threads(), shared_bytes_, hot() ? kBlocksPerSm<true> : kBlocksPerSm<false>);
  }

  /// Ranks with one kernel on each PE.
  PageRankReached rank_here(Rules& rules, Report& report) {
    std::vector<KernelArgs> params;
    for (View<Share>& view : views_) params.push_back({&view, &rules});
    report.seconds += team_.run(kernel(), blocks_, threads(), shared_bytes_, params);
    const auto& word = team_.outcome(0).word;
    return {static_cast<std::int64_t>(word[kSweeps]), as_double(word[kBound]), as_double(word[kRho]),
            word[kSettled] != 0};
  }

  /// Ranks in phases, with one kernel on each PE. Sets phases_ to false if they do not suit this graph.
  PageRankReached rank_in_phases(Rules& rules, Report& report) {
    std::vector<KernelArgs> params;
    for (View<Share>& view : views_) params.push_back({&view, &rules});
    report.seconds += team_.run(kernel_in_phases(), blocks_in_phases_, threads(), shared_bytes_, params);
    const auto& word = team_.outcome(0).word;
    phases_ = word[kSlowly] == 0;
    return {static_cast<std::int64_t>(word[kSweeps]), as_double(word[kBound]), 0, word[kSettled] != 0};
  }

  /// The fraction of vertices whose first guess is by their degree.
  double part_by_degree() const {
    if (!rows_.tied()) return 1;
    double in_largest = 0;
    for (const View<Share>& view : views_) in_largest += view.rows.tied;
    return in_largest / static_cast<double>(graph_.num_vertices);
  }

  /// How many places every block copies. Most arcs of a skewed graph lead to these (kron:24: 46 % to 49,152 of 8.9 million). None
  /// where copying does not pay, or where the rest does not fit the second-level cache anyway: the measured gain of each is in
  /// docs/decisions/0008-pagerank.md.
  u32 choose_hot() const {
    const PageRankRows& rows = rows_.rows(0);
    DeviceGuard guard(graph_.devices[0]);
    int cache = 0, most = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, graph_.devices[0]));
    SHOAL_CUDA(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, graph_.devices[0]));
    const std::size_t bytes = std::min<std::size_t>(kHotBytes, std::max(most - kOtherSharedBytes, 0));
    const u32 places =
        std::min({static_cast<u32>(bytes / sizeof(Share)), rows.active / kLeastRowsPerHot, rows.first_short});
    if (places == 0 || rows.active * sizeof(Share) > static_cast<std::size_t>(cache)) return 0;
    HostArray<u32> degree(places);
    SHOAL_CUDA(cudaMemcpy(degree.data(), rows.degree, places * sizeof(u32), cudaMemcpyDeviceToHost));
    const arc_t asked = std::accumulate(degree.begin(), degree.end(), arc_t{0});
    return asked >= graph_.num_arcs / kLeastHotPart ? places : 0;
  }

  void set_up(pe_t p) {
    View<Share>& v = views_[p];
    const std::int64_t own = graph_.out[p].count, all = graph_.num_vertices + 1;
    v.team = team_.view(p);
    v.rows = rows_.rows(p);
    v.readers = readers_.of(p);
    v.uniform = 1.0 / static_cast<double>(std::max<std::int64_t>(graph_.num_vertices, 1));
    v.y = memory_.array<double>(p, own, "ranks");
    v.rank = memory_.array<double>(p, own, "ranks");
    if (rules_.rho != 0) v.step = memory_.array<Share>(p, own, "changes of ranks");
    for (Share*& share : v.share) share = memory_.shared_zeros<Share>(p, all, "contributions of all PEs");
    v.taken = memory_.zeros<u32>(p, 6, "counters");
    DeviceGuard guard(graph_.devices[p]);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }

  /// Sets where each PE writes the contributions of its vertices.
  void connect() {
    std::vector<PeerArrays::List> mine;
    for (const View<Share>& v : views_) mine.emplace_back(v.share, v.share + 2);
    const PeerArrays all = memory_.of_all(mine);
    for (pe_t here = 0; here < graph_.n_pes(); ++here) {
      for (pe_t p = 0; p < graph_.all_pes(); ++p) {
        for (std::size_t i = 0; i < 2; ++i) views_[here].peer_share[i][p] = all.get<Share>(here, p, i);
      }
    }
  }

  const PlacedGraph& graph_;
  LockstepTeam& team_;
  const PageRankRowsGpu& rows_;
  const PageRankReadersGpu& readers_;
  PeerMemory memory_;
  std::vector<View<Share>> views_;
  std::vector<DeviceArray<double>> personal_;  ///< empty until first needed
  Rules rules_{};
  bool by_degree_ = false;
  bool phases_ = false;                                ///< whether phases suit the graph, as far as is known
  std::unique_ptr<PageRankSweepsApart<Share>> apart_;  ///< set if PEs cannot access each other's memory
  std::size_t shared_bytes_ = 0;                       ///< per block, for the contributions of hot places
  std::vector<int> blocks_, blocks_in_phases_;
};

/// Begins with the precision of the rules. If all contributions to a hub are equal (a star), they are rounded alike, and with
/// float32 the ranks may keep changing forever by more than the tolerance allows. float64 is then used, in this and later runs.
class PullGpu : public PageRankEngine {
 public:
  PullGpu(const PlacedGraph& graph, const PageRankRules& rules, World* world, World::Reach reach)
      : graph_(graph), layout_(graph, world, reach), rules_(rules) {
    if (rules.wide) {
      wide_ = std::make_unique<Sweeps<double>>(graph_, layout_, rules_);
    } else {
      narrow_ = std::make_unique<Sweeps<float>>(graph_, layout_, rules_);
    }
  }

  void run(const double* personal, PageRankOutcome& outcome, Report& report) override {
    outcome = {};
    if (graph_.num_vertices == 0) return;
    if (narrow_ && rank_with(*narrow_, personal, report, outcome)) return;
    if (narrow_ && rules_.firm) fail(outcome, "; use precision float64");
    if (narrow_) {
      report.chosen.push_back(
          {"precision", "float64", "with float32 the error got no smaller than " + rough(outcome.error_bound)});
      narrow_.reset();
      rules_.wide = true;
      wide_ = std::make_unique<Sweeps<double>>(graph_, layout_, rules_);
    }
    if (!rank_with(*wide_, personal, report, outcome)) fail(outcome, "");
  }

  Words words() const override {
    return Words::of(graph_, [this](pe_t pe) { return narrow_ ? narrow_->ranks(pe) : wide_->ranks(pe); });
  }

 private:
  template <class Share>
  bool rank_with(Sweeps<Share>& sweeps, const double* personal, Report& report, PageRankOutcome& outcome) const {
    if (rules_.alpha > 0) return sweeps.rank(personal, report, outcome);
    sweeps.jump_alone(personal, outcome);
    return true;
  }
  [[noreturn]] void fail(const PageRankOutcome& outcome, const char* cure) const {
    throw DeviceError("PageRank did not converge: after " + std::to_string(outcome.sweeps) +
                      " sweeps the error may be " + rough(outcome.error_bound) + ", but " + rough(rules_.tolerance) +
                      " was asked for" + cure);
  }

  const PlacedGraph& graph_;
  Layout layout_;
  PageRankRules rules_;
  std::unique_ptr<Sweeps<float>> narrow_;  ///< exactly one of the two is set
  std::unique_ptr<Sweeps<double>> wide_;
};

}  // namespace

std::unique_ptr<PageRankEngine> make_pagerank_pull_gpu(const Machine& machine, const PlacedGraph& graph,
                                                       const PageRankPlan& plan) {
  return std::make_unique<PullGpu>(graph, plan.rules, machine.world(), machine.reach());
}

}  // namespace shoal
