#include "team.cuh"

#include <algorithm>
#include <chrono>
#include <new>
#include <optional>
#include <stop_token>
#include <thread>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/peer_access.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal {

struct LockstepTeam::Pe {
  int device;
  int shared_by = 1;  ///< PEs on the device: all their blocks are resident together
  cudaStream_t stream = nullptr;
  std::optional<Stream> beside;  ///< for words that a running kernel reads; made for work that may be called off
  std::shared_ptr<void> pinned;
  lockstep::Outcome* outcome = nullptr;  // in `pinned`
  DeviceArray<lockstep::Control> control;
  lockstep::View view{};

  explicit Pe(int device) : device(device) {}
  Pe(Pe&&) = delete;
  ~Pe() {
    if (stream != nullptr) {
      cudaSetDevice(device);
      cudaStreamDestroy(stream);
    }
  }
};

namespace {

/// One cluster of blocks.
struct ClusterLaunch {
  cudaLaunchAttribute cluster{};
  cudaLaunchConfig_t config{};

  ClusterLaunch(int blocks, int threads, std::size_t shared_bytes, cudaStream_t stream) {
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
    config.gridDim = dim3(static_cast<unsigned>(blocks));
    config.blockDim = dim3(static_cast<unsigned>(threads));
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = 1;
  }
  ClusterLaunch(const ClusterLaunch&) = delete;
};

}  // namespace

LockstepTeam::LockstepTeam(const std::vector<int>& devices, std::string what, double deadline_seconds)
    : what_(std::move(what)), deadline_seconds_(deadline_seconds) {
  if (devices.empty() || devices.size() > lockstep::kPeers) {
    throw UsageError(what_ + ": " + std::to_string(devices.size()) + " PEs on devices; 1 to " +
                     std::to_string(lockstep::kPeers) + " are served");
  }
  if (!(deadline_seconds > 0)) throw UsageError(what_ + ": the deadline must be positive");
  for (const int device : devices) {
    DeviceGuard guard(device);
    int cooperative = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    if (cooperative == 0) {
      throw DeviceError(what_ + ": device " + std::to_string(device) + " has no cooperative launches");
    }
    auto pe = std::make_unique<Pe>(device);
    pe->shared_by = static_cast<int>(std::count(devices.begin(), devices.end(), device));
    pe->control = DeviceArray<lockstep::Control>(1, "control block");
    SHOAL_CUDA(cudaStreamCreate(&pe->stream));
    pe->pinned = pinned_memory(sizeof(lockstep::Outcome), "outcome of a kernel");
    pe->outcome = new (pe->pinned.get()) lockstep::Outcome{};
    pes_.push_back(std::move(pe));
  }
  for (std::size_t p = 0; p < pes_.size(); ++p) {
    Pe& mine = *pes_[p];
    DeviceGuard guard(mine.device);
    mine.view.control = mine.control.data();
    mine.view.outcome = mine.outcome;
    mine.view.deadline_ns = static_cast<std::uint64_t>(deadline_seconds * 1e9);
    mine.view.n_pes = static_cast<pe_t>(pes_.size());
    mine.view.me = static_cast<pe_t>(p);
    for (std::size_t other = 0; other < pes_.size(); ++other) {
      mine.view.peer[other] = pes_[other]->control.data();
      reach_peer(mine.device, pes_[other]->device);
    }
  }
  clear_control();
}

LockstepTeam::~LockstepTeam() = default;
LockstepTeam::LockstepTeam(LockstepTeam&&) noexcept = default;

pe_t LockstepTeam::n_pes() const { return static_cast<pe_t>(pes_.size()); }
int LockstepTeam::device(pe_t p) const { return pes_[p]->device; }
cudaStream_t LockstepTeam::stream(pe_t p) const { return pes_[p]->stream; }
const lockstep::View& LockstepTeam::view(pe_t p) const { return pes_[p]->view; }
const lockstep::Outcome& LockstepTeam::outcome(pe_t p) const { return *pes_[p]->outcome; }

void LockstepTeam::clear_control() {
  for (auto& pe : pes_) {
    pe->control.fill_bytes(0);
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

std::vector<int> LockstepTeam::prepare(const void* kernel, int threads, std::size_t shared_bytes, int most_per_sm) {
  std::vector<int> blocks;
  for (auto& pe : pes_) {
    DeviceGuard guard(pe->device);
    cudaFuncAttributes attributes;
    SHOAL_CUDA(cudaFuncGetAttributes(&attributes, kernel));
    SHOAL_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
    int sms = 0, fit = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, pe->device));
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, shared_bytes));
    if (fit == 0) {
      throw DeviceError(what_ + ": a block of " + std::to_string(threads) + " threads, " +
                        std::to_string(attributes.numRegs) + " registers each, and " +
                        std::to_string(attributes.sharedSizeBytes + shared_bytes) +
                        " bytes of shared memory does not fit device " + std::to_string(pe->device));
    }
    blocks.push_back(sms * (most_per_sm <= 0 ? fit : std::min(fit, most_per_sm)) / pe->shared_by);
  }
  return blocks;
}

/// While kernels run: tells them to leave when the work is called off. @return whether it was
bool LockstepTeam::watch() {
  const std::stop_token stop = interrupt_token();
  if (!stop.stop_possible()) return false;
  bool called_off = false;
  const auto start = std::chrono::steady_clock::now();
  for (const auto& running : pes_) {
    while (cudaStreamQuery(running->stream) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(50)) continue;  // short ones: no sleep
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (called_off || !stop.stop_requested()) continue;
      called_off = true;
      const auto word = static_cast<lockstep::u32>(lockstep::End::called_off);
      for (const auto& pe : pes_) {
        SHOAL_CUDA(cudaMemcpyAsync(&pe->view.control->error, &word, sizeof(word), cudaMemcpyHostToDevice, *pe->beside));
        SHOAL_CUDA(cudaStreamSynchronize(*pe->beside));
      }
    }
  }
  return stop.stop_requested();
}

void LockstepTeam::wait_all(const char* what) {
  cudaError_t worst = cudaSuccess;
  for (auto& pe : pes_) {
    DeviceGuard guard(pe->device);
    const cudaError_t status = cudaStreamSynchronize(pe->stream);
    if (status != cudaSuccess) worst = status;
  }
  cuda_check(worst, what);
}

int LockstepTeam::prepare_cluster(const void* kernel, int threads, std::size_t shared_bytes, int most) {
  for (auto& pe : pes_) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shared_bytes)));
    SHOAL_CUDA(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    for (; most > 0; most /= 2) {
      ClusterLaunch launch(most, threads, shared_bytes, pe->stream);
      int clusters = 0;
      if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &launch.config) == cudaSuccess &&
          clusters >= pe->shared_by) {
        break;
      }
      cudaGetLastError();
    }
  }
  return most;
}

double LockstepTeam::run_cluster(const void* kernel, int blocks, int threads, std::size_t shared_bytes,
                                 const std::vector<KernelArgs>& args) {
  return launch_all([&](std::size_t p) {
    ClusterLaunch launch(blocks, threads, shared_bytes, pes_[p]->stream);
    return cudaLaunchKernelExC(&launch.config, kernel, const_cast<void**>(args[p].data()));
  });
}

double LockstepTeam::run(const void* kernel, const std::vector<int>& blocks, int threads, std::size_t shared_bytes,
                         const std::vector<KernelArgs>& args) {
  return launch_all([&](std::size_t p) {
    return cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks[p])),
                                       dim3(static_cast<unsigned>(threads)), const_cast<void**>(args[p].data()),
                                       shared_bytes, pes_[p]->stream);
  });
}

double LockstepTeam::launch_all(const std::function<cudaError_t(std::size_t)>& launch) {
  if (interrupt_token().stop_possible()) {
    for (auto& pe : pes_) {
      if (!pe->beside) pe->beside.emplace(pe->device);
    }
  }
  const auto start = std::chrono::steady_clock::now();
  cudaError_t status = cudaSuccess;
  for (std::size_t p = 0; p < pes_.size() && status == cudaSuccess; ++p) {
    Pe& pe = *pes_[p];
    *pe.outcome = {};
    DeviceGuard guard(pe.device);
    // A launch that fails here leaves the others waiting, but not longer than the deadline.
    status = launch(p);
  }
  if (status != cudaSuccess) {
    cudaGetLastError();
    wait_all((what_ + ", after a launch that failed").c_str());
    clear_control();
    cuda_check(status, ("launch of a kernel (" + what_ + ")").c_str());
  }
  const bool called_off = watch();
  wait_all(what_.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  bool stopped = called_off;
  for (auto& pe : pes_) stopped |= pe->outcome->end != static_cast<lockstep::u32>(lockstep::End::running);
  if (!stopped) return seconds;
  clear_control();  // blocks left at different barriers
  if (called_off) throw Interrupted();
  for (auto& pe : pes_) {
    if (pe->outcome->end != static_cast<lockstep::u32>(lockstep::End::deadline)) continue;
    throw DeviceError(what_ + ": PE " + std::to_string(pe->view.me) + " (device " + std::to_string(pe->device) +
                      ") waited longer than " + exact(deadline_seconds_) + " s at barrier " +
                      std::to_string(pe->outcome->barriers) +
                      "; another PE stopped, or the device is shared with other work");
  }
  return seconds;
}

}  // namespace shoal
