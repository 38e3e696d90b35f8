// Kernels for one step of a grid of seven-point means, beside plain copies: which way of reading reaches the memory's rate?
//   update_variants [CELLS...]     edges of cubes, multiples of 64; default 768 192
// Every kernel's cells are compared, bit by bit, with those of the first. One line each: ms, GB/s (two values a cell), and the
// share of the best copy of as many bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "shoal/blocks/columns.hpp"

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

namespace {

/// Two states as the library stores them: a layer of cells around the grid, rows of whole lines.
template <class T>
struct Field {
  const T* now;  ///< cell 0, 0, 0
  T* then;
  std::int64_t plane, row;
  int nx, ny, nz;
  int tx;  ///< planes of a tile
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

/// The library's first version: a lane has two columns of 64 x 8 and goes along x; nothing is kept in registers.
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

/// The library's (blocks/columns.hpp), in tiles of 64 x 8 columns.
template <class T, int OCCUPANCY>
__global__ void __launch_bounds__(256, OCCUPANCY) library(Field<T> f) {
  const int x0 = blockIdx.z * f.tx;
  const std::int64_t at = x0 * f.plane + blockIdx.y * 8 * f.row + blockIdx.x * 64;
  const shoal::blocks::Columns<T> columns{f.now + at,
                                          f.then + at,
                                          static_cast<int>(f.plane),
                                          static_cast<int>(f.row),
                                          static_cast<unsigned>(min(f.tx, f.nx - x0)),
                                          0};
  shoal::blocks::update_tile(threadIdx.x, columns, 8, 64, [](const shoal::blocks::NearValues<T>& near) {
    return mean(near.here, near.below_x, near.above_x, near.below_y, near.above_y, near.below_z, near.above_z);
  });
}

/// A lane has V x RY columns of TZ x TY and goes along x. Below, here and ahead are registers, and D more planes are on their
/// way; with D > 0 also what is beside the lane's columns is read a plane early.
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

/// Planes of a tile, with what is around it, in a ring of S in shared memory, S - 2 of them on their way. KIND 0: cp.async of 16
/// bytes by all lanes; 1: cp.async.bulk of a row by each lane of a warp; 2: the same, by a lane of each warp.
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

  const auto fetch = [&](int x) {  // plane x, counted from the tile's first one, if it is wanted
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

template <class T>
__global__ void copy_kernel(const int4* from, int4* to, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i + 3 * stride < n; i += 4 * stride) {
    const int4 a = from[i], b = from[i + stride], c = from[i + 2 * stride], d = from[i + 3 * stride];
    to[i] = a, to[i + stride] = b, to[i + 2 * stride] = c, to[i + 3 * stride] = d;
  }
  for (; i < n; i += stride) to[i] = from[i];
}

template <class T>
__global__ void fill(T* at, std::int64_t n) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    std::uint64_t h = static_cast<std::uint64_t>(i) * 0x9E3779B97F4A7C15ull;
    h ^= h >> 29;
    at[i] = static_cast<T>(h % 100003) / 7;
  }
}
template <class T>
__global__ void differ(const T* a, const T* b, Field<T> f, unsigned long long* n) {
  const std::int64_t cells = std::int64_t{f.nx} * f.ny * f.nz;
  unsigned long long mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < cells;
       i += std::int64_t{gridDim.x} * blockDim.x) {
    const std::int64_t at = i / f.nz / f.ny * f.plane + i / f.nz % f.ny * f.row + i % f.nz;
    mine += a[at] != b[at];
  }
  if (mine > 0) atomicAdd(n, mine);
}

template <class F>
float best_ms(int steps, const F& step) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  float best = 1e9f;
  for (int trial = 0; trial < 4; ++trial) {
    CHECK(cudaEventRecord(begin));
    for (int i = 0; i < steps; ++i) step(i);
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (trial > 0) best = std::min(best, ms / static_cast<float>(steps));
  }
  CHECK(cudaGetLastError());
  CHECK(cudaEventDestroy(begin));
  CHECK(cudaEventDestroy(end));
  return best;
}

template <class T>
void measure(int edge, const char* type) {
  constexpr std::int64_t kLine = 64 / sizeof(T);
  Field<T> f{};
  f.nx = f.ny = f.nz = edge;
  f.row = (edge + 2 + kLine - 1) / kLine * kLine;
  f.plane = (edge + 2) * f.row;
  const std::int64_t cells = (edge + 2) * f.plane + 4 * kLine;
  T* state[3];
  for (T*& s : state) {
    CHECK(cudaMalloc(&s, static_cast<std::size_t>(cells) * sizeof(T)));
    fill<<<2048, 256>>>(s, cells);
  }
  unsigned long long* wrong;
  CHECK(cudaMallocManaged(&wrong, sizeof(*wrong)));
  const auto origin = [&](T* s) { return s + f.plane + f.row + 2 * kLine; };
  const double bytes = 2.0 * edge * edge * edge * sizeof(T);
  const int steps = std::clamp(static_cast<int>(40e9 / bytes), 6, 300);
  const auto step_bytes = static_cast<std::size_t>(bytes / 2);

  double best_copy = 0;
  const auto copied = [&](const char* name, float ms) {
    best_copy = std::max(best_copy, bytes / ms / 1e6);
    std::printf("%-6s %5d  %-58s %9.4f ms %8.1f GB/s\n", type, edge, name, ms, bytes / ms / 1e6);
  };
  copied("cudaMemcpy", best_ms(steps, [&](int i) {
           CHECK(cudaMemcpyAsync(state[i + 1 & 1], state[i & 1], step_bytes, cudaMemcpyDeviceToDevice));
         }));
  for (const int blocks : {132 * 8, 132 * 32}) {
    copied("copy kernel", best_ms(steps, [&](int i) {
             copy_kernel<T><<<blocks, 256>>>(reinterpret_cast<const int4*>(state[i & 1]),
                                             reinterpret_cast<int4*>(state[i + 1 & 1]),
                                             static_cast<std::int64_t>(step_bytes / 16));
           }));
  }
  fill<<<2048, 256>>>(state[0], cells);
  fill<<<2048, 256>>>(state[1], cells);
  CHECK(cudaMemcpy(state[2], state[0], static_cast<std::size_t>(cells) * sizeof(T), cudaMemcpyDeviceToDevice));
  f.tx = edge;
  f.now = origin(state[0]);
  f.then = origin(state[2]);
  plain<T><<<dim3(edge / 64, edge / 8, 1), 256>>>(f);  // state[2] is what the others are compared with
  CHECK(cudaDeviceSynchronize());

  const auto one = [&](const std::string& name, auto kernel, int tz, int ty, int threads, int shared) {
    if (edge % tz != 0 || edge % ty != 0) return;
    if (shared > 0) {
      if (cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared) != cudaSuccess) {
        cudaGetLastError();
        return;
      }
    }
    cudaFuncAttributes has{};
    CHECK(cudaFuncGetAttributes(&has, kernel));
    int fit = 0;
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, kernel, threads, static_cast<std::size_t>(shared)));
    *wrong = 0;
    const auto launch = [&](int i, int tx) {
      Field<T> g = f;
      g.now = origin(state[i & 1]);
      g.then = origin(state[i + 1 & 1]);
      g.tx = tx;
      kernel<<<dim3(edge / tz, edge / ty, (edge + tx - 1) / tx), threads, static_cast<std::size_t>(shared)>>>(g);
    };
    std::vector<int> along = edge > 256 ? std::vector<int>{32, 64, 128, 256} : std::vector<int>{16, 24, 32, 48, 96};
    float best = 1e9f;
    int best_tx = 0;
    std::string all;
    for (const int tx : along) {
      CHECK(cudaMemset(state[1], 0, 64));
      fill<<<2048, 256>>>(state[0], cells);
      launch(0, tx);
      differ<T><<<2048, 256>>>(origin(state[1]), origin(state[2]), f, wrong);
      CHECK(cudaDeviceSynchronize());
      const float ms = best_ms(steps, [&](int i) { launch(i, tx); });
      char text[32];
      std::snprintf(text, sizeof text, " %d:%.4f", tx, ms);
      all += text;
      if (ms < best) best = ms, best_tx = tx;
    }
    std::printf("%-6s %5d  %-58s %9.4f ms %8.1f GB/s %5.1f %%  tx %3d, %2d fit, %3d regs%s |%s\n", type, edge,
                name.c_str(), best, bytes / best / 1e6, 100 * bytes / best / 1e6 / best_copy, best_tx, fit, has.numRegs,
                *wrong != 0 ? "  WRONG" : "", all.c_str());
    std::fflush(stdout);
  };
  one("plain 64 x 8", plain<T>, 64, 8, 256, 0);
  one("the library's, occ 4", library<T, 4>, 64, 8, 256, 0);
  one("the library's, occ 3", library<T, 3>, 64, 8, 256, 0);
#define QUEUE(V, TZ, RY, D, STREAM, OCC)                                                          \
  one("queue " #V " x " #RY " a lane, " #TZ " wide, " #D " early, stream " #STREAM ", occ " #OCC, \
      queue<T, V, TZ, RY, D, STREAM, OCC>, TZ, Queue<T, V, TZ, RY, D, STREAM, OCC>::kTy, 256, 0)
#define STAGED(V, TZ, TY, THREADS, S, KIND, STREAM, OCC)                                                   \
  one("staged " #KIND " " #TZ " x " #TY ", " #V " a lane, " #THREADS " thr, ring " #S ", stream " #STREAM, \
      staged<T, V, TZ, TY, THREADS, S, KIND, STREAM, OCC>, TZ, TY, THREADS,                                \
      Staged<T, V, TZ, TY, THREADS, S, KIND, STREAM, OCC>::kShared)
  QUEUE(1, 64, 2, 0, 0, 4);
  QUEUE(1, 64, 2, 1, 0, 4);
  QUEUE(2, 64, 1, 0, 0, 4);
  QUEUE(2, 64, 1, 1, 0, 4);
  QUEUE(2, 64, 1, 1, 1, 4);
  QUEUE(2, 64, 1, 2, 1, 3);
  QUEUE(2, 64, 2, 1, 1, 3);
  STAGED(2, 64, 16, 256, 5, 0, 0, 4);
  STAGED(2, 64, 16, 256, 5, 1, 0, 4);
  STAGED(2, 64, 16, 256, 5, 2, 1, 4);
  STAGED(2, 64, 32, 512, 5, 1, 1, 2);
  for (T* s : state) CHECK(cudaFree(s));
  CHECK(cudaFree(wrong));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<int> edges;
  for (int i = 1; i < argc; ++i) edges.push_back(std::atoi(argv[i]));
  if (edges.empty()) edges = {768, 192};
  for (const int edge : edges) {
    if (edge < 64 || edge % 64 != 0) {
      std::fprintf(stderr, "update_variants: %d is not a multiple of 64\n", edge);
      return 2;
    }
    measure<double>(edge, "f64");
  }
}
