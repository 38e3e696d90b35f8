#include <charconv>
#include <cmath>
#include <iterator>

#include "data/text_lines.hpp"
#include "shoal/algo/pagerank_run.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/types.hpp"

namespace shoal {

std::vector<PersonalWeight> read_personalization(const std::string& file, std::int64_t num_vertices) {
  io::TextLines lines(file, "a personalization: `vertex weight` lines");
  std::vector<PersonalWeight> weights;
  while (lines.next()) {
    const std::string& line = lines.line();
    const auto fail = [&](const std::string& what) {
      lines.fail(what + " in '" + line.substr(0, 40) + "'; write `vertex weight`, zero-based");
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
    if (error != std::errc() || vertex < 0 || vertex >= kMaxVertices) fail("a vertex number is missing");
    const char* const number_end = after;
    p = after;
    skip();
    if (p < end) {
      if (p == number_end) fail("the vertex number does not end with a blank or comma");
      const auto [behind, bad] = std::from_chars(p, end, next.weight);
      if (bad != std::errc() || !(next.weight >= 0) || !std::isfinite(next.weight)) {
        fail("the weight is not a finite number of at least 0");
      }
      p = behind;
      skip();
      if (p != end) fail("more than two columns");
    }
    if (std::ssize(weights) == num_vertices) {
      lines.fail("more than " + counted(num_vertices, "weight", "weights") +
                 "; the graph has only as many vertices, each needs one at most");
    }
    next.vertex = static_cast<vertex_t>(vertex);
    next.line = lines.number();
    weights.push_back(next);
  }
  if (weights.empty()) throw UsageError(file + ": names no vertex; write `vertex weight` lines");
  return weights;
}

}  // namespace shoal
