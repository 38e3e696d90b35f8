// Compares kernels for one step of a grid of seven-point means with plain copies: which way of reading reaches the memory
// bandwidth?
//   update_variants [CELLS...]     edges of cubes, multiples of 64; default 768 192
// Every kernel's cells are compared, bit by bit, with those of the first kernel. Prints one line each: ms, GB/s (two values per
// cell), and the percentage of the best copy of as many bytes.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "update_ways.cuh"

#define CHECK(call)                                                                        \
  do {                                                                                     \
    const cudaError_t status = (call);                                                     \
    if (status != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      std::exit(1);                                                                        \
    }                                                                                      \
  } while (false)

namespace {

using namespace update_ways;

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
  plain<T><<<dim3(edge / 64, edge / 8, 1), 256>>>(f);  // the other kernels' results are compared with state[2]
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
