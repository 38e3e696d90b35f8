#include "share.hpp"

#include <algorithm>
#include <atomic>

#include "shoal/core/parallel.hpp"
#include "shoal/graph/csr_build.hpp"

namespace shoal {

void weigh(Csr& rows, const Partition& partition, vertex_t first, WeightSource source) {
  rows.weight_kind = WeightKind::int32;
  rows.int_weights = HostArray<std::int32_t>(rows.num_arcs());
  parallel_ranges(rows.num_vertices(), kRowGrain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t v = begin; v < end; ++v) {
      const vertex_t from = partition.input(first + static_cast<vertex_t>(v));
      for (arc_t a = rows.offsets[v]; a < rows.offsets[v + 1]; ++a) {
        rows.int_weights[a] = source == WeightSource::unit ? 1 : hash255(from, partition.input(rows.targets[a]));
      }
    }
  });
}

void add_views(const Csr& rows, const OwnerTable& owner, const ShareOfPes& share, std::vector<CsrView>& views,
               std::vector<ArcWeights>& weights) {
  const vertex_t first = owner.begin[share.first_pe];
  for (pe_t p = share.first_pe; p < share.first_pe + share.here; ++p) {
    const vertex_t begin = owner.begin[p];
    views.push_back({rows.offsets.data() + (begin - first), rows.targets.data(), begin, owner.begin[p + 1] - begin});
    if (rows.weight_kind == WeightKind::int32) weights.push_back({rows.int_weights.data(), nullptr});
    if (rows.weight_kind == WeightKind::float64) weights.push_back({nullptr, rows.real_weights.data()});
  }
}

void sum_up(PlacedGraph& placed, const ShareOfPes& share, const Measured& mine) {
  Partition& partition = placed.partition;
  std::vector<std::uint64_t> sums(static_cast<std::size_t>(share.n_pes) +
                                  1);  // arcs of each PE, then those that are cut
  std::copy(mine.arcs.begin(), mine.arcs.end(), sums.begin() + share.first_pe);
  sums.back() = mine.cut;
  sums = share.sum(sums);
  std::uint64_t all = 0, most = 0;
  for (pe_t p = 0; p < share.n_pes; ++p) {
    all += sums[static_cast<std::size_t>(p)];
    most = std::max(most, sums[static_cast<std::size_t>(p)]);
  }
  placed.num_arcs = static_cast<arc_t>(all);
  placed.max_degree = static_cast<arc_t>(share.largest(mine.most_arcs));
  partition.cut_arcs = static_cast<arc_t>(sums.back());
  partition.imbalance = all > 0 ? static_cast<double>(most) * share.n_pes / static_cast<double>(all) : 1;
}

void measure(PlacedGraph& placed, const ShareOfPes& share) {
  Measured mine;
  std::atomic<std::uint64_t> largest{0}, cut{0};
  for (pe_t p = 0; p < share.here; ++p) {
    const CsrView& rows = placed.out[p];
    mine.arcs.push_back(static_cast<std::uint64_t>(rows.offsets[rows.count] - rows.offsets[0]));
    parallel_ranges(rows.count, kRowGrain, [&](std::int64_t begin, std::int64_t end) {
      std::uint64_t most = 0, crossing = 0;
      for (std::int64_t v = begin; v < end; ++v) {
        const auto row = rows.neighbors(rows.first + static_cast<vertex_t>(v));
        most = std::max(most, static_cast<std::uint64_t>(row.size()));
        for (const vertex_t w : row) crossing += !rows.owns(w);
      }
      cut += crossing;
      for (std::uint64_t old = largest; old < most && !largest.compare_exchange_weak(old, most);) {
      }
    });
  }
  mine.cut = cut;
  mine.most_arcs = largest;
  sum_up(placed, share, mine);
}

int shift_of_steps(std::int64_t n) {
  constexpr std::int64_t kMostSteps = 1 << 16;
  int shift = 0;
  while ((n >> shift) >= kMostSteps) ++shift;
  return shift;
}

OwnerTable cut_equally(const std::vector<std::uint64_t>& arcs, int shift, std::int64_t n, pe_t n_pes) {
  const auto steps = static_cast<std::int64_t>(arcs.size());
  HostArray<arc_t> offsets(steps + 1);
  for (std::int64_t b = 0; b < steps; ++b) offsets[b] = static_cast<arc_t>(arcs[static_cast<std::size_t>(b)]);
  offsets_from_degrees(offsets.data(), steps);
  OwnerTable table = edge_ranges(offsets.data(), steps, n_pes);
  for (pe_t p = 1; p <= n_pes; ++p) {
    table.begin[p] = static_cast<vertex_t>(std::min(n, std::int64_t{table.begin[p]} << shift));
  }
  return table;
}

}  // namespace shoal
