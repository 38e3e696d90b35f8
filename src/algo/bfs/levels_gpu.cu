// Level-synchronous search on GPUs: public members, launches, and reports.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "engines.hpp"
#include "levels_gpu_state.cuh"
#include "levels_narrow.cuh"
#include "levels_search.cuh"
#include "lockstep/tuning.hpp"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {

using namespace bfs_gpu;

namespace {

void check_tuning(const PlacedGraph& graph, const BfsLevelsGpuTuning& t) {
  const TuningCheck check("BfsLevelsGpu", graph);
  check.launch(t.block_threads, t.blocks_per_sm, t.cluster_blocks, t.deadline_seconds);
  check(t.alpha >= 0, "alpha", t.alpha, "0, which never goes bottom-up, or more");
  check(t.beta >= 0, "beta", t.beta, "0, which never goes back, or more");
  check(t.narrow_threads == 512 || t.narrow_threads == 1024, "narrow_threads", t.narrow_threads, "512 or 1024");
  if (!t.narrow) return;
  check(t.narrow_after >= 2, "narrow_after", t.narrow_after, "at least 2");
  check(t.narrow_enter >= 1 && t.narrow_enter <= 65535, "narrow_enter", t.narrow_enter, "1 to 65,535");
  check(t.narrow_leave >= 2 * t.narrow_enter && t.narrow_leave <= 1 << 20, "narrow_leave", t.narrow_leave,
        "twice narrow_enter to 1,048,576");
}

}  // namespace

const void* BfsLevelsGpu::State::search_kernel() const {
  return multi() ? reinterpret_cast<const void*>(search_levels<true>)
                 : reinterpret_cast<const void*>(search_levels<false>);
}
std::size_t BfsLevelsGpu::State::search_shared() const {
  return static_cast<std::size_t>(tuning.block_threads) / 32 * kWarpWords * sizeof(u32);
}

void BfsLevelsGpu::State::set_up_launches() {
  int khz = 0;
  SHOAL_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, team.device(0)));
  clock_ghz = khz > 0 ? khz * 1e-6 : 1;
  blocks = team.prepare(search_kernel(), tuning.block_threads, search_shared(), tuning.blocks_per_sm);
  if (multi() || !tuning.narrow) return;
  cluster = team.prepare_cluster(reinterpret_cast<const void*>(narrow_levels), tuning.narrow_threads, kNarrowBytes,
                                 tuning.cluster_blocks);
  if (cluster == 0) return;
  rules.narrow_after = tuning.narrow_after;
  rules.narrow_enter = std::min<u64>(tuning.narrow_enter, u64{kNarrowSlots} * cluster);
}

BfsLevelsGpu::BfsLevelsGpu(const PlacedGraph& graph, const BfsLevelsGpuTuning& tuning, World* world,
                           World::Reach reach) {
  const auto start = std::chrono::steady_clock::now();
  check_tuning(graph, tuning);
  state_ = std::make_unique<State>(graph, tuning, world, reach);
  State& s = *state_;
  s.rules.alpha = tuning.alpha;
  s.rules.beta = tuning.beta;
  s.rules.narrow_leave = static_cast<u64>(tuning.narrow_leave);
  s.rules.narrow_check = static_cast<u64>(std::max<std::int64_t>(tuning.narrow_check, 0));
  s.set_up_views();
  for (Slice& v : s.views) s.set_up_memory(v);
  if (reach == World::Reach::wire) {
    s.set_up_rows();
    s.set_up_apart();
  } else {
    s.connect_peers();
    s.set_up_rows();
    s.set_up_launches();
  }
  s.prepare_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

BfsLevelsGpu::~BfsLevelsGpu() = default;
BfsLevelsGpu::BfsLevelsGpu(BfsLevelsGpu&&) noexcept = default;
BfsLevelsGpu& BfsLevelsGpu::operator=(BfsLevelsGpu&&) noexcept = default;

void BfsLevelsGpu::State::add_summary() {
  Summary last;
  std::memcpy(&last, team.outcome(0).word, sizeof(last));
  last.top_down += total.top_down;
  last.bottom_up += total.bottom_up;
  last.narrow += total.narrow;
  total = last;
}

void BfsLevelsGpu::State::run_kernel(bool resume, vertex_t source, level_t* const* level) {
  const pe_t owner = graph.partition.owner(source);
  std::vector<SearchArgs> args;
  std::vector<KernelArgs> params;
  args.reserve(views.size());
  for (pe_t p = 0; p < team.n_pes(); ++p) {
    args.push_back({resume ? 1u : 0u, static_cast<u32>(total.depth), static_cast<u32>(total.steps), total.unexplored,
                    total.frontier, graph.first_pe + p == owner ? source - graph.out[p].first : kNone, level[p]});
    params.push_back({&views[p], &rules, &args[p]});
  }
  kernel_seconds += team.run(search_kernel(), blocks, tuning.block_threads, search_shared(), params);
  add_summary();
}

void BfsLevelsGpu::State::run_narrow(level_t* level) {
  NarrowArgs args{total, level};
  team.run_cluster(reinterpret_cast<const void*>(narrow_levels), cluster, tuning.narrow_threads, kNarrowBytes,
                   {KernelArgs{&views[0], &rules, &args}});
  add_summary();
}

void BfsLevelsGpu::State::run_search(vertex_t source, level_t* const* level) {
  total = {};
  kernel_seconds = 0;
  total.unexplored = static_cast<u64>(graph.num_arcs);
  run_kernel(false, source, level);
  while (total.why == Why::narrow) {
    run_narrow(level[0]);
    if (total.why == Why::wide) run_kernel(true, source, level);
  }
}

void BfsLevelsGpu::search(vertex_t placed_source, level_t* const* level, Report& report) {
  State& s = *state_;
  if (placed_source >= s.graph.num_vertices) {
    throw UsageError("breadth-first search: source " + std::to_string(placed_source) +
                     " is out of range; the graph has " + std::to_string(s.graph.num_vertices) +
                     " vertices, numbered from 0");
  }
  for (pe_t p = 0; p < s.team.n_pes(); ++p) {
    const level_t* l = level[p];
    if (s.graph.out[p].count != 0 && (l == nullptr || reinterpret_cast<std::uintptr_t>(l) % 16 != 0)) {
      throw UsageError("breadth-first search: the level array of PE " + std::to_string(p) +
                       (l == nullptr ? " is missing" : " is not aligned to 16 bytes"));
    }
  }
  if (s.apart) return s.search_apart(placed_source, level, report);
  const auto start = std::chrono::steady_clock::now();
  s.run_search(placed_source, level);
  // The time that processes spend in talking to each other before and after is not part of the search.
  report.seconds += s.world != nullptr
                        ? s.kernel_seconds
                        : std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  s.describe(report);
}

void BfsLevelsGpu::State::describe(Report& report) const {
  const Summary& t = total;
  report.rounds += static_cast<std::int64_t>(t.top_down + t.bottom_up + t.narrow);
  report.chosen.push_back({"sides",
                           "top-down " + std::to_string(t.top_down) + ", bottom-up " + std::to_string(t.bottom_up) +
                               ", cluster " + std::to_string(t.narrow),
                           "by the arcs of each frontier"});
}

std::vector<BfsLevelStep> BfsLevelsGpu::steps() const {
  const State& s = *state_;
  std::vector<BfsLevelStep> out;
  const std::size_t n = std::min<std::size_t>(s.total.steps, kMaxSteps);
  if (n == 0) return out;
  std::vector<Step> raw(n);
  download(raw.data(), s.views[0].step, static_cast<std::int64_t>(n));
  for (const Step& r : raw) {
    out.push_back({static_cast<char>(r.side), r.depth, r.vertices, r.arcs, r.clock / (s.clock_ghz * 1e3)});
  }
  return out;
}

double BfsLevelsGpu::prepare_seconds() const { return state_->prepare_seconds; }

std::int64_t BfsLevelsGpu::extra_bytes() const { return state_->memory.bytes(); }

namespace {

/// Engine: runs searches, and holds the memory of the levels.
class LevelsGpu : public BfsEngine {
 public:
  LevelsGpu(const Machine& machine, const PlacedGraph& graph)
      : graph_(graph), search_(graph, {}, machine.world(), machine.reach()) {
    for (pe_t p = 0; p < graph.n_pes(); ++p) {
      memory_.push_back(machine.allocate(p, graph.out[p].count * sizeof(level_t), "levels"));
      level_.push_back(static_cast<level_t*>(memory_.back().get()));
    }
  }
  void run(vertex_t placed_source, Report& report) override { search_.search(placed_source, level_.data(), report); }
  Words words() const override {
    return Words::of(graph_, [this](pe_t pe) { return level_[pe]; });
  }

 private:
  const PlacedGraph& graph_;
  BfsLevelsGpu search_;
  std::vector<std::shared_ptr<void>> memory_;
  std::vector<level_t*> level_;
};

}  // namespace

std::unique_ptr<BfsEngine> make_bfs_levels_gpu(const Machine& machine, const PlacedGraph& graph, const BfsPlan&) {
  return std::make_unique<LevelsGpu>(machine, graph);
}

}  // namespace shoal
