// A number for each of 1 to 6 dimensions: how many blocks an array has along each of them, or the place of one block.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace shoal {

/// The number of cells or blocks along each dimension, or the place of one of them. (Grids have three dimensions and use Size3,
/// blocks/mapping.hpp.)
class SizeN {
 public:
  static constexpr int kMost = 6;  ///< dimensions

  /// @throws UsageError  no dimension, or more than kMost
  SizeN(std::initializer_list<std::int64_t> n) : SizeN(std::span(n.begin(), n.size())) {}
  explicit SizeN(std::span<const std::int64_t> n);

  int dimensions() const { return dimensions_; }
  std::int64_t operator[](int d) const { return n_[d]; }
  std::int64_t& operator[](int d) { return n_[d]; }
  std::int64_t volume() const;
  bool operator==(const SizeN&) const = default;

  // For an array of this size. Blocks are numbered in row-major order: neighbours along the last dimension have consecutive
  // numbers.
  /// @throws UsageError  the place is not in the array
  std::int64_t number_of(const SizeN& place) const;
  SizeN place_of(std::int64_t number) const;
  /// The neighbour of block b along dimension d. @param way  -1 or 1
  /// @param wraps  periodic: the first and the last block are neighbours
  /// @return its number; -1: there is none
  std::int64_t neighbor(std::int64_t b, int d, int way, bool wraps = false) const;

 private:
  int dimensions_;
  std::int64_t n_[kMost] = {};
};

/// As "4 x 2 x 3".
std::string text_of(const SizeN& size);

}  // namespace shoal
