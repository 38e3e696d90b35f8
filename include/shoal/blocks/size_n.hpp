// Numbers along 1 to 6 dimensions: how many blocks an array has along each, or the place of one of them.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace shoal {

/// Cells, or blocks, along each dimension; also the place of one. (Grids of three dimensions have Size3, blocks/mapping.hpp.)
class SizeN {
 public:
  static constexpr int kMost = 6;  ///< dimensions

  /// @throws UsageError  none, or more than kMost
  SizeN(std::initializer_list<std::int64_t> n) : SizeN(std::span(n.begin(), n.size())) {}
  explicit SizeN(std::span<const std::int64_t> n);

  int dimensions() const { return dimensions_; }
  std::int64_t operator[](int d) const { return n_[d]; }
  std::int64_t& operator[](int d) { return n_[d]; }
  std::int64_t volume() const;
  bool operator==(const SizeN&) const = default;

  // Of an array of this size, whose blocks are numbered so that neighbours along the last dimension follow one another:
  /// @throws UsageError  the place is not in the array
  std::int64_t number_of(const SizeN& place) const;
  SizeN place_of(std::int64_t number) const;
  /// The block beside b along dimension d. @param way  -1 or 1
  /// @param wraps  beside the last one is the first
  /// @return -1: there is none
  std::int64_t neighbor(std::int64_t b, int d, int way, bool wraps = false) const;

 private:
  int dimensions_;
  std::int64_t n_[kMost] = {};
};

/// "4 x 2 x 3"
std::string text_of(const SizeN& size);

}  // namespace shoal
