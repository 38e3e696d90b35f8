#include "delta_plan.hpp"

#include <algorithm>
#include <cmath>

#include "delta.cuh"
#include "lockstep/tuning.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/device_memory.cuh"

namespace shoal {

using namespace sssp_gpu;

void check_tuning(const PlacedGraph& graph, const SsspDeltaGpuTuning& t) {
  const TuningCheck check("SsspDeltaGpu", graph);
  check.launch(t.block_threads, t.blocks_per_sm, t.cluster_blocks, t.deadline_seconds);
  check(t.delta >= 0 && !std::isinf(t.delta), "delta", t.delta, "0, which chooses, or more");
  check(t.far_widths >= 1, "far_widths", t.far_widths, "at least 1");
  check(t.pull_width >= 0 && !std::isinf(t.pull_width), "pull_width", t.pull_width, "0 or more");
  check(t.pulls >= 0, "pulls", t.pulls, "0 or more");
  check(t.pull_enter >= 0, "pull_enter", t.pull_enter, "0 or more");
  check(t.pull_share >= 0, "pull_share", t.pull_share, "0 or more");
  check(t.pull_growth >= 1 && !std::isinf(t.pull_growth), "pull_growth", t.pull_growth, "at least 1");
  check(t.range_windows >= 1, "range_windows", t.range_windows, "at least 1");
  check(t.after_width > 0 && !std::isinf(t.after_width), "after_width", t.after_width, "more than 0");
  check(t.round_steps >= 1, "round_steps", t.round_steps, "at least 1");
  check(t.sweep_enter >= 0, "sweep_enter", t.sweep_enter, "0 or more");
  check(t.sweep_leave >= 0, "sweep_leave", t.sweep_leave, "0 or more");
  if (!t.narrow) return;
  check(t.narrow_after >= 1, "narrow_after", t.narrow_after, "at least 1");
  check(t.narrow_enter >= 1, "narrow_enter", t.narrow_enter, "at least 1");
  check(t.narrow_leave > t.narrow_enter, "narrow_leave", t.narrow_leave, "more than narrow_enter");
}

namespace {

// Widths in mean weights, from kron:22 to 26 and road:2048 and 4096 on H200s.
constexpr double kRoadWidth = 16;       ///< at most this
constexpr double kCrowdWidth = 120;     ///< this, divided by the square of the mean degree
constexpr double kSeveralWidth = 1.75;  ///< factor where PEs make steps in rounds: they meet less often

__global__ void describe_rows(CsrView rows, SliceSummary* out) {
  u64 chunks = 0;
  u32 connected = 0;
  for (u32 i = thread_id(); i < rows.count; i += num_threads()) {
    const u64 degree = static_cast<u64>(rows.offsets[i + 1] - rows.offsets[i]);
    if (degree > kLongRow) chunks += (degree + kChunkArcs - 1) / kChunkArcs;
    connected += degree != 0;
  }
  chunks = warp_sum(chunks);
  connected = warp_sum(connected);
  if (lane_id() == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(&out->chunks), static_cast<unsigned long long>(chunks));
    atomicAdd(reinterpret_cast<unsigned long long*>(&out->connected), static_cast<unsigned long long>(connected));
  }
}

template <class Weight>
__global__ void sample_weights(const Weight* weights, u64 arcs, SliceSummary* out) {
  const u64 step = max(arcs >> 20, u64{1});
  double sum = 0;
  u32 n = 0;
  for (u64 i = thread_id() * step; i < arcs; i += num_threads() * step, ++n) sum += static_cast<double>(weights[i]);
  sum = warp_sum(sum);
  n = warp_sum(n);
  if (lane_id() == 0) {
    atomicAdd(&out->weight_sum, sum);
    atomicAdd(reinterpret_cast<unsigned long long*>(&out->weights), static_cast<unsigned long long>(n));
  }
}

}  // namespace

SliceSummary describe_slice(const CsrView& rows, ArcWeights weights) {
  arc_t arcs = 0;
  if (rows.count != 0) SHOAL_CUDA(cudaMemcpy(&arcs, rows.offsets + rows.count, sizeof(arcs), cudaMemcpyDefault));
  SliceSummary summary;
  if (arcs == 0) return summary;
  DeviceArray<SliceSummary> out(1, "summary of rows");
  out.fill_bytes(0);
  describe_rows<<<1024, 256>>>(rows, out.data());
  SHOAL_CUDA(cudaGetLastError());
  if (weights.reals != nullptr) {
    sample_weights<<<64, 256>>>(weights.reals, static_cast<u64>(arcs), out.data());
  } else {
    sample_weights<<<64, 256>>>(weights.ints, static_cast<u64>(arcs), out.data());
  }
  SHOAL_CUDA(cudaGetLastError());
  out.download(&summary, 1);
  return summary;
}

SsspWindows choose_windows(const PlacedGraph& graph, const SsspDeltaGpuTuning& tuning, const SliceSummary& all) {
  const double mean = all.weights == 0 ? 1 : all.weight_sum / static_cast<double>(all.weights);
  const double connected = std::max(static_cast<double>(all.connected), 1.0);
  const double degree = std::max(static_cast<double>(graph.num_arcs) / connected, 1.0);
  SsspWindows windows;
  if (degree >= tuning.pull_degree) windows.pull = mean * tuning.pull_width;
  windows.after = mean * tuning.after_width;
  if (tuning.delta > 0) {
    windows.delta = tuning.delta;
    windows.why = "as given";
    return windows;
  }
  // Where degrees are small (road networks), a step is many arcs deep, so that it has work for all lanes, and some vertices are
  // expanded twice. Where degrees are large, many vertices have similar distances, and a narrow window saves most of them from
  // that.
  windows.delta = mean * std::min(kRoadWidth, kCrowdWidth / (degree * degree));
  if (graph.all_pes() > 1 && tuning.narrow && tuning.round_steps > 1 && windows.pull == 0)
    windows.delta *= kSeveralWidth;
  if (graph.weight_kind != WeightKind::float64) windows.delta = std::max(1.0, std::floor(windows.delta));
  if (!(windows.delta > 0)) windows.delta = 1;
  char text[96];
  std::snprintf(text, sizeof text, "mean weight %.4g, mean degree %.3g", mean, degree);
  windows.why = text;
  return windows;
}

}  // namespace shoal
