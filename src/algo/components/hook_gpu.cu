// Runs the recorded kernels of all PEs.
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "engines.hpp"
#include "hook_gpu_state.cuh"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal {

using namespace hook_gpu;

ComponentsHookGpu::~ComponentsHookGpu() = default;
ComponentsHookGpu::ComponentsHookGpu(ComponentsHookGpu&&) noexcept = default;
ComponentsHookGpu& ComponentsHookGpu::operator=(ComponentsHookGpu&&) noexcept = default;

std::int64_t ComponentsHookGpu::State::run() {
  const auto start = std::chrono::steady_clock::now();
  cudaError_t status = cudaSuccess;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    // If a launch fails here, kernels already launched wait, but not longer than the deadline.
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
      download(&control, pe->view.control[pe->view.me]);
      outside += static_cast<std::int64_t>(control.outside);
      waited_in_vain |= control.error.load() != 0;
    }
  }
  if (!waited_in_vain) return outside;
  for (auto& pe : pes) {
    DeviceGuard guard(pe->device);
    cudaMemset(pe->view.control[pe->view.me], 0, sizeof(Control));  // for the next run, if the device is still usable
    cudaDeviceSynchronize();
  }
  cuda_check(status, "cudaGraphLaunch(components)");
  throw DeviceError("components: a PE waited longer than " + exact(tuning.deadline_seconds) +
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
  if (!s.exchange.value.empty()) report.chosen.push_back(s.exchange);
  if (s.pes[0]->view.forest[0] != nullptr) return;
  report.chosen.push_back({"sampling",
                           std::to_string(s.graph.num_vertices - outside) + " of " +
                               std::to_string(s.graph.num_vertices) +
                               " vertices joined a giant tree by their first arcs",
                           ""});
}

std::vector<ComponentsHookStep> ComponentsHookGpu::profile() { return state_->profile(); }
vertex_t* ComponentsHookGpu::label(pe_t pe) const {
  return pe < state_->n_pes() ? state_->pes[pe]->view.parent[pe] : nullptr;  // the others have no vertices
}
Words ComponentsHookGpu::words() const {
  return Words::of(state_->graph, [this](pe_t pe) { return label(pe); });
}

std::unique_ptr<ComponentsEngine> make_components_hook_gpu(const Machine&, const PlacedGraph& graph,
                                                           const ComponentsPlan&) {
  return std::make_unique<ComponentsHookGpu>(graph);
}

}  // namespace shoal
