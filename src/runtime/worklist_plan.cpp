#include "shoal/runtime/worklist_plan.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "shoal/core/error.hpp"

namespace shoal {
namespace {

/// Notes one decision: "value: asked for" or "value: reason".
template <class T>
void note(std::vector<std::pair<std::string, std::string>>& why, const char* option, const T& value, bool asked,
          const std::string& reason) {
  std::string text;
  if constexpr (std::is_convertible_v<T, std::string>) text = value;
  else text = std::to_string(value);
  why.emplace_back(option, text + ": " + (asked ? "asked for" : reason));
}

}  // namespace

LaunchPlan plan_launch(const Options& options, bool on_gpu, std::int64_t items, double fan_out,
                       std::vector<std::pair<std::string, std::string>>& why) {
  LaunchPlan plan;
  if (!on_gpu && (options.worker == WorkerKind::warp || options.worker == WorkerKind::block)) {
    throw UsageError(std::string("worker ") + name(options.worker) + " runs on GPUs; on CPU threads use --worker thread");
  }
  const bool worker_asked = options.worker != WorkerKind::automatic;
  plan.worker = worker_asked ? options.worker : on_gpu ? WorkerKind::warp : WorkerKind::thread;
  note(why, "worker", name(plan.worker), worker_asked,
       on_gpu ? "short ranges keep the lanes of a warp busy, and a warp waits for nobody" : "CPU threads");
  if (options.block_threads > 0) plan.block_threads = options.block_threads;
  if (plan.worker == WorkerKind::block) note(why, "block_threads", plan.block_threads, options.block_threads > 0, "default");

  const bool kernel_asked = options.kernel != KernelKind::automatic;
  plan.kernel = kernel_asked ? options.kernel : KernelKind::persistent;
  note(why, "kernel", name(plan.kernel), kernel_asked, "no launch and no barrier between rounds");

  // Enough items to fill the lanes once with elements; not more, so that the others find some.
  const double lanes = plan.worker == WorkerKind::block ? plan.block_threads : plan.worker == WorkerKind::warp ? 32 : 16;
  const int fitting = static_cast<int>(std::clamp(std::round(lanes / std::max(fan_out, 1.0)), 1.0, lanes));
  plan.fetch = static_cast<lane_t>(options.fetch > 0 ? options.fetch : on_gpu ? fitting : 16);
  note(why, "fetch", static_cast<int>(plan.fetch), options.fetch > 0,
       on_gpu ? "lanes over the mean fan-out of " + std::to_string(fan_out).substr(0, 4) : "a cache line or two of items");

  const std::int64_t wanted = std::clamp<std::int64_t>(items, 1 << 12, 1 << 24);
  plan.capacity = std::bit_ceil(static_cast<ticket_t>(options.capacity > 0 ? std::max<std::int64_t>(options.capacity, 2) : wanted));
  note(why, "capacity", static_cast<std::int64_t>(plan.capacity), options.capacity > 0, "about the vertices of a PE");
  plan.channel_capacity = std::clamp<ticket_t>(plan.capacity / 4, 2, 1 << 18);
  plan.spill_near = options.spill >= 0 ? options.spill : std::max<std::int64_t>(wanted / 2, 1 << 16);
  plan.spill_far = options.spill >= 0 ? 0 : on_gpu ? 1 << 18 : 1 << 16;
  note(why, "spill", plan.spill_near + plan.spill_far, options.spill >= 0, "half the ring, and some in host memory");
  plan.workers = options.workers;
  plan.stall_timeout_seconds = options.stall_timeout_seconds;
  return plan;
}

}  // namespace shoal
