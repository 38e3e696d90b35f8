#include "apart.cuh"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "shoal/core/error.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/text.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"
#include "world/gpu_wire.hpp"

namespace shoal {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kShort(50);       // what takes no longer is waited for without sleep
constexpr std::chrono::milliseconds kWatchEvery(50);  // the other processes
constexpr std::chrono::seconds kConnectWithin(90);    // else the wire has no way from host to host
constexpr std::chrono::seconds kHarmIsKnownWithin(
    15);  // the wire sees that a process is gone before the world says which

}  // namespace

struct Apart::Members {
  explicit Members(const GpuWireTable& table) : table(table) {}
  ~Members() {
    for (void* const member : of_pe) {
      if (member != nullptr) broken ? table.abort(member) : table.leave(member);
    }
  }
  void break_off() {
    broken = true;
    for (void*& member : of_pe) {
      if (member != nullptr) table.abort(member);
      member = nullptr;
    }
  }

  const GpuWireTable& table;
  std::vector<void*> of_pe;
  std::string why;                ///< it could not be connected
  std::atomic<bool> over{false};  ///< connected, or not; until then another thread has the rest of this
  bool broken = false;            ///< something may be on its way that never arrives
};

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
  for (pe_t p = 0; p < n_pes(); ++p) {
    told_.push_back(memory_.zeros<std::byte>(p, static_cast<std::int64_t>(bytes), "what PEs tell"));
    DeviceGuard guard(team_.device(p));
    SHOAL_CUDA(cudaDeviceSynchronize());
  }
  pinned_ = pinned_memory(bytes, "what PEs tell");
  heard_ = static_cast<std::byte*>(pinned_.get());
  connect();
}

/// Waits for nothing where something may be on its way for ever.
Apart::~Apart() {
  if (std::uncaught_exceptions() > 0 || world_.takes_leave(world_.process())) members_->broken = true;
}

/// In a thread of its own, because the wire waits for processes that may never come; and what it makes when it is first used, it
/// makes here.
void Apart::connect() {
  std::vector<std::byte> id(GpuWireTable::kIdBytes);
  if (world_.process() == 0) check(members_->table.make_id(id.data()));
  const std::vector<std::vector<std::byte>> ids = world_.exchange({"a wire for GPUs"}, id);
  id = ids.front();
  if (id.size() != GpuWireTable::kIdBytes) throw TransportError("process 0 told of no wire");
  std::vector<int> devices;
  std::vector<cudaStream_t> streams;
  for (pe_t p = 0; p < n_pes(); ++p) {
    devices.push_back(team_.device(p));
    streams.push_back(team_.stream(p));
  }
  members_->of_pe.assign(devices.size(), nullptr);
  world_.begin_watch();
  const int all = static_cast<int>(world_.n_pes()), first = static_cast<int>(world_.first_here());
  std::thread([members = members_, id, devices, streams, all, first, told = told_] {
    Members& m = *members;
    cudaSetDevice(devices[0]);  // a thread begins on the first, which may be another process's
    const int here = static_cast<int>(devices.size());
    const char* why = m.table.join(id.data(), all, first, here, devices.data(), m.of_pe.data());
    const auto each = [&](auto&& call) {
      for (int p = 0; p < here && why == nullptr; ++p) {
        why = call(static_cast<std::size_t>(p), first + p);
      }
    };
    const auto in_a_group = [&](auto&& call) {
      if (why == nullptr) why = m.table.begin();
      each(call);
      if (why == nullptr) why = m.table.end();
    };
    in_a_group([&](std::size_t p, int me) { return m.table.gather(m.of_pe[p], told[p], me, kRoom, streams[p]); });
    in_a_group([&](std::size_t p, int me) -> const char* {
      for (int q = 0; q < all; ++q) {
        if (q == me) continue;
        const char* wrong = m.table.send(m.of_pe[p], told[p] + all_at(me), kRoom, q, streams[p]);
        if (wrong == nullptr) wrong = m.table.receive(m.of_pe[p], told[p] + all_at(q), kRoom, q, streams[p]);
        if (wrong != nullptr) return wrong;
      }
      return nullptr;
    });
    if (why != nullptr) m.why = why;
    m.over.store(true);
  }).detach();
  const Clock::time_point began = Clock::now();
  for (Clock::time_point watched = began; !members_->over.load();) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point now = Clock::now();
    if (now - watched < kWatchEvery) continue;
    watched = now;
    if (const std::string harm = world_.watch(); !harm.empty()) throw TransportError(harm);
    if (now - began < kConnectWithin) continue;
    throw TransportError(std::string(members_->table.name()) + " has not connected the GPUs of all processes after " +
                         exact(std::chrono::duration<double>(kConnectWithin).count()) +
                         " s; NCCL_SOCKET_IFNAME names the network, NCCL_DEBUG=INFO shows what it tries");
  }
  if (!members_->why.empty()) {
    members_->broken = true;
    check(members_->why.c_str());
  }
  wait();
}

/// @throws TransportError  of the wire, unless all is well
void Apart::check(const char* why) {
  if (why != nullptr) throw TransportError(what_ + ": " + why + "; NCCL_DEBUG=WARN says more");
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
  check(wire.begin());
  for (const WirePart& part : sent) {
    check(wire.send(member(part), part.data, part.bytes, static_cast<int>(part.there), team_.stream(part.here)));
  }
  for (const WirePart& part : received) {
    check(wire.receive(member(part), part.data, part.bytes, static_cast<int>(part.there), team_.stream(part.here)));
  }
  check(wire.end());
}

/// The last word of each PE's room says whether the work is called off, so that all processes hear it in the same step.
void Apart::hear_all() {
  constexpr std::size_t kFlag = kRoom - sizeof(u64);
  if (interrupt_token().stop_requested() && !flagged_) {
    flagged_ = true;
    const std::size_t at = all_at(world_.first_here()) + kFlag;
    DeviceGuard guard(team_.device(0));
    SHOAL_CUDA(cudaMemsetAsync(told_[0] + at, 1, sizeof(u64), team_.stream(0)));
  }
  check(members_->table.begin());
  for (pe_t p = 0; p < n_pes(); ++p) {
    const auto here = static_cast<std::size_t>(p);
    check(members_->table.gather(members_->of_pe[here], told_[here], static_cast<int>(world_.first_here() + p), kRoom,
                                 team_.stream(p)));
  }
  check(members_->table.end());
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

/// While this process waits. @throws TransportError  another process has come to harm, or the wire has
void Apart::look() {
  if (const std::string harm = world_.watch(); !harm.empty()) throw TransportError(harm);
  for (void* const member : members_->of_pe) {
    const char* const why = members_->table.look(member);
    if (why == nullptr) continue;
    const std::string text = why;
    for (const auto began = Clock::now(); Clock::now() - began < kHarmIsKnownWithin;) {
      if (const std::string harm = world_.watch(); !harm.empty()) throw TransportError(harm);
      std::this_thread::sleep_for(kWatchEvery);
    }
    check(text.c_str());
  }
}

void Apart::begin() {
  // Who comes first sleeps, and is late to go on. From the third of these meetings all come within some microseconds.
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

/// Interrupted is no failure: all processes have heard it in the same step. Others wait for this process, and see that the world has
/// ended; kernels that wait here end.
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
  members_->break_off();
  std::rethrow_exception(error);
}

void Apart::end(Report& report, const Report& mine) {
  const Report all = of_all_processes(world_, mine, nullptr);
  report += all;
  report.chosen.insert(report.chosen.end(), all.chosen.begin(), all.chosen.end());
}

}  // namespace shoal
