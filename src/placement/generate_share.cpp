#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "share.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/graph/edge_functions.hpp"
#include "shoal/placement/host_slice.hpp"

namespace shoal {
namespace {

/// Calls f(rule) with the rule that draws the graph's edges.
template <class F>
auto with_edges(const GeneratorSpec& spec, F&& f) {
  return spec.kind == GraphKind::community ? f(CommunityRule(spec)) : f(EdgeRule(spec));
}

/// Ranges of about equally many arcs, cut between steps of 2^shift vertices. Each process counts a part of the edges or rows.
OwnerTable equal_arcs(const GeneratorSpec& spec, const ShareOfPes& share) {
  const std::int64_t n = spec.num_vertices();
  const int shift = shift_of_steps(n);
  const std::int64_t buckets = ((n - 1) >> shift) + 1;
  std::vector<std::atomic<std::uint64_t>> arcs(static_cast<std::size_t>(buckets));
  const auto count = [&](vertex_t v, std::uint64_t more) {
    arcs[v >> shift].fetch_add(more, std::memory_order_relaxed);
  };
  const std::int64_t all = spec.draws_edges() ? n * spec.degree : n;
  const std::int64_t first = all * share.process / share.processes;
  const std::int64_t mine = all * (share.process + 1) / share.processes - first;
  if (spec.draws_edges()) {
    with_edges(spec, [&](const auto& edge_of) {
      parallel_ranges(mine, 1 << 16, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = first + begin; i < first + end; ++i) {
          const Edge edge = edge_of(i);
          if (edge.u == edge.v) continue;
          count(edge.u, 1);
          if (!spec.directed) count(edge.v, 1);
        }
      });
    });
  } else {
    const RowRule rule(spec);
    parallel_ranges(mine, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t v = first + begin; v < first + end; ++v) {
        count(static_cast<vertex_t>(v), static_cast<std::uint64_t>(rule.degree(static_cast<vertex_t>(v))));
      }
    });
  }
  return cut_equally(share.sum({arcs.begin(), arcs.end()}), shift, n, share.n_pes);
}

/// Generates rows [first, first + count) in placed numbers, or the in-arcs of these vertices if `reverse`.
Csr generate_rows(const GeneratorSpec& spec, const Partition& partition, vertex_t first, vertex_t count, bool reverse) {
  if (spec.draws_edges()) {
    return with_edges(spec, [&](const auto& edge_of) {
      return csr_rows_from_edges(first, count, spec.num_vertices() * spec.degree, !spec.directed, [&](std::int64_t i) {
        const Edge edge = edge_of(i);
        const vertex_t u = partition.placed(edge.u), v = partition.placed(edge.v);
        return reverse ? Edge{v, u} : Edge{u, v};
      });
    });
  }
  struct Shifted {
    RowRule rule;
    const Partition& partition;
    vertex_t first;
    arc_t degree(vertex_t row) const { return rule.degree(partition.input(first + row)); }
    vertex_t neighbor(vertex_t row, arc_t k) const {
      return partition.placed(rule.neighbor(partition.input(first + row), k));
    }
  };
  Csr rows = csr_from_rows(count, Shifted{RowRule(spec), partition, first});
  if (partition.identity()) return rows;
  parallel_ranges(count, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      std::sort(rows.targets.data() + rows.offsets[v], rows.targets.data() + rows.offsets[v + 1]);
    }
  });
  return rows;
}

}  // namespace

std::int64_t generate_share_bytes(const GeneratorSpec& spec, int processes) {
  const double arcs = std::min(spec.max_arcs(), 0x1p48);
  const double all = 8.0 * static_cast<double>(spec.num_vertices()) + (spec.draws_edges() ? 12 : 4) * arcs;
  return static_cast<std::int64_t>(all) / processes;
}

bool can_generate_share(PartitionKind kind) {
  return kind == PartitionKind::automatic || kind == PartitionKind::block || kind == PartitionKind::edges ||
         kind == PartitionKind::one || kind == PartitionKind::random;
}

PlacedGraph generate_share(const GeneratorSpec& spec, PartitionKind kind, std::uint64_t seed, const ShareOfPes& share,
                           std::optional<WeightSource> weights) {
  spec.check();
  if (weights == WeightSource::file) {
    throw UsageError("generate_share: " + spec.text() + " has no weights of its own; use hash255 or unit");
  }
  if (kind == PartitionKind::automatic) kind = PartitionKind::edges;
  if (!can_generate_share(kind)) throw UsageError("generate_share: use a block, edges, one or random partition");
  const std::int64_t n = spec.num_vertices();
  PlacedGraph placed;
  Partition& partition = placed.partition;
  switch (kind) {
    case PartitionKind::random:
      partition = random_partition(n, share.n_pes, seed);
      break;
    case PartitionKind::edges:
      partition.owner = equal_arcs(spec, share);
      break;
    case PartitionKind::one:
      partition.owner = one_range(n, share.n_pes);
      break;
    default:
      partition.owner = block_ranges(n, share.n_pes);
  }
  partition.kind = kind;
  placed.first_pe = share.first_pe;
  placed.num_vertices = n;
  placed.symmetric = !spec.directed;
  const vertex_t first = partition.owner.begin[share.first_pe];
  const vertex_t count = partition.owner.begin[share.first_pe + share.here] - first;
  const auto make = [&](bool reverse, std::vector<CsrView>& views, std::vector<ArcWeights>& weights_of) {
    const auto rows = std::make_shared<Csr>(generate_rows(spec, partition, first, count, reverse));
    if (weights) weigh(*rows, partition, first, *weights);
    add_views(*rows, partition.owner, share, views, weights_of);
    placed.keep.push_back(rows);
  };
  make(false, placed.out, placed.out_weights);
  if (spec.directed) {
    make(true, placed.in, placed.in_weights);
  } else {
    placed.in = placed.out;
    placed.in_weights = placed.out_weights;
  }
  if (weights) {
    placed.weight_kind = WeightKind::int32;
    placed.mean_weight = *weights == WeightSource::unit ? 1 : 128;
    placed.max_weight = *weights == WeightSource::unit ? 1 : 255;
  }
  measure(placed, share);
  return placed;
}

}  // namespace shoal
