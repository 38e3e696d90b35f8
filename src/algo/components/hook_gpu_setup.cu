// Allocates the memory of a ComponentsHookGpu, and records its kernels.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "forests.cuh"
#include "hook.cuh"
#include "hook_gpu_state.cuh"
#include "hook_peers.cuh"
#include "lockstep/tuning.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {
namespace {

using namespace hook_gpu;

constexpr vertex_t kMostTile = 32768;

int multiprocessors(int device) {
  int count = 0;
  SHOAL_CUDA(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

/// Large tiles leave fewer arcs open, but each multiprocessor should have two tiles, or one if two would make tiles small. H200,
/// 2026-11-22, ms by tiles of 2,048, 4,096, 8,192 and 16,384: road:1024 (1 M vertices, one GPU) .061 .062 .075 .105, on four .095
/// .103 .120 .156; road:2048 .234 .181 .171 .186, on four .150 .132 .145 .183; road:4096 .87 .87 .66 .69, on four .38 .39 .30 .31.
vertex_t tile_for(vertex_t vertices, int multiprocessors) {
  vertex_t tile = 16384;
  while (tile > 4096 && vertices / tile < 2u * static_cast<unsigned>(multiprocessors)) tile /= 2;
  while (tile > 2048 && vertices / tile < static_cast<unsigned>(multiprocessors)) tile /= 2;
  return tile;
}

void check_tuning(const PlacedGraph& graph, const ComponentsHookGpuTuning& t) {
  const TuningCheck check("ComponentsHookGpu", graph);
  check(graph.n_pes() <= kPeers, "number of PEs", graph.n_pes(), "at most 8");
  check(t.tile <= kMostTile && t.tile % kTileThreads == 0, "tile", t.tile, "0 or a multiple of 512 up to 32,768");
  check(t.hub_arcs >= 64, "hub_arcs", static_cast<double>(t.hub_arcs), "at least 64");
  check(t.deadline_seconds > 0, "deadline_seconds", t.deadline_seconds, "more than 0");
}

/// Following one arc over the wire for a hook costs as much as merging this many vertices of the forests.
constexpr std::int64_t kVerticesPerOpenArc = 8;

arc_t last_offset(const CsrView& rows) {
  arc_t arcs = 0;
  if (rows.count != 0) SHOAL_CUDA(cudaMemcpy(&arcs, rows.offsets + rows.count, sizeof(arcs), cudaMemcpyDefault));
  return arcs;
}

}  // namespace

void ComponentsHookGpu::State::set_up(pe_t p) {
  auto pe = std::make_unique<Pe>();
  pe->device = graph.devices[p];
  DeviceGuard guard(pe->device);
  View& v = pe->view;
  v.out = graph.out[p];
  v.in = graph.symmetric ? CsrView{} : graph.in[p];
  v.n_pes = n_pes();
  v.me = p;
  for (pe_t q = 0; q < v.n_pes; ++q) {
    v.begin[q] = graph.out[q].first;
    v.first_word[q + 1] = v.first_word[q] + (graph.out[q].count + 31) / 32;
  }
  v.begin[v.n_pes] = static_cast<vertex_t>(graph.num_vertices);
  v.tile = tuning.tile != 0 ? tuning.tile : tile_for(v.out.count, multiprocessors(pe->device));
  v.giant = tuning.giant;
  v.hub_arcs = tuning.hub_arcs;
  v.deadline_ns = static_cast<u64>(tuning.deadline_seconds * 1e9);
  v.parent[p] = memory.array<vertex_t>(p, v.out.count, "parents");
  v.marks = memory.array<u32>(p, (std::int64_t{v.out.count} + 31) / 32, "marks");
  // Each row of more than hub_arcs arcs is put there once, so this bounds their number.
  const std::int64_t hubs = (last_offset(v.out) + last_offset(v.in)) / tuning.hub_arcs + 1;
  v.hubs[0] = memory.array<vertex_t>(p, hubs, "long rows");
  if (v.n_pes > 1) {
    v.hubs[1] = memory.array<vertex_t>(p, hubs, "long rows");
    v.in_giant[p] = memory.array<u32>(p, v.first_word[v.n_pes], "bitmap of giant trees");
  }
  v.control[p] = memory.zeros<Control>(p, 1, "control block");
  SHOAL_CUDA(cudaStreamCreateWithFlags(&pe->stream, cudaStreamNonBlocking));
  pes.push_back(std::move(pe));
}

void ComponentsHookGpu::State::connect() {
  for (auto& mine : pes) {
    for (auto& theirs : pes) {
      const pe_t p = theirs->view.me;
      mine->view.parent[p] = theirs->view.parent[p];
      mine->view.in_giant[p] = theirs->view.in_giant[p];
      mine->view.control[p] = theirs->view.control[p];
    }
  }
}

void ComponentsHookGpu::State::launch_all(Pe& pe, const std::function<void(const char*)>& after) {
  const View& v = pe.view;
  const std::int64_t most_blocks = 8 * multiprocessors(pe.device);
  const bool hubs = !graph.symmetric || graph.max_degree > v.hub_arcs;
  const unsigned tiles = std::max(1u, (v.out.count + v.tile - 1) / v.tile);
  const unsigned tile_bytes = v.tile * sizeof(u32);
  const auto full = static_cast<unsigned>(
      std::clamp<std::int64_t>((std::int64_t{v.out.count} + kThreads - 1) / kThreads, 1, most_blocks));
  const auto launch = [&](const char* name, auto* kernel, unsigned blocks, unsigned threads, unsigned shared = 0) {
    if (shared != 0) {
      SHOAL_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    }
    kernel<<<blocks, threads, shared, pe.stream>>>(v);
    SHOAL_CUDA(cudaGetLastError());
    ++num_kernels;
    after(name);
  };
  num_kernels = 0;
  if (v.n_pes == 1) {
    launch("tiles", unite_tiles<false>, tiles, kTileThreads, tile_bytes);
    launch("links", link_marked<false>, full, kThreads);
    launch("giant", find_giant<false>, 1, kSamples);
    launch("rest", join_rest, full, kThreads);
    if (hubs) launch("rest of hubs", join_hubs, full, kThreads);
    launch("compress", compress, full, kThreads);
    return;
  }
  if (v.forest[v.me] != nullptr) {
    const auto everything =
        static_cast<unsigned>(std::clamp<std::int64_t>((graph.num_vertices + kThreads - 1) / kThreads, 1, most_blocks));
    launch("plant", plant_forest, everything, kThreads);
    launch("grow", grow_forest, full, kThreads);
    if (hubs) launch("grow hubs", grow_hubs, full, kThreads);
    launch("copy", copy_forest, everything, kThreads);
    launch("meet", meet_peers, 1, 32);
    launch("merge", merge_forests, everything, kThreads);
    launch("labels", label_from_forest, full, kThreads);
    return;
  }
  launch("tiles", unite_tiles<true>, tiles, kTileThreads, tile_bytes);
  launch("links", link_marked<true>, full, kThreads);
  launch("giant", find_giant<true>, 1, kSamples);
  launch("tell giant", tell_giant, full, kThreads);
  launch("meet, giants by sample", unite_giants_by_sample, 1, kSamples);
  launch("rest", join_peers, full, kThreads);
  if (hubs) launch("rest of hubs", join_hubs_peers, full, kThreads);
  launch("meet again", meet_and_find_roots, 1, 32);
  launch("compress", compress_peers, full, kThreads);
}

void ComponentsHookGpu::State::record(Pe& pe) {
  DeviceGuard guard(pe.device);
  SHOAL_CUDA(cudaStreamBeginCapture(pe.stream, cudaStreamCaptureModeThreadLocal));
  cudaGraph_t recorded = nullptr;
  try {
    launch_all(pe, [](const char*) {});
  } catch (...) {
    cudaStreamEndCapture(pe.stream, &recorded);
    if (recorded != nullptr) cudaGraphDestroy(recorded);
    throw;
  }
  SHOAL_CUDA(cudaStreamEndCapture(pe.stream, &recorded));
  if (pe.kernels != nullptr) cudaGraphExecDestroy(std::exchange(pe.kernels, nullptr));
  const cudaError_t status = cudaGraphInstantiate(&pe.kernels, recorded, 0);
  cudaGraphDestroy(recorded);
  cuda_check(status, "cudaGraphInstantiate(components)");
  SHOAL_CUDA(cudaGraphUpload(pe.kernels, pe.stream));
  SHOAL_CUDA(cudaStreamSynchronize(pe.stream));
}

/// Counts, after a run, the arcs between PEs that it had to follow over the wire.
std::int64_t ComponentsHookGpu::State::count_open_arcs() {
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    shoal::hook_gpu::count_open_arcs<<<1024, kThreads, 0, pe->stream>>>(pe->view);
    SHOAL_CUDA(cudaGetLastError());
  }
  std::int64_t open = 0;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaStreamSynchronize(pe->stream));
    Control control;
    download(&control, pe->view.control[pe->view.me]);
    open += static_cast<std::int64_t>(control.open_arcs);
  }
  return open;
}

void ComponentsHookGpu::State::add_forests() {
  PeerMemory added(devices());  // all or nothing
  std::vector<vertex_t*> forest, merged;
  for (pe_t p = 0; p < n_pes(); ++p) {
    forest.push_back(added.array<vertex_t>(p, forest_words(graph.num_vertices), "parents of all vertices"));
    merged.push_back(added.array<vertex_t>(p, graph.num_vertices, "merged parents of all vertices"));
  }
  forests = std::move(added);
  for (auto& pe : pes) {
    std::copy(forest.begin(), forest.end(), pe->view.forest);
    pe->view.merged = merged[pe->view.me];
  }
  for (auto& pe : pes) record(*pe);
}

void ComponentsHookGpu::State::choose_exchange() {
  if (n_pes() == 1) return;
  exchange = {"exchange", tuning.exchange == ComponentsExchange::forests ? "forests" : "hooks", "asked for"};
  if (tuning.exchange == ComponentsExchange::forests) add_forests();
  if (tuning.exchange != ComponentsExchange::automatic) return;
  run();
  const std::int64_t open = count_open_arcs();
  const bool many = open / n_pes() * kVerticesPerOpenArc > graph.num_vertices;
  exchange = {"exchange", many ? "forests" : "hooks", grouped(open) + " arcs between PEs have no end in a giant tree"};
  if (!many) return;
  try {
    add_forests();
  } catch (const CapacityError& error) {
    exchange = {"exchange", "hooks", "no memory for forests: " + std::string(error.what())};
  }
}

ComponentsHookGpu::ComponentsHookGpu(const PlacedGraph& graph, const ComponentsHookGpuTuning& tuning) {
  check_tuning(graph, tuning);
  state_ = std::make_unique<State>(graph, tuning);
  for (pe_t p = 0; p < state_->n_pes(); ++p) state_->set_up(p);
  state_->connect();
  for (auto& pe : state_->pes) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaDeviceSynchronize());  // the control blocks are cleared
    state_->record(*pe);
  }
  state_->choose_exchange();
}
}  // namespace shoal
