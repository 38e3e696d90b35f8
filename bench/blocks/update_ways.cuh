// Kernels that update a tile of a grid of seven-point means in different ways (update_variants.cu measures them).
#pragma once
#include <cstdint>
#include <utility>

#include "shoal/blocks/columns.hpp"

namespace update_ways {

/// Two states, stored as the library stores them: a halo of one layer of cells, and rows of whole cache lines.
template <class T>
struct Field {
  const T* now;  ///< cell 0, 0, 0
  T* then;
  std::int64_t plane, row;
  int nx, ny, nz;
  int tx;  ///< planes in a tile
};

template <class T>
__device__ T mean(T c, T xb, T xa, T yb, T ya, T zb, T za) {
  return (c + xb + xa + yb + ya + zb + za) * (T{1} / 7);
}

template <class T, int V>
struct Some {
  T v[V];
};
template <class T, int V>
__device__ Some<T, V> load(const T* from) {
  Some<T, V> x;
  if constexpr (V * sizeof(T) >= 16) {
    constexpr int kEach = 16 / sizeof(T);
#pragma unroll
    for (int i = 0; i < V / kEach; ++i) {
      const int4 four = *reinterpret_cast<const int4*>(from + i * kEach);
      *reinterpret_cast<int4*>(&x.v[i * kEach]) = four;
    }
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) x.v[i] = from[i];
  }
  return x;
}
template <int STREAM, class T, int V>
__device__ void store(T* to, const Some<T, V>& x) {
  if constexpr (V * sizeof(T) >= 16) {
    constexpr int kEach = 16 / sizeof(T);
#pragma unroll
    for (int i = 0; i < V / kEach; ++i) {
      const int4 four = *reinterpret_cast<const int4*>(&x.v[i * kEach]);
      if constexpr (STREAM != 0) {
        __stcs(reinterpret_cast<int4*>(to) + i, four);
      } else {
        reinterpret_cast<int4*>(to)[i] = four;
      }
    }
  } else {
#pragma unroll
    for (int i = 0; i < V; ++i) {
      if constexpr (STREAM != 0) {
        __stcs(to + i, x.v[i]);
      } else {
        to[i] = x.v[i];
      }
    }
  }
}

/// The library's first version. A lane has two columns of 64 x 8 and goes along x; nothing is kept in registers between steps.
template <class T>
__global__ void __launch_bounds__(256, 4) plain(Field<T> f) {
  constexpr int kNz = 64, kArea = 512;
  const int x0 = blockIdx.z * f.tx, x1 = min(x0 + f.tx, f.nx);
  for (int i = threadIdx.x; i < kArea; i += 512) {
    std::int64_t one = x0 * f.plane + (blockIdx.y * 8 + i / kNz) * f.row + blockIdx.x * 64 + i % kNz;
    std::int64_t two = x0 * f.plane + (blockIdx.y * 8 + (i + 256) / kNz) * f.row + blockIdx.x * 64 + (i + 256) % kNz;
    for (int x = x0; x < x1; ++x, one += f.plane, two += f.plane) {
      const T* a = f.now + one;
      const T* b = f.now + two;
      const T first = mean(a[0], a[-f.plane], a[f.plane], a[-f.row], a[f.row], a[-1], a[1]);
      const T second = mean(b[0], b[-f.plane], b[f.plane], b[-f.row], b[f.row], b[-1], b[1]);
      f.then[one] = first;
      f.then[two] = second;
    }
  }
}

/// The library's present version (blocks/columns.hpp), in tiles of 64 x 8 columns.
template <class T, int OCCUPANCY>
__global__ void __launch_bounds__(256, OCCUPANCY) library(Field<T> f) {
  const int x0 = blockIdx.z * f.tx;
  const std::int64_t at = x0 * f.plane + blockIdx.y * 8 * f.row + blockIdx.x * 64;
  const shoal::blocks::Tile<T> tile{f.now + at,
                                    f.then + at,
                                    static_cast<int>(f.plane),
                                    static_cast<int>(f.row),
                                    static_cast<unsigned>(min(f.tx, f.nx - x0)),
                                    8,
                                    64};
  shoal::blocks::update_tile(threadIdx.x, tile, [](const shoal::blocks::NearValues<T>& near) {
    return mean(near.here, near.below_x, near.above_x, near.below_y, near.above_y, near.below_z, near.above_z);
  });
}

/// A lane has V x RY columns of TZ x TY and goes along x. The cells below, here and ahead are in registers, and loads of D more
/// planes are in flight. With D > 0, the cells beside the lane's columns are also read a plane early.
template <class T, int V, int TZ, int RY, int D, int STREAM, int OCCUPANCY>
struct Queue {
  static constexpr int kLanesZ = TZ / V, kTy = 256 / kLanesZ * RY;
};
template <class T, int V, int TZ, int RY, int D, int STREAM, int OCCUPANCY>
__global__ void __launch_bounds__(256, OCCUPANCY) queue(Field<T> f) {
  using Shape = Queue<T, V, TZ, RY, D, STREAM, OCCUPANCY>;
  struct Beside {
    Some<T, V> north, south;
    T west[RY], east[RY];
  };
  const int x0 = blockIdx.z * f.tx, n = min(f.tx, f.nx - x0);
  const std::int64_t at = x0 * f.plane + (blockIdx.y * Shape::kTy + threadIdx.x / Shape::kLanesZ * RY) * f.row +
                          blockIdx.x * TZ + threadIdx.x % Shape::kLanesZ * V;
  const T* const __restrict__ now = f.now + at;
  T* to = f.then + at;
  const auto read = [&](int x, Some<T, V>(&into)[RY]) {
#pragma unroll
    for (int r = 0; r < RY; ++r) into[r] = load<T, V>(now + min(x, n) * f.plane + r * f.row);
  };
  const auto read_beside = [&](int x, Beside& into) {
    const T* const from = now + min(x, n) * f.plane;
    into.north = load<T, V>(from - f.row);
    into.south = load<T, V>(from + RY * f.row);
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      into.west[r] = from[r * f.row - 1];
      into.east[r] = from[r * f.row + V];
    }
  };
  Some<T, V> q[D + 3][RY];
  Beside beside, next;
#pragma unroll
  for (int d = 0; d < D + 2; ++d) read(d - 1, q[d]);
  if (D > 0) read_beside(0, beside);
  for (int x = 0; x < n; ++x, to += f.plane) {
    read(x + D + 1, q[D + 2]);
    read_beside(D > 0 ? x + 1 : x, D > 0 ? next : beside);
#pragma unroll
    for (int r = 0; r < RY; ++r) {
      const Some<T, V>& north = r == 0 ? beside.north : q[1][r == 0 ? 0 : r - 1];
      const Some<T, V>& south = r == RY - 1 ? beside.south : q[1][r == RY - 1 ? r : r + 1];
      Some<T, V> out;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        out.v[v] = mean(q[1][r].v[v], q[0][r].v[v], q[2][r].v[v], north.v[v], south.v[v],
                        v == 0 ? beside.west[r] : q[1][r].v[v == 0 ? 0 : v - 1],
                        v == V - 1 ? beside.east[r] : q[1][r].v[v == V - 1 ? v : v + 1]);
      }
      store<STREAM>(to + r * f.row, out);
    }
#pragma unroll
    for (int d = 0; d < D + 2; ++d) {
#pragma unroll
      for (int r = 0; r < RY; ++r) q[d][r] = q[d + 1][r];
    }
    if (D > 0) beside = next;
  }
}

__device__ unsigned shared_address(const void* at) { return static_cast<unsigned>(__cvta_generic_to_shared(at)); }

/// Planes of a tile with their halo are in a ring of S planes in shared memory; loads of S - 2 of them are in flight. KIND 0:
/// cp.async of 16 bytes by all lanes; 1: cp.async.bulk of a row by each lane of one warp; 2: the same, by one lane of each warp.
template <class T, int V, int TZ, int TY, int THREADS, int S, int KIND, int STREAM, int OCCUPANCY>
struct Staged {
  static constexpr int kLanesZ = TZ / V, kRows = TY / (THREADS / kLanesZ);
  static constexpr int kPad = 16 / sizeof(T), kWidth = TZ + 2 * kPad, kPlane = (TY + 2) * kWidth;
  static constexpr int kShared = S * kPlane * static_cast<int>(sizeof(T));
};
template <class T, int V, int TZ, int TY, int THREADS, int S, int KIND, int STREAM, int OCCUPANCY>
__global__ void __launch_bounds__(THREADS, OCCUPANCY) staged(Field<T> f) {
  using Shape = Staged<T, V, TZ, TY, THREADS, S, KIND, STREAM, OCCUPANCY>;
  constexpr int kRows = Shape::kRows, kWidth = Shape::kWidth, kPad = Shape::kPad;
  extern __shared__ __align__(128) unsigned char memory[];
  __shared__ std::uint64_t full[S];
  T* const planes = reinterpret_cast<T*>(memory);
  const int x0 = blockIdx.z * f.tx, n = min(f.tx, f.nx - x0);
  const std::int64_t corner = x0 * f.plane + blockIdx.y * TY * f.row + blockIdx.x * TZ;
  const int z = threadIdx.x % Shape::kLanesZ * V, y = threadIdx.x / Shape::kLanesZ * kRows;
  const T* const now = f.now + corner;
  T* to = f.then + corner + y * f.row + z;

  const auto fetch = [&](int x) {  // starts to load plane x, counted from the tile's first plane, if the tile needs it
    T* const into = planes + x % S * Shape::kPlane;
    const T* const from = now + x * f.plane - f.row - kPad;
    if constexpr (KIND == 0) {
      constexpr int kChunks = kWidth / kPad, kAll = (TY + 2) * kChunks;
      if (x <= n) {
#pragma unroll
        for (int k = 0; k < (kAll + THREADS - 1) / THREADS; ++k) {
          const int i = k * THREADS + threadIdx.x;
          if (i < kAll) {
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(into + i * kPad)),
                         "l"(from + i / kChunks * f.row + i % kChunks * kPad)
                         : "memory");
          }
        }
      }
      asm volatile("cp.async.commit_group;" ::: "memory");
    } else if (KIND == 2 && threadIdx.x % 32 == 0 && x <= n) {
      const unsigned barrier = shared_address(&full[x % S]);
      constexpr unsigned kBytes = kWidth * sizeof(T);
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"((TY + 2) * kBytes)
                     : "memory");
      }
      for (int r = threadIdx.x / 32; r < TY + 2; r += THREADS / 32) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(into + r * kWidth)),
                     "l"(from + r * f.row), "r"(kBytes), "r"(barrier)
                     : "memory");
      }
    } else if (KIND == 1 && threadIdx.x < 32 && x <= n) {
      const unsigned barrier = shared_address(&full[x % S]);
      constexpr unsigned kBytes = kWidth * sizeof(T);
      if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"((TY + 2) * kBytes)
                     : "memory");
      }
      __syncwarp();
      for (int r = threadIdx.x; r < TY + 2; r += 32) {
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         shared_address(into + r * kWidth)),
                     "l"(from + r * f.row), "r"(kBytes), "r"(barrier)
                     : "memory");
      }
    }
  };
  const auto wait = [&](int x) {
    if constexpr (KIND == 0) {
      asm volatile("cp.async.wait_group %0;" ::"n"(S - 3) : "memory");
    } else {
      const unsigned barrier = shared_address(&full[x % S]), parity = x / S & 1;
      unsigned done = 0;
      while (done == 0) {
        asm volatile(
            "{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n selp.u32 %0, 1, 0, p;\n}"
            : "=r"(done)
            : "r"(barrier), "r"(parity)
            : "memory");
      }
    }
  };

  if constexpr (KIND != 0) {
    if (threadIdx.x == 0) {
      for (int s = 0; s < S; ++s)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full[s])));
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
  }
  for (int x = 0; x < S - 1; ++x) fetch(x);
  Some<T, V> below[kRows], here[kRows];
#pragma unroll
  for (int r = 0; r < kRows; ++r) below[r] = load<T, V>(now - f.plane + (y + r) * f.row + z);
  const int mine = (y + 1) * kWidth + kPad + z;
  if constexpr (KIND == 0) {
    asm volatile("cp.async.wait_group %0;" ::"n"(S - 2) : "memory");
    __syncthreads();
  } else {
    wait(0);
  }
#pragma unroll
  for (int r = 0; r < kRows; ++r) here[r] = load<T, V>(planes + mine + r * kWidth);
  for (int x = 0; x < n; ++x, to += f.plane) {
    wait(x + 1);
    __syncthreads();
    fetch(x + S - 1);
    const T* const mid = planes + x % S * Shape::kPlane + mine;
    const T* const front = planes + (x + 1) % S * Shape::kPlane + mine;
    const Some<T, V> first = load<T, V>(mid - kWidth), last = load<T, V>(mid + kRows * kWidth);
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
      const Some<T, V> ahead = load<T, V>(front + r * kWidth);
      const Some<T, V> south = r == kRows - 1 ? last : here[r == kRows - 1 ? r : r + 1];
      const Some<T, V> north = r == 0 ? first : load<T, V>(mid + (r - 1) * kWidth);
      const T west = mid[r * kWidth - 1], east = mid[r * kWidth + V];
      Some<T, V> out;
#pragma unroll
      for (int v = 0; v < V; ++v) {
        out.v[v] =
            mean(here[r].v[v], below[r].v[v], ahead.v[v], north.v[v], south.v[v],
                 v == 0 ? west : here[r].v[v == 0 ? 0 : v - 1], v == V - 1 ? east : here[r].v[v == V - 1 ? v : v + 1]);
      }
      store<STREAM>(to + r * f.row, out);
      below[r] = here[r];
      here[r] = ahead;
    }
  }
}

}  // namespace update_ways
