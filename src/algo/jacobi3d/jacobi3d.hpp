// Jacobi3D for the command: the functions that run it, check it, and measure the rate that it is compared with.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "shoal/algo/jacobi3d.hpp"
#include "shoal/blocks/grid_steps.hpp"

namespace shoal {

/// For T float and double. @throws UsageError, CapacityError, DeviceError
template <class T>
std::unique_ptr<GridSteps<T>> make_jacobi3d(const Machine& machine, const GridOptions& options,
                                            const Jacobi3d<T>& program);
template <class T>
std::unique_ptr<GridSteps<T>> make_jacobi3d_gpu(const Machine& machine, const GridOptions& options,
                                                const Jacobi3d<T>& program);

/// The serial reference: one array, one thread, cell after cell.
template <class T>
class Jacobi3dReference {
 public:
  /// @throws CapacityError  this machine does not have enough memory for two states
  explicit Jacobi3dReference(const Jacobi3d<T>& program);
  void iterate(std::int64_t n);
  /// Compares x-plane x bit for bit. Returns a line about the first cell that differs, or an empty text. @param got  [size.y *
  /// size.z]
  std::string find_wrong(std::int64_t x, const T* got) const;

 private:
  Size3 n_;
  std::int64_t row_, plane_;
  std::vector<T> now_, then_;
};

/// Bytes per second, read and written together, of a plain copy: by all threads of a machine, or by each of its GPUs within its own
/// memory. The best of several trials.
/// @param bytes  about how many to copy on each PE
double copy_rate(const Machine& machine, std::int64_t bytes);
double copy_rate_gpu(const Machine& machine, std::int64_t bytes);

}  // namespace shoal
