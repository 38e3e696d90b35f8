// Bulk-synchronous kernels: one cooperative kernel on every GPU of a run, whose blocks all work in lockstep. Between two
// barriers every block does its part of a step; the barrier itself sums (or takes the minimum or maximum of) up to three
// 64-bit values over all blocks of all PEs, so that every block knows how the step went without another round trip.
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
// The host side, which allocates what a View points to and launches, is lockstep_team.cuh.
#pragma once
#include "shoal/core/atomic.hpp"
#include "shoal/core/types.hpp"
#include "shoal/device/wake_wires.cuh"

namespace shoal::lockstep {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

inline constexpr int kPeers = 8;          ///< most PEs: four words of each fit the lanes of one warp
inline constexpr int kValues = 3;         ///< values that a barrier gathers
inline constexpr u32 kAll = 0xFFFFFFFFu;  ///< every lane of a warp

/// How the blocks' contributions to a value become one. All are 0-based in memory, so that a cleared word is the neutral
/// element: a minimum is kept as the maximum of the complement.
enum class Op : u32 {
  sum,         ///< of 64-bit integers, modulo 2^64
  min,         ///< of unsigned 64-bit integers; 2^64 - 1 when nobody contributed
  max,         ///< of unsigned 64-bit integers; 0 when nobody contributed
  sum_double,  ///< of float64, given and read as bits (__double_as_longlong); the order of additions is not fixed
  /// Two sums in one word, so that one atomic on counter<i>() moves both: a queue's slots above, what lies in them below.
  /// Value i is the part above the Gang's `low_bits`, value i + 1, which must be low_part, the part below. Parts are told
  /// apart: only those of one PE must fit the word, and PEs may differ in low_bits.
  high_part,
  low_part,
};

enum class End : u32 {
  running = 0,
  deadline = 1,
  called_off = 2,  ///< by the host
  user = 16        ///< the first code that kernels may give to stop()
};

/// Words of one PE that all its blocks share; `error`, `slot`, `wires` are written by peers as well. All zero before the first
/// kernel and after one that failed.
struct Control {
  PaddedWord<u32, Scope::device> arrived;               ///< blocks that came to a barrier, ever (wraps)
  PaddedWord<u32, Scope::system> error;                 ///< an End; anything but running makes every block leave
  PaddedWord<u64, Scope::device> gathered[3][kValues];  ///< by barrier % 3
  PaddedWord<u32, Scope::device> mail[kPeers];          ///< things sent to each PE in this kernel
  Word<u64, Scope::system> slot[2][kPeers][4]
                               [2];  ///< [barrier % 2][from PE][value, then mail][low, high half] << 32 | tag
  u32 met;                           ///< barriers met by kernels that have ended
  u32 arrivals;                      ///< and `arrived` then
  u32 wires[kWireWords];             ///< peers store here, and nobody reads it
};

/// What the host reads when a kernel has ended (pinned host memory).
struct Outcome {
  u32 end;       ///< an End, or what stop() was given
  u32 barriers;  ///< met by this kernel
  u64 word[8];   ///< the kernel's own; written by one thread before finish()
};

/// One PE as kernels see it; passed by value.
struct View {
  Control* control;
  Outcome* outcome;
  Control* peer[kPeers];  ///< [n_pes], own included
  u64 deadline_ns;        ///< longest wait at one barrier
  pe_t n_pes, me;
};

/// Shared memory of a block.
struct Shared {
  u64 partial[kValues];                        ///< this block's contributions to the coming barrier
  u64 total[kValues], own[kValues];            ///< as the last barrier said: over all PEs, over this PE
  u32 mail_before[kPeers], mail_upto[kPeers];  ///< of each sender: things received before, and by now
  u32 arrivals;  ///< what `arrived` is when all blocks of this PE have met the barriers so far
  u32 ok;
};

inline __device__ u32 lane_id() { return threadIdx.x & 31; }
inline __device__ u32 warp_in_block() { return threadIdx.x >> 5; }
/// Warps are numbered across blocks first, so that little work spreads over all multiprocessors.
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
/// Sum over a warp; every lane gets it.
template <class T>
__device__ T warp_sum(T x) {
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(kAll, x, d);
  return x;
}
/// Sum over this lane and those below it.
template <class T>
__device__ T warp_prefix(T x) {
  for (int d = 1; d < 32; d *= 2) {
    const T left = __shfl_up_sync(kAll, x, d);
    if (lane_id() >= static_cast<u32>(d)) x += left;
  }
  return x;
}

/// What the blocks of all PEs do together. Every thread of every block makes one, calls meet() equally often and then
/// finish(). A kernel meets at least once.
/// @tparam kMulti  false: the kernel runs on one PE (cheaper barriers; mail is not told)
/// @tparam kOps    up to three; values without one are sums
template <bool kMulti, Op... kOps>
class Gang {
  static_assert(sizeof...(kOps) <= kValues);
  static constexpr bool kParts = ((kOps == Op::high_part) || ...);

 public:
  /// Block-collective. The block may be of any multiple of 32 threads.
  /// @param low_bits  (0, 64), with Op::high_part: the bits below it in a counter
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

  /// Contributes x to value `kIndex` of the coming barrier: this thread alone, in shared memory. Where many lanes
  /// contribute, sum over the warp first. To a high part: both parts in one word.
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

  /// The word that gathers value `kIndex` (a sum or a high part) for the coming barrier over the blocks of this PE. Adding to it here
  /// also returns what was there, which makes it the tail of a queue: own<kIndex>() is then its length.
  template <int kIndex>
  __device__ Word<u64, Scope::device>& counter() {
    static_assert(op(kIndex) == Op::sum || op(kIndex) == Op::high_part);
    return v_.control->gathered[(barrier_ + 1) % 3][kIndex];
  }

  /// Things sent to PE p since the kernel began. What the senders put into their place in p's memory before a barrier is
  /// there after it, and p's mail_upto() of the sender counts it.
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

  /// The barrier of all blocks of all PEs; every thread calls it. What was written before it, also into peers' memory,
  /// is seen after it through plain loads (but not through __ldg of lines that were read before it).
  ///
  /// Why that holds: a block's stores, also into peers' memory, come before the arrival of its first lane through the
  /// block barrier. That arrival releases at device scope, and all leaders (one PE), or the last one, acquire it; orders
  /// add up, so that no block needs a fence of its own at system scope. The last leader's warp fences at system scope and
  /// then tells its peers; each block's first warp reads what was told and fences at system scope, which also drops the
  /// multiprocessor's first-level cache, as an acquiring load does; the block barrier passes that on to the other warps.
  /// Everything told for a barrier is read before the first peer is told: from then on blocks go on and add to other
  /// words. gathered[b % 3] is cleared after barrier b + 1, when every reader has long arrived there, and is added to
  /// again after barrier b + 2. slot[b % 2] is written again for barrier b + 2: a peer tells that only after it passed
  /// b + 1, where all blocks here had arrived, which they do after reading b's.
  /// @return false when the kernel was stopped (stop(), or a wait passed the deadline); the caller leaves through
  ///         finish() without another meet()
  __device__ bool meet() {
    ++barrier_;
    __syncthreads();
    if (threadIdx.x < 32) {
      const u32 lane = lane_id();
      if (lane < kValues) {
        // An exchange, which only these lanes execute: a plain read could be hoisted above the test.
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

  /// Ends the kernel on every PE: the next meet() of this block returns false, and so does that of every other (or, where
  /// a block is already there, the one before). This thread alone.
  /// @param why  at least End::user; on each PE the first one given wins
  __device__ void stop(u32 why) {
#pragma unroll 1  // it is in every wait
    for (pe_t p = 0; p < v_.n_pes; ++p) {
      u32 none = 0;
      v_.peer[p]->error.compare_swap(none, why);
    }
  }
  /// For long steps: true when the kernel is being ended.
  __device__ bool stopped() const { return v_.control->error.load() != 0; }

  /// The last call of every thread; nothing was sent or added since the last meet().
  __device__ void finish() {
    if (blockIdx.x != 0 || threadIdx.x != 0) return;
    v_.outcome->barriers = barrier_ - v_.control->met;
    v_.outcome->end = v_.control->error.load();
    v_.control->met = barrier_;
    v_.control->arrivals = s_.arrivals;
    for (pe_t p = 0; p < v_.n_pes; ++p) v_.control->mail[p].store(0);
  }

 private:
  /// No table: one that a lane's number indexes would lie in local memory.
  static __device__ constexpr Op op(u32 i) {
    Op out = Op::sum;
    u32 k = 0;
    ((out = k++ == i ? kOps : out), ...);
    return out;
  }
  static __device__ unsigned long long* as_ull(u64* p) { return reinterpret_cast<unsigned long long*>(p); }
  /// x into *at, which is in shared memory or shared by this PE's blocks.
  static __device__ void merge(Op how, u64* at, u64 x) {
    if (how == Op::min || how == Op::max) {
      atomicMax(as_ull(at), static_cast<unsigned long long>(x));
    } else if (how == Op::sum_double) {
      atomicAdd(reinterpret_cast<double*>(at), __longlong_as_double(static_cast<long long>(x)));
    } else {
      atomicAdd(as_ull(at), static_cast<unsigned long long>(x));
    }
  }
  /// Value i of this PE as the barrier that runs has gathered it.
  __device__ u64 gathered(u32 i) const {
    const auto& word = v_.control->gathered[barrier_ % 3];
    if constexpr (!kParts) return word[i].load();
    const u64 x = word[op(i) == Op::low_part ? i - 1 : i].load();
    if (op(i) == Op::high_part) return x >> low_bits_;
    return op(i) == Op::low_part ? x & ((u64{1} << low_bits_) - 1) : x;
  }

  static __device__ void fence_peers() { gpu::fence</*kSystem=*/true>(); }

  /// Spins until ready(). False when the kernel was stopped, by this wait's deadline or by someone else.
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

  /// One PE. The block's first warp.
  __device__ bool meet_blocks(u32 lane) {
    bool ok = true;
    __syncwarp();  // the contributions of the first three lanes come before the arrival as well
    if (lane == 0) {
      auto& arrived = v_.control->arrived;
      const u32 all = s_.arrivals += gridDim.x;
      if (arrived.fetch_add_acq_rel(1) + 1 != all) {
        // Acquires at the end alone: an acquiring load invalidates the first-level cache of the multiprocessor, through
        // which other blocks still read.
        ok = wait([&] { return static_cast<int>(arrived.load() - all) >= 0; });
        arrived.load_acquire();
      }
    }
    ok = __shfl_sync(kAll, ok, 0);
    __syncwarp();
    if (lane < kValues) s_.total[lane] = s_.own[lane] = gathered(lane);
    return __all_sync(kAll, lane != kValues || !stopped()) && ok;
  }

  /// Several PEs: the last block of a PE tells all peers (itself included) what was gathered; every block reads that.
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
    // Lane i < kValues joins value i of all PEs, in their order: equal bits on every PE, also for float64.
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
  u32 barrier_;  ///< met so far, ever; the same in all blocks of all PEs
  u32 low_bits_;
};

}  // namespace shoal::lockstep
