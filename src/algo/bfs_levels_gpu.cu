#include "shoal/algo/bfs_levels_gpu.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <string>

#include "shoal/algo/bfs_levels_heads.cuh"
#include "shoal/algo/bfs_levels_narrow.cuh"
#include "shoal/algo/bfs_levels_search.cuh"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/device_memory.cuh"
#include "shoal/core/error.hpp"

namespace shoal {
namespace {

using namespace bfs_gpu;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void check_tuning(const BfsLevelsGpuTuning& t) {
  const auto refuse = [](const std::string& what) { throw UsageError("BfsLevelsGpuTuning: " + what); };
  if (!(t.alpha >= 0)) refuse("alpha " + std::to_string(t.alpha) + " is negative; 0 never goes bottom-up");
  if (!(t.beta >= 0)) refuse("beta " + std::to_string(t.beta) + " is negative");
  if (t.block_threads < 32 || t.block_threads > kMaxThreads || t.block_threads % 32 != 0) {
    refuse("block_threads " + std::to_string(t.block_threads) + "; a multiple of 32 up to 1,024 is wanted");
  }
  if (t.blocks_per_sm < 0) refuse("blocks_per_sm " + std::to_string(t.blocks_per_sm) + " is negative; 0 chooses");
  if (t.narrow && t.narrow_after < 2)
    refuse("narrow_after " + std::to_string(t.narrow_after) + "; at least 2 is wanted");
  if (t.narrow && (t.narrow_enter < 1 || t.narrow_enter > 65535 || t.narrow_leave < 2 * t.narrow_enter ||
                   t.narrow_leave > (1 << 20))) {
    refuse("narrow_enter " + std::to_string(t.narrow_enter) + ", narrow_leave " + std::to_string(t.narrow_leave) +
           "; 1 to 65,535, and twice that to 1,048,576, are wanted");
  }
  if (t.cluster_blocks < 1 || t.cluster_blocks > kMaxCluster || !std::has_single_bit(unsigned(t.cluster_blocks))) {
    refuse("cluster_blocks " + std::to_string(t.cluster_blocks) + "; 1, 2, 4, 8 or 16 is wanted");
  }
  if (t.narrow_threads != 512 && t.narrow_threads != 1024) {
    refuse("narrow_threads " + std::to_string(t.narrow_threads) + "; 512 or 1024 is wanted");
  }
  if (!(t.deadline_seconds > 0)) refuse("deadline_seconds must be positive");
}

/// Everything of one PE, on its device.
struct Pe {
  int device = 0;
  cudaStream_t stream = nullptr;
  Outcome* outcome = nullptr;  // pinned
  int blocks = 0;
  View view{};
  DeviceArray<u32> unreachable, seen, front[2], head;
  DeviceArray<uint4> heads;
  DeviceArray<Entry> queue[2];
  DeviceArray<vertex_t> inbox;  // one part for each peer
  DeviceArray<Control> control;

  Pe() = default;
  Pe(Pe&&) = delete;
  ~Pe() {
    if (stream != nullptr) {
      cudaSetDevice(device);
      cudaStreamDestroy(stream);
    }
    if (outcome != nullptr) cudaFreeHost(outcome);
  }
  std::size_t bytes() const {
    return unreachable.size_bytes() + seen.size_bytes() + front[0].size_bytes() + front[1].size_bytes() +
           head.size_bytes() + heads.size_bytes() + queue[0].size_bytes() + queue[1].size_bytes() + inbox.size_bytes() +
           control.size_bytes();
  }
};

}  // namespace

struct BfsLevelsGpu::State {
  const PlacedGraph& graph;
  BfsLevelsGpuTuning tuning;
  Rules rules{};
  std::vector<std::unique_ptr<Pe>> pes;
  int cluster = 0;   // blocks of the narrow kernel; 0: not used
  u32 barriers = 0;  // met so far on every PE
  u32 steps = 0;     // of the last search
  double prepare_seconds = 0;
  double clock_ghz = 1;

  State(const PlacedGraph& g, const BfsLevelsGpuTuning& t) : graph(g), tuning(t) {}
  bool multi() const { return pes.size() > 1; }
  const void* search_kernel() const {
    return multi() ? reinterpret_cast<const void*>(search_levels<true>)
                   : reinterpret_cast<const void*>(search_levels<false>);
  }
  std::size_t search_shared() const {
    return static_cast<std::size_t>(tuning.block_threads) / 32 * kWarpWords * sizeof(u32);
  }

  void set_up_views();
  void set_up_memory(Pe& pe);
  void connect_peers();
  void set_up_rows();
  void set_up_launches();
  void zero_control();
  void run_search(vertex_t source, level_t* const* level);
  void run_kernel(u32 resume, u32 depth, u64 unexplored, pe_t owner, vertex_t local, level_t* const* level);
  void run_narrow(level_t* level);
  void wait_all(const char* what);
  void check_ends();
};

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
    View& v = pe->view;
    v.out = graph.out[p];
    v.in = graph.symmetric ? graph.out[p] : graph.in[p];
    v.n_pes = n_pes;
    v.me = p;
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
  View& v = pe.view;
  const std::int64_t own = v.words, all = v.base[v.n_pes] / 32;
  pe.unreachable = DeviceArray<u32>(own, "unreachable bitmap");
  pe.seen = DeviceArray<u32>(all, "seen bitmap");
  for (auto& f : pe.front) {
    f = DeviceArray<u32>(all, "frontier bitmap");
    f.fill_bytes(0);
  }
  pe.head = DeviceArray<u32>(32 * own, "head in-neighbours");
  pe.heads = DeviceArray<uint4>(32 * own, "four in-neighbours");
  // A peer sends each vertex at most once in a search.
  pe.inbox = DeviceArray<vertex_t>(v.n_pes > 1 ? static_cast<std::int64_t>(v.n_pes) * v.out.count : 0, "inbox");
  pe.control = DeviceArray<Control>(1, "control block");
  v.unreachable = pe.unreachable.data();
  v.seen = pe.seen.data();
  v.head = pe.head.data();
  v.heads = pe.heads.data();
  v.control = pe.control.data();
  for (int i = 0; i < 2; ++i) v.front[i] = pe.front[i].data();
  SHOAL_CUDA(cudaStreamCreate(&pe.stream));  // ordered after the legacy stream, where callers fill their arrays
  SHOAL_CUDA(cudaHostAlloc(&pe.outcome, sizeof(Outcome), cudaHostAllocPortable));
}

void BfsLevelsGpu::State::connect_peers() {
  for (auto& mine : pes) {
    DeviceGuard guard(mine->device);
    for (auto& other : pes) {
      View& v = mine->view;
      const pe_t p = other->view.me;
      v.peer_control[p] = other->control.data();
      if (p == v.me) continue;
      int can = 0;
      SHOAL_CUDA(cudaDeviceCanAccessPeer(&can, mine->device, other->device));
      if (can == 0) {
        throw DeviceError("device " + std::to_string(mine->device) + " cannot reach the memory of device " +
                          std::to_string(other->device) + "; search on one GPU (pes = 1)");
      }
      const cudaError_t status = cudaDeviceEnablePeerAccess(other->device, 0);
      if (status == cudaErrorPeerAccessAlreadyEnabled) {
        cudaGetLastError();
      } else {
        cuda_check(status, "cudaDeviceEnablePeerAccess");
      }
      v.inbox[p] = mine->inbox.data() + static_cast<std::int64_t>(p) * v.out.count;
      v.peer_inbox[p] = other->inbox.data() + static_cast<std::int64_t>(v.me) * other->view.out.count;
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
      const View& v = pes[from]->view;
      if (to == from || v.words == 0) continue;
      SHOAL_CUDA(cudaMemcpyPeer(degrees[to].data() + v.base[v.me], pes[to]->device, degrees[from].data() + v.base[v.me],
                                pes[from]->device, v.words * 32 * sizeof(u32)));
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

void BfsLevelsGpu::State::set_up_launches() {
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    int sms = 0, cooperative = 0, fit = 0, khz = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, pe->device));
    SHOAL_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, pe->device));
    SHOAL_CUDA(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, pe->device));
    clock_ghz = khz > 0 ? khz * 1e-6 : 1;
    if (cooperative == 0) throw DeviceError("device " + std::to_string(pe->device) + " has no cooperative launches");
    cudaFuncAttributes attributes;
    SHOAL_CUDA(cudaFuncGetAttributes(&attributes, search_kernel()));  // loads it: nothing is loaded while PEs wait
    SHOAL_CUDA(cudaFuncSetAttribute(search_kernel(), cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(search_shared())));
    SHOAL_CUDA(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, search_kernel(), tuning.block_threads, search_shared()));
    if (fit == 0) throw DeviceError("the search kernel does not fit device " + std::to_string(pe->device));
    pe->blocks = sms * (tuning.blocks_per_sm == 0 ? fit : std::min(fit, tuning.blocks_per_sm));
  }
  if (multi() || !tuning.narrow) return;
  DeviceGuard guard(pes[0]->device);
  const auto* kernel = reinterpret_cast<const void*>(narrow_levels);
  SHOAL_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(kNarrowBytes)));
  SHOAL_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  for (cluster = tuning.cluster_blocks; cluster > 0; cluster /= 2) {
    cudaLaunchConfig_t config{};
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
    config.gridDim = dim3(static_cast<unsigned>(cluster));
    config.blockDim = dim3(static_cast<unsigned>(tuning.narrow_threads));
    config.dynamicSmemBytes = kNarrowBytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    int clusters = 0;
    if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0) break;
    cudaGetLastError();
  }
  if (cluster == 0) return;
  rules.narrow_after = tuning.narrow_after;
  rules.narrow_enter = std::min<u64>(tuning.narrow_enter, u64{kNarrowSlots} * cluster);
}

void BfsLevelsGpu::State::zero_control() {
  for (auto& pe : pes) {
    pe->control.fill_bytes(0);
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  barriers = 0;
}

BfsLevelsGpu::BfsLevelsGpu(const PlacedGraph& graph, const BfsLevelsGpuTuning& tuning) {
  const auto start = std::chrono::steady_clock::now();
  check_tuning(tuning);
  const pe_t n_pes = graph.n_pes();
  if (n_pes == 0 || graph.devices.size() != static_cast<std::size_t>(n_pes)) {
    throw UsageError("BfsLevelsGpu: the graph lies on CPU PEs; place it with place_on_devices");
  }
  if (n_pes > kPeers) {
    throw UsageError("BfsLevelsGpu: " + std::to_string(n_pes) + " PEs; at most " + std::to_string(kPeers) +
                     " are served");
  }
  for (pe_t p = 0; p < n_pes; ++p) {
    if (std::count(graph.devices.begin(), graph.devices.end(), graph.devices[p]) != 1) {
      throw UsageError("BfsLevelsGpu: device " + std::to_string(graph.devices[p]) +
                       " holds two PEs, which would wait for each other; give each PE its own device");
    }
  }
  state_ = std::make_unique<State>(graph, tuning);
  State& s = *state_;
  s.rules.alpha = tuning.alpha;
  s.rules.beta = tuning.beta;
  s.rules.narrow_leave = static_cast<u64>(tuning.narrow_leave);
  s.rules.narrow_check = static_cast<u64>(std::max<std::int64_t>(tuning.narrow_check, 0));
  s.rules.deadline_ns = static_cast<u64>(tuning.deadline_seconds * 1e9);
  s.set_up_views();
  for (auto& pe : s.pes) s.set_up_memory(*pe);
  s.connect_peers();
  s.set_up_rows();
  s.set_up_launches();
  s.zero_control();
  s.prepare_seconds = seconds_since(start);
}

BfsLevelsGpu::~BfsLevelsGpu() = default;
BfsLevelsGpu::BfsLevelsGpu(BfsLevelsGpu&&) noexcept = default;
BfsLevelsGpu& BfsLevelsGpu::operator=(BfsLevelsGpu&&) noexcept = default;

void BfsLevelsGpu::State::wait_all(const char* what) {
  cudaError_t worst = cudaSuccess;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    const cudaError_t status = cudaStreamSynchronize(pe->stream);
    if (status != cudaSuccess) worst = status;
  }
  cuda_check(worst, what);
}

/// Turns what a kernel reported into an exception.
void BfsLevelsGpu::State::check_ends() {
  for (auto& pe : pes) {
    const Outcome o = *pe->outcome;
    if (o.end == static_cast<u32>(End::done) || o.end == static_cast<u32>(End::narrow) ||
        o.end == static_cast<u32>(End::wide)) {
      continue;
    }
    zero_control();
    throw DeviceError("breadth-first search: PE " + std::to_string(pe->view.me) + " (device " +
                      std::to_string(pe->device) + ") waited longer than " + std::to_string(tuning.deadline_seconds) +
                      " s at barrier " + std::to_string(o.barriers) + ", level " + std::to_string(o.depth) +
                      "; another PE stopped, or the device is shared: raise deadline_seconds");
  }
}

void BfsLevelsGpu::State::run_kernel(u32 resume, u32 depth, u64 unexplored, pe_t owner, vertex_t local,
                                     level_t* const* level) {
  cudaError_t status = cudaSuccess;
  for (auto& pe : pes) {
    const pe_t p = pe->view.me;
    SearchArgs args{resume, depth, barriers, steps, unexplored, p == owner ? local : kNone, level[p], pe->outcome};
    pe->outcome->end = static_cast<u32>(End::running);
    void* params[] = {&pe->view, &rules, &args};
    DeviceGuard guard(pe->device);
    // A launch that fails here leaves the others waiting, but not longer than the deadline.
    if (status == cudaSuccess) {
      status = cudaLaunchCooperativeKernel(search_kernel(), dim3(static_cast<unsigned>(pe->blocks)),
                                           dim3(static_cast<unsigned>(tuning.block_threads)), params, search_shared(),
                                           pe->stream);
    }
  }
  if (status != cudaSuccess) {
    wait_all("search_levels after a failed launch");
    zero_control();
    cuda_check(status, "cudaLaunchCooperativeKernel(search_levels)");
  }
  wait_all("search_levels");
  check_ends();
  barriers = pes[0]->outcome->barriers;
  steps = pes[0]->outcome->steps;
}

void BfsLevelsGpu::State::run_narrow(level_t* level) {
  Pe& pe = *pes[0];
  NarrowArgs args{pe.outcome->depth, pe.outcome->unexplored, level, pe.outcome};
  pe.outcome->end = static_cast<u32>(End::running);
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  config.gridDim = dim3(static_cast<unsigned>(cluster));
  config.blockDim = dim3(static_cast<unsigned>(tuning.narrow_threads));
  config.dynamicSmemBytes = kNarrowBytes;
  config.stream = pe.stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  DeviceGuard guard(pe.device);
  SHOAL_CUDA(cudaLaunchKernelEx(&config, narrow_levels, pe.view, rules, args));
  wait_all("narrow_levels");
  check_ends();
}

void BfsLevelsGpu::State::run_search(vertex_t source, level_t* const* level) {
  const pe_t owner = graph.partition.owner(source);
  for (auto& pe : pes) *pe->outcome = Outcome{};
  steps = 0;
  run_kernel(0, 0, static_cast<u64>(graph.num_arcs), owner, source - graph.out[owner].first, level);
  Outcome& o = *pes[0]->outcome;
  while (o.end == static_cast<u32>(End::narrow)) {
    run_narrow(level[0]);
    if (o.end == static_cast<u32>(End::done)) break;
    run_kernel(1, o.depth, o.unexplored, owner, 0, level);
  }
}

void BfsLevelsGpu::search(vertex_t placed_source, level_t* const* level, Report& report) {
  State& s = *state_;
  if (placed_source >= s.graph.num_vertices) {
    throw UsageError("breadth-first search: source " + std::to_string(placed_source) + "; the graph has " +
                     std::to_string(s.graph.num_vertices) + " vertices, counted from 0");
  }
  for (auto& pe : s.pes) {
    const level_t* l = level[pe->view.me];
    if (pe->view.out.count != 0 && (l == nullptr || reinterpret_cast<std::uintptr_t>(l) % 16 != 0)) {
      throw UsageError("breadth-first search: the level array of PE " + std::to_string(pe->view.me) +
                       (l == nullptr ? " is missing" : " is not aligned to 16 bytes"));
    }
  }
  const auto start = std::chrono::steady_clock::now();
  s.run_search(placed_source, level);
  report.seconds += seconds_since(start);
  const Outcome& o = *s.pes[0]->outcome;
  report.rounds += o.levels_top_down + o.levels_bottom_up + o.levels_narrow;
  report.chosen.emplace_back("sides", "top-down " + std::to_string(o.levels_top_down) + ", bottom-up " +
                                          std::to_string(o.levels_bottom_up) + ", cluster " +
                                          std::to_string(o.levels_narrow) + ": by the arcs of each frontier");
}

std::vector<BfsLevelStep> BfsLevelsGpu::steps() const {
  const State& s = *state_;
  std::vector<BfsLevelStep> out;
  const std::size_t n = std::min<std::size_t>(s.steps, kMaxSteps);
  if (n == 0) return out;
  DeviceGuard guard(s.pes[0]->device);
  std::vector<Step> raw(n);
  SHOAL_CUDA(cudaMemcpy(raw.data(), s.pes[0]->control.data()->step, n * sizeof(Step), cudaMemcpyDeviceToHost));
  for (const Step& r : raw) {
    out.push_back({static_cast<char>(r.side), r.depth, r.vertices, r.arcs, r.clock / (s.clock_ghz * 1e3)});
  }
  return out;
}

double BfsLevelsGpu::prepare_seconds() const { return state_->prepare_seconds; }

std::int64_t BfsLevelsGpu::extra_bytes() const {
  std::size_t bytes = 0;
  for (const auto& pe : state_->pes) bytes += pe->bytes();
  return static_cast<std::int64_t>(bytes);
}

}  // namespace shoal
