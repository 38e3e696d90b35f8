// For the form `kernels`: copies take the values that blocks pack for other PEs there, in place of stores by kernels
// (LaunchOptions::halos).
//
// A block packs into a buffer of its own PE. `staged`: one stream of each PE copies from there to the host, and another stream
// copies from the host to the receiver's buffer, so that both directions are busy at the same time. `copied`: one copy goes from
// GPU to GPU. All these streams are urgent (of high priority). Only events order the work: step s of a unit comes after
// step s - 1 of its neighbours, here also of those on other PEs (Units), and after the copies of what they have sent for it.
//
// Why two buffers are enough at each place (docs/decisions/0028-blocks.md). The copy for step s + 1 overwrites the receiver's
// buffer of s - 1. It runs after the sender's step s, which comes after the receiver's step s - 1, and that step has read this
// buffer. The sender packs for s + 3 into the buffer of s + 1 in its step s + 2. This comes after the receiver's step s + 1,
// which came after all copies for s + 1.
//
// Source: Choi et al. (Charm++): Charm-H, Jacobi3D by way of the host.
#pragma once
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/events.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/units.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

class HaloCopies {
 public:
  HaloCopies() = default;
  /// @param array  after BlockArray::send_by_copies()
  template <class B>
  HaloCopies(const BlockArray<B>& array, const Units& units, Halos halos)
      : staged_(halos == Halos::staged),
        devices_(array.machine().devices()),
        sent_by_(units.size()),
        read_by_(units.size()) {
    for (const int device : devices_) {
      from_.emplace_back(device, Urgency::urgent);
      to_.emplace_back(device, Urgency::urgent);
    }
    for (const Crossing& crossing : array.crossings()) {
      const auto unit_of = [&](std::int64_t b) {
        std::int64_t u = 0;
        while (units.together() ? units[u].pe != array.home(b) : units[u].block != b) ++u;
        return static_cast<std::size_t>(u);
      };
      sent_by_[unit_of(crossing.block)].push_back(copies_.size());
      read_by_[unit_of(crossing.other)].push_back(copies_.size());
      copies_.push_back({crossing, {}, {}, {}});
      Copy& copy = copies_.back();
      for (int parity = 0; parity < 2; ++parity) {
        if (staged_) copy.host[parity] = pinned_memory(crossing.bytes, "halos on their way between GPUs");
        copy.left.emplace_back(devices_[crossing.from]);
        copy.came.emplace_back(devices_[staged_ ? crossing.to : crossing.from]);
      }
    }
  }
  HaloCopies(const HaloCopies&) = delete;
  HaloCopies& operator=(const HaloCopies&) = delete;
  ~HaloCopies() {
    for (const auto* const streams : {&from_, &to_}) {
      for (const Stream& stream : *streams) cudaStreamSynchronize(stream);
    }
  }

  /// Launches the copies of what unit u has packed for step s. @param packed  an event that completes when it has packed
  void send(std::int64_t u, step_t s, cudaEvent_t packed) {
    const auto parity = static_cast<std::size_t>(s & 1);
    for (const std::size_t number : sent_by_[static_cast<std::size_t>(u)]) {
      Copy& copy = copies_[number];
      const Crossing& of = copy.of;
      DeviceGuard guard(devices_[of.from]);
      const cudaStream_t away = from_[of.from];
      SHOAL_CUDA(cudaStreamWaitEvent(away, packed, 0));
      if (!staged_) {
        // cudaMemcpyPeerAsync cannot be captured into a graph. This is the same copy, since the addresses determine the GPUs.
        SHOAL_CUDA(cudaMemcpyAsync(of.in[parity], of.out[parity], of.bytes, cudaMemcpyDefault, away));
        SHOAL_CUDA(cudaEventRecord(copy.came[parity], away));
        continue;
      }
      void* const host = copy.host[parity].get();
      SHOAL_CUDA(cudaMemcpyAsync(host, of.out[parity], of.bytes, cudaMemcpyDeviceToHost, away));
      SHOAL_CUDA(cudaEventRecord(copy.left[parity], away));
      DeviceGuard there(devices_[of.to]);
      const cudaStream_t on = to_[of.to];
      SHOAL_CUDA(cudaStreamWaitEvent(on, copy.left[parity], 0));
      SHOAL_CUDA(cudaMemcpyAsync(of.in[parity], host, of.bytes, cudaMemcpyHostToDevice, on));
      SHOAL_CUDA(cudaEventRecord(copy.came[parity], on));
    }
  }
  /// Makes a stream wait for all copies to unit u for step s.
  void await(std::int64_t u, step_t s, cudaStream_t stream) const {
    for (const std::size_t number : read_by_[static_cast<std::size_t>(u)]) {
      SHOAL_CUDA(cudaStreamWaitEvent(stream, copies_[number].came[s & 1], 0));
    }
  }
  /// Makes a stream wait for all copies for step s.
  void await_all(step_t s, cudaStream_t stream) const {
    for (const Copy& copy : copies_) SHOAL_CUDA(cudaStreamWaitEvent(stream, copy.came[s & 1], 0));
  }

 private:
  struct Copy {
    Crossing of;
    std::shared_ptr<void> host[2];  ///< for even and odd steps
    std::vector<Event> left, came;  ///< [2] completed: the copy to the host, and the whole way
  };

  bool staged_ = false;
  std::vector<int> devices_;       ///< [PEs]
  std::vector<Stream> from_, to_;  ///< [PEs] for copies from a PE, and for copies from the host to it
  std::vector<Copy> copies_;
  std::vector<std::vector<std::size_t>> sent_by_, read_by_;  ///< [units] indices into copies_
};

}  // namespace shoal::blocks::gpu
