// One array of a NumPy file (.npy) in memory.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::io {

/// A view of an array; elements are not aligned.
struct NpyArray {
  char kind = 0;  ///< b bool, i signed, u unsigned, f float, S bytes, U text
  int item_bytes = 0;
  std::vector<std::int64_t> shape;  ///< empty for a scalar
  std::string_view data;            ///< count() * item_bytes bytes
  std::int64_t count() const;       ///< the product of the shape

  /// Element i of an integer or bool array. Unsigned values beyond 2^63 - 1 become negative.
  std::int64_t integer(std::int64_t i) const;
  /// Element i of a float array.
  double real(std::int64_t i) const;
};

/// Parses a .npy file. @param name  of the array in messages
/// @throws UsageError  not a .npy file, damaged, big-endian, Fortran order of several dimensions, or of Python objects
NpyArray parse_npy(std::string_view bytes, const std::string& name);

/// The same from the first bytes of the file alone: kNpyFront bytes, or all if it has fewer. Sets everything except the data.
/// @param file_bytes  size of the whole file
NpyArray parse_npy_front(std::string_view front, std::uint64_t file_bytes, const std::string& name);
inline constexpr std::size_t kNpyFront = std::size_t{1} << 16;  ///< holds the header that NumPy writes

/// The header of a one-dimensional array in C order, padded as NumPy does; append the data to make a .npy file.
/// @param descr  NumPy's type text, such as `<i4`
std::string npy_header(const std::string& descr, std::int64_t count);
/// The same for a scalar.
std::string npy_scalar_header(const std::string& descr);

}  // namespace shoal::io
