#include "shoal/algo/bfs_run.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "bfs_engines.hpp"
#include "shoal/core/error.hpp"
#if defined(SHOAL_HAVE_CUDA)
#include "shoal/pgas/device_graph.hpp"
#endif

namespace shoal {
namespace {

class Stopwatch {
 public:
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    return std::chrono::duration<double>(now - std::exchange(last_, now)).count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

PartitionKind choose_partition(const BfsOptions& options, pe_t n_pes,
                               std::vector<std::pair<std::string, std::string>>& why) {
  if (options.partition != PartitionKind::automatic) {
    why.emplace_back("partition", std::string(name(options.partition)) + ": asked for");
    return options.partition;
  }
  const PartitionKind kind = n_pes == 1 ? PartitionKind::block : PartitionKind::edges;
  why.emplace_back("partition",
                   std::string(name(kind)) + (n_pes == 1 ? ": one PE" : ": equal arcs, neighbours stay together"));
  return kind;
}

}  // namespace

struct BfsRunner::State {
  State(const BfsOptions& o) : options(o), machine(o) { chosen = machine.chosen(); }

  void make_engine() {
    const BfsPlan plan = plan_bfs(machine, placed, options, chosen);
    const bool async = plan.strategy == BfsStrategy::async;
#if defined(SHOAL_HAVE_CUDA)
    if (machine.on_gpu()) {
      engine = async ? make_async_gpu(machine, placed, plan.launch) : make_levels_gpu(machine, placed);
      return;
    }
#endif
    engine = async ? make_async_cpu(machine, placed, plan.launch) : make_levels_cpu(machine, placed);
  }

  BfsOptions options;
  Machine machine;
  Csr own;                     ///< generated here, or fetched from the devices; else empty
  const Csr* graph = nullptr;  ///< in input numbers; null until wanted when it was generated on devices
  PlacedGraph placed;
  std::vector<std::pair<std::string, std::string>> chosen;
  std::vector<std::pair<std::string, double>> phases;
  std::unique_ptr<BfsEngine> engine;
  vertex_t source = kNoVertex;  ///< placed, of the last search
  Report report;
};

BfsRunner::BfsRunner(const Csr& graph, const BfsOptions& options) : state_(std::make_unique<State>(options)) {
  State& s = *state_;
  s.graph = &graph;
  Stopwatch watch;
  const pe_t n = s.machine.n_pes();
  Partition partition =
      make_partition(graph, n, choose_partition(options, n, s.chosen), options.partition_file, options.seed);
  s.phases.emplace_back("partition", watch.lap());
#if defined(SHOAL_HAVE_CUDA)
  if (s.machine.on_gpu()) s.placed = place_on_devices(graph, std::move(partition), s.machine.devices());
#endif
  if (!s.machine.on_gpu()) {
    const auto borrowed = std::shared_ptr<const Csr>(&graph, [](const Csr*) {});
    s.placed = place_on_threads(borrowed, std::move(partition));
  }
  s.make_engine();
  s.phases.emplace_back("place", watch.lap());
}

BfsRunner::BfsRunner(const GeneratorSpec& spec, const BfsOptions& options) : state_(std::make_unique<State>(options)) {
  State& s = *state_;
  Stopwatch watch;
#if defined(SHOAL_HAVE_CUDA)
  if (s.machine.on_gpu()) {
    const pe_t n = s.machine.n_pes();
    const PartitionKind kind = choose_partition(options, n, s.chosen);
    const bool on_device =
        kind == PartitionKind::block || kind == PartitionKind::edges || kind == PartitionKind::random;
    if (on_device && can_generate_on_devices(spec)) {
      s.placed = generate_on_devices(spec, n, kind, s.machine.devices(), options.seed);
      s.phases.emplace_back("generate", watch.lap());
      s.make_engine();
      s.phases.emplace_back("place", watch.lap());
      return;
    }
    s.chosen.pop_back();
  }
#endif
  Csr generated = generate(spec);
  const double seconds = watch.lap();
  BfsRunner rest(generated, options);  // borrows; the graph moves in below and keeps its memory
  state_ = std::move(rest.state_);
  state_->own = std::move(generated);
  state_->graph = &state_->own;
  state_->phases.insert(state_->phases.begin(), {"generate", seconds});
}

BfsRunner::BfsRunner(BfsRunner&&) noexcept = default;
BfsRunner& BfsRunner::operator=(BfsRunner&&) noexcept = default;
BfsRunner::~BfsRunner() = default;

Report BfsRunner::search(vertex_t source) {
  State& s = *state_;
  if (source >= s.placed.num_vertices) {
    throw UsageError("source " + std::to_string(source) + " is out of range: the graph has " +
                     std::to_string(s.placed.num_vertices) + " vertices, numbered from 0");
  }
  s.source = s.placed.partition.placed(source);
  Report report;
  report.chosen = s.chosen;
  report.phase_seconds = s.phases;
  s.engine->search(s.source, report);
  report.phase_seconds.emplace_back("run", report.seconds);
  s.report = report;
  return report;
}

BfsResult BfsRunner::result() const {
  State& s = *state_;
  if (s.source == kNoVertex) throw UsageError("there is no result before the first search");
  const Partition& partition = s.placed.partition;
  const std::int64_t n = s.placed.num_vertices;
  HostArray<level_t> level(n);
  for (pe_t p = 0; p < s.placed.n_pes(); ++p) s.engine->fetch_levels(p, level.data() + s.placed.out[p].first);
  BfsResult result;
  result.report = s.report;
  result.levels = HostArray<std::int32_t>(n);
  for (std::int64_t v = 0; v < n; ++v) {
    const auto placed = static_cast<vertex_t>(v);
    const level_t l = level[v];
    result.levels[partition.input(placed)] = static_cast<std::int32_t>(l);
    if (l == kUnreached) continue;
    ++result.reached;
    result.depth = std::max(result.depth, static_cast<std::int32_t>(l));
  }
  const Csr& graph = this->graph();
  for (std::int64_t v = 0; v < n; ++v) {
    if (result.levels[v] >= 0) result.reached_arcs += graph.degree(static_cast<vertex_t>(v));
  }
  if (s.options.parents) {
    HostArray<vertex_t> parent(n);
    s.engine->fetch_parents(s.source, parent.data());
    result.parents = HostArray<std::int32_t>(n);
    for (std::int64_t v = 0; v < n; ++v) {
      result.parents[partition.input(static_cast<vertex_t>(v))] = static_cast<std::int32_t>(parent[v]);
    }
  }
  return result;
}

std::string BfsRunner::verify() const {
  if (state_->source == kNoVertex) throw UsageError("there is no result before the first search");
  return state_->engine->verify(state_->source);
}

std::int64_t BfsRunner::num_vertices() const { return state_->placed.num_vertices; }
arc_t BfsRunner::num_arcs() const { return state_->placed.num_arcs; }
arc_t BfsRunner::degree(vertex_t input) const { return graph().degree(input); }

const Csr& BfsRunner::graph() const {
  State& s = *state_;
#if defined(SHOAL_HAVE_CUDA)
  if (s.graph == nullptr) {
    s.own = fetch_graph(s.placed);
    s.graph = &s.own;
  }
#endif
  return *s.graph;
}

}  // namespace shoal
