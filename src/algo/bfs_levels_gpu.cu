// Level-synchronous search on GPUs: the door, launches, and what they report.
#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <string>

#include "bfs_levels_gpu_state.cuh"
#include "shoal/algo/bfs_levels_narrow.cuh"
#include "shoal/algo/bfs_levels_search.cuh"
#include "shoal/core/cuda_check.cuh"
#include "shoal/core/error.hpp"

namespace shoal {

using namespace bfs_gpu;

namespace {

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

}  // namespace

const void* BfsLevelsGpu::State::search_kernel() const {
  return multi() ? reinterpret_cast<const void*>(search_levels<true>)
                 : reinterpret_cast<const void*>(search_levels<false>);
}
std::size_t BfsLevelsGpu::State::search_shared() const {
  return static_cast<std::size_t>(tuning.block_threads) / 32 * kWarpWords * sizeof(u32);
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
  s.prepare_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  report.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
