#include <algorithm>
#include <type_traits>

#include "algo/words_gpu.cuh"
#include "distances.hpp"

namespace shoal {
namespace {

/// What the host needs to describe a violation.
struct WrongDistance {
  vertex_t vertex;  // placed; kNoVertex when all are right
  std::uint64_t distance;
  Arrival<std::uint64_t> best;
};

struct Findings {
  vertex_t first_wrong;  // placed
  unsigned floating;     // not 0: some vertex has a distance that no nearer vertex gives it
};

__global__ void __launch_bounds__(256) find_too_far(const std::uint32_t* words, std::int64_t n, unsigned* found) {
  bool mine = false;
  for (std::int64_t i = blockIdx.x * std::int64_t{256} + threadIdx.x; i < n; i += gridDim.x * std::int64_t{256}) {
    mine |= words[i] == kTooFar;
  }
  if (mine) *found = 1;
}

/// One warp checks each vertex.
template <class Word>
__global__ void __launch_bounds__(256)
    check_distances(CsrView in, ArcWeights weights, const Word* distance, vertex_t source, Findings* findings) {
  const std::int64_t warps = static_cast<std::int64_t>(gridDim.x) * blockDim.x / 32;
  const std::int64_t warp = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
  for (std::int64_t i = warp; i < in.count; i += warps) {
    const vertex_t v = in.first + static_cast<vertex_t>(i);
    Arrival<Word> best = best_arrival(in, weights, distance, v, threadIdx.x % 32, 32);
    for (int step = 16; step > 0; step /= 2) {
      Arrival<Word> other;
      other.distance = __shfl_xor_sync(0xFFFFFFFFu, best.distance, step);
      other.neighbor = __shfl_xor_sync(0xFFFFFFFFu, best.neighbor, step);
      other.from_nearer = __shfl_xor_sync(0xFFFFFFFFu, static_cast<int>(best.from_nearer), step) != 0;
      best.merge(other);
    }
    if (threadIdx.x % 32 != 0) continue;
    if (!distance_is_right(v, source, distance[v], best)) atomicMin(&findings->first_wrong, v);
    if (v != source && best.distance != kUnreachedDistance<Word> && !best.from_nearer) findings->floating = 1;
  }
}

template <class Word>
__global__ void describe_wrong(CsrView in, ArcWeights weights, const Word* distance, const Findings* findings,
                               WrongDistance* wrong) {
  const vertex_t v = wrong->vertex = findings->first_wrong;
  if (v == kNoVertex) return;
  const Arrival<Word> best = best_arrival(in, weights, distance, v);
  wrong->distance = widened(distance[v]);
  wrong->best = {widened(best.distance), best.neighbor, best.from_nearer};
}

template <class Word>
SsspCheck check(const PlacedGraph& graph, const Words& words, vertex_t source, const void* on_host) {
  SsspCheck result{"", true};
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    const CsrView& in = graph.in[p];
    if (in.count == 0) continue;
    DeviceGuard guard(graph.devices[p]);
    const DeviceArray<Word> distance = collect_words(graph, words.as<Word>().data(), static_cast<const Word*>(on_host),
                                                     "distances of all vertices, to verify");
    DeviceArray<Findings> findings(1, "findings");
    DeviceArray<WrongDistance> wrong(1, "wrong distance");
    const Findings none{kNoVertex, 0};
    findings.upload(&none, 1);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((std::int64_t{in.count} + 7) / 8, 1 << 16));
    check_distances<<<blocks, 256>>>(in, graph.in_weights[p], distance.data(), source, findings.data());
    SHOAL_CUDA(cudaGetLastError());
    describe_wrong<<<1, 1>>>(in, graph.in_weights[p], distance.data(), findings.data(), wrong.data());
    SHOAL_CUDA(cudaGetLastError());
    Findings found{};
    WrongDistance what{};
    findings.download(&found, 1);
    wrong.download(&what, 1);
    if (found.floating != 0) result.all_from_nearer = false;
    if (found.first_wrong == kNoVertex) continue;
    result.wrong = wrong_placed_vertex(graph, what.vertex, source, what.distance, what.best);
    return result;
  }
  return result;
}

}  // namespace

bool any_too_far_on_devices(const PlacedGraph& graph, const Words& words) {
  wait_for_devices(graph);
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    DeviceGuard guard(graph.devices[p]);
    DeviceArray<unsigned> found(1, "a word that is too far");
    found.fill_bytes(0);
    find_too_far<<<1024, 256>>>(words.as<std::uint32_t>()[p], graph.out[p].count, found.data());
    SHOAL_CUDA(cudaGetLastError());
    unsigned any = 0;
    found.download(&any, 1);
    if (any != 0) return true;
  }
  return false;
}

SsspCheck check_words_on_devices(const PlacedGraph& graph, const Words& words, vertex_t source, const void* on_host) {
  wait_for_devices(graph);
  return is_wide(words) ? check<std::uint64_t>(graph, words, source, on_host)
                        : check<std::uint32_t>(graph, words, source, on_host);
}

}  // namespace shoal
