// Level-synchronous search on GPUs: set-up of memory, peers and heads, done once per graph.
#include <algorithm>
#include <bit>
#include <string>

#include "algo/words_gpu.cuh"
#include "levels_gpu_state.cuh"
#include "levels_heads.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {

using namespace bfs_gpu;

void BfsLevelsGpu::State::set_up_views() {
  const pe_t n_pes = graph.all_pes();
  u32 base[kPeers + 1] = {}, shift[kPeers] = {};
  vertex_t begin[kPeers + 1] = {};
  std::copy_n(graph.partition.owner.begin, n_pes + 1, begin);
  for (pe_t p = 0; p < n_pes; ++p) {
    shift[p] = base[p] - begin[p];
    base[p + 1] = base[p] + (begin[p + 1] - begin[p] + kPad - 1) / kPad * kPad;
  }
  views.resize(graph.n_pes());
  for (pe_t p = 0; p < graph.n_pes(); ++p) {
    Slice& v = views[p];
    v.out = graph.out[p];
    v.in = graph.symmetric ? graph.out[p] : graph.in[p];
    v.team = team.view(p);
    v.n_pes = n_pes;
    v.me = graph.first_pe + p;
    std::copy_n(base, kPeers + 1, v.base);
    std::copy_n(shift, kPeers, v.shift);
    std::copy_n(begin, kPeers + 1, v.begin);
    v.words = (base[v.me + 1] - base[v.me]) / 32;
    v.total_arcs = static_cast<u64>(graph.num_arcs);
    v.total_vertices = static_cast<u64>(graph.num_vertices);
    arc_t arcs = 0;
    if (v.out.count != 0) {
      SHOAL_CUDA(cudaMemcpy(&arcs, v.out.offsets + v.out.count, sizeof(arcs), cudaMemcpyDefault));
    }
    v.arc_bits = std::bit_width(static_cast<u64>(arcs)) + 1;
    if (v.arc_bits + std::bit_width(v.out.count) > 64) {
      throw CapacityError("breadth-first search: PE " + std::to_string(v.me) + " owns " + std::to_string(v.out.count) +
                          " vertices and " + std::to_string(arcs) + " arcs, more than one 64-bit counter holds");
    }
  }
}

void BfsLevelsGpu::State::set_up_memory(Slice& v) {
  const pe_t p = here(v), n_pes = v.n_pes;
  const std::int64_t own = v.words, all = v.base[n_pes] / 32;
  v.unreachable = memory.array<u32>(p, own, "unreachable bitmap");
  v.seen = memory.array<u32>(p, all, "seen bitmap");
  for (auto& front : v.front) front = memory.shared_zeros<u32>(p, all, "frontier bitmap");
  v.head = memory.array<u32>(p, 32 * own, "head in-neighbours");
  v.heads = memory.array<uint4>(p, 32 * own, "four in-neighbours");
  // [count] entries are enough, since a peer sends each vertex at most once in a search.
  for (pe_t q = 0; q < n_pes; ++q) {
    if (q != v.me) v.inbox[q] = memory.shared<vertex_t>(p, v.out.count, "inbox");
  }
  v.spilled = memory.array<PaddedWord<u64, Scope::device>>(p, 1, "a counter");
  v.step = memory.array<Step>(p, kMaxSteps, "steps");
}

void BfsLevelsGpu::State::connect_peers() {
  std::vector<PeerArrays::List> mine;
  for (const Slice& v : views) {
    PeerArrays::List& list = mine.emplace_back(v.inbox, v.inbox + kPeers);
    list.insert(list.end(), v.front, v.front + 2);
  }
  const PeerArrays all = memory.of_all(mine);
  for (Slice& v : views) {
    for (pe_t p = 0; p < v.n_pes; ++p) {
      v.peer_inbox[p] = all.get<vertex_t>(here(v), p, static_cast<std::size_t>(v.me));
      for (std::size_t i = 0; i < 2; ++i) v.peer_front[i][p] = all.get<u32>(here(v), p, kPeers + i);
    }
  }
}

void BfsLevelsGpu::State::set_up_rows() {
  const std::int64_t all = views[0].base[graph.all_pes()];
  std::vector<DeviceArray<u32>> degrees;
  std::vector<DeviceArray<u64>> with_out;
  for (const Slice& v : views) {
    DeviceGuard guard(team.device(here(v)));
    degrees.emplace_back(all, "degrees for heads");
    with_out.emplace_back(1, "a counter");
    with_out.back().fill_bytes(0);
    const u32 own = v.words * 32;
    if (own != 0) {
      describe_rows<<<(own + 255) / 256, 256>>>(v, degrees.back().data(), v.unreachable, with_out.back().data());
      SHOAL_CUDA(cudaGetLastError());
    }
  }
  for (Slice& v : views) {
    const pe_t p = here(v);
    DeviceGuard guard(team.device(p));
    SHOAL_CUDA(cudaDeviceSynchronize());
    u64 n = 0;
    with_out[p].download(&n, 1);
    for (Entry*& queue : v.queue) {
      queue = memory.array<Entry>(p, static_cast<std::int64_t>(std::max<u64>(n, 1)), "frontier queue");
    }
  }
  if (world != nullptr) {
    std::vector<u32*> of_pes;
    for (auto& of_pe : degrees) of_pes.push_back(of_pe.data());
    complete_on_devices(*world, graph, of_pes, [this](pe_t q) { return views[0].base[q]; });
  }
  for (pe_t to = 0; to < team.n_pes() && world == nullptr; ++to) {
    for (const Slice& v : views) {
      const pe_t from = v.me;
      if (to == from || v.words == 0) continue;
      SHOAL_CUDA(cudaMemcpyPeer(degrees[to].data() + v.base[from], team.device(to), degrees[from].data() + v.base[from],
                                team.device(from), v.words * 32 * sizeof(u32)));
    }
  }
  for (const Slice& v : views) {
    if (v.words == 0) continue;
    DeviceGuard guard(team.device(here(v)));
    SHOAL_CUDA(cudaDeviceSynchronize());
    const u32 blocks = std::min<u32>(132 * 8, v.words / 8);
    const auto kernel = multi() ? choose_heads<true> : choose_heads<false>;
    kernel<<<blocks, 256>>>(v, degrees[here(v)].data(), v.head, v.heads);
    SHOAL_CUDA(cudaGetLastError());
  }
  for (const int device : graph.devices) {
    DeviceGuard guard(device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

}  // namespace shoal
