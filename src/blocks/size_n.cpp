#include "shoal/blocks/size_n.hpp"

#include <algorithm>

#include "shoal/core/error.hpp"

namespace shoal {

SizeN::SizeN(std::span<const std::int64_t> n) : dimensions_(static_cast<int>(n.size())) {
  if (n.empty() || n.size() > kMost) {
    throw UsageError("an array of " + std::to_string(n.size()) + " dimensions is not possible; use 1 to " +
                     std::to_string(kMost));
  }
  std::copy(n.begin(), n.end(), n_);
}

std::int64_t SizeN::volume() const {
  std::int64_t all = 1;
  for (int d = 0; d < dimensions_; ++d) all *= n_[d];
  return all;
}

std::int64_t SizeN::number_of(const SizeN& place) const {
  std::int64_t number = 0;
  bool inside = place.dimensions_ == dimensions_;
  for (int d = 0; d < dimensions_ && inside; ++d) {
    inside = place[d] >= 0 && place[d] < n_[d];
    number = number * n_[d] + place[d];
  }
  if (inside) return number;
  throw UsageError("place " + text_of(place) + " is not in an array of " + text_of(*this) + " blocks");
}

SizeN SizeN::place_of(std::int64_t number) const {
  SizeN place = *this;
  for (int d = dimensions_ - 1; d > 0; --d) {
    place[d] = number % n_[d];
    number /= n_[d];
  }
  place[0] = number;  // if the number is too large, this place is outside of the array
  return place;
}

std::int64_t SizeN::neighbor(std::int64_t b, int d, int way, bool wraps) const {
  SizeN place = place_of(b);
  place[d] += way;
  if (wraps) place[d] = (place[d] + n_[d]) % n_[d];
  return place[d] < 0 || place[d] >= n_[d] ? -1 : number_of(place);
}

std::string text_of(const SizeN& size) {
  std::string text = std::to_string(size[0]);
  for (int d = 1; d < size.dimensions(); ++d) text += " x " + std::to_string(size[d]);
  return text;
}

}  // namespace shoal
