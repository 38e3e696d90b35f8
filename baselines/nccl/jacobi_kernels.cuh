// The kernels of a Jacobi iteration on one rank's GPU.
#pragma once
#include <algorithm>
#include <cstdint>

#include "../common/part.hpp"
#include "shoal/device/cuda_check.cuh"

namespace shoal::nccl {

using baselines::Box;
using baselines::kFaces;
using baselines::Part;

/// Sets the initial cells, with the halo.
__global__ void first_state(Part part, Jacobi3d<double> program, double* state) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < part.with_layer(); i += stride) {
    const std::int64_t x = i / part.plane - 1, y = i % part.plane / part.row - 1, z = i % part.row - 1;
    state[i] = program.at_start(part.first.x + x, part.first.y + y, part.first.z + z);
  }
}

enum class Faces { pack, unpack };

/// For all faces with a neighbour: packs own cells into `words`, or unpacks received cells from there into the halo.
template <Faces what>
__global__ void copy_faces(Part part, double* state, double* words) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (int f = 0; f < kFaces; ++f) {
    const std::int64_t cells = part.begin[f + 1] - part.begin[f];
    for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < cells; i += stride) {
      double& cell = state[part.face_cell(f, i, what == Faces::unpack)];
      double& word = words[part.begin[f] + i];
      what == Faces::pack ? word = cell : cell = word;
    }
  }
}

inline constexpr int kAlongZ = 64, kAlongY = 4, kAlongX = 8;  // threads of a block in z and y; cells per thread in x

/// A thread goes along x, so it loads each cell of its own line only once.
__global__ void update_box(Part part, Box box, Jacobi3d<double> program, const double* now, double* then) {
  const std::int64_t z = box.from.z + std::int64_t{blockIdx.x} * kAlongZ + threadIdx.x;
  const std::int64_t y = box.from.y + std::int64_t{blockIdx.y} * kAlongY + threadIdx.y;
  if (z >= box.to.z || y >= box.to.y) return;
  std::int64_t x = box.from.x + std::int64_t{blockIdx.z} * kAlongX;
  const std::int64_t end = x + kAlongX < box.to.x ? x + kAlongX : box.to.x;
  const double* cell = now + part.index(x, y, z);
  double* to = then + part.index(x, y, z);
  double before = cell[-part.plane], here = *cell;
  for (; x < end; ++x, cell += part.plane, to += part.plane) {
    const double after = cell[part.plane];
    *to = program.next([&](int dx, int dy, int dz) {
      return dx < 0 ? before : dx > 0 ? after : dy == 0 && dz == 0 ? here : cell[dy * part.row + dz];
    });
    before = here;
    here = after;
  }
}

template <Faces what>
void copy_faces(const Part& part, double* state, double* words, cudaStream_t stream) {
  std::int64_t most = 0;
  for (int f = 0; f < kFaces; ++f) most = std::max(most, part.begin[f + 1] - part.begin[f]);
  if (most == 0) return;
  const auto blocks = static_cast<unsigned>(std::min<std::int64_t>((most + 255) / 256, 4096));
  copy_faces<what><<<blocks, 256, 0, stream>>>(part, state, words);
  SHOAL_CUDA(cudaGetLastError());
}

inline void update(const Part& part, const Box& box, const Jacobi3d<double>& program, const double* now, double* then,
                   cudaStream_t stream) {
  if (box.empty()) return;
  const auto blocks = [](std::int64_t cells, int of) { return static_cast<unsigned>((cells + of - 1) / of); };
  const Size3 n = box.size();
  const dim3 grid(blocks(n.z, kAlongZ), blocks(n.y, kAlongY), blocks(n.x, kAlongX));
  update_box<<<grid, dim3(kAlongZ, kAlongY), 0, stream>>>(part, box, program, now, then);
  SHOAL_CUDA(cudaGetLastError());
}

}  // namespace shoal::nccl
