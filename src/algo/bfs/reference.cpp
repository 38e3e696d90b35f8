#include "reference.hpp"

#include <algorithm>

#include "algo/first_wrong.hpp"

namespace shoal {
namespace {

std::string in_words(level_t level) {
  return level == kUnreached ? "is unreached" : "has level " + std::to_string(level);
}

std::string number(std::int64_t x) { return std::to_string(x); }

CsrView view_of(const Csr& graph) {
  return {graph.offsets.data(), graph.targets.data(), 0, static_cast<vertex_t>(graph.num_vertices())};
}

/// An empty text if the lengths and the source fit the graph.
std::string wrong_shape(std::int64_t n, std::int64_t size, const char* what, vertex_t source) {
  if (size != n) return "there are " + number(size) + " " + what + " for " + number(n) + " vertices";
  if (source >= n) return "the source " + number(source) + " is not one of the " + number(n) + " vertices";
  return "";
}

}  // namespace

std::string describe_wrong_level(vertex_t v, vertex_t source, level_t level, std::uint64_t closest) {
  const std::string who = (v == source ? "the source " : "vertex ") + number(v) + " " + in_words(level);
  if (v == source) return who + ", not 0";
  if (closest == ~0ull) return who + " but none of its neighbours is reached";
  const level_t lowest = static_cast<level_t>(closest >> 32);
  const std::string neighbor = "neighbour " + number(static_cast<vertex_t>(closest)) + " has level " + number(lowest);
  // Level too high, or unreached: that neighbour proves it. Too low: no neighbour is one level below.
  if (level > lowest) return who + " but its " + neighbor;
  return who + " but no neighbour is one level below it (the lowest, " + neighbor + ")";
}

std::string verify_levels(const Csr& in, Span<const level_t> levels, vertex_t source) {
  const std::int64_t n = in.num_vertices();
  const std::string shape = wrong_shape(n, levels.size(), "levels", source);
  if (!shape.empty()) return shape;
  const CsrView view = view_of(in);
  const std::int64_t v = first_wrong(n, [&](vertex_t u) {
    return !level_is_right(u, source, levels[u], closest_in_neighbor(view, levels.data(), u));
  });
  if (v == n) return "";
  const auto wrong = static_cast<vertex_t>(v);
  return describe_wrong_level(wrong, source, levels[v], closest_in_neighbor(view, levels.data(), wrong));
}

std::string verify_levels(const Csr& in, Span<const std::int32_t> levels, vertex_t source) {
  static_assert(static_cast<level_t>(-1) == kUnreached);
  return verify_levels(in, Span<const level_t>{reinterpret_cast<const level_t*>(levels.data()), levels.size()}, source);
}

std::string verify_parents(const Csr& in, Span<const std::int32_t> levels, Span<const std::int32_t> parents,
                           vertex_t source, bool smallest) {
  const std::int64_t n = in.num_vertices();
  std::string shape = wrong_shape(n, levels.size(), "levels", source);
  if (shape.empty()) shape = wrong_shape(n, parents.size(), "parents", source);
  if (!shape.empty()) return shape;
  auto fits = [&](vertex_t u, vertex_t v) { return levels[u] >= 0 && std::int64_t{levels[u]} + 1 == levels[v]; };
  // Describes what is wrong with the parent of v. Rows may be unsorted, so each is read to its end.
  auto describe = [&](vertex_t v, bool in_full) -> std::string {
    const std::int64_t parent = parents[v];
    const auto say = [&](const std::string& rest) {
      return in_full ? "vertex " + number(v) + " has parent " + number(parent) + rest : "wrong";
    };
    if (v == source) return parent == v ? "" : say(" but is the source, its own parent");
    if (levels[v] < 0) return parent == -1 ? "" : say(" but is unreached, without one (-1)");
    if (parent < 0 || parent >= n) return say(", which is not a vertex");
    bool is_neighbor = false;
    vertex_t best = kNoVertex;
    for (const vertex_t u : in.neighbors(v)) {
      is_neighbor |= u == parent;
      if (fits(u, v)) best = std::min(best, u);
    }
    if (!is_neighbor) return say(" but no arc comes from there");
    if (!fits(static_cast<vertex_t>(parent), v)) {
      return say(" of level " + number(levels[parent]) + " but level " + number(levels[v]) + " itself");
    }
    return smallest && parent != best ? say(" but " + number(best) + " is the smallest valid one") : "";
  };
  const std::int64_t v = first_wrong(n, [&](vertex_t u) { return !describe(u, false).empty(); });
  return v == n ? "" : describe(static_cast<vertex_t>(v), true);
}

}  // namespace shoal
