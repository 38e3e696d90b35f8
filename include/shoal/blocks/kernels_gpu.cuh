// The kernels of blocks on GPUs: start; all steps of a range by resident workers; a part of one step; largest change; give; hear.
#pragma once
#include <cstdint>
#include <type_traits>

#include "shoal/blocks/steps.hpp"
#include "shoal/worker/gpu.cuh"

namespace shoal::blocks::gpu {

inline constexpr int kThreads = 256;  ///< threads of a worker
inline constexpr int kFit = 3;        ///< workers per multiprocessor: leaves the update the registers that it needs

template <class B>
__global__ void __launch_bounds__(kThreads) start_kernel(PeView<B> pe) {
  __shared__ GpuBlock::Scratch scratch;
  for (std::uint64_t tile = blockIdx.x; tile < pe.tiles; tile += gridDim.x) {
    const Slot<B>& slot = pe.slots[slot_of(pe, tile)];
    slot.block.start(GpuBlock{&scratch}, tile - slot.first_tile);
  }
}

/// Measures the largest change that step s has made.
template <class B>
__global__ void __launch_bounds__(kThreads) change_kernel(PeView<B> pe, step_t s) {
  __shared__ GpuBlock::Scratch scratch;
  for (std::uint64_t tile = blockIdx.x; tile < pe.tiles; tile += gridDim.x) {
    const Slot<B>& slot = pe.slots[slot_of(pe, tile)];
    measure_tile(GpuBlock{&scratch}, *pe.words, B(slot.block), s, tile - slot.first_tile);
  }
}

/// Each tile gives of state s and stores its values at its place in PeView::given.
template <class B>
__global__ void __launch_bounds__(kThreads) give_kernel(PeView<B> pe, step_t s) {
  __shared__ GpuBlock::Scratch scratch;
  for (std::uint64_t tile = blockIdx.x; tile < pe.tiles; tile += gridDim.x) {
    const Slot<B>& slot = pe.slots[slot_of(pe, tile)];
    give_tile(GpuBlock{&scratch}, B(slot.block), s, tile - slot.first_tile, pe.given + tile * kGiven<B>);
  }
}

/// Calls hear() before step s with a message, for the tiles [begin, end) of a PE.
template <class B, class Message>
__global__ void __launch_bounds__(kThreads)
    hear_kernel(PeView<B> pe, std::uint64_t begin, std::uint64_t end, step_t s, Message message) {
  __shared__ GpuBlock::Scratch scratch;
  for (std::uint64_t tile = begin + blockIdx.x; tile < end; tile += gridDim.x) {
    const Slot<B>& slot = pe.slots[slot_of(pe, tile)];
    slot.block.hear(GpuBlock{&scratch}, s, tile - slot.first_tile, message);
  }
}

/// Takes all steps of a range; cooperative, so that all workers are resident. If there is a worker for each tile, it keeps its
/// tile for all steps, and its slot in shared memory, since each wait for other workers empties the first-level cache.
template <class B>
__global__ void __launch_bounds__(kThreads, kFit) resident_kernel(PeView<B> pe, StepRange range) {
  __shared__ GpuBlock::Scratch scratch;
  const GpuBlock w{&scratch};
  if (pe.tiles > gridDim.x) return take_steps(w, pe, range);
  static_assert(std::is_trivially_copyable_v<Slot<B>> && sizeof(Slot<B>) % sizeof(std::uint64_t) == 0);
  __shared__ std::uint64_t kept[sizeof(Slot<B>) / sizeof(std::uint64_t)];
  const std::uint32_t number = slot_of(pe, blockIdx.x);
  const auto* const slot = reinterpret_cast<const std::uint64_t*>(pe.slots + number);
  for (std::uint32_t i = w.lane(); i < sizeof(kept) / sizeof(kept[0]); i += w.size()) kept[i] = slot[i];
  w.sync();
  const Slot<B>& mine = *reinterpret_cast<const Slot<B>*>(kept);
  keep_tile(w, pe, mine, blockIdx.x - mine.first_tile, blockIdx.x == 0, range);
}

/// Whether a lane has waited too long. Called at each poll.
struct TooLong {
  std::uint64_t patience_ns, since = 0;
  unsigned looks = 0;
  __device__ bool operator()() {
    if (++looks % 64 != 0) return false;  // most waits end earlier; the timer is read rarely
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    if (since == 0) since = now;
    return now - since > patience_ns;
  }
};

/// Does a part of step s of the blocks in slots `number` to number + gridDim.y - 1, with a worker for each tile. Only the parity
/// of s matters, and whether it is 0, so a graph may launch the kernel for other steps than the one it was captured with.
/// @param patience_ns  how long a tile waits for other GPUs at most
template <class B>
__global__ void __launch_bounds__(kThreads, kFit)
    part_kernel(PeView<B> pe, std::uint32_t number, step_t s, Part part, std::uint64_t patience_ns) {
  __shared__ GpuBlock::Scratch scratch;
  const Slot<B>& slot = pe.slots[number + blockIdx.y];
  if (blockIdx.x < slot.tiles) {
    do_part(GpuBlock{&scratch}, *pe.words, slot, s, blockIdx.x, part, TooLong{patience_ns});
  }
}

}  // namespace shoal::blocks::gpu
