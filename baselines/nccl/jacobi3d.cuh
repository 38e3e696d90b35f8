// Jacobi iteration on a grid, one part per GPU. Each rank packs the cells of its faces, exchanges them with its neighbours, and
// updates its part. With overlap, it updates the inner cells meanwhile, on another stream. Faces go from GPU to GPU by NCCL, and
// then the host waits for nothing; or they go through host memory, between the threads of a process or by MPI.
#pragma once
#include <barrier>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "../common/grid_engine.hpp"
#include "../common/processes.hpp"
#include "communicator.cuh"
#include "jacobi_kernels.cuh"
#include "laps.cuh"
#include "shoal/device/device_memory.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::nccl {

using baselines::Message;

/// Host memory and barrier of the ranks that exchange faces through the host.
struct HostRoom {
  struct Rank {
    double *out[2], *in;  ///< page-locked. Two buffers: neighbours read one while the other is filled
    const std::int64_t* begin;
  };
  std::vector<Rank> ranks;  ///< of this process
  std::barrier<> barrier;
  baselines::Processes& processes;
};

class Jacobi {
 public:
  Jacobi(const baselines::GridWanted& wanted, const Communicator& comm, HostRoom& room, int device)
      : wanted_(wanted),
        comm_(comm),
        room_(room),
        part_(wanted.program.size, comm.ranks()),
        interior_(part_.interior()),
        exterior_(part_.exterior()),
        stream_(device),
        inside_(device) {
    for (auto& state : state_) state = DeviceArray<double>(part_.with_layer(), "cells");
    for (auto* words : {&out_, &in_}) *words = DeviceArray<double>(part_.sent(), "faces");
    pinned_ = pinned_memory(sizeof(double) * (3 * part_.sent() + 1), "faces");
    auto* const host = static_cast<double*>(pinned_.get());
    if (wanted.staged) room.ranks[own()] = {{host, host + part_.sent()}, host + 2 * part_.sent(), part_.begin};
    for (auto* event : {&done_, &came_}) SHOAL_CUDA(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
  }
  ~Jacobi() {
    for (const cudaEvent_t event : {done_, came_}) cudaEventDestroy(event);
  }

  /// Called when all ranks of the process are constructed, because NCCL makes its connections at the first exchange.
  void connect() {
    if (!wanted_.staged && part_.sent() > 0) exchange();
    SHOAL_CUDA(cudaStreamSynchronize(stream_));
  }
  void start() {
    for (auto& state : state_) {
      first_state<<<4096, 256, 0, stream_>>>(part_, wanted_.program, state.data());
      SHOAL_CUDA(cudaGetLastError());
    }
    SHOAL_CUDA(cudaStreamSynchronize(stream_));
    now_ = 0;
  }

  void iterate(std::int64_t n) {
    laps_.clear();
    laps_.step_begins(n * part_.n.volume());
    laps_.sent(n * part_.sent());
    SHOAL_CUDA(cudaEventRecord(done_, stream_));
    for (std::int64_t i = 0; i < n; ++i, now_ = 1 - now_) {
      if (wanted_.overlap) {
        SHOAL_CUDA(cudaStreamWaitEvent(inside_, done_));
        update_on(inside_, interior_);
      }
      if (part_.sent() > 0) {
        time(Doing::computes, stream_, [&] { copy_faces<Faces::pack>(part_, now(), out_.data(), stream_); });
        time(Doing::communicates, stream_, [&] { wanted_.staged ? exchange_by_host() : exchange(); });
        time(Doing::computes, stream_, [&] { copy_faces<Faces::unpack>(part_, now(), in_.data(), stream_); });
      }
      if (!wanted_.overlap) update_on(stream_, part_.all());
      for (const Box& box : exterior_) {
        if (wanted_.overlap) update_on(stream_, box);
      }
      if (wanted_.overlap) {
        SHOAL_CUDA(cudaEventRecord(came_, inside_));
        SHOAL_CUDA(cudaStreamWaitEvent(stream_, came_));
        SHOAL_CUDA(cudaEventRecord(done_, stream_));
      }
    }
    SHOAL_CUDA(cudaStreamSynchronize(stream_));
    laps_.step_ends();
    laps_.finish();
  }

  const std::vector<Step>& steps() const { return laps_.steps(); }
  std::vector<double> cells() const {
    std::vector<double> state(static_cast<std::size_t>(part_.with_layer()));
    state_[now_].download(state.data(), part_.with_layer());
    return part_.own(state);
  }

 private:
  double* now() { return state_[now_].data(); }
  int own() const { return comm_.ranks().rank % static_cast<int>(room_.ranks.size()); }
  template <class F>
  void time(Doing doing, cudaStream_t stream, F&& enqueue) {
    wanted_.timed ? laps_.time(doing, stream, enqueue) : enqueue();
  }
  void update_on(cudaStream_t stream, const Box& box) {
    time(Doing::computes, stream, [&] { update(part_, box, wanted_.program, now(), state_[1 - now_].data(), stream); });
  }

  /// One message for each face with a neighbour.
  std::vector<Message> messages(double* words) const {
    std::vector<Message> all;
    for (int f = 0; f < kFaces; ++f) {
      if (part_.neighbor[f] < 0) continue;
      all.push_back({part_.neighbor[f], words + part_.begin[f], static_cast<int>(part_.face_cells(f))});
    }
    return all;
  }
  void exchange() { comm_.exchange(messages(out_.data()), messages(in_.data()), stream_); }

  void exchange_by_host() {
    const HostRoom::Rank& host = room_.ranks[own()];
    const std::size_t word = sizeof(double);
    double* const out = host.out[now_];
    SHOAL_CUDA(cudaMemcpyAsync(out, out_.data(), part_.sent() * word, cudaMemcpyDeviceToHost, stream_));
    SHOAL_CUDA(cudaStreamSynchronize(stream_));
    if (room_.ranks.size() == 1) {
      room_.processes.begin_exchange(messages(out), messages(host.in));
      room_.processes.end_exchange();
      SHOAL_CUDA(cudaMemcpyAsync(in_.data(), host.in, part_.sent() * word, cudaMemcpyHostToDevice, stream_));
      return;
    }
    room_.barrier.arrive_and_wait();
    for (int f = 0; f < kFaces; ++f) {
      if (part_.neighbor[f] < 0) continue;
      const HostRoom::Rank& other = room_.ranks[part_.neighbor[f]];
      SHOAL_CUDA(cudaMemcpyAsync(in_.data() + part_.begin[f], other.out[now_] + other.begin[f ^ 1],
                                 part_.face_cells(f) * word, cudaMemcpyHostToDevice, stream_));
    }
  }

  baselines::GridWanted wanted_;
  const Communicator& comm_;
  HostRoom& room_;
  Part part_;
  Box interior_;
  std::vector<Box> exterior_;
  Stream stream_, inside_;
  DeviceArray<double> state_[2], out_, in_;
  std::shared_ptr<void> pinned_;
  cudaEvent_t done_ = nullptr, came_ = nullptr;
  int now_ = 0;
  Laps laps_;
};

}  // namespace shoal::nccl
