#include "delta_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <string>

#include "algo/engine.hpp"
#include "delta_narrow.cuh"
#include "delta_plan.hpp"
#include "delta_search.cuh"
#include "engines.hpp"
#include "lockstep/peer_memory.cuh"
#include "lockstep/team.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"
#include "sort_rows.cuh"

namespace shoal {
namespace {

using namespace sssp_gpu;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

constexpr const char* kPhaseNames[kPhases] = {"begin", "take", "chunks", "send",    "receive", "publish",
                                              "copy",  "pull", "sweep",  "cluster", "meet"};

/// Reads a counter in device memory.
u64 fetch(const void* counter) {
  u64 out = 0;
  download(&out, static_cast<const u64*>(counter));
  return out;
}

}  // namespace

struct SsspDeltaGpu::State {
  const PlacedGraph& graph;
  World* const world;  // null: one process
  SsspDeltaGpuTuning tuning;
  LockstepTeam team;
  PeerMemory memory;
  bool wide;
  Rules rules{};
  SsspWindows windows;
  std::vector<int> blocks;
  double prepare_seconds = 0;

  State(const PlacedGraph& g, bool words, const SsspDeltaGpuTuning& t, World* w)
      : graph(g),
        world(w),
        tuning(t),
        team(g.devices, "shortest paths", t.deadline_seconds, w),
        memory(g.devices, w),
        wide(words) {}
  virtual ~State() = default;
  virtual void search(vertex_t source, Report& report) = 0;
  virtual const void* words(pe_t p) const = 0;
  virtual std::int64_t extra_bytes() const = 0;
  virtual const Tally* tally(pe_t p) const = 0;
};

namespace {

template <class Metric>
struct Search final : SsspDeltaGpu::State {
  using Raw = typename Metric::Raw;
  std::vector<Slice<Metric>> views;
  std::vector<SortedArcs<typename Metric::Weight>> out, in;  // `in` only for directed graphs
  int cluster = 0;                                           // number of blocks of the narrow kernel
  u64 sweeps = 0, narrow_steps_made = 0;                     // of the last search

  Search(const PlacedGraph& g, bool words, const SsspDeltaGpuTuning& t, World* w)
      : State(g, words, t, w), views(g.n_pes()), out(g.n_pes()), in(g.n_pes()) {
    SliceSummary here, all;
    for (pe_t p = 0; p < g.n_pes(); ++p) here.add(set_up(p));
    for (const SliceSummary& its : of_processes(world, here)) all.add(its);
    connect();
    windows = choose_windows(g, t, all);
    rules.delta = windows.delta;
    rules.delta_after = std::max(windows.delta, windows.after);
    rules.pull = windows.pull;
    rules.pulls = windows.pull > 0 ? static_cast<u32>(t.pulls) : 0;
    rules.pull_growth = t.pull_growth;
    rules.range_windows = t.range_windows;
    if (rules.pulls > 0) sort_all();
    const double n = static_cast<double>(g.num_vertices);
    rules.pull_enter = static_cast<u32>(std::clamp(n * t.pull_enter, 0.0, 4e9));
    rules.pull_arcs = static_cast<u64>(t.pull_share * static_cast<double>(g.num_arcs));
    rules.far_widths = t.far_widths;
    rules.sweep_enter = static_cast<u32>(std::clamp(n * t.sweep_enter, 0.0, 4e9));
    rules.sweep_leave = static_cast<u32>(std::clamp(n * t.sweep_leave, 0.0, 4e9));
    rules.round_steps = static_cast<u32>(t.round_steps);
    set_up_narrow();
    blocks = team.prepare(kernel(), t.block_threads, shared_bytes(), t.blocks_per_sm);
  }

  const void* kernel() const {
    return team.all_pes() > 1 ? reinterpret_cast<const void*>(search_distances<Metric, true>)
                              : reinterpret_cast<const void*>(search_distances<Metric, false>);
  }
  const void* narrow_kernel() const {
    return team.all_pes() > 1 ? reinterpret_cast<const void*>(narrow_steps<Metric, true>)
                              : reinterpret_cast<const void*>(narrow_steps<Metric, false>);
  }
  std::size_t shared_bytes() const {
    return static_cast<std::size_t>(tuning.block_threads) / 32 * sssp_gpu::kBuffer * sizeof(u32);
  }

  SliceSummary set_up(pe_t p) {
    DeviceGuard guard(graph.devices[p]);
    Slice<Metric>& v = views[p];
    const vertex_t* const begin = graph.partition.owner.begin;
    v.team = team.view(p);
    v.rows = graph.out[p];
    v.weights = weights(graph.out_weights[p]);
    v.n = static_cast<u32>(graph.num_vertices);
    std::copy_n(begin, team.all_pes() + 1, v.begin);
    const std::int64_t own = std::max<std::int64_t>(v.rows.count, 1);
    const SliceSummary summary = describe_slice(v.rows, graph.out_weights[p]);
    v.distance = memory.array<Raw>(p, v.n, "distances");
    for (auto& marks : v.marks) marks = memory.zeros<u32>(p, v.n / 32 + 1, "marks");
    for (auto& queue : v.queue) queue = memory.array<u32>(p, own, "queue of vertices");
    v.chunks = memory.array<Chunk<Raw>>(p, static_cast<std::int64_t>(std::max<u64>(summary.chunks, 1)), "row chunks");
    v.tally = memory.zeros<Tally>(p, 1, "counters");
    for (pe_t q = 0; q < team.all_pes(); ++q) {
      if (q == v.team.me) continue;
      v.outbox[q] = memory.array<u32>(p, begin[q + 1] - begin[q], "outbox");
      v.inbox[q] = memory.shared<Message<Raw>>(p, most_rows(), "inbox");
      v.round[q] = memory.shared<Message<Raw>>(p, 2 * kRoundMail, "inbox of rounds");
    }
    SHOAL_CUDA(cudaDeviceSynchronize());
    return summary;
  }

  std::int64_t most_rows() const {
    const vertex_t* const begin = graph.partition.owner.begin;
    vertex_t most = 1;
    for (pe_t q = 0; q < team.all_pes(); ++q) most = std::max(most, begin[q + 1] - begin[q]);
    return most;
  }

  static const typename Metric::Weight* weights(const ArcWeights& w) {
    if constexpr (std::is_same_v<typename Metric::Weight, double>) {
      return w.reals;
    } else {
      return w.ints;
    }
  }

  /// If there is no memory for the sorted copy of the arcs, nothing is pulled.
  void sort_all() {
    int room = 1;
    try {
      for (auto& v : views) sort_arcs(v);
    } catch (const CapacityError&) {
      room = 0;
    }
    for (const int its : of_processes(world, room)) room = std::min(room, its);
    if (room != 0) return;
    rules.pulls = 0;
    windows.why += ", no memory for rows sorted by weight";
    for (auto& v : views) {
      const pe_t p = here(v);
      out[p] = {};
      in[p] = {};
      v.rows = graph.out[p];
      v.weights = weights(graph.out_weights[p]);
      v.in = {};
    }
  }

  /// For pulling long arcs: sorts rows by weight, also those of in-arcs.
  void sort_arcs(Slice<Metric>& v) {
    const pe_t p = here(v);
    DeviceGuard guard(graph.devices[p]);
    out[p] = sort_rows(graph.out[p], weights(graph.out_weights[p]));
    v.rows.targets = out[p].targets.data();
    v.weights = out[p].weights.data();
    v.in = v.rows;
    v.in_weights = v.weights;
    if (graph.symmetric) return;
    in[p] = sort_rows(graph.in[p], weights(graph.in_weights[p]));
    v.in = graph.in[p];
    v.in.targets = in[p].targets.data();
    v.in_weights = in[p].weights.data();
  }

  void connect() {
    std::vector<PeerArrays::List> mine;
    for (const Slice<Metric>& v : views) {
      PeerArrays::List& list = mine.emplace_back(v.inbox, v.inbox + kPeers);
      list.insert(list.end(), v.round, v.round + kPeers);
    }
    const PeerArrays all = memory.of_all(mine);
    for (Slice<Metric>& v : views) {
      const auto me = static_cast<std::size_t>(v.team.me);
      for (pe_t p = 0; p < team.all_pes(); ++p) {
        v.peer_inbox[p] = all.get<Message<Raw>>(here(v), p, me);
        v.peer_round[p] = all.get<Message<Raw>>(here(v), p, kPeers + me);
      }
    }
  }

  /// The PE of a view, counted from 0 within this process.
  pe_t here(const Slice<Metric>& v) const { return v.team.me - graph.first_pe; }

  /// Marks are empty after a search that ran to its end; call this after one that failed.
  void clear_marks() {
    for (auto& v : views) {
      DeviceGuard guard(team.device(here(v)));
      for (u32* marks : v.marks) SHOAL_CUDA(cudaMemset(marks, 0, (v.n / 32 + 1) * sizeof(u32)));
      SHOAL_CUDA(cudaDeviceSynchronize());
    }
  }

  /// Prepares the cluster of the narrow kernel, as large as fits; if none fits, that kernel is not used.
  void set_up_narrow() {
    rules.narrow_after = 0;
    if (!tuning.narrow) return;
    cluster = team.prepare_cluster(narrow_kernel(), sssp_gpu::kMaxThreads, kNarrowBytes, tuning.cluster_blocks);
    for (const int its : of_processes(world, cluster)) cluster = std::min(cluster, its);
    if (cluster == 0) return;
    rules.narrow_after = static_cast<u32>(tuning.narrow_after);
    const auto slots = kNarrowSlots<Raw> * static_cast<u32>(cluster);
    rules.narrow_enter = std::min(static_cast<u32>(tuning.narrow_enter), slots / 2);
    rules.narrow_leave = std::min(static_cast<u32>(tuning.narrow_leave), slots);
  }

  /// Reads the state in which the kernels that ended have left the search. @return pending vertices of all PEs
  u64 read_resume(std::vector<Resume<Raw>>& resume) const {
    u64 pending = 0;
    for (pe_t p = 0; p < team.n_pes(); ++p) {
      const u64* word = team.outcome(p).word;
      resume[p] = {1, static_cast<u32>(word[0]), static_cast<u32>(word[2]), static_cast<Raw>(word[3])};
      pending += word[2];
    }
    u64 of_all = 0;
    for (const u64 its : of_processes(world, pending)) of_all += its;
    return of_all;
  }

  /// Runs the wide kernel, and the narrow one whenever the wide one hands over. @return seconds
  double run(vertex_t source) {
    SearchArgs args{rules, source};
    std::vector<Resume<Raw>> resume(views.size());
    std::vector<KernelArgs> to_wide, to_narrow;
    for (std::size_t p = 0; p < views.size(); ++p) {
      to_wide.push_back({&views[p], &args, &resume[p]});
      to_narrow.push_back({&views[p], &rules, &resume[p]});
    }
    sweeps = narrow_steps_made = 0;
    for (double seconds = 0;;) {
      seconds += team.run(kernel(), blocks, tuning.block_threads, shared_bytes(), to_wide);
      sweeps += team.outcome(0).word[1];
      const bool narrow = team.outcome(0).word[4] != 0;
      read_resume(resume);
      if (!narrow) return seconds;
      const u32 before = resume[0].step;
      seconds += team.run_cluster(narrow_kernel(), cluster, sssp_gpu::kMaxThreads, kNarrowBytes, to_narrow);
      const u64 pending = read_resume(resume);
      narrow_steps_made += resume[0].step - before;
      if (pending == 0) return seconds;
    }
  }

  void search(vertex_t source, Report& report) override {
    try {
      report.seconds += run(source);
    } catch (...) {
      clear_marks();
      throw;
    }
    const auto& outcome = team.outcome(0);
    report.rounds += static_cast<std::int64_t>(outcome.word[0]);
    struct Counts {
      std::int64_t popped = 0, arcs = 0;
    } counts;
    for (const auto& v : views) {
      counts.popped += static_cast<std::int64_t>(fetch(&v.tally->popped));
      counts.arcs += static_cast<std::int64_t>(fetch(&v.tally->arcs));
    }
    for (const Counts& its : of_processes(world, counts)) {
      report.run += its.popped;
      report.accepted += its.popped;
      report.pushed += its.arcs;
    }
    char delta[32], steps[160];
    std::snprintf(delta, sizeof delta, "%.6g", rules.delta);
    std::snprintf(steps, sizeof steps, "%s; %llu steps (%llu on a cluster), %llu sweeps, pull %u from %.4g",
                  windows.why.c_str(), static_cast<unsigned long long>(outcome.word[0]),
                  static_cast<unsigned long long>(narrow_steps_made), static_cast<unsigned long long>(sweeps),
                  rules.pulls, rules.pull);
    report.chosen.push_back({"delta", delta, steps});
  }

  const void* words(pe_t p) const override { return views[p].distance + views[p].rows.first; }
  const Tally* tally(pe_t p) const override { return views[p].tally; }
  std::int64_t extra_bytes() const override {
    std::size_t sorted = 0;
    for (const auto* arcs : {&out, &in}) {
      for (const auto& a : *arcs) sorted += a.targets.size_bytes() + a.weights.size_bytes();
    }
    return memory.bytes() + static_cast<std::int64_t>(sorted);
  }
};

}  // namespace

SsspDeltaGpu::SsspDeltaGpu(const PlacedGraph& graph, bool wide, const SsspDeltaGpuTuning& tuning, World* world) {
  const auto start = std::chrono::steady_clock::now();
  check_tuning(graph, tuning);
  if (graph.weight_kind == WeightKind::none || graph.out_weights.size() != graph.out.size()) {
    throw UsageError("shortest paths: the graph was placed without weights");
  }
  if (graph.weight_kind == WeightKind::float64) {
    state_ = std::make_unique<Search<RealMetric>>(graph, true, tuning, world);
  } else if (wide) {
    state_ = std::make_unique<Search<WideMetric>>(graph, true, tuning, world);
  } else {
    state_ = std::make_unique<Search<NarrowMetric>>(graph, false, tuning, world);
  }
  state_->prepare_seconds = seconds_since(start);
}

SsspDeltaGpu::~SsspDeltaGpu() = default;
SsspDeltaGpu::SsspDeltaGpu(SsspDeltaGpu&&) noexcept = default;
SsspDeltaGpu& SsspDeltaGpu::operator=(SsspDeltaGpu&&) noexcept = default;

void SsspDeltaGpu::search(vertex_t placed_source, Report& report) {
  if (placed_source >= state_->graph.num_vertices) {
    throw UsageError("shortest paths: source " + std::to_string(placed_source) + " is out of range; the graph has " +
                     std::to_string(state_->graph.num_vertices) + " vertices, numbered from 0");
  }
  state_->search(placed_source, report);
}
const void* SsspDeltaGpu::words(pe_t p) const { return state_->words(p); }
bool SsspDeltaGpu::wide() const { return state_->wide; }
double SsspDeltaGpu::delta() const { return state_->rules.delta; }
double SsspDeltaGpu::prepare_seconds() const { return state_->prepare_seconds; }
std::int64_t SsspDeltaGpu::extra_bytes() const { return state_->extra_bytes(); }
std::vector<std::pair<const char*, double>> SsspDeltaGpu::phases(pe_t p) const {
  std::vector<std::pair<const char*, double>> out;
  const auto& ns = state_->tally(p)->phase_ns;
  for (u32 i = 0; i < kPhases; ++i) out.emplace_back(kPhaseNames[i], static_cast<double>(fetch(&ns[i])) * 1e-9);
  return out;
}
std::int64_t SsspDeltaGpu::messages(pe_t p) const { return static_cast<std::int64_t>(fetch(&state_->tally(p)->sent)); }

namespace {

class DeltaGpu : public SsspEngine {
 public:
  DeltaGpu(const PlacedGraph& graph, const SsspPlan& plan, World* world)
      : graph_(graph), search_(graph, plan.wide, tuned(plan.delta), world) {}
  void run(vertex_t placed_source, Report& report) override { search_.search(placed_source, report); }
  Words words() const override {
    Words words{search_.wide() ? sizeof(std::uint64_t) : sizeof(std::uint32_t), {}};
    for (pe_t p = 0; p < graph_.n_pes(); ++p) words.part.push_back(search_.words(p));
    return words;
  }

 private:
  static SsspDeltaGpuTuning tuned(double delta) {
    SsspDeltaGpuTuning t;
    t.delta = delta;
    return t;
  }
  const PlacedGraph& graph_;
  SsspDeltaGpu search_;
};

}  // namespace

std::unique_ptr<SsspEngine> make_sssp_delta_gpu(const Machine& machine, const PlacedGraph& graph,
                                                const SsspPlan& plan) {
  return std::make_unique<DeltaGpu>(graph, plan, machine.world());
}

}  // namespace shoal
