// The three kinds of workers on a GPU: one thread, one warp, one block.
#pragma once
#include "shoal/worker/worker.hpp"

namespace shoal {

/// One GPU thread. Its collectives are those of CpuThread; its buffers are shorter, because they are in local memory.
struct GpuThread : CpuThread {
  static constexpr lane_t kMaxFetch = 8;
  static constexpr lane_t kBuffer = 4;
  static constexpr bool kHoldsTickets = true;
};
static_assert(Worker<GpuThread>);

/// The 32 lanes of one warp. All of them must be converged at each call.
struct GpuWarp {
  static constexpr lane_t kMaxLanes = 32;
  static constexpr lane_t kMaxFetch = 32;
  static constexpr lane_t kBuffer = 1;
  static constexpr lane_t kOffers = kOffersOfALane;
  static constexpr bool kHoldsTickets = true;
  static constexpr lane_t kSearchers = 32;
  static constexpr unsigned kAll = 0xFFFFFFFFu;

  __device__ lane_t size() const { return 32; }
  __device__ lane_t lane() const { return threadIdx.x % 32; }
  // Shuffles and votes exchange registers only; the __syncwarp before them orders memory among the lanes.
  template <class T>
  __device__ T from_leader(T x) const {
    sync();
    return __shfl_sync(kAll, x, 0);
  }
  __device__ Scan exclusive_sum(lane_t x) const { return exclusive_sum(x, 32); }
  /// The same, if x is 0 on all lanes but the first `n`, at least 1. On the other lanes `before` has no meaning. A short batch takes
  /// fewer steps.
  __device__ Scan exclusive_sum(lane_t x, lane_t n) const {
    sync();
    lane_t inclusive = x;
#pragma unroll
    for (lane_t d = 1; d < 32; d *= 2) {
      if (d >= n) break;
      const lane_t y = __shfl_up_sync(kAll, inclusive, d);
      if (lane() >= d) inclusive += y;
    }
    return {inclusive - x, __shfl_sync(kAll, inclusive, n - 1)};
  }
  __device__ Scan count_before(bool b) const {
    sync();
    const unsigned votes = __ballot_sync(kAll, b);
    return {static_cast<lane_t>(__popc(votes & ((1u << lane()) - 1))), static_cast<lane_t>(__popc(votes))};
  }
  __device__ bool any(bool b) const {
    sync();
    return __any_sync(kAll, b);
  }
  __device__ lane_t smallest(lane_t x) const {
    sync();
    return __reduce_min_sync(kAll, x);
  }
  __device__ std::uint64_t sum(std::uint64_t x) const {
    sync();  // orders memory, which the reductions do not
    std::uint64_t sum = 0;
    for (int at = 0; at < 64; at += 16) {  // by pieces of 16 bits, of which 32 lanes have no more than 21 bits together
      sum += std::uint64_t{__reduce_add_sync(kAll, static_cast<unsigned>(x >> at & 0xFFFF))} << at;
    }
    return sum;
  }
  template <class F>
  __device__ double combine(double x, double, const F& f) const {
    sync();
    for (int d = 16; d > 0; d /= 2) x = f(x, __shfl_xor_sync(kAll, x, d));
    return x;
  }
  __device__ lane_t count_in(lane_t* count, lane_t bin, bool has) const {
    const unsigned same = __match_any_sync(kAll, has ? bin : ~lane_t{0});
    const int first = __ffs(same) - 1;
    lane_t before = 0;
    if (has && lane() == static_cast<lane_t>(first)) before = atomicAdd(&count[bin], __popc(same));
    return __shfl_sync(kAll, before, first) + __popc(same & ((1u << lane()) - 1));
  }
  __device__ Scan take_places(lane_t* count, lane_t n) const {
    const Scan scan = exclusive_sum(n);
    lane_t first = 0;
    if (lane() == 0) first = atomicAdd(count, scan.total);
    first = __shfl_sync(kAll, first, 0);
    return {first + scan.before, first + scan.total};
  }
  __device__ void lower(lane_t* least, lane_t x) const {
    const lane_t of_warp = __reduce_min_sync(kAll, x);
    if (of_warp != ~lane_t{0} && lane() == 0) atomicMin(least, of_warp);
  }
  // The lanes search together for the first lane's result, in two steps for up to 1,024 starts. Then each lane counts the
  // starts that follow this result, up to its own e: at most 32 in all, so each lane loads one.
  template <class Start>
  __device__ lane_t search(lane_t n, lane_t e, bool first, lane_t& low, Start start) const {
    const lane_t e0 = __shfl_sync(kAll, e, 0);
    if (first && e0 == 0) {  // the first start is 0
      low = 0;
    } else if (first) {
      const lane_t stride = (n + 31) / 32;
      const auto starts_by = [&](lane_t j) { return j < n && start(j) <= e0; };
      low = (__popc(__ballot_sync(kAll, starts_by(lane() * stride))) - 1) * stride;
      if (stride > 1) low += __popc(__ballot_sync(kAll, lane() < stride && starts_by(low + lane()))) - 1;
    }
    const lane_t next = low + 1 + lane(), ahead = next < n ? start(next) - e0 : 32;
    const unsigned begins = __reduce_or_sync(kAll, ahead < 32 ? 1u << ahead : 0);
    const lane_t found = low + __popc(begins & ((2u << (e - e0)) - 1));
    low += __popc(begins);
    return found;
  }
  __device__ void sync() const { __syncwarp(); }
  __device__ void keep_in_flight() const { __syncwarp(); }
};
static_assert(ActsTogether<GpuWarp> && Combines<GpuWarp>);

/// All threads of a block (a multiple of 32, up to kMaxLanes). `scratch` is shared memory that nothing else in the block
/// uses.
struct GpuBlock {
  struct Scratch {
    std::uint64_t word[33];
  };
  static constexpr lane_t kMaxLanes = 384;
  static constexpr lane_t kMaxFetch = 384;
  static constexpr lane_t kBuffer = 1;
  static constexpr lane_t kOffers = kOffersOfALane;
  static constexpr bool kHoldsTickets = true;
  static constexpr lane_t kSearchers = 32;
  using Part = GpuWarp;  ///< lanes that can act without the others

  Scratch* scratch;

  __device__ lane_t size() const { return blockDim.x; }
  __device__ lane_t lane() const { return threadIdx.x; }
  template <class T>
  __device__ T from_leader(T x) const {
    if (lane() == 0) scratch->word[32] = x;
    __syncthreads();
    x = static_cast<T>(scratch->word[32]);
    __syncthreads();
    return x;
  }
  __device__ Scan exclusive_sum(lane_t x) const { return add_warps(GpuWarp().exclusive_sum(x)); }
  __device__ Scan count_before(bool b) const { return add_warps(GpuWarp().count_before(b)); }
  __device__ bool any(bool b) const { return __syncthreads_or(b); }
  __device__ lane_t smallest(lane_t x) const { return GpuWarp().smallest(of_warps(GpuWarp().smallest(x), ~lane_t{0})); }
  __device__ std::uint64_t sum(std::uint64_t x) const {
    return GpuWarp().sum(of_warps(GpuWarp().sum(x), std::uint64_t{0}));
  }
  template <class F>
  __device__ double combine(double x, double none, const F& f) const {
    const double warp = GpuWarp().combine(x, none, f);
    const std::uint64_t bits = of_warps(static_cast<std::uint64_t>(__double_as_longlong(warp)),
                                        static_cast<std::uint64_t>(__double_as_longlong(none)));
    return GpuWarp().combine(__longlong_as_double(static_cast<long long>(bits)), none, f);
  }
  __device__ lane_t count_in(lane_t* count, lane_t bin, bool has) const { return GpuWarp().count_in(count, bin, has); }
  __device__ void lower(lane_t* least, lane_t x) const { GpuWarp().lower(least, x); }
  template <class Start>
  __device__ lane_t search(lane_t n, lane_t e, bool first, lane_t& low, Start start) const {
    return GpuWarp().search(n, e, first, low, start);
  }
  // Whichever lanes of a warp are at this instruction together. Every lane is in one such set, so the sums are right however the
  // hardware forms them.
  __device__ static bool sum_together(lane_t& n) {
    const unsigned active = __activemask();
    n = __reduce_add_sync(active, n);
    return threadIdx.x % 32 == static_cast<unsigned>(__ffs(active)) - 1;
  }
  // By halves: in shared memory there is no addition of 64 bits, and the loop in its place would contend.
  __device__ static void add(std::uint64_t& sum, lane_t n) {
    lane_t* const half = reinterpret_cast<lane_t*>(&sum);
    if (atomicAdd(&half[0], n) > ~n) atomicAdd(&half[1], 1u);
  }
  __device__ void sync() const { __syncthreads(); }
  __device__ void keep_in_flight() const { __syncwarp(); }

 private:
  /// Lane i of every warp gets the value of warp i, or `none` if there is no such warp.
  /// @param of_warp  the same on all lanes of a warp
  template <class T>
  __device__ T of_warps(T of_warp, T none) const {
    const lane_t in_warp = lane() % 32;
    if (in_warp == 0) scratch->word[lane() / 32] = of_warp;
    __syncthreads();
    const T x = in_warp < size() / 32 ? static_cast<T>(scratch->word[in_warp]) : none;
    __syncthreads();
    return x;
  }
  /// Adds the totals of the warps before this one. `of_warp.total` is the same on all lanes of a warp.
  __device__ Scan add_warps(Scan of_warp) const {
    const lane_t total = of_warps(of_warp.total, lane_t{0});
    const bool before = lane() % 32 < lane() / 32;
    return {of_warp.before + __reduce_add_sync(GpuWarp::kAll, before ? total : 0),
            __reduce_add_sync(GpuWarp::kAll, total)};
  }
};
static_assert(ActsTogether<GpuBlock>);

}  // namespace shoal
