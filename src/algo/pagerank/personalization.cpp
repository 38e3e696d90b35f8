#include <charconv>
#include <cmath>
#include <istream>

#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/types.hpp"
#include "shoal/data/io.hpp"

namespace shoal {

std::vector<PersonalWeight> read_personalization(const std::string& file) {
  const auto opened = open_text_file(file, "a personalization: `vertex weight` lines");
  std::istream& in = *opened;
  std::vector<PersonalWeight> weights;
  std::int64_t line_number = 0;
  for (std::string line; std::getline(in, line);) {
    ++line_number;
    const auto fail = [&](const std::string& what) {
      throw UsageError(file + ":" + std::to_string(line_number) + ": " + what + " in '" + line.substr(0, 40) +
                       "'; write `vertex weight`, zero-based");
    };
    const char *p = line.data(), *const end = line.data() + line.size();
    const auto skip = [&] {
      while (p < end && (*p == ' ' || *p == '\t' || *p == '\r' || *p == ',')) ++p;
    };
    skip();
    if (p == end || *p == '#' || *p == '%') continue;
    std::int64_t vertex = 0;
    PersonalWeight next;
    auto [after, error] = std::from_chars(p, end, vertex);
    if (error != std::errc() || vertex < 0 || vertex >= kMaxVertices) fail("no vertex number");
    const char* const number_end = after;
    p = after;
    skip();
    if (p < end) {
      if (p == number_end) fail("the vertex number goes on");
      const auto [behind, bad] = std::from_chars(p, end, next.weight);
      if (bad != std::errc() || !(next.weight >= 0) || !std::isfinite(next.weight)) {
        fail("the weight is not a finite number of at least 0");
      }
      p = behind;
      skip();
      if (p != end) fail("more than two columns");
    }
    next.vertex = static_cast<vertex_t>(vertex);
    next.line = line_number;
    weights.push_back(next);
  }
  if (in.bad())
    throw UsageError(file + ":" + std::to_string(line_number + 1) + ": could not be read on; check the disk");
  if (weights.empty()) throw UsageError(file + ": names no vertex; write `vertex weight` lines");
  return weights;
}

}  // namespace shoal
