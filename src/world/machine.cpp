#include "shoal/world/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <span>
#include <utility>

#include "choose_gpus.hpp"
#include "device_ids.hpp"
#include "gpu_wire.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/processes.hpp"
#include "shoal/world/world.hpp"

#if defined(SHOAL_HAVE_CUDA)
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/peer_access.cuh"
#endif

namespace shoal {
namespace {

void check_engine(const std::string& engine, bool on_gpu, pe_t n_pes) {
  if (engine == "auto") return;
  if (engine == "self") {
    if (n_pes > 1)
      throw UsageError("engine self runs one PE, but " + std::to_string(n_pes) + " are wanted; leave --engine out");
  } else if (engine == "threads") {
    if (on_gpu) throw UsageError("engine threads runs on CPU threads; use --device cpu, or --engine peer for GPUs");
  } else if (engine == "peer") {
    if (!on_gpu) throw UsageError("engine peer needs GPUs; use --device gpu, or --engine threads for CPU threads");
  }
}

/// The world that this process has joined.
World& find_world() {
  if (!joined_world()) {
    throw UsageError(
        "engine openshmem needs processes that a launcher started, by `shoal NAME` or run_program; use --engine "
        "threads");
  }
  return *joined_world();
}

/// What a process tells the others of its GPUs.
struct GpusOfProcess {
  std::string host, ids;
  bool apart = false;  ///< they cannot reach the memory of other processes' GPUs

  std::string text() const { return host + "\n" + ids + "\n" + (apart ? "nccl" : ""); }
  static GpusOfProcess of(const std::string& text) {
    const std::size_t first = text.find('\n'), second = text.find('\n', first + 1);
    return {text.substr(0, first), text.substr(first + 1, second - first - 1), second + 1 < text.size()};
  }
};

/// Every process: checks that the processes of a host number its GPUs in the same way, and that all processes agree whether GPUs
/// of different processes are apart.
void agree_on_gpus(World& world, bool apart) {
  char host[256] = "";
  ::gethostname(host, sizeof host - 1);
  const std::string mine = GpusOfProcess{host, device_ids(), apart}.text();
  std::vector<GpusOfProcess> all;
  for (const auto& bytes : world.exchange({"GPUs"}, std::as_bytes(std::span(mine)))) {
    all.push_back(GpusOfProcess::of({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  for (std::size_t p = 1; p < all.size(); ++p) {
    if (all[p].apart != all[0].apart) {
      throw UsageError("SHOAL_GPU_WIRE=nccl is set for process " + std::to_string(all[p].apart ? p : 0) +
                       ", but not for process " + std::to_string(all[p].apart ? 0 : p) +
                       "; set it for all processes or for none");
    }
    std::size_t q = 0;  // the first process of its host
    while (all[q].host != all[p].host) ++q;
    if (all[p].ids == all[q].ids) continue;
    throw UsageError("process " + std::to_string(q) + " sees the GPUs " + all[q].ids + ", and process " +
                     std::to_string(p) + " sees " + all[p].ids +
                     "; start all with the same CUDA_VISIBLE_DEVICES, from which each process takes its own GPUs");
  }
}

}  // namespace

Machine::Machine(const Options& options, bool one_gpu) {
  check_options(options);
  std::string why_none;
  std::vector<DeviceInfo> found;
  const bool processes = options.engine == "openshmem";
  const bool engine_wants_cpu = options.engine == "threads" || (processes && options.device != DeviceKind::gpu);
  if (options.device != DeviceKind::cpu && !engine_wants_cpu) found = list_devices(&why_none);
  if (options.device == DeviceKind::gpu && found.empty()) {
    throw DeviceError(why_none + "; use --device cpu to run on CPU threads");
  }
  on_gpu_ = !found.empty();
  threads_asked_ = options.threads > 0;
  if (on_gpu_) {
    if (processes) {
      find_world();
      if (gpus_are_apart()) reach_ = World::Reach::wire;
      agree_on_gpus(find_world(), reach_ == World::Reach::wire);
    }
    GpuChoice choice =
        processes ? choose_gpus(found, options.pes, options.pes_per_gpu,
                                {process_on_this_host(), processes_on_this_host(), reach_ == World::Reach::wire})
                  : choose_gpus(found, options.pes, options.pes_per_gpu, one_gpu);
    devices_ = std::move(choice.devices);
    n_pes_ = static_cast<pe_t>(devices_.size());
    if (processes) join(find_world());
    chosen_.push_back({"device", "gpu", options.device == DeviceKind::gpu ? "asked for" : "found"});
    chosen_.push_back({"pes", std::to_string(n_pes_), choice.why});
  } else {
    if (options.pes_per_gpu > 1) {
      throw UsageError(
          "pes per GPU " + std::to_string(options.pes_per_gpu) + " was asked for, but this run has no GPU: " +
          (engine_wants_cpu ? "engine " + options.engine + " runs on CPU threads" : why_none) + "; leave it out");
    }
    n_pes_ = options.pes > 0 ? options.pes : 1;
    if (processes) join(find_world());
    const int sharing = processes ? processes_that_share_processors() : 1;
    const int usable = usable_threads() / sharing;
    threads_per_pe_ = options.threads > 0 ? options.threads : std::max(1, usable / static_cast<int>(n_pes_));
    chosen_.push_back(
        {"device", "cpu",
         options.device == DeviceKind::cpu || engine_wants_cpu ? "asked for" : why_none.substr(0, why_none.find(';'))});
    chosen_.push_back({"pes", std::to_string(n_pes_), options.pes > 0 ? "asked for" : "one group of all threads"});
    chosen_.push_back({"threads", std::to_string(threads_per_pe_),
                       options.threads > 0 ? "asked for"
                       : sharing > 1       ? "the machine's threads, divided among the processes and their PEs"
                                           : "the machine's threads, divided among the PEs"});
  }
  if (processes) {
    const World& world = find_world();
    chosen_.push_back(
        {"processes", std::to_string(world.n_processes()), counted(world.n_pes(), "PE", "PEs") + " in all"});
  }
  if (on_gpu_ && world_ != nullptr) {
    const bool hosts = processes_on_this_host() < world_->n_processes();
    chosen_.push_back(reach_ == World::Reach::memory
                          ? Decision{"wire", "CUDA IPC", "GPUs of one host use each other's memory"}
                          : Decision{"wire", gpu_wire().name(),
                                     hosts ? "GPUs of several hosts cannot access each other's memory" : "asked for"});
  }
  check_engine(options.engine, on_gpu_, n_pes_);
  const std::string engine = options.engine != "auto" ? options.engine
                             : n_pes_ == 1            ? "self"
                             : on_gpu_                ? "peer"
                                                      : "threads";
  chosen_.push_back({"engine", engine,
                     options.engine != "auto" ? "asked for"
                     : n_pes_ == 1            ? "one PE"
                     : on_gpu_                ? "GPUs of one process"
                                              : "CPU threads of one process"});
#if defined(SHOAL_HAVE_CUDA)
  if (on_gpu_ && processes) SHOAL_CUDA(cudaSetDevice(devices_[0]));  // the default, GPU 0, may be another process's
  if (on_gpu_) reach_each_other(devices_);
#endif
}

pe_t Machine::pes_per_gpu() const {
  std::ptrdiff_t most = 0;
  for (const int device : devices_) most = std::max(most, std::count(devices_.begin(), devices_.end(), device));
  return static_cast<pe_t>(most);
}

void Machine::limit_threads(int threads) {
  if (on_gpu_ || threads_asked_ || team_) return;
  threads_per_pe_ = std::clamp(threads, 1, threads_per_pe_);
}

void Machine::join(World& world) {
  if (world.n_here() != n_pes_) {
    throw UsageError("the world has " + std::to_string(world.n_here()) + " PEs in this process, but the machine has " +
                     std::to_string(n_pes_) + "; the numbers must be equal");
  }
  if (world.n_processes() == 1) return;
  world_ = &world;
  first_pe_ = world.first_here();
  all_pes_ = world.n_pes();
}

ThreadTeam& Machine::team() const {
  if (!team_) team_ = std::make_shared<ThreadTeam>(n_pes_, threads_per_pe_);
  return *team_;
}

}  // namespace shoal
