#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "share.hpp"
#include "shoal/core/error.hpp"
#include "shoal/placement/host_slice.hpp"

namespace shoal {
namespace {

OwnerTable owners(const SharedGraph& graph, PartitionKind kind, pe_t n_pes) {
  const std::int64_t n = graph.size().vertices;
  if (kind == PartitionKind::block) return block_ranges(n, n_pes);
  if (kind == PartitionKind::one) return one_range(n, n_pes);
  const int shift = graph.shift();
  const std::int64_t steps = n > 0 ? ((n - 1) >> shift) + 1 : 0;
  OwnerTable table = edge_ranges([&graph](std::int64_t step) { return graph.arcs_before(step); }, steps, n_pes);
  for (pe_t p = 1; p <= n_pes; ++p) {
    table.begin[p] = static_cast<vertex_t>(std::min(n, std::int64_t{table.begin[p]} << shift));
  }
  return table;
}

/// Every process calls it: sets mean_weight and max_weight of `placed` from the rows of all processes.
void describe_file_weights(const Csr& rows, const SharedGraph& graph, PlacedGraph& placed) {
  PlacedGraph mine;
  describe_weights(rows, mine);
  struct Weights {
    double sum, largest;
  } own{mine.mean_weight * static_cast<double>(rows.num_arcs()), mine.max_weight};
  double sum = 0;
  for (const auto& bytes : graph.together().all_of(std::as_bytes(std::span(&own, std::size_t{1})))) {
    Weights its{};
    std::memcpy(&its, bytes.data(), sizeof its);
    sum += its.sum;
    placed.max_weight = std::max(placed.max_weight, its.largest);
  }
  placed.mean_weight = placed.num_arcs > 0 ? sum / static_cast<double>(placed.num_arcs) : 0;
}

}  // namespace

bool can_read_share(PartitionKind kind) {
  return kind == PartitionKind::automatic || kind == PartitionKind::block || kind == PartitionKind::edges ||
         kind == PartitionKind::one;
}

PlacedGraph read_share(const SharedGraph& graph, PartitionKind kind, const ShareOfPes& share,
                       std::optional<WeightSource> weights, bool undirected) {
  if (kind == PartitionKind::automatic) kind = PartitionKind::edges;
  if (!can_read_share(kind)) throw UsageError("read_share: use a block, edges or one partition");
  const bool of_file = weights == WeightSource::file;
  PlacedGraph placed;
  Partition& partition = placed.partition;
  partition.kind = kind;
  partition.owner = owners(graph, kind, share.n_pes);
  placed.first_pe = share.first_pe;
  placed.num_vertices = graph.size().vertices;
  const vertex_t first = partition.owner.begin[share.first_pe];
  const vertex_t count = partition.owner.begin[share.first_pe + share.here] - first;
  const auto make = [&](RowsOf which, std::vector<CsrView>& views, std::vector<ArcWeights>& weights_of) {
    const auto rows = std::make_shared<Csr>(graph.rows(first, count, which, of_file));
    if (of_file) {
      graph.agree([&] { with_weights(*rows, WeightSource::file); });  // only checks the weights
    } else if (weights) {
      weigh(*rows, partition, first, *weights);
    }
    add_views(*rows, partition.owner, share, views, weights_of);
    placed.keep.push_back(rows);
    return rows;
  };
  const auto out = make(undirected ? RowsOf::undirected : RowsOf::out, placed.out, placed.out_weights);
  placed.symmetric = undirected || graph.size().symmetric;
  if (placed.symmetric) {
    placed.in = placed.out;
    placed.in_weights = placed.out_weights;
  } else {
    make(RowsOf::in, placed.in, placed.in_weights);
  }
  measure(placed, share);
  if (of_file) {
    placed.weight_kind = out->weight_kind;
    describe_file_weights(*out, graph, placed);
  } else if (weights) {
    placed.weight_kind = WeightKind::int32;
    placed.mean_weight = *weights == WeightSource::unit ? 1 : 128;
    placed.max_weight = *weights == WeightSource::unit ? 1 : 255;
  }
  return placed;
}

}  // namespace shoal
