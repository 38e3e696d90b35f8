#include "apart.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"
#include "world/gpu_wire.hpp"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kShort(50);         // waits up to this long do not sleep
constexpr std::chrono::milliseconds kWatchEvery(50);    // interval at which the other processes are checked
constexpr std::chrono::seconds kConnectWithin(90);      // after this time, the wire has no route between the hosts
constexpr std::chrono::seconds kPartWithin(5);          // leaving the wire may wait for processes of the same host
constexpr std::chrono::seconds kHarmIsKnownWithin(15);  // the wire may notice a failure before the world knows of it

/// Runs `work` in a thread of its own, because it may wait for processes that never come: in that case the thread is detached and
/// left running.
/// @param give_up  called from time to time; true: stop waiting
/// @return whether `work` has ended
template <class Work, class GiveUp>
bool beside(Work work, GiveUp give_up) {
  const auto over = std::make_shared<std::atomic<bool>>(false);
  std::thread([over, work = std::move(work)] {
    work();
    over->store(true);
  }).detach();
  for (Clock::time_point asked = Clock::now(); !over->load();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point now = Clock::now();
    if (now - asked < kWatchEvery) continue;
    asked = now;
    if (give_up()) return false;
  }
  return true;
}

/// Calls call() within a group of the wire, which enqueues its operations; call() returns what went wrong, or null.
/// @return the same as text; empty: no error
template <class Call>
std::string in_a_group(const GpuWireTable& wire, Call call) {
  if (const char* const why = wire.begin()) return why;
  const char* const wrong = call();
  const std::string first = wrong != nullptr ? wrong : "";
  const char* const why = wire.end();  // always: within an open group even leave and abort would be deferred
  return why == nullptr || !first.empty() ? first : why;
}

}  // namespace

/// What the wire needs to know about the PEs of this process. A thread that hangs may outlive Apart, so it shares ownership of
/// this.
struct Apart::Members {
  explicit Members(const GpuWireTable& table) : table(table) {}
  const char* gather() const;
  const char* meet_each() const;
  void connect(const std::vector<std::byte>& id);

  const GpuWireTable& table;
  int all = 0, first = 0;    ///< number of all PEs; first PE of this process
  std::vector<int> devices;  ///< [PEs of this process], also for the members below
  std::vector<cudaStream_t> streams;
  std::vector<std::byte*> told;  ///< as Apart::told_
  std::vector<void*> of_pe;      ///< the PEs' members of the wire; empty: they have left
  std::string why;               ///< reason if they could not be connected
};

/// Called within a group: sends the reports of the PEs to all.
const char* Apart::Members::gather() const {
  for (std::size_t p = 0; p < of_pe.size(); ++p) {
    const char* const why = table.gather(of_pe[p], told[p], first + static_cast<int>(p), kRoom, streams[p]);
    if (why != nullptr) return why;
  }
  return nullptr;
}

/// Called within a group: each PE sends something to each other PE.
const char* Apart::Members::meet_each() const {
  for (std::size_t p = 0; p < of_pe.size(); ++p) {
    const int me = first + static_cast<int>(p);
    for (int q = 0; q < all; ++q) {
      if (q == me) continue;
      const char* const why = table.send(of_pe[p], told[p] + all_at(me), kRoom, q, streams[p]);
      if (why != nullptr) return why;
      const char* const wrong = table.receive(of_pe[p], told[p] + all_at(q), kRoom, q, streams[p]);
      if (wrong != nullptr) return wrong;
    }
  }
  return nullptr;
}

/// Waits for all processes. The wire sets up its resources on first use. Doing that here, in one group, ensures that nothing is
/// enqueued before all of them exist.
void Apart::Members::connect(const std::vector<std::byte>& id) {
  cudaSetDevice(devices[0]);  // a new thread's current device is the first one, which may be another process's
  std::vector<void*> members(devices.size(), nullptr);
  const char* const wrong =
      table.join(id.data(), all, first, static_cast<int>(devices.size()), devices.data(), members.data());
  if (wrong != nullptr) why = wrong;
  of_pe = std::move(members);
  if (!why.empty()) return;
  why = in_a_group(table, [this] {
    const char* const first_wrong = gather();
    return first_wrong != nullptr ? first_wrong : meet_each();
  });
}

Apart::Apart(LockstepTeam& team, std::string what, World& world)
    : team_(team),
      what_(std::move(what)),
      world_(world),
      memory_([&team] {
        std::vector<int> devices;
        for (pe_t p = 0; p < team.n_pes(); ++p) devices.push_back(team.device(p));
        return devices;
      }()),
      members_(std::make_shared<Members>(gpu_wire())) {
  const std::size_t bytes = all_at(world_.n_pes());
  members_->all = static_cast<int>(world_.n_pes());
  members_->first = static_cast<int>(world_.first_here());
  for (pe_t p = 0; p < n_pes(); ++p) {
    told_.push_back(memory_.zeros<std::byte>(p, static_cast<std::int64_t>(bytes), "messages of PEs"));
    members_->devices.push_back(team_.device(p));
    members_->streams.push_back(team_.stream(p));
    DeviceGuard guard(team_.device(p));
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  members_->told = told_;
  pinned_ = pinned_memory(bytes, "messages of PEs");
  heard_ = static_cast<std::byte*>(pinned_.get());
  connect();
}

Apart::~Apart() {
  const bool harm = std::uncaught_exceptions() > 0 || world_.takes_leave(world_.process());
  part(harm ? members_->table.abort : members_->table.leave);
}

void Apart::connect() {
  std::vector<std::byte> id(GpuWireTable::kIdBytes);
  if (world_.process() == 0) {
    if (const char* const why = members_->table.make_id(id.data())) check(why);
  }
  const std::vector<std::vector<std::byte>> ids = world_.exchange({"a wire for GPUs"}, id);
  id = ids.front();
  if (id.size() != GpuWireTable::kIdBytes) throw TransportError("process 0 sent no id for the connection of the GPUs");
  world_.begin_watch();
  std::string harm;
  const Clock::time_point began = Clock::now();
  const bool over = beside([members = members_, id] { members->connect(id); },
                           [&] {
                             harm = world_.watch();
                             return !harm.empty() || Clock::now() - began > kConnectWithin;
                           });
  if (!harm.empty() && !over) throw TransportError(harm);
  if (!over) {
    throw TransportError(std::string(members_->table.name()) + " has not connected the GPUs of all processes after " +
                         exact(std::chrono::duration<double>(kConnectWithin).count()) +
                         " s; NCCL_SOCKET_IFNAME names the network, NCCL_DEBUG=INFO shows what it tries");
  }
  try {
    check(members_->why);
    wait();
  } catch (...) {
    part(members_->table.abort);
    throw;
  }
}

/// Ends the members of the wire. @param how  the table's leave, when no transfer is in flight, or abort
void Apart::part(void (*how)(void*)) {
  if (members_->of_pe.empty()) return;
  const Clock::time_point began = Clock::now();
  beside(
      [of_pe = std::exchange(members_->of_pe, {}), how] {
        for (void* const member : of_pe) {
          if (member != nullptr) how(member);
        }
      },
      [began] { return Clock::now() - began > kPartWithin; });
}

/// @param why  an error of the wire; empty: no error
void Apart::check(const std::string& why) {
  if (!why.empty()) throw TransportError(what_ + ": " + why + "; NCCL_DEBUG=WARN says more");
}

void Apart::launch(pe_t p, const void* kernel, int blocks, int threads, std::size_t shared_bytes,
                   const KernelArgs& args) {
  DeviceGuard guard(team_.device(p));
  SHOAL_CUDA(cudaLaunchCooperativeKernel(kernel, dim3(static_cast<unsigned>(blocks)),
                                         dim3(static_cast<unsigned>(threads)), const_cast<void**>(args.data()),
                                         shared_bytes, team_.stream(p)));
}

void Apart::exchange(const std::vector<WirePart>& sent, const std::vector<WirePart>& received) {
  if (sent.empty() && received.empty()) return;
  const GpuWireTable& wire = members_->table;
  const auto member = [this](const WirePart& part) { return members_->of_pe[static_cast<std::size_t>(part.here)]; };
  check(in_a_group(wire, [&]() -> const char* {
    for (const WirePart& part : sent) {
      const auto to = static_cast<int>(part.there);
      if (const char* const why = wire.send(member(part), part.data, part.bytes, to, team_.stream(part.here)))
        return why;
    }
    for (const WirePart& part : received) {
      const auto from = static_cast<int>(part.there);
      const char* const why = wire.receive(member(part), part.data, part.bytes, from, team_.stream(part.here));
      if (why != nullptr) return why;
    }
    return nullptr;
  }));
}

/// The last word of each PE's area says whether the work is called off, so that all processes learn of it in the same step.
void Apart::hear_all() {
  constexpr std::size_t kFlag = kRoom - sizeof(u64);
  if (interrupt_token().stop_requested() && !flagged_) {
    flagged_ = true;
    const std::size_t at = all_at(world_.first_here()) + kFlag;
    DeviceGuard guard(team_.device(0));
    SHOAL_CUDA(cudaMemsetAsync(told_[0] + at, 1, sizeof(u64), team_.stream(0)));
  }
  check(in_a_group(members_->table, [this] { return members_->gather(); }));
  SHOAL_CUDA(cudaMemcpyAsync(heard_, told_[0], all_at(world_.n_pes()), cudaMemcpyDeviceToHost, team_.stream(0)));
  wait_for(team_.stream(0));
  bool called_off = false;
  for (pe_t q = 0; q < world_.n_pes(); ++q) {
    u64 flag = 0;
    std::memcpy(&flag, heard_ + all_at(q) + kFlag, sizeof flag);
    called_off |= flag != 0;
  }
  if (!called_off) return;
  wait();
  throw Interrupted();
}

void Apart::wait() {
  for (pe_t p = 0; p < n_pes(); ++p) wait_for(team_.stream(p));
}

void Apart::wait_for(cudaStream_t stream) {
  const Clock::time_point began = Clock::now();
  Clock::time_point watched = began;
  for (;;) {
    const cudaError_t status = cudaStreamQuery(stream);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) cuda_check(status, what_.c_str());
    const Clock::time_point now = Clock::now();
    if (now - began < kShort) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
    if (now - watched < kWatchEvery) continue;
    watched = now;
    look();
  }
}

/// Called while this process waits. @throws TransportError  another process or the wire has failed
void Apart::look() {
  if (const std::string harm = world_.watch(); !harm.empty()) throw TransportError(harm);
  for (void* const member : members_->of_pe) {
    const char* const why = members_->table.look(member);
    if (why == nullptr) continue;
    const std::string text = why;
    const Clock::time_point began = Clock::now();
    while (Clock::now() - began < kHarmIsKnownWithin) {
      if (const std::string harm = world_.watch(); !harm.empty()) throw TransportError(harm);
      std::this_thread::sleep_for(kWatchEvery);
    }
    check(text);
  }
}

/// @throws DeviceError  the kernel of PE `pe` was stopped
void Apart::ended(std::size_t pe) const {
  throw DeviceError(what_ + ": a kernel of PE " + std::to_string(pe) +
                    " was ended at a barrier; its GPU is shared with other work");
}

void Apart::begin() {
  // A process that arrives early sleeps, and resumes late. From the third of these meetings on, all arrive within some
  // microseconds.
  for (int i = 0; i < 3; ++i) world_.exchange({"steps on all GPUs"}, {});
  world_.begin_watch();
  if (!flagged_) return;
  flagged_ = false;
  for (pe_t p = 0; p < n_pes(); ++p) {
    DeviceGuard guard(team_.device(p));
    SHOAL_CUDA(cudaMemset(told_[static_cast<std::size_t>(p)], 0, all_at(world_.n_pes())));
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
}

/// Interrupted is no failure: all processes learned of it in the same step. After a failure, other processes that wait for this one
/// see that the world has ended; kernels that wait here end.
void Apart::fail(std::exception_ptr error) {
  std::string why;
  try {
    std::rethrow_exception(error);
  } catch (const Interrupted&) {
    throw;
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
    why = "an exception that has no text";
  }
  if (world_.watch().empty()) world_.end(why);
  part(members_->table.abort);
  std::rethrow_exception(error);
}

void Apart::end(Report& report, const Report& mine) {
  const Report all = of_all_processes(world_, mine, nullptr);
  report += all;
  report.chosen.insert(report.chosen.end(), all.chosen.begin(), all.chosen.end());
}

}  // namespace shoal
