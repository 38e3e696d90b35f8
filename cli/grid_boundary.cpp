#include "grid_boundary.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <utility>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal::cli {
namespace {

const char* const kFaces[] = {"x0", "x1", "y0", "y1", "z0", "z1"};

double finite_number(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) {
    throw UsageError("--boundary: '" + text + "' is not a finite number");
  }
  return value;
}

}  // namespace

void read_boundary(const std::string& text, double (&face)[6]) {
  bool given[6] = {};
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, end - at);
    at = end + 1;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) {
      std::fill(std::begin(face), std::end(face), finite_number(word));
      continue;
    }
    const std::string which = word.substr(0, equals);
    const auto found = std::find(std::begin(kFaces), std::end(kFaces), which);
    if (found == std::end(kFaces)) {
      throw UsageError("--boundary: '" + which + "' is not a face; legal: x0, x1, y0, y1, z0, z1");
    }
    if (std::exchange(given[found - std::begin(kFaces)], true)) {
      throw UsageError("--boundary: face '" + which + "' is given twice; leave one out");
    }
    face[found - std::begin(kFaces)] = finite_number(word.substr(equals + 1));
  }
}

void check_sums(const std::string& flag, double value, const std::string& dtype) {
  const bool narrow = dtype == "float32";
  const double most = (narrow ? std::numeric_limits<float>::max() : std::numeric_limits<double>::max()) / 8;
  if (std::abs(value) <= most) return;
  throw UsageError(flag + ": " + exact(value) + " is too large for " + dtype + ": at most " + exact(most) +
                   ", as six cells are added up" + (narrow ? "; --dtype float64 takes larger values" : ""));
}

}  // namespace shoal::cli
