#include "host_memory.hpp"

#include <algorithm>

#include "core/memory.hpp"
#include "shoal/core/error.hpp"
#include "shoal/worklist/ring_memory.hpp"
#include "shoal/world/devices.hpp"

namespace shoal {
namespace {

bool runs_on_gpus(const Options& options) {
  if (options.device == DeviceKind::cpu || options.engine == "threads" || options.engine == "openshmem") return false;
  return !list_devices().empty();
}

/// If the partition keeps the input's numbers, CPU threads work on the rows in place.
bool keeps_numbers(const Options& options) {
  switch (options.partition) {
    case PartitionKind::strips:
    case PartitionKind::random:
    case PartitionKind::modulo:
    case PartitionKind::metis:
    case PartitionKind::file:
      return options.pes <= 1;
    default:
      return true;
  }
}

/// METIS gets both directions of every arc, and keeps coarser graphs of about the same size.
double partition_bytes(double n, double m, const Options& options) {
  if (keeps_numbers(options)) return 0;
  const double metis = options.partition == PartitionKind::metis ? 80 * n + 48 * m : 0;
  return 2 * RunNeeds::kWord * n + metis;
}

/// The rings of a run; if no capacity was asked for, about as long as plan_launch() makes them.
RingSizes rings_of(double n, const Options& options, const RunNeeds& needs) {
  const int pes = std::max(options.pes, 1);
  const auto chosen = std::clamp<std::int64_t>(static_cast<std::int64_t>(n / pes) + 1, 1 << 12, 1 << 24);
  return {pes, options.capacity > 0 ? options.capacity : chosen, needs.slot};
}

}  // namespace

std::int64_t host_bytes(const GraphSize& graph, const Options& options, const RunNeeds& needs, bool check) {
  const auto n = static_cast<double>(graph.vertices), m = static_cast<double>(graph.arcs);
  const auto rows = static_cast<double>(csr_bytes(graph));
  const double weighted = rows + needs.weight * m;
  const double reverse = graph.symmetric || needs.undirected || graph.arcs == 0 ? 0 : 1;
  // The answer is fetched first, then checked. In-arcs that either step needed stay in memory.
  double fetching = needs.answer * n, checking = check ? needs.check * n : 0;
  if (needs.answer_reverses) fetching += reverse * weighted;
  if (check && needs.check_reverses) checking += reverse * weighted * (needs.answer_reverses ? 2 : 1);
  double bytes = weighted + std::max(fetching, checking);
  if (!runs_on_gpus(options)) {
    const double pes = std::max<double>(options.pes, 1);
    if (!keeps_numbers(options)) bytes += weighted;
    bytes += reverse * weighted + partition_bytes(n, m, options);
    bytes += (needs.vertex + needs.vertex_of_pe * pes) * n + needs.arc * m + needs.waiting * std::min(n, m);
    if (needs.slot > 0) bytes += bytes_of(rings_of(n, options, needs));
  }
  return static_cast<std::int64_t>(std::min(bytes, 0x1p62));
}

GraphSize size_of(const GeneratorSpec& spec) {
  return {spec.num_vertices(), static_cast<std::int64_t>(std::min(spec.max_arcs(), 0x1p48)), WeightKind::none,
          !spec.directed};
}

void require_ring_memory(const Options& options, const RunNeeds& needs) {
  if (options.capacity == 0 || needs.slot == 0 || runs_on_gpus(options)) return;
  require_ring_memory(rings_of(0, options, needs), /*asked=*/true);
}

void require_host_memory(const std::string& graph, const GraphSize& size, std::int64_t bytes, int processes) {
  const std::int64_t had = available_memory(processes);
  if (bytes > had) throw CapacityError(graph + ": " + too_large(size.vertices, size.arcs, bytes, had));
}

}  // namespace shoal
