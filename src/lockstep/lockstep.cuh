// Bulk-synchronous kernels: one cooperative kernel on every GPU of a run, whose blocks all work in lockstep. Between two barriers
// every block does its part of a step. The barrier itself also sums (or takes the minimum or maximum of) up to three 64-bit values
// over all blocks of all PEs, so that every block knows the result of the step without another round trip.
//
//   template <bool kMulti>
//   __global__ void __launch_bounds__(512) step_kernel(const __grid_constant__ lockstep::View v, ...) {
//     __shared__ lockstep::Shared s;
//     lockstep::Gang<kMulti, Op::sum, Op::min> gang(v, s);
//     do {
//       ... gang.template add<0>(found); ...            // any thread, any number of times
//       if (!gang.meet()) break;                        // every thread: the barrier
//     } while (gang.template total<0>() != 0);
//     gang.finish();
//   }
//
// The host side, which launches kernels and allocates what a View points to, is team.cuh.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/device/wake_wires.cuh"

namespace shoal::lockstep {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kPeers = 8;          ///< most PEs: four values for each then fit the lanes of one warp
inline constexpr int kValues = 3;         ///< values that a barrier gathers
inline constexpr u32 kAll = 0xFFFFFFFFu;  ///< every lane of a warp

/// How the contributions of the blocks to a value are combined. In memory every one of these starts at 0, so that a cleared word is
/// the neutral element: a minimum is kept as the maximum of the complement.
enum class Op : u32 {
  sum,         ///< of 64-bit integers, modulo 2^64
  min,         ///< of unsigned 64-bit integers; 2^64 - 1 when there is no contribution
  max,         ///< of unsigned 64-bit integers; 0 when there is no contribution
  sum_double,  ///< of float64, passed and read as bits (__double_as_longlong); the order of additions is not fixed
  /// Two sums in one word, so that one atomic on counter<i>() updates both: a queue's slots in the high part, what these slots
  /// contain in the low part. Value i is the part above the Gang's `low_bits`; value i + 1, which must be low_part, is the part
  /// below. PEs send each other the two parts separately, so only the sums of one PE must fit the word, and PEs may differ in
  /// low_bits.
  high_part,
  low_part,
};

enum class End : u32 {
  running = 0,
  deadline = 1,
  called_off = 2,  ///< by the host
  user = 16        ///< the first code that kernels may pass to stop()
};

/// The words of one PE that all its blocks share; peers also write `error`, `slot` and `wires`. All are zero before the first
/// kernel and after one that failed.
struct Control {
  PaddedWord<u32, Scope::device> arrived;               ///< arrivals of blocks at barriers, over all kernels (wraps)
  PaddedWord<u32, Scope::system> error;                 ///< an End; any value but running makes every block leave
  PaddedWord<u64, Scope::device> gathered[3][kValues];  ///< by barrier % 3
  PaddedWord<u32, Scope::device> mail[kPeers];          ///< entries sent to each PE by this kernel
  Word<u64, Scope::system> slot[2][kPeers][4]
                               [2];  ///< [barrier % 2][from PE][value, then mail][low, high half] << 32 | tag
  u32 met;                           ///< barriers met by kernels that have ended
  u32 arrivals;                      ///< the value of `arrived` then
  u32 wires[kWireWords];             ///< peers store here to wake the links; nobody reads it
};

/// The result of a kernel, which the host reads when the kernel has ended (pinned host memory).
struct Outcome {
  u32 end;       ///< an End, or the code passed to stop()
  u32 barriers;  ///< met by this kernel
  u64 word[8];   ///< for the kernel's own use; written by one thread before finish()
};

/// The data of one PE that kernels use; passed by value.
struct View {
  Control* control;
  Outcome* outcome;
  Control* peer[kPeers];  ///< [n_pes], own included
  u64 deadline_ns;        ///< longest wait at one barrier
  pe_t n_pes, me;
};

/// The shared memory of a block.
struct Shared {
  u64 partial[kValues];                        ///< this block's contributions to the coming barrier
  u64 total[kValues], own[kValues];            ///< results of the last barrier: over all PEs, over this PE
  u32 mail_before[kPeers], mail_upto[kPeers];  ///< received from each sender: before the last barrier, and up to it
  u32 arrivals;  ///< the value of `arrived` when all blocks of this PE have met the barriers so far
  u32 ok;
};

inline __device__ u32 lane_id() { return threadIdx.x & 31; }
inline __device__ u32 warp_in_block() { return threadIdx.x >> 5; }
/// Warps are numbered across blocks first, so that a small amount of work spreads over all multiprocessors.
inline __device__ u32 warp_id() { return warp_in_block() * gridDim.x + blockIdx.x; }
inline __device__ u32 num_warps() { return (blockDim.x >> 5) * gridDim.x; }
inline __device__ u32 thread_id() { return blockIdx.x * blockDim.x + threadIdx.x; }
inline __device__ u32 num_threads() { return gridDim.x * blockDim.x; }
inline __device__ u32 lanes_below() { return (1u << lane_id()) - 1; }
inline __device__ u64 now_ns() {
  u64 t;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
  return t;
}
/// Sum over a warp, returned to every lane.
template <class T>
__device__ T warp_sum(T x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(kAll, x, d);
  return x;
}
/// Sum over this lane and all lower lanes.
template <class T>
__device__ T warp_prefix(T x) {
  for (int d = 1; d < 32; d *= 2) {
    const T left = __shfl_up_sync(kAll, x, d);
    if (lane_id() >= static_cast<u32>(d)) x += left;
  }
  return x;
}

/// The collective operations of the blocks of all PEs. Every thread of every block constructs one, calls meet() equally often and
/// then finish(). A kernel must meet at least once.
/// @tparam kMulti  false: the kernel runs on one PE (cheaper barriers; counts of mail are not exchanged)
/// @tparam kOps    up to three; a value without one is a sum
template <bool kMulti, Op... kOps>
class Gang {
  static_assert(sizeof...(kOps) <= kValues);
  static constexpr bool kParts = ((kOps == Op::high_part) || ...);

 public:
  /// Block-collective. The number of threads of a block must be a multiple of 32.
  /// @param low_bits  (0, 64), with Op::high_part: how many bits of a counter the low part has
  __device__ Gang(const View& view, Shared& shared, int low_bits = 0)
      : v_(view), s_(shared), barrier_(view.control->met), low_bits_(static_cast<u32>(low_bits)) {
    if (threadIdx.x == 0) s_.arrivals = view.control->arrivals;
    if (threadIdx.x < kValues) s_.partial[threadIdx.x] = 0;
    if (threadIdx.x < kPeers) s_.mail_before[threadIdx.x] = s_.mail_upto[threadIdx.x] = 0;
    if (kMulti && blockIdx.x + 1 == gridDim.x) {
      for (pe_t p = 0; p < v_.n_pes; ++p) {
        if (p != v_.me) wake_wires(v_.peer[p]->wires, kWireWords);
      }
    }
    __syncthreads();
  }

  /// Contributes x to value `kIndex` of the next barrier: for this thread alone, in shared memory. If many lanes contribute, sum
  /// over the warp first. For a high part, x holds both parts in one word.
  template <int kIndex>
  __device__ void add(u64 x) {
    static_assert(op(kIndex) != Op::low_part);
    merge(op(kIndex), &s_.partial[kIndex], op(kIndex) == Op::min ? ~x : x);
  }
  template <int kIndex>
  __device__ void add_double(double x) {
    static_assert(op(kIndex) == Op::sum_double);
    merge(Op::sum_double, &s_.partial[kIndex], static_cast<u64>(__double_as_longlong(x)));
  }

  /// The word of this PE in which value `kIndex` (a sum or a high part) is gathered for the next barrier. Adding to it here also
  /// returns the previous content, so that it can serve as the tail of a queue: own<kIndex>() is then the queue's length.
  template <int kIndex>
  __device__ Word<u64, Scope::device>& counter() {
    static_assert(op(kIndex) == Op::sum || op(kIndex) == Op::high_part);
    return v_.control->gathered[(barrier_ + 1) % 3][kIndex];
  }

  /// The number of entries sent to PE p since the kernel began. What senders store in p's memory before a barrier is visible there
  /// after it, and p's mail_upto() for the sender then includes it.
  __device__ Word<u32, Scope::device>& mail(pe_t p) { return v_.control->mail[p]; }
  __device__ u32 mail_before(pe_t from) const { return s_.mail_before[from]; }
  __device__ u32 mail_upto(pe_t from) const { return s_.mail_upto[from]; }

  /// After meet(): the value over all PEs, and over this PE's blocks. The same in every thread until the next meet().
  template <int kIndex>
  __device__ u64 total() const {
    return op(kIndex) == Op::min ? ~s_.total[kIndex] : s_.total[kIndex];
  }
  template <int kIndex>
  __device__ u64 own() const {
    return op(kIndex) == Op::min ? ~s_.own[kIndex] : s_.own[kIndex];
  }
  template <int kIndex>
  __device__ double total_double() const {
    static_assert(op(kIndex) == Op::sum_double);
    return __longlong_as_double(static_cast<long long>(s_.total[kIndex]));
  }

  /// The barrier of all blocks of all PEs; every thread calls it. Whatever was written before it, also to peers' memory, is visible
  /// after it through plain loads (but not through __ldg of lines that were read before it).
  ///
  /// Why that holds: a block's stores, also those to peers' memory, are ordered before the arrival of its first lane by the block
  /// barrier. That arrival releases at device scope, and all leaders (one PE), or the last one (several PEs), acquire it. Since
  /// ordering is cumulative, no block needs a fence of its own at system scope. The last leader's warp fences at system scope and
  /// then writes the gathered values to its peers. Each block's first warp reads these values and fences at system scope, which
  /// also invalidates the multiprocessor's first-level cache, as an acquiring load does; the block barrier extends that to the
  /// other warps.
  /// The last block reads all values gathered for a barrier before it writes to the first peer: from then on, blocks go on and add
  /// to other words. gathered[b % 3] is cleared after barrier b + 1, when every reader has long arrived there, and is added to
  /// again after barrier b + 2. slot[b % 2] is written again for barrier b + 2: a peer writes that only after it passed b + 1,
  /// where all blocks here had arrived, which they do after reading b's values.
  /// @return false when the kernel was stopped (stop(), or a wait that exceeded the deadline); the caller must then leave through
  ///         finish() without another meet()
  __device__ bool meet() {
    ++barrier_;
    __syncthreads();
    if (threadIdx.x < 32) {
      const u32 lane = lane_id();
      if (lane < kValues) {
        // An exchange, executed by these lanes only: the compiler could hoist a plain read above the test.
        const u64 x = atomicExch(as_ull(&s_.partial[lane]), 0ull);
        if (x != 0) merge(op(lane), reinterpret_cast<u64*>(&v_.control->gathered[barrier_ % 3][lane]), x);
      }
      const bool ok = kMulti ? meet_peers(lane) : meet_blocks(lane);
      if (lane == 0) s_.ok = ok;
      if (ok && blockIdx.x == 0 && lane < kValues) v_.control->gathered[(barrier_ + 2) % 3][lane].store(0);
    }
    __syncthreads();
    return s_.ok != 0;
  }

  /// Ends the kernel on every PE: the next meet() of this block returns false, and so does the next meet() of every other block
  /// (or, if the block is already waiting there, the current one). Called by one thread.
  /// @param why  at least End::user; on each PE the first code given wins
  __device__ void stop(u32 why) {
#pragma unroll 1  // this loop is inlined into every wait
    for (pe_t p = 0; p < v_.n_pes; ++p) {
      u32 none = 0;
      v_.peer[p]->error.compare_swap(none, why);
    }
  }
  /// For long steps: true when the kernel is being stopped.
  __device__ bool stopped() const { return v_.control->error.load() != 0; }

  /// Every thread calls this last; nothing may have been sent or added since the last meet().
  __device__ void finish() {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    v_.outcome->barriers = barrier_ - v_.control->met;
    v_.outcome->end = v_.control->error.load();
    v_.control->met = barrier_;
    v_.control->arrivals = s_.arrivals;
    for (pe_t p = 0; p < v_.n_pes; ++p) v_.control->mail[p].store(0);
  }

 private:
  /// Not a table: a table indexed by the lane would be placed in local memory.
  static __device__ constexpr Op op(u32 i) {
    Op out = Op::sum;
    u32 k = 0;
    ((out = k++ == i ? kOps : out), ...);
    return out;
  }
  static __device__ unsigned long long* as_ull(u64* p) { return reinterpret_cast<unsigned long long*>(p); }
  /// Merges x into *at, which is in shared memory or shared by this PE's blocks.
  static __device__ void merge(Op how, u64* at, u64 x) {
    if (how == Op::min || how == Op::max) {
      atomicMax(as_ull(at), static_cast<unsigned long long>(x));
    } else if (how == Op::sum_double) {
      atomicAdd(reinterpret_cast<double*>(at), __longlong_as_double(static_cast<long long>(x)));
    } else {
      atomicAdd(as_ull(at), static_cast<unsigned long long>(x));
    }
  }
  /// Value i of this PE, as gathered for the current barrier.
  __device__ u64 gathered(u32 i) const {
    const auto& word = v_.control->gathered[barrier_ % 3];
    if constexpr (!kParts) return word[i].load();
    const u64 x = word[op(i) == Op::low_part ? i - 1 : i].load();
    if (op(i) == Op::high_part) return x >> low_bits_;
    return op(i) == Op::low_part ? x & ((u64{1} << low_bits_) - 1) : x;
  }

  static __device__ void fence_peers() { gpu::fence</*kSystem=*/true>(); }

  /// Spins until ready(). False when the kernel was stopped, by the deadline of this wait or by another thread.
  template <class Ready>
  __device__ bool wait(Ready ready) {
    u64 start = 0;
    for (u32 spins = 1; !ready(); ++spins) {
      if ((spins & 255) != 0) continue;
      if (stopped()) return false;
      const u64 t = now_ns();
      if (start == 0) start = t;
      if (t - start > v_.deadline_ns) {
        stop(static_cast<u32>(End::deadline));
        return false;
      }
    }
    return true;
  }

  /// The barrier of one PE. Called by the block's first warp.
  __device__ bool meet_blocks(u32 lane) {
    bool ok = true;
    __syncwarp();  // orders the contributions of the first three lanes before the arrival as well
    if (lane == 0) {
      auto& arrived = v_.control->arrived;
      const u32 all = s_.arrivals += gridDim.x;
      if (arrived.fetch_add_acq_rel(1) + 1 != all) {
        // Only the last load acquires: an acquiring load invalidates the first-level cache of the multiprocessor, which other
        // blocks are still using.
        ok = wait([&] { return static_cast<int>(arrived.load() - all) >= 0; });
        arrived.load_acquire();
      }
    }
    ok = __shfl_sync(kAll, ok, 0);
    __syncwarp();
    if (lane < kValues) s_.total[lane] = s_.own[lane] = gathered(lane);
    return __all_sync(kAll, lane != kValues || !stopped()) && ok;
  }

  /// The barrier of several PEs: the last block of a PE writes the gathered values to all peers (and itself); every block reads
  /// them.
  __device__ bool meet_peers(u32 lane) {
    __syncwarp();
    bool last = false;
    if (lane == 0) last = v_.control->arrived.fetch_add_acq_rel(1) + 1 == (s_.arrivals += gridDim.x);
    last = __shfl_sync(kAll, last, 0);
    const u32 pe = lane >> 2, word = lane & 3;
    const bool mine = pe < static_cast<u32>(v_.n_pes);
    if (last) {
      __syncwarp();
      fence_peers();
      u64 x = 0;
      if (mine && word < kValues) x = gathered(word);
      if (mine && word == kValues) x = u64{v_.control->error.load()} << 32 | v_.control->mail[pe].load();
      __syncwarp();
      if (mine) {
        auto& slot = v_.peer[pe]->slot[barrier_ & 1][v_.me][word];
        slot[0].store(x << 32 | barrier_);
        slot[1].store((x >> 32) << 32 | barrier_);
      }
    }
    bool ok = true;
    u64 low = 0, high = 0;
    if (mine) {
      auto& slot = v_.control->slot[barrier_ & 1][pe][word];
      ok = wait([&] {
        low = slot[0].load();
        high = slot[1].load();
        return static_cast<u32>(low) == barrier_ && static_cast<u32>(high) == barrier_;
      });
    }
    const u64 x = mine ? (high >> 32) << 32 | low >> 32 : 0;
    ok = __all_sync(kAll, ok && (word != kValues || x >> 32 == 0));
    fence_peers();
    if (mine && pe == static_cast<u32>(v_.me) && word < kValues) s_.own[word] = x;
    if (mine && word == kValues) {
      s_.mail_before[pe] = s_.mail_upto[pe];
      s_.mail_upto[pe] = static_cast<u32>(x);
    }
    // Lane i < kValues combines value i of all PEs in the order of PEs, so the result has equal bits on every PE, also for float64.
    u64 all = __shfl_sync(kAll, x, lane & 3);
    for (pe_t p = 1; p < v_.n_pes; ++p) {
      const u64 more = __shfl_sync(kAll, x, p * 4 + (lane & 3));
      all = join(op(lane & 3), all, more);
    }
    if (lane < kValues) s_.total[lane] = all;
    return ok;
  }
  static __device__ u64 join(Op how, u64 a, u64 b) {
    if (how == Op::min || how == Op::max) return a < b ? b : a;
    if (how == Op::sum_double) {
      return static_cast<u64>(__double_as_longlong(__longlong_as_double(static_cast<long long>(a)) +
                                                   __longlong_as_double(static_cast<long long>(b))));
    }
    return a + b;
  }

  const View& v_;
  Shared& s_;
  u32 barrier_;  ///< barriers met so far, over all kernels; the same in all blocks of all PEs
  u32 low_bits_;
};

}  // namespace shoal::lockstep
