#include "shoal/placement/partition.hpp"

#include <algorithm>
#include <atomic>
#include <tuple>
#include <utility>
#include <vector>

#include "assignment.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/placement/random_placement.hpp"

namespace shoal {
namespace {

/// Computes the number of cut arcs, and how evenly arcs are distributed.
void count_cut(const Csr& graph, Partition& partition) {
  const OwnerTable& table = partition.owner;
  auto owner = [&](vertex_t input) {
    const vertex_t v = partition.placed(input);
    return static_cast<pe_t>(std::upper_bound(table.begin + 1, table.begin + table.n_pes, v) - table.begin - 1);
  };
  std::atomic<arc_t> cut{0};
  std::atomic<arc_t> arcs_of[kMaxPes] = {};
  parallel_ranges(graph.num_vertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    arc_t mine = 0, arcs[kMaxPes] = {};
    for (std::int64_t v = begin; v < end; ++v) {
      const pe_t home = owner(static_cast<vertex_t>(v));
      for (const vertex_t w : graph.neighbors(static_cast<vertex_t>(v))) mine += owner(w) != home;
      arcs[home] += graph.degree(static_cast<vertex_t>(v));
    }
    cut += mine;
    for (pe_t p = 0; p < table.n_pes; ++p) arcs_of[p] += arcs[p];
  });
  partition.cut_arcs = cut;
  const arc_t most = *std::max_element(arcs_of, arcs_of + table.n_pes);
  const double mean = static_cast<double>(graph.num_arcs()) / table.n_pes;
  partition.imbalance = mean > 0 ? static_cast<double>(most) / mean : 1;
}

/// Writes row `from` of `graph` with its targets in placed numbers, sorted. Weights are moved with their arcs.
template <class W>
void place_row(const Csr& graph, const Partition& partition, vertex_t from, vertex_t* targets, const W* weights,
               W* placed_weights) {
  const Span<const vertex_t> row = graph.neighbors(from);
  if (weights == nullptr) {
    for (arc_t k = 0; k < row.size(); ++k) targets[k] = partition.placed(row[k]);
    std::sort(targets, targets + row.size());
    return;
  }
  std::vector<std::pair<vertex_t, W>> arcs(row.size());
  for (arc_t k = 0; k < row.size(); ++k) arcs[k] = {partition.placed(row[k]), weights[graph.offsets[from] + k]};
  std::sort(arcs.begin(), arcs.end());
  for (arc_t k = 0; k < row.size(); ++k) std::tie(targets[k], placed_weights[k]) = arcs[k];
}

}  // namespace

OwnerTable block_ranges(std::int64_t n, pe_t n_pes) {
  OwnerTable table;
  table.n_pes = n_pes;
  for (pe_t p = 0; p <= n_pes; ++p) table.begin[p] = static_cast<vertex_t>(n * p / n_pes);
  return table;
}

OwnerTable one_range(std::int64_t n, pe_t n_pes) {
  OwnerTable table;
  table.n_pes = n_pes;
  std::fill(table.begin + 1, table.begin + n_pes + 1, static_cast<vertex_t>(n));
  return table;
}

OwnerTable edge_ranges(const std::function<arc_t(std::int64_t)>& before, std::int64_t n, pe_t n_pes) {
  const arc_t arcs = before(n);
  if (arcs == 0) return block_ranges(n, n_pes);
  OwnerTable table;
  table.n_pes = n_pes;
  for (pe_t p = 1; p < n_pes; ++p) {
    const arc_t goal = arcs / n_pes * p + arcs % n_pes * p / n_pes;
    std::int64_t v = 0;  // the first with before(v) >= goal, or n
    for (std::int64_t end = n; v < end;) {
      const std::int64_t middle = v + (end - v) / 2;
      before(middle) < goal ? v = middle + 1 : end = middle;
    }
    // The cut is put at the nearer end of the row that contains the goal.
    if (v > 0 && goal - before(v - 1) < before(v) - goal) --v;
    table.begin[p] = std::max(static_cast<vertex_t>(v), table.begin[p - 1]);
  }
  table.begin[n_pes] = static_cast<vertex_t>(n);
  return table;
}

OwnerTable edge_ranges(const arc_t* offsets, std::int64_t n, pe_t n_pes) {
  return edge_ranges([offsets](std::int64_t v) { return offsets[v]; }, n, n_pes);
}

Partition random_partition(std::int64_t n, pe_t n_pes, std::uint64_t seed) {
  Partition partition;
  partition.kind = PartitionKind::random;
  partition.owner = block_ranges(n, n_pes);
  if (n_pes == 1) return partition;
  const RandomPlacement place(n, seed);
  partition.placed_of_input = HostArray<vertex_t>(n);
  partition.input_of_placed = HostArray<vertex_t>(n);
  parallel_ranges(n, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      const vertex_t x = place(static_cast<vertex_t>(v));
      partition.placed_of_input[v] = x;
      partition.input_of_placed[x] = static_cast<vertex_t>(v);
    }
  });
  return partition;
}

namespace {

/// A search of a road map begins in one place and spreads, so with one range for each PE most PEs have nothing to do at first.
/// More ranges have more borders, which each take a message: on GPUs these cost more than is gained (docs/decisions/0081-strips.md).
Partition strips_partition(const Csr& graph, pe_t n_pes) {
  constexpr pe_t kStripsOfAPe = 8;
  const std::int64_t n = graph.num_vertices();
  const pe_t strips = n_pes * std::clamp<pe_t>(kMaxPes / n_pes, 1, kStripsOfAPe);
  const arc_t none = 0;
  const OwnerTable ranges = edge_ranges(graph.offsets.empty() ? &none : graph.offsets.data(), n, strips);
  HostArray<pe_t> pe_of(n);
  for (pe_t s = 0; s < strips; ++s) {
    std::fill(pe_of.data() + ranges.begin[s], pe_of.data() + ranges.begin[s + 1], s % n_pes);
  }
  return partition_of_assignment(pe_of, n_pes);
}

}  // namespace

Partition make_partition(const Csr& graph, pe_t n_pes, PartitionKind kind, const std::string& file,
                         std::uint64_t seed) {
  if (n_pes < 1 || n_pes > kMaxPes) {
    throw UsageError("make_partition: " + std::to_string(n_pes) + " PEs wanted; a process holds 1 to " +
                     std::to_string(kMaxPes));
  }
  const std::int64_t n = graph.num_vertices();
  if (kind == PartitionKind::automatic) kind = PartitionKind::edges;
  Partition partition;
  switch (kind) {
    case PartitionKind::edges: {
      const arc_t none = 0;
      partition.owner = edge_ranges(graph.offsets.empty() ? &none : graph.offsets.data(), n, n_pes);
      break;
    }
    case PartitionKind::strips:
      partition = strips_partition(graph, n_pes);
      break;
    case PartitionKind::random:
      partition = random_partition(n, n_pes, seed);
      break;
    case PartitionKind::modulo: {
      HostArray<pe_t> pe_of(n);
      for (std::int64_t v = 0; v < n; ++v) pe_of[v] = static_cast<pe_t>(v % n_pes);
      partition = partition_of_assignment(pe_of, n_pes);
      break;
    }
    case PartitionKind::metis:
      partition = partition_of_assignment(assign_by_metis(graph, n_pes, seed), n_pes);
      break;
    case PartitionKind::one:
      partition.owner = one_range(n, n_pes);
      break;
    case PartitionKind::file:
      partition = partition_of_assignment(read_assignment(file, n, n_pes), n_pes);
      break;
    default:
      partition.owner = block_ranges(n, n_pes);
  }
  partition.kind = kind;
  count_cut(graph, partition);
  return partition;
}

Csr place(const Csr& graph, const Partition& partition) {
  const std::int64_t n = graph.num_vertices();
  if (partition.n() != n) {
    throw UsageError("place: the partition is of " + std::to_string(partition.n()) + " vertices, the graph '" +
                     graph.name + "' has " + std::to_string(n) + "; make the partition from this graph");
  }
  Csr out;
  out.weight_kind = graph.weight_kind;
  out.symmetric = graph.symmetric;
  out.name = graph.name;
  out.offsets = HostArray<arc_t>(n + 1);
  parallel_ranges(n, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      out.offsets[v] = graph.degree(partition.input(static_cast<vertex_t>(v)));
    }
  });
  const arc_t m = offsets_from_degrees(out.offsets.data(), n);
  out.targets = HostArray<vertex_t>(m);
  if (graph.weight_kind == WeightKind::int32) out.int_weights = HostArray<std::int32_t>(m);
  if (graph.weight_kind == WeightKind::float64) out.real_weights = HostArray<double>(m);
  parallel_ranges(n, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      const vertex_t from = partition.input(static_cast<vertex_t>(v));
      const arc_t at = out.offsets[v];
      if (graph.weight_kind == WeightKind::float64) {
        place_row(graph, partition, from, out.targets.data() + at, graph.real_weights.data(),
                  out.real_weights.data() + at);
      } else {
        const bool weighted = graph.weight_kind == WeightKind::int32;
        place_row(graph, partition, from, out.targets.data() + at, weighted ? graph.int_weights.data() : nullptr,
                  weighted ? out.int_weights.data() + at : nullptr);
      }
    }
  });
  return out;
}

}  // namespace shoal
