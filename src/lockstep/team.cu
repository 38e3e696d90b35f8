#include "team.cuh"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <new>
#include <optional>
#include <span>
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
  int shared_by = 1;  ///< PEs on the device: all their blocks are resident at the same time
  cudaStream_t stream = nullptr;
  std::optional<Stream> beside;  ///< for copies to words that a running kernel reads; made when work may be called off
  std::shared_ptr<void> pinned;
  lockstep::Outcome* outcome = nullptr;  // in `pinned`
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

/// Launch configuration of one cluster of blocks.
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

namespace {

/// With several processes, kernels wait for each other at least this long: the processes themselves detect a failed process sooner.
constexpr double kLongestWaitSeconds = 60;

/// The devices of all PEs. Machine ensures that all processes number devices in the same way.
std::vector<int> devices_of_all(const std::vector<int>& mine, World* world) {
  if (world == nullptr) return mine;
  std::vector<int> all;
  for (const auto& bytes : world->exchange({"devices"}, std::as_bytes(std::span(mine)))) {
    for (std::size_t at = 0; at + sizeof(int) <= bytes.size(); at += sizeof(int)) {
      std::memcpy(&all.emplace_back(), bytes.data() + at, sizeof(int));
    }
  }
  return all;
}

}  // namespace

LockstepTeam::LockstepTeam(const std::vector<int>& devices, std::string what, double deadline_seconds, World* world,
                           World::Reach reach)
    : what_(std::move(what)),
      deadline_seconds_(deadline_seconds),
      world_(reach == World::Reach::memory ? world : nullptr),
      memory_(devices, world_) {
  const std::vector<int> of_all = devices_of_all(devices, world_);
  const std::size_t all_pes = reach == World::Reach::wire ? static_cast<std::size_t>(world->n_pes()) : of_all.size();
  if (of_all.empty() || all_pes > lockstep::kPeers) {
    throw UsageError(what_ + ": " + std::to_string(all_pes) + " PEs on devices; use 1 to " +
                     std::to_string(lockstep::kPeers));
  }
  if (!(deadline_seconds > 0)) throw UsageError(what_ + ": the deadline must be positive");
  if (world_ != nullptr) deadline_seconds_ = std::max(deadline_seconds_, kLongestWaitSeconds);
  const pe_t first = world_ != nullptr ? world_->first_here() : 0;
  std::vector<PeerArrays::List> controls;
  for (std::size_t p = 0; p < devices.size(); ++p) {
    const int device = devices[p];
    DeviceGuard guard(device);
    int cooperative = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    if (cooperative == 0) {
      throw DeviceError(what_ + ": device " + std::to_string(device) + " has no cooperative launches; use another GPU");
    }
    auto pe = std::make_unique<Pe>(device);
    pe->shared_by = static_cast<int>(std::count(of_all.begin(), of_all.end(), device));
    pe->view.control = memory_.shared<lockstep::Control>(static_cast<pe_t>(p), 1, "control block");
    controls.push_back({pe->view.control});
    SHOAL_CUDA(cudaStreamCreate(&pe->stream));
    pe->pinned = pinned_memory(sizeof(lockstep::Outcome), "outcome of a kernel");
    pe->outcome = new (pe->pinned.get()) lockstep::Outcome{};
    pes_.push_back(std::move(pe));
  }
  clear_control();
  const PeerArrays arrays = memory_.of_all(controls);
  for (std::size_t p = 0; p < pes_.size(); ++p) {
    Pe& mine = *pes_[p];
    mine.view.outcome = mine.outcome;
    mine.view.deadline_ns = static_cast<std::uint64_t>(deadline_seconds_ * 1e9);
    if (reach == World::Reach::wire) {
      mine.view.n_pes = 1;
      mine.view.peer[0] = mine.view.control;
      continue;
    }
    mine.view.n_pes = static_cast<pe_t>(of_all.size());
    mine.view.me = first + static_cast<pe_t>(p);
    for (pe_t q = 0; q < mine.view.n_pes; ++q) {
      mine.view.peer[q] = arrays.get<lockstep::Control>(static_cast<pe_t>(p), q, 0);
    }
  }
}

LockstepTeam::~LockstepTeam() = default;
LockstepTeam::LockstepTeam(LockstepTeam&&) noexcept = default;

pe_t LockstepTeam::n_pes() const { return static_cast<pe_t>(pes_.size()); }
pe_t LockstepTeam::all_pes() const { return pes_[0]->view.n_pes; }
int LockstepTeam::device(pe_t p) const { return pes_[p]->device; }
cudaStream_t LockstepTeam::stream(pe_t p) const { return pes_[p]->stream; }
const lockstep::View& LockstepTeam::view(pe_t p) const { return pes_[p]->view; }
const lockstep::Outcome& LockstepTeam::outcome(pe_t p) const { return *pes_[p]->outcome; }

void LockstepTeam::clear_control() {
  for (auto& pe : pes_) {
    DeviceGuard guard(pe->device);
    SHOAL_CUDA(cudaMemset(pe->view.control, 0, sizeof(lockstep::Control)));
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

/// Polls while kernels run: makes them leave when the work is called off, or another process has failed. @return whether the work
/// was called off
bool LockstepTeam::watch() {
  const std::stop_token stop = interrupt_token();
  if (!stop.stop_possible() && world_ == nullptr) return false;
  bool leaving = false;
  const auto start = std::chrono::steady_clock::now();
  auto watched = start;
  for (const auto& running : pes_) {
    while (cudaStreamQuery(running->stream) == cudaErrorNotReady) {
      const auto now = std::chrono::steady_clock::now();
      if (now - start < std::chrono::milliseconds(50)) continue;  // no sleep for short kernels
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      if (leaving) continue;
      if (world_ != nullptr && now - watched >= std::chrono::milliseconds(50)) {
        watched = now;
        leaving = !world_->watch().empty();  // the next exchange() gives the reason
      }
      leaving |= stop.stop_requested();
      if (leaving) call_off();
    }
  }
  return stop.stop_requested();
}

/// Makes the kernels of all PEs leave.
void LockstepTeam::call_off() {
  const auto word = static_cast<lockstep::u32>(lockstep::End::called_off);
  for (const auto& pe : pes_) {
    SHOAL_CUDA(cudaMemcpyAsync(&pe->view.control->error, &word, sizeof(word), cudaMemcpyHostToDevice, *pe->beside));
    SHOAL_CUDA(cudaStreamSynchronize(*pe->beside));
  }
  if (world_ == nullptr) return;
  const lockstep::View& view = pes_[0]->view;
  DeviceGuard guard(pes_[0]->device);
  for (pe_t q = 0; q < view.n_pes; ++q) {
    if (q >= world_->first_here() && q < world_->first_here() + n_pes()) continue;
    // If this fails, those kernels wait until their deadline, or until their own process learns of it.
    cudaMemcpyAsync(&view.peer[q]->error, &word, sizeof(word), cudaMemcpyHostToDevice, *pes_[0]->beside);
  }
  cudaStreamSynchronize(*pes_[0]->beside);
  cudaGetLastError();
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

double LockstepTeam::launch_all(const Launch& launch) {
  if (world_ != nullptr || interrupt_token().stop_possible()) {
    for (auto& pe : pes_) {
      if (!pe->beside) pe->beside.emplace(pe->device);
    }
  }
  if (world_ != nullptr) return launch_with_others(launch);
  bool stopped = false;
  double seconds = 0;
  try {
    seconds = launch_here(launch, stopped);
  } catch (...) {
    if (stopped) clear_control();
    throw;
  }
  if (stopped) clear_control();
  return seconds;
}

/// @param stopped  set when blocks may have left at different barriers, so that the control blocks must be cleared
double LockstepTeam::launch_here(const Launch& launch, bool& stopped) {
  const auto start = std::chrono::steady_clock::now();
  cudaError_t status = cudaSuccess;
  for (std::size_t p = 0; p < pes_.size() && status == cudaSuccess; ++p) {
    Pe& pe = *pes_[p];
    *pe.outcome = {};
    DeviceGuard guard(pe.device);
    // If a launch fails here, kernels already launched wait, but not longer than the deadline.
    status = launch(p);
  }
  if (status != cudaSuccess) {
    cudaGetLastError();
    if (world_ != nullptr) call_off();
    wait_all((what_ + ", after a launch that failed").c_str());
    stopped = true;
    cuda_check(status, ("launch of a kernel (" + what_ + ")").c_str());
  }
  const bool called_off = watch();
  wait_all(what_.c_str());
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  stopped = called_off;
  for (auto& pe : pes_) stopped |= pe->outcome->end != static_cast<lockstep::u32>(lockstep::End::running);
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

namespace {

/// How the kernels of a process ended; sent as bytes, followed by the text of the error.
struct Ended {
  double seconds = 0;
  bool stopped = false, called_off = false;
};

}  // namespace

/// Called by every process: no kernel begins before all processes have read the result of the last one, and all processes return or
/// throw alike.
double LockstepTeam::launch_with_others(const Launch& launch) {
  // A process that arrives early sleeps, and resumes late. From the third of these meetings on, all arrive within some
  // microseconds.
  for (int i = 0; i < 3; ++i) world_->exchange({"a kernel on all GPUs"}, {});
  world_->begin_watch();
  Ended mine;
  std::string why;
  try {
    mine.seconds = launch_here(launch, mine.stopped);
  } catch (const Interrupted&) {
    mine.called_off = true;
  } catch (const std::exception& error) {
    why = error.what();
    mine.stopped = true;
    try {
      call_off();
    } catch (const Error&) {  // the device is lost
    }
  }
  std::vector<std::byte> told(sizeof mine + why.size());
  std::memcpy(told.data(), &mine, sizeof mine);
  std::memcpy(told.data() + sizeof mine, why.data(), why.size());
  Ended all;
  std::string first;
  for (const auto& bytes : world_->exchange({"the end of a kernel on all GPUs"}, told)) {
    Ended its;
    std::memcpy(&its, bytes.data(), std::min(sizeof its, bytes.size()));
    all.seconds = std::max(all.seconds, its.seconds);
    all.stopped |= its.stopped;
    all.called_off |= its.called_off;
    if (first.empty() && bytes.size() > sizeof its) {
      first.assign(reinterpret_cast<const char*>(bytes.data()) + sizeof its, bytes.size() - sizeof its);
    }
  }
  if (all.stopped || all.called_off) clear_control();
  if (all.called_off) throw Interrupted();
  if (!first.empty()) throw DeviceError(first);
  return all.seconds;
}

}  // namespace shoal
