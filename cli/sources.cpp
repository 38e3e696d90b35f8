#include "sources.hpp"

#include <charconv>
#include <limits>
#include <random>

#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal::cli {
namespace {

bool parse_number(const std::string& text, std::int64_t& value) {
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() && !text.empty();
}

/// A vertex in [0, n) from the generator. Not std::uniform_int_distribution: its results differ between libraries.
vertex_t draw(std::mt19937_64& random, std::int64_t n) {
  const std::uint64_t bound = static_cast<std::uint64_t>(n);
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / bound * bound;
  std::uint64_t x = random();
  while (x >= most) x = random();
  return static_cast<vertex_t>(x % bound);
}

}  // namespace

SourceChoice SourceChoice::parse(const std::string& text) {
  SourceChoice choice;
  if (text == "random") return choice;
  if (text == "max-degree") {
    choice.kind = Kind::max_degree;
    return choice;
  }
  const std::string random = "random:";
  if (text.compare(0, random.size(), random) == 0) {
    if (parse_number(text.substr(random.size()), choice.number) && choice.number >= 1 && choice.number <= 1'000'000) {
      return choice;
    }
    throw UsageError("--source '" + text + "': K of random:K is a number from 1 to 1,000,000");
  }
  choice.kind = Kind::vertex;
  if (parse_number(text, choice.number)) return choice;
  throw UsageError("--source '" + text + "' is not known; legal: a vertex number, random, random:K, max-degree");
}

std::vector<vertex_t> choose_sources(const SourceChoice& choice, int trials, std::uint64_t seed,
                                     std::int64_t num_vertices, arc_t num_arcs,
                                     const std::function<arc_t(vertex_t)>& degree) {
  using Kind = SourceChoice::Kind;
  if (num_vertices == 0) throw UsageError("the graph has no vertices, so there is no source to search from");
  if (choice.kind == Kind::vertex) {
    if (choice.number < 0 || choice.number >= num_vertices) {
      throw UsageError("--source " + std::to_string(choice.number) + " is not in the graph: vertices are 0 to " +
                       std::to_string(num_vertices - 1));
    }
    return {static_cast<vertex_t>(choice.number)};
  }
  if (choice.kind == Kind::max_degree) {
    vertex_t best = 0;
    for (std::int64_t v = 1; v < num_vertices; ++v) {
      if (degree(static_cast<vertex_t>(v)) > degree(best)) best = static_cast<vertex_t>(v);
    }
    return {best};
  }
  if (num_arcs == 0) {
    throw UsageError("the graph has no arcs, so no random source has out-arcs; name one with --source N");
  }
  std::vector<vertex_t> sources(static_cast<std::size_t>(choice.number > 0 ? choice.number : trials));
  std::mt19937_64 random(seed);
  std::vector<vertex_t> with_arcs;  // filled only if they are so rare that drawing vertices at random takes long
  for (vertex_t& source : sources) {
    int tries = 0;
    while (with_arcs.empty()) {
      source = draw(random, num_vertices);
      if (degree(source) > 0) break;
      if (++tries < 1000) continue;
      for (std::int64_t v = 0; v < num_vertices; ++v) {
        if (degree(static_cast<vertex_t>(v)) > 0) with_arcs.push_back(static_cast<vertex_t>(v));
      }
    }
    if (!with_arcs.empty()) source = with_arcs[draw(random, static_cast<std::int64_t>(with_arcs.size()))];
  }
  return sources;
}

}  // namespace shoal::cli
