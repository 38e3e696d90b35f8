#include "shoal/algo/components_hook_gpu.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "shoal/algo/components_hook.cuh"
#include "shoal/algo/components_hook_peers.cuh"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

using namespace hook_gpu;

constexpr vertex_t kMostTile = 32768;

void check(const PlacedGraph& graph, const ComponentsHookGpuTuning& t) {
  const auto refuse = [](const std::string& what) { throw UsageError("ComponentsHookGpu: " + what); };
  const pe_t n_pes = graph.n_pes();
  if (n_pes == 0 || graph.devices.size() != static_cast<std::size_t>(n_pes)) {
    refuse("the graph lies on CPU PEs; place it with place_on_devices");
  }
  if (n_pes > kPeers) refuse(std::to_string(n_pes) + " PEs; at most " + std::to_string(kPeers) + " are served");
  for (const int device : graph.devices) {
    if (std::count(graph.devices.begin(), graph.devices.end(), device) != 1) {
      refuse("device " + std::to_string(device) + " holds two PEs, which would wait for each other; give each its own");
    }
  }
  if (t.tile < kTileThreads || t.tile > kMostTile || t.tile % kTileThreads != 0) {
    refuse("tile " + std::to_string(t.tile) + "; a multiple of 512 up to 32,768 is wanted");
  }
  if (t.hub_arcs < 64) refuse("hub_arcs " + std::to_string(t.hub_arcs) + "; at least 64 is wanted");
  if (!(t.deadline_seconds > 0)) refuse("deadline_seconds must be positive");
}

/// Everything of one PE, on its device.
struct Pe {
  int device = 0;
  cudaStream_t stream = nullptr;
  cudaGraphExec_t kernels = nullptr;
  View view{};
  DeviceArray<vertex_t> parent, hubs;
  DeviceArray<u32> marks, in_giant;
  DeviceArray<Control> control;

  Pe() = default;
  Pe(Pe&&) = delete;
  ~Pe() {
    int before = 0;
    cudaGetDevice(&before);
    cudaSetDevice(device);
    if (kernels != nullptr) cudaGraphExecDestroy(kernels);
    if (stream != nullptr) cudaStreamDestroy(stream);
    cudaSetDevice(before);
  }
};

arc_t last_offset(const CsrView& rows) {
  arc_t arcs = 0;
  if (rows.count != 0) SHOAL_CUDA(cudaMemcpy(&arcs, rows.offsets + rows.count, sizeof(arcs), cudaMemcpyDefault));
  return arcs;
}

}  // namespace

struct ComponentsHookGpu::State {
  const PlacedGraph& graph;
  ComponentsHookGpuTuning tuning;
  std::vector<std::unique_ptr<Pe>> pes;
  int num_kernels = 0;
  double seconds = 0;  // of the last run

  State(const PlacedGraph& g, const ComponentsHookGpuTuning& t) : graph(g), tuning(t) {}

  void set_up(pe_t p);
  void connect();
  void record(Pe& pe);
  template <class After>
  void launch_all(Pe& pe, After&& after);
  std::vector<ComponentsHookStep> profile();
  std::int64_t run();
};

void ComponentsHookGpu::State::set_up(pe_t p) {
  auto pe = std::make_unique<Pe>();
  pe->device = graph.devices[p];
  DeviceGuard guard(pe->device);
  View& v = pe->view;
  v.out = graph.out[p];
  v.in = graph.symmetric ? CsrView{} : graph.in[p];
  v.n_pes = graph.n_pes();
  v.me = p;
  for (pe_t q = 0; q < v.n_pes; ++q) {
    v.begin[q] = graph.out[q].first;
    v.first_word[q + 1] = v.first_word[q] + (graph.out[q].count + 31) / 32;
  }
  v.begin[v.n_pes] = static_cast<vertex_t>(graph.num_vertices);
  v.tile = tuning.tile;
  v.giant = tuning.giant;
  v.hub_arcs = tuning.hub_arcs;
  v.deadline_ns = static_cast<u64>(tuning.deadline_seconds * 1e9);
  pe->parent = DeviceArray<vertex_t>(v.out.count, "parents");
  pe->marks = DeviceArray<u32>((std::int64_t{v.out.count} + 31) / 32, "marks");
  // A row beyond hub_arcs comes once.
  const std::int64_t hubs = (last_offset(v.out) + last_offset(v.in)) / tuning.hub_arcs + 1;
  pe->hubs = DeviceArray<vertex_t>(v.n_pes > 1 ? 2 * hubs : hubs, "long rows");
  v.hubs[0] = pe->hubs.data();
  v.hubs[1] = pe->hubs.data() + hubs;
  v.marks = pe->marks.data();
  if (v.n_pes > 1) pe->in_giant = DeviceArray<u32>(v.first_word[v.n_pes], "bitmap of giant trees");
  pe->control = DeviceArray<Control>(1, "control block");
  pe->control.fill_bytes(0);
  SHOAL_CUDA(cudaStreamCreateWithFlags(&pe->stream, cudaStreamNonBlocking));
  pes.push_back(std::move(pe));
}

void ComponentsHookGpu::State::connect() {
  for (auto& mine : pes) {
    DeviceGuard guard(mine->device);
    for (auto& other : pes) {
      View& v = mine->view;
      const pe_t p = other->view.me;
      v.parent[p] = other->parent.data();
      v.in_giant[p] = other->in_giant.data();
      v.control[p] = other->control.data();
      if (p == v.me) continue;
      int can = 0;
      SHOAL_CUDA(cudaDeviceCanAccessPeer(&can, mine->device, other->device));
      if (can == 0) {
        throw DeviceError("device " + std::to_string(mine->device) + " cannot reach the memory of device " +
                          std::to_string(other->device) + "; run on one GPU (pes = 1)");
      }
      const cudaError_t status = cudaDeviceEnablePeerAccess(other->device, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        cuda_check(status, "cudaDeviceEnablePeerAccess");
      }
    }
  }
}

/// All kernels of a run, in order, into the PE's stream; after(name) follows each.
template <class After>
void ComponentsHookGpu::State::launch_all(Pe& pe, After&& after) {
  const View& v = pe.view;
  int multiprocessors = 0;
  SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, pe.device));
  const unsigned tiles = std::max(1u, (v.out.count + v.tile - 1) / v.tile);
  const unsigned tile_bytes = v.tile * sizeof(u32);
  const auto full = static_cast<unsigned>(
      std::clamp<std::int64_t>((std::int64_t{v.out.count} + kThreads - 1) / kThreads, 1, 8 * multiprocessors));
  num_kernels = 0;
  const auto launch = [&](const char* name, auto* kernel, unsigned blocks, unsigned threads, unsigned shared = 0) {
    if (shared != 0) {
      SHOAL_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared)));
    }
    kernel<<<blocks, threads, shared, pe.stream>>>(v);
    SHOAL_CUDA(cudaGetLastError());
    ++num_kernels;
    after(name);
  };
  if (v.n_pes == 1) {
    launch("tiles", unite_tiles<false>, tiles, kTileThreads, tile_bytes);
    launch("links", link_marked<false>, full, kThreads);
    launch("giant", find_giant<false>, 1, kSamples);
    launch("rest", join_rest, full, kThreads);
    launch("rest of hubs", join_hubs, full, kThreads);
    launch("compress", compress, full, kThreads);
    return;
  }
  launch("tiles", unite_tiles<true>, tiles, kTileThreads, tile_bytes);
  launch("links", link_marked<true>, full, kThreads);
  launch("giant", find_giant<true>, 1, kSamples);
  launch("tell giant", tell_giant, full, kThreads);
  launch("meet", meet_peers, 1, 32);
  launch("giants by sample", unite_giants_by_sample, 1, kThreads);
  launch("giants", unite_giants, full, kThreads);
  launch("hubs of giants", unite_giant_hubs, full, kThreads);
  launch("rest", join_rest_peers, full, kThreads);
  launch("rest of hubs", join_hubs_peers, full, kThreads);
  launch("meet again", meet_peers, 1, 32);
  launch("compress", compress_peers, full, kThreads);
}

/// The kernels become one graph per PE, so that a run is one launch for each device. Recording loads them as well: nothing
/// is loaded while PEs wait for each other.
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
  const cudaError_t status = cudaGraphInstantiate(&pe.kernels, recorded, 0);
  cudaGraphDestroy(recorded);
  cuda_check(status, "cudaGraphInstantiate(components)");
  SHOAL_CUDA(cudaGraphUpload(pe.kernels, pe.stream));
  SHOAL_CUDA(cudaStreamSynchronize(pe.stream));
}

ComponentsHookGpu::ComponentsHookGpu(const PlacedGraph& graph, const ComponentsHookGpuTuning& tuning) {
  check(graph, tuning);
  state_ = std::make_unique<State>(graph, tuning);
  for (pe_t p = 0; p < graph.n_pes(); ++p) state_->set_up(p);
  state_->connect();
  for (auto& pe : state_->pes) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaDeviceSynchronize());  // the control blocks are cleared
    state_->record(*pe);
  }
}
ComponentsHookGpu::~ComponentsHookGpu() = default;
ComponentsHookGpu::ComponentsHookGpu(ComponentsHookGpu&&) noexcept = default;
ComponentsHookGpu& ComponentsHookGpu::operator=(ComponentsHookGpu&&) noexcept = default;

/// @return vertices that were outside of the giant trees after the first arcs
std::int64_t ComponentsHookGpu::State::run() {
  const auto start = std::chrono::steady_clock::now();
  cudaError_t status = cudaSuccess;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    // A launch that fails here leaves the others waiting, but not longer than the deadline.
    if (status == cudaSuccess) status = cudaGraphLaunch(pe->kernels, pe->stream);
  }
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    const cudaError_t ended = cudaStreamSynchronize(pe->stream);
    if (status == cudaSuccess) status = ended;
  }
  seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::int64_t outside = 0;
  bool waited_in_vain = status != cudaSuccess;
  if (status == cudaSuccess) {
    for (auto& pe : pes) {
      Control control;
      pe->control.download(&control, 1);
      outside += static_cast<std::int64_t>(control.outside);
      waited_in_vain |= control.error.load() != 0;
    }
  }
  if (!waited_in_vain) return outside;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    cudaMemset(pe->control.data(), 0, sizeof(Control));  // for the next run, if the device can have one
    cudaDeviceSynchronize();
  }
  cuda_check(status, "cudaGraphLaunch(components)");
  throw DeviceError("components: a PE waited longer than " + std::to_string(tuning.deadline_seconds) +
                    " s for another, which stopped, or shares its device; raise deadline_seconds");
}

std::vector<ComponentsHookStep> ComponentsHookGpu::State::profile() {
  struct Events {
    std::vector<cudaEvent_t> event;
    ~Events() {
      for (cudaEvent_t e : event) cudaEventDestroy(e);
    }
  };
  std::vector<ComponentsHookStep> steps;
  std::vector<Events> events(pes.size());
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    const auto mark = [&] {
      events[pe->view.me].event.emplace_back();
      SHOAL_CUDA(cudaEventCreate(&events[pe->view.me].event.back()));
      SHOAL_CUDA(cudaEventRecord(events[pe->view.me].event.back(), pe->stream));
    };
    mark();
    launch_all(*pe, [&](const char* name) {
      mark();
      if (pe->view.me == 0) steps.push_back({name, 0});
    });
  }
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaStreamSynchronize(pe->stream));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      float ms = 0;
      const auto& event = events[pe->view.me].event;
      SHOAL_CUDA(cudaEventElapsedTime(&ms, event[i], event[i + 1]));
      steps[i].microseconds = std::max(steps[i].microseconds, ms * 1e3);
    }
  }
  return steps;
}

void ComponentsHookGpu::run(Report& report) {
  State& s = *state_;
  const std::int64_t outside = s.run();
  report.seconds += s.seconds;
  report.rounds += s.num_kernels;
  report.chosen.emplace_back("sampling", std::to_string(s.graph.num_vertices - outside) + " of " +
                                             std::to_string(s.graph.num_vertices) +
                                             " vertices joined a giant tree by their first arcs");
}

std::vector<ComponentsHookStep> ComponentsHookGpu::profile() { return state_->profile(); }
vertex_t* ComponentsHookGpu::label(pe_t pe) const { return state_->pes[pe]->parent.data(); }

}  // namespace shoal
