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
#include <functional>
#include <memory>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/units.hpp"
#include "shoal/device/event.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

class HaloCopies {
 public:
  /// @param array  after BlockArray::send_by_copies()
  template <class B>
  HaloCopies(const BlockArray<B>& array, const Units& units, Halos halos)
      : HaloCopies(array.machine().devices(), array.crossings(), units, halos,
                   [&array](std::int64_t b) { return array.home(b); }) {}
  HaloCopies(const HaloCopies&) = delete;
  HaloCopies& operator=(const HaloCopies&) = delete;
  ~HaloCopies();

  /// Launches the copies of what unit u has packed for step s. @param packed  an event that completes when it has packed
  void send(std::int64_t u, step_t s, cudaEvent_t packed);
  /// Makes a stream wait for all copies to unit u for step s.
  void await(std::int64_t u, step_t s, cudaStream_t stream) const;
  /// Makes a stream wait for all copies for step s.
  void await_all(step_t s, cudaStream_t stream) const;

 private:
  /// @param home  the PE of a block
  HaloCopies(const std::vector<int>& devices, const std::vector<Crossing>& crossings, const Units& units, Halos halos,
             const std::function<pe_t(std::int64_t)>& home);

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
