#include "placed_run.hpp"

#include <cstring>
#include <memory>

#include "algo/plan.hpp"
#include "shoal/core/error.hpp"
#include "shoal/data/io.hpp"
#include "shoal/placement/device_graph.hpp"
#include "shoal/placement/host_slice.hpp"
#include "shoal/world/processes.hpp"

namespace shoal {

namespace {

/// A graph with more arcs than this may need the memory of several GPUs.
constexpr double kFewArcs = 1 << 28;

bool is_small(const Options& options, std::int64_t vertices, double arcs, bool roads, FewVertices few) {
  return vertices < (roads ? std::max(few.than, few.roads_than) : few.than) && arcs <= kFewArcs &&
         options.partition == PartitionKind::automatic;
}
}  // namespace

bool looks_like_roads(const Csr& graph) {
  constexpr std::int64_t kSample = 1 << 16;
  const std::int64_t n = graph.num_vertices(), step = std::max<std::int64_t>(n / kSample, 1);
  if (graph.num_arcs() > 5 * n) return false;
  for (std::int64_t v = 0; v < n; v += step) {
    if (graph.offsets[v + 1] - graph.offsets[v] > kArcsOfAJunction) return false;
  }
  return true;
}

bool is_small(const Options& options, const Csr& graph, FewVertices few) {
  return is_small(options, graph.num_vertices(), static_cast<double>(graph.num_arcs()), looks_like_roads(graph), few);
}
bool is_small(const Options& options, const GeneratorSpec& spec, FewVertices few) {
  spec.check();
  return is_small(options, spec.num_vertices(), spec.max_arcs(), spec.kind == GraphKind::road, few);
}

PlacedRun::PlacedRun(const Csr& graph, const Options& options, const RunNeeds& needs, GraphWants wants, FewVertices few)
    : machine_(options, is_small(options, graph, few)), chosen_(machine_.chosen()) {
  require_ring_memory(options, needs);
  const GraphSize size = size_of(graph);
  require_host_memory(graph.name.empty() ? "the graph" : graph.name, size,
                      host_bytes(size, options, needs, /*check=*/false) - csr_bytes(size));
  place(graph, options, wants, few.even_if_asked && is_small(options, graph, few));
}

PlacedRun::PlacedRun(const GeneratorSpec& spec, const Options& options, const RunNeeds& needs, GraphWants wants,
                     FewVertices few)
    : machine_(options, is_small(options, spec, few)), chosen_(machine_.chosen()) {
  require_ring_memory(options, needs);
  if (wants.weights == WeightSource::file) {
    throw UsageError(spec.text() + " is generated and has no weights of its own; use --weights hash255 or unit");
  }
  Stopwatch watch;
  const bool leave_to_one = few.even_if_asked && is_small(options, spec, few);
  if (machine_.on_gpu() && machine_.world() == nullptr && !(wants.undirected && spec.directed)) {
    const PartitionKind kind = choose_partition(options, leave_to_one);
    if (can_generate_on_devices(kind)) {
      placed_ = generate_on_devices(spec, machine_.n_pes(), kind, machine_.devices(), options.seed, wants.weights);
      phases_.emplace_back("generate", watch.lap());
      phases_.emplace_back("place", 0.0);
      return;
    }
    chosen_.pop_back();  // place() adds it again
  }
  if (machine_.world() != nullptr && !(wants.undirected && spec.directed) &&
      generate_share(spec, options, needs, wants, leave_to_one)) {
    phases_.emplace_back("generate", watch.lap());
    phases_.emplace_back("place", 0.0);
    return;
  }
  require_host_memory(spec.text(), size_of(spec), host_bytes(size_of(spec), options, needs, /*check=*/false));
  own_ = generate(spec);
  phases_.emplace_back("generate", watch.lap());
  place(own_, options, wants, leave_to_one);
}

/// With several processes. @return false: the partition needs the whole graph
bool PlacedRun::generate_share(const GeneratorSpec& spec, const Options& options, const RunNeeds& needs,
                               GraphWants wants, bool leave_to_one) {
  const PartitionKind kind = choose_partition(options, leave_to_one);
  if (!can_generate_share(kind)) {
    chosen_.pop_back();  // place() adds it again
    return false;
  }
  World& world = *machine_.world();
  const auto each = static_cast<std::uint64_t>(world.n_processes());
  if (machine_.on_gpu()) {
    placed_ = generate_share_on_devices(spec, kind, machine_.devices(), options.seed, share(), wants.weights);
  } else {
    GraphSize size = size_of(spec);
    size.arcs = size.arcs / world.n_processes() + 1;
    const std::int64_t run_bytes = host_bytes(size, options, needs, /*check=*/false);
    require_host_memory(spec.text(), size, std::max(run_bytes, generate_share_bytes(spec, world.n_processes())),
                        processes_on_this_host());
    placed_ = shoal::generate_share(spec, kind, options.seed, share(), wants.weights);
  }
  again_ = [spec] { return generate(spec); };
  weights_again_ = wants.weights;
  chosen_.push_back(
      {"rows", "by process", "each of the " + std::to_string(each) + " processes generates the rows of its PEs"});
  return true;
}

PlacedRun::PlacedRun(const SharedGraph& graph, const Options& options, const RunNeeds& needs, GraphWants wants,
                     FewVertices)
    : machine_(options), chosen_(machine_.chosen()) {
  const PartitionKind kind = choose_partition(options, false);
  if (machine_.world() == nullptr || !can_read_share(kind)) {
    chosen_.pop_back();  // place() adds it again
    own_ = graph.whole();
    place(own_, options, wants, false);
    return;
  }
  Stopwatch watch;
  GraphSize size = graph.size();
  const int each = machine_.world()->n_processes();
  size.arcs = size.arcs / each + 1;
  graph.agree([&] {
    const std::int64_t run_bytes = host_bytes(size, options, needs, /*check=*/false);
    require_host_memory(graph.name(), size, std::max(run_bytes, graph.reading_bytes()), processes_on_this_host());
  });
  placed_ = read_share(graph, kind, share(), wants.weights, wants.undirected);
  if (machine_.on_gpu()) placed_ = move_to_devices(std::move(placed_), machine_.devices());
  again_ = [&graph, wants] {
    Csr whole = graph.whole();
    return wants.undirected ? simple_undirected(whole) : std::move(whole);
  };
  weights_again_ = wants.weights;
  chosen_.push_back(
      {"rows", "by process", "each of the " + std::to_string(each) + " processes reads the rows of its PEs"});
  if (wants.undirected && placed_.num_arcs != graph.size().arcs) {
    chosen_.push_back({"graph", "undirected", "arcs without direction, no loops, none twice"});
  }
  phases_.emplace_back("read", watch.lap());
  phases_.emplace_back("place", 0.0);
}

ShareOfPes PlacedRun::share() const {
  World& world = *machine_.world();
  const auto all_of = [&world](const std::vector<std::uint64_t>& mine) {
    return world.exchange({"a sum"}, std::as_bytes(std::span(mine)));
  };
  ShareOfPes share;
  share.n_pes = machine_.all_pes();
  share.first_pe = machine_.first_pe();
  share.here = machine_.n_pes();
  share.process = world.process();
  share.processes = world.n_processes();
  share.sum = [all_of](const std::vector<std::uint64_t>& mine) {
    std::vector<std::uint64_t> sums(mine.size());
    for (const auto& bytes : all_of(mine)) {
      for (std::size_t i = 0; i < sums.size(); ++i) {
        std::uint64_t its = 0;
        std::memcpy(&its, bytes.data() + i * sizeof its, sizeof its);
        sums[i] += its;
      }
    }
    return sums;
  };
  share.largest = [this](std::uint64_t mine) {
    const std::vector<std::uint64_t> all = of_processes(machine_, mine);
    return *std::max_element(all.begin(), all.end());
  };
  return share;
}

PartitionKind PlacedRun::choose_partition(const Options& options, bool leave_to_one) {
  if (options.partition != PartitionKind::automatic) {
    chosen_.push_back({"partition", name(options.partition), "asked for"});
    return options.partition;
  }
  const bool one = machine_.all_pes() == 1;
  if (!one && leave_to_one && machine_.on_gpu()) {
    chosen_.push_back({"partition", "one", "the graph is small: one GPU finishes before several could synchronize"});
    return PartitionKind::one;
  }
  const PartitionKind kind = one ? PartitionKind::block : PartitionKind::edges;
  chosen_.push_back(
      {"partition", name(kind), one ? "one PE" : "equally many arcs per PE, and neighbours stay together"});
  return kind;
}

void PlacedRun::place(const Csr& input, const Options& options, GraphWants wants, bool leave_to_one) {
  Stopwatch watch;
  const std::optional<WeightSource>& weights = wants.weights;
  graph_ = &input;
  if (weights) {
    changed_ = with_weights(input, *weights);
    graph_ = &changed_;
  } else if (wants.undirected && !is_simple_undirected(input)) {
    changed_ = simple_undirected(input);
    graph_ = &changed_;
    chosen_.push_back({"graph", "undirected", "arcs without direction, no loops, none twice"});
    phases_.emplace_back("undirect", watch.lap());
  }
  const Csr& graph = *graph_;
  if (weights && *weights != WeightSource::file) phases_.emplace_back("weigh", watch.lap());
  const std::string& wide = graph.weight_remarks.wide;
  if (weights && !wide.empty()) chosen_.push_back({"weights", "float64", wide});
  Partition partition = make_partition(graph, machine_.all_pes(), choose_partition(options, leave_to_one),
                                       options.partition_file, options.seed);
  phases_.emplace_back("partition", watch.lap());
  if (machine_.on_gpu() && machine_.world() == nullptr) {
    placed_ = place_on_devices(graph, std::move(partition), machine_.devices(), weights.has_value());
  } else {
    const auto borrowed = std::shared_ptr<const Csr>(&graph, [](const Csr*) {});
    placed_ = place_on_threads(borrowed, std::move(partition));
    if (machine_.world() != nullptr) keep_slices(placed_, machine_.first_pe(), machine_.n_pes());
    if (machine_.on_gpu()) {
      if (!weights) {
        placed_.weight_kind = WeightKind::none;
        placed_.out_weights.clear();
        placed_.in_weights.clear();
      }
      placed_ = move_to_devices(std::move(placed_), machine_.devices());
    }
  }
  if (weights) describe_weights(graph, placed_);
  phases_.emplace_back("place", watch.lap());
}

Report PlacedRun::begin_report() const {
  Report report;
  report.chosen = chosen_;
  report.phase_seconds = phases_;
  return report;
}

void PlacedRun::end_report(Report& report) const {
  report.phase_seconds.emplace_back("run", report.seconds);
  report.cut_arcs = placed_.all_pes() > 1 ? placed_.partition.cut_arcs : 0;
  report.imbalance = placed_.all_pes() > 1 ? placed_.partition.imbalance : 1;
}

vertex_t PlacedRun::placed_vertex(const char* what, vertex_t input) const {
  if (input >= num_vertices()) {
    throw UsageError(std::string(what) + " " + std::to_string(input) + " is out of range: the graph has " +
                     std::to_string(num_vertices()) + " vertices, numbered from 0");
  }
  return placed_.partition.placed(input);
}

const Csr& PlacedRun::graph() {
  if (graph_ != nullptr) return *graph_;
  own_ = again_ ? again_() : fetch_graph(placed_);
  graph_ = &own_;
  if (again_ && weights_again_) {
    changed_ = with_weights(own_, *weights_again_);
    graph_ = &changed_;
  }
  return *graph_;
}

void PlacedRun::fetch_degrees() {
  if (graph_ != nullptr || !degrees_.empty()) return;
  HostArray<vertex_t> degrees(num_vertices());  // by placed number
  for (const CsrView& slice : placed_.out) {
    HostArray<arc_t> offsets(static_cast<std::int64_t>(slice.count) + 1);
    copy_to_host(offsets.data(), slice.offsets, offsets.size() * sizeof(arc_t));
    parallel_ranges(slice.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = begin; v < end; ++v) {
        // A generated row names no target twice, so its length fits vertex_t.
        degrees[slice.first + v] = static_cast<vertex_t>(offsets[v + 1] - offsets[v]);
      }
    });
  }
  complete(machine_, placed_, degrees.data(), sizeof(vertex_t));
  degrees_ =
      placed_.partition.identity() ? std::move(degrees) : to_input(degrees, [](vertex_t degree) { return degree; });
}

void GraphRunner::State::need_result() const {
  if (!done) throw UsageError("there is no result before the first run, nor after one that failed");
}

GraphRunner::GraphRunner(std::unique_ptr<State> state) : state_(std::move(state)) {}
GraphRunner::GraphRunner(GraphRunner&&) noexcept = default;
GraphRunner& GraphRunner::operator=(GraphRunner&&) noexcept = default;
GraphRunner::~GraphRunner() = default;

std::int64_t GraphRunner::num_vertices() const { return state_->run.num_vertices(); }
arc_t GraphRunner::num_arcs() const { return state_->run.num_arcs(); }
arc_t GraphRunner::degree(vertex_t input) const { return state_->run.degree(input); }
const Csr& GraphRunner::graph() const { return state_->run.graph(); }

std::string GraphRunner::verify() const {
  state_->need_result();
  return state_->verify();
}

}  // namespace shoal
