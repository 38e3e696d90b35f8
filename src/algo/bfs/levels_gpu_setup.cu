// Level-synchronous search on GPUs: memory, peers, heads, made once per graph.
#include <algorithm>
#include <bit>
#include <string>

#include "levels_gpu_state.cuh"
#include "levels_heads.cuh"
#include "shoal/core/error.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal {

using namespace bfs_gpu;

void BfsLevelsGpu::State::set_up_views() {
  const pe_t n_pes = graph.n_pes();
  u32 base[kPeers + 1] = {}, shift[kPeers] = {};
  vertex_t begin[kPeers + 1] = {};
  for (pe_t p = 0; p < n_pes; ++p) {
    begin[p] = graph.out[p].first;
    shift[p] = base[p] - begin[p];
    base[p + 1] = base[p] + (graph.out[p].count + kPad - 1) / kPad * kPad;
  }
  begin[n_pes] = static_cast<vertex_t>(graph.num_vertices);
  for (pe_t p = 0; p < n_pes; ++p) {
    auto pe = std::make_unique<Pe>();
    pe->device = graph.devices[p];
    Slice& v = pe->view;
    v.out = graph.out[p];
    v.in = graph.symmetric ? graph.out[p] : graph.in[p];
    v.team = team.view(p);
    std::copy_n(base, kPeers + 1, v.base);
    std::copy_n(shift, kPeers, v.shift);
    std::copy_n(begin, kPeers + 1, v.begin);
    v.words = (base[p + 1] - base[p]) / 32;
    v.total_arcs = static_cast<u64>(graph.num_arcs);
    v.total_vertices = static_cast<u64>(graph.num_vertices);
    arc_t arcs = 0;
    if (v.out.count != 0) {
      SHOAL_CUDA(cudaMemcpy(&arcs, v.out.offsets + v.out.count, sizeof(arcs), cudaMemcpyDefault));
    }
    v.arc_bits = std::bit_width(static_cast<u64>(arcs)) + 1;
    if (v.arc_bits + std::bit_width(v.out.count) > 64) {
      throw CapacityError("breadth-first search: PE " + std::to_string(p) + " owns " + std::to_string(v.out.count) +
                          " vertices and " + std::to_string(arcs) + " arcs, more than one 64-bit counter holds");
    }
    pes.push_back(std::move(pe));
  }
}

void BfsLevelsGpu::State::set_up_memory(Pe& pe) {
  DeviceGuard guard(pe.device);
  Slice& v = pe.view;
  const std::int64_t own = v.words, all = v.base[v.team.n_pes] / 32;
  pe.unreachable = DeviceArray<u32>(own, "unreachable bitmap");
  pe.seen = DeviceArray<u32>(all, "seen bitmap");
  for (auto& f : pe.front) {
    f = DeviceArray<u32>(all, "frontier bitmap");
    f.fill_bytes(0);
  }
  pe.head = DeviceArray<u32>(32 * own, "head in-neighbours");
  pe.heads = DeviceArray<uint4>(32 * own, "four in-neighbours");
  // A peer sends each vertex at most once in a search.
  pe.inbox =
      DeviceArray<vertex_t>(v.team.n_pes > 1 ? static_cast<std::int64_t>(v.team.n_pes) * v.out.count : 0, "inbox");
  pe.spilled = DeviceArray<PaddedWord<u64, Scope::device>>(1, "a counter");
  pe.step = DeviceArray<Step>(kMaxSteps, "steps");
  v.unreachable = pe.unreachable.data();
  v.seen = pe.seen.data();
  v.head = pe.head.data();
  v.heads = pe.heads.data();
  v.spilled = pe.spilled.data();
  v.step = pe.step.data();
  for (int i = 0; i < 2; ++i) v.front[i] = pe.front[i].data();
}

void BfsLevelsGpu::State::connect_peers() {
  for (auto& mine : pes) {
    Slice& v = mine->view;
    for (auto& other : pes) {
      const pe_t p = other->view.team.me;
      if (p == v.team.me) continue;
      v.inbox[p] = mine->inbox.data() + static_cast<std::int64_t>(p) * v.out.count;
      v.peer_inbox[p] = other->inbox.data() + static_cast<std::int64_t>(v.team.me) * other->view.out.count;
      for (int i = 0; i < 2; ++i) v.peer_front[i][p] = other->front[i].data();
    }
  }
}

void BfsLevelsGpu::State::set_up_rows() {
  const std::int64_t all = pes[0]->view.base[pes.size()];
  std::vector<DeviceArray<u32>> degrees;
  std::vector<DeviceArray<u64>> with_out;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    degrees.emplace_back(all, "degrees for heads");
    with_out.emplace_back(1, "a counter");
    with_out.back().fill_bytes(0);
    const u32 own = pe->view.words * 32;
    if (own != 0) {
      describe_rows<<<(own + 255) / 256, 256>>>(pe->view, degrees.back().data(), pe->unreachable.data(),
                                                with_out.back().data());
      SHOAL_CUDA(cudaGetLastError());
    }
  }
  for (std::size_t p = 0; p < pes.size(); ++p) {
    DeviceGuard guard(pes[p]->device);
    SHOAL_CUDA(cudaDeviceSynchronize());
    u64 n = 0;
    with_out[p].download(&n, 1);
    for (int i = 0; i < 2; ++i) {
      pes[p]->queue[i] = DeviceArray<Entry>(static_cast<std::int64_t>(std::max<u64>(n, 1)), "frontier queue");
      pes[p]->view.queue[i] = pes[p]->queue[i].data();
    }
  }
  for (std::size_t to = 0; to < pes.size(); ++to) {
    for (std::size_t from = 0; from < pes.size(); ++from) {
      const Slice& v = pes[from]->view;
      if (to == from || v.words == 0) continue;
      SHOAL_CUDA(cudaMemcpyPeer(degrees[to].data() + v.base[v.team.me], pes[to]->device,
                                degrees[from].data() + v.base[v.team.me], pes[from]->device,
                                v.words * 32 * sizeof(u32)));
    }
  }
  for (std::size_t p = 0; p < pes.size(); ++p) {
    Pe& pe = *pes[p];
    if (pe.view.words == 0) continue;
    DeviceGuard guard(pe.device);
    SHOAL_CUDA(cudaDeviceSynchronize());
    const u32 blocks = std::min<u32>(132 * 8, pe.view.words / 8);
    if (multi()) {
      choose_heads<true><<<blocks, 256>>>(pe.view, degrees[p].data(), pe.head.data(), pe.heads.data());
    } else {
      choose_heads<false><<<blocks, 256>>>(pe.view, degrees[p].data(), pe.head.data(), pe.heads.data());
    }
    SHOAL_CUDA(cudaGetLastError());
  }
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

}  // namespace shoal
