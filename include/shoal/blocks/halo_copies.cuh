// For the form `kernels`: what blocks pack for other PEs is taken there by copies, not by stores of kernels (LaunchOptions::halos).
//
// A block packs into a buffer of its own PE. `staged`: one stream of each PE copies from there to the host, another one from the
// host to the receiver's buffer, so that both ways are busy at the same time; `copied`: one copy from GPU to GPU. All of them are
// urgent. Order comes from events alone: a step of a unit comes after that of its neighbours on other PEs, too (Units), and after the
// copies of what they have sent.
//
// Why two buffers are enough at each place (docs/decisions/0028-blocks.md). What is sent for step s + 1 is taken to the receiver after
// the sender's step s, which comes after the receiver's step s - 1, which has read what came for s - 1. And the sender packs for
// s + 3 in its step s + 2, after the receiver's step s + 1, which came after all copies of what was sent for it.
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
  /// @param array  of blocks that pack for copies (BlockArray::send_by_copies())
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
        if (staged_) copy.host[parity] = pinned_memory(crossing.bytes, "what is on its way between GPUs");
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

  /// After unit u has packed for step s. @param packed  an event that says so
  void send(std::int64_t u, step_t s, cudaEvent_t packed) {
    const auto parity = static_cast<std::size_t>(s & 1);
    for (const std::size_t number : sent_by_[static_cast<std::size_t>(u)]) {
      Copy& copy = copies_[number];
      const Crossing& of = copy.of;
      DeviceGuard guard(devices_[of.from]);
      const cudaStream_t away = from_[of.from];
      SHOAL_CUDA(cudaStreamWaitEvent(away, packed, 0));
      if (!staged_) {
        // cudaMemcpyPeerAsync cannot be captured into a graph. This is the same copy, since addresses say which GPU they are of.
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
  /// What comes in a stream follows what came to unit u for step s.
  void await(std::int64_t u, step_t s, cudaStream_t stream) const {
    for (const std::size_t number : read_by_[static_cast<std::size_t>(u)]) {
      SHOAL_CUDA(cudaStreamWaitEvent(stream, copies_[number].came[s & 1], 0));
    }
  }
  /// What comes in a stream follows all that came for step s.
  void await_all(step_t s, cudaStream_t stream) const {
    for (const Copy& copy : copies_) SHOAL_CUDA(cudaStreamWaitEvent(stream, copy.came[s & 1], 0));
  }

 private:
  struct Copy {
    Crossing of;
    std::shared_ptr<void> host[2];  ///< for steps of either parity
    std::vector<Event> left, came;  ///< [2] it is in the host's memory, and at the receiver
  };

  bool staged_ = false;
  std::vector<int> devices_;       ///< [PEs]
  std::vector<Stream> from_, to_;  ///< [PEs] copies of what a PE sends, and of what comes to it from the host
  std::vector<Copy> copies_;
  std::vector<std::vector<std::size_t>> sent_by_, read_by_;  ///< [units] copies
};

}  // namespace shoal::blocks::gpu
