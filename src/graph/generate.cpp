// Parses generator arguments, and generates graphs on the host. graph/edge_functions.hpp computes the edges.
#include "shoal/graph/generate.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <vector>

#include "core/memory.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal {
namespace {

struct Generator {
  const char* name;
  GraphKind kind;
  const char* size;  ///< what the number means
  std::int64_t smallest, largest;
  const char* keys;  ///< legal keys, as the message lists them
};

constexpr std::array kGenerators = {
    Generator{"kron", GraphKind::kron, "the scale S of 2^S vertices", 0, 30, "seed, degree, directed"},
    Generator{"road", GraphKind::road, "the side N of an N x N grid", 1, 46340, "seed, deleted"},
    Generator{"uniform", GraphKind::uniform, "the scale S of 2^S vertices", 0, 30, "seed, degree, directed"},
    Generator{"community", GraphKind::community, "the scale S of 2^S vertices", 0, 30,
              "seed, degree, directed, mixing, skew, shuffled"},
    Generator{"chain", GraphKind::chain, "the number of vertices", 1, kMaxVertices, "seed"},
    Generator{"star", GraphKind::star, "the number of vertices", 1, kMaxVertices, "seed"},
    Generator{"complete", GraphKind::complete, "the number of vertices", 1, kMaxVertices, "seed"},
};
constexpr std::int64_t kMaxDegree = 1 << 16;
constexpr std::int64_t kMaxSkew = 8;

const Generator* find_generator(std::string_view name) {
  for (const Generator& g : kGenerators)
    if (name == g.name) return &g;
  return nullptr;
}

const Generator& generator_of(GraphKind kind) {
  for (const Generator& g : kGenerators)
    if (g.kind == kind) return g;
  throw UsageError("GeneratorSpec: unknown kind " + std::to_string(static_cast<int>(kind)));
}

/// The whole of `text` as a number, or nothing.
template <class T>
std::optional<T> number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string quote(std::string_view text) { return std::string(1, '\'').append(text).append(1, '\''); }

/// Sets one key of `spec`; returns what is wrong with it, or nothing.
std::string set_key(GeneratorSpec& spec, const Generator& generator, std::string_view key, std::string_view value) {
  const bool edges = spec.draws_edges(), community = generator.kind == GraphKind::community;
  if (key == "seed") {
    const auto n = number<std::uint64_t>(value);
    if (!n) return "seed is " + quote(value) + "; it must be a whole number in [0, 2^64)";
    spec.seed = *n;
  } else if (key == "degree" && edges) {
    const auto n = number<std::int64_t>(value);
    if (!n || *n < 1 || *n > kMaxDegree) {
      return "degree is " + quote(value) + "; it must be a whole number in [1, " + std::to_string(kMaxDegree) + "]";
    }
    spec.degree = *n;
  } else if (key == "directed" && edges) {
    if (value != "0" && value != "1") return "directed is " + quote(value) + "; it must be 0 or 1";
    spec.directed = value == "1";
  } else if (key == "mixing" && community) {
    const auto x = number<double>(value);
    if (!x || !(*x >= 0 && *x <= 1)) return "mixing is " + quote(value) + "; it must be a share in [0, 1], such as 0.2";
    spec.mixing = *x == 0 ? 0 : *x;  // -0 is 0
  } else if (key == "skew" && community) {
    const auto n = number<std::int64_t>(value);
    if (!n || *n < 1 || *n > kMaxSkew) {
      return "skew is " + quote(value) + "; it must be a whole number in [1, " + std::to_string(kMaxSkew) + "]";
    }
    spec.skew = *n;
  } else if (key == "shuffled" && community) {
    if (value != "0" && value != "1") return "shuffled is " + quote(value) + "; it must be 0 or 1";
    spec.shuffled = value == "1";
  } else if (key == "deleted" && generator.kind == GraphKind::road) {
    const auto x = number<double>(value);
    if (!x || !(*x >= 0 && *x < 1)) return "deleted is " + quote(value) + "; it must be a share in [0, 1), such as 0.1";
    spec.deleted = *x == 0 ? 0 : *x;  // -0 is 0
  } else {
    return "unknown key " + quote(key) + "; " + generator.name + " knows " + generator.keys;
  }
  return "";
}

/// The most bytes that generate() holds at a time.
double peak_bytes(const GeneratorSpec& spec) {
  return 8.0 * static_cast<double>(spec.num_vertices()) + (spec.draws_edges() ? 12 : 4) * spec.max_arcs();
}

}  // namespace

std::int64_t GeneratorSpec::num_vertices() const {
  if (draws_edges()) return std::int64_t{1} << size;
  return kind == GraphKind::road ? size * size : size;
}

double GeneratorSpec::max_arcs() const {
  const double n = static_cast<double>(num_vertices());
  switch (kind) {
    case GraphKind::kron:
    case GraphKind::uniform:
    case GraphKind::community:
      return n * static_cast<double>(degree) * (directed ? 1 : 2);
    case GraphKind::road:
      return 4 * n;
    case GraphKind::complete:
      return n * (n - 1);
    default:
      return 2 * n;
  }
}

void GeneratorSpec::check() const {
  const Generator& generator = generator_of(kind);
  if (size < generator.smallest || size > generator.largest || degree < 1 || degree > kMaxDegree ||
      !(deleted >= 0 && deleted < 1) || !(mixing >= 0 && mixing <= 1) || skew < 1 || skew > kMaxSkew) {
    throw UsageError("GeneratorSpec " + text() + " is out of range; make it with parse_generator, which says how");
  }
}

std::string GeneratorSpec::text() const {
  const GeneratorSpec usual;
  std::string out = std::string(generator_of(kind).name) + ":" + std::to_string(size);
  if (seed != usual.seed) out += ",seed=" + std::to_string(seed);
  const auto shortest = [](double x) {
    char digits[32];
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  };
  if (draws_edges()) {
    if (degree != usual.degree) out += ",degree=" + std::to_string(degree);
    if (directed) out += ",directed=1";
  }
  if (kind == GraphKind::road && deleted != usual.deleted) out += ",deleted=" + shortest(deleted);
  if (kind == GraphKind::community) {
    if (mixing != usual.mixing) out += ",mixing=" + shortest(mixing);
    if (skew != usual.skew) out += ",skew=" + std::to_string(skew);
    if (shuffled) out += ",shuffled=1";
  }
  return out;
}

bool is_generator(const std::string& argument) {
  const std::size_t colon = argument.find(':');
  return colon != std::string::npos && find_generator(std::string_view(argument).substr(0, colon)) != nullptr;
}

GeneratorSpec parse_generator(const std::string& argument) {
  const std::string_view all = argument;
  auto fail = [&](const std::string& what) { throw UsageError("generator " + quote(all) + ": " + what); };
  const std::size_t colon = all.find(':');
  const std::string_view name = all.substr(0, colon);
  const Generator* generator = find_generator(name);
  if (generator == nullptr) {
    std::string known;
    for (const Generator& g : kGenerators) known += (known.empty() ? "" : ", ") + std::string(g.name);
    fail("unknown generator " + quote(name) + "; known are " + known);
  }
  std::string_view rest = colon == std::string_view::npos ? std::string_view() : all.substr(colon + 1);
  std::size_t comma = rest.find(',');
  const std::string_view size = rest.substr(0, comma);
  const auto n = number<std::int64_t>(size);
  if (!n || *n < generator->smallest || *n > generator->largest) {
    fail((size.empty() ? "the number after the colon is missing; it is " : quote(size) + " is not ") +
         std::string(generator->size) + ", a whole number in [" + std::to_string(generator->smallest) + ", " +
         std::to_string(generator->largest) + "]; write for instance " + quote(std::string(name) + ":20"));
  }
  GeneratorSpec spec;
  spec.kind = generator->kind;
  spec.size = *n;
  std::vector<std::string_view> seen;
  while (comma != std::string_view::npos) {
    rest = rest.substr(comma + 1);
    comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    if (item.empty()) {
      fail(std::string("an option is empty; write NAME:NUMBER,key=value with keys ") + generator->keys);
    }
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) fail("key " + quote(key) + " is given twice");
    seen.push_back(key);
    const bool bare = equals == std::string_view::npos;
    if (bare && key != "directed" && key != "shuffled") {
      fail(quote(item) + " is not key=value; " + generator->name + " knows the keys " + generator->keys);
    }
    const std::string wrong = set_key(spec, *generator, key, bare ? "1" : item.substr(equals + 1));
    if (!wrong.empty()) fail(wrong);
  }
  return spec;
}

Csr generate(const GeneratorSpec& spec) {
  spec.check();
  const double wanted = peak_bytes(spec), had = static_cast<double>(available_memory());
  if (wanted > had) {
    throw CapacityError("generator '" + spec.text() + "': about " + std::to_string(std::llround(wanted / 1e6)) +
                        " MB of host memory wanted, " + std::to_string(std::llround(had / 1e6)) +
                        " MB available; choose a smaller graph, or use a machine with more memory");
  }
  Csr graph;
  const std::int64_t n = spec.num_vertices();
  if (spec.kind == GraphKind::community) {
    graph = csr_from_edges(n, n * spec.degree, !spec.directed, CommunityRule(spec));
  } else if (spec.draws_edges()) {
    graph = csr_from_edges(n, n * spec.degree, !spec.directed, EdgeRule(spec));
  } else {
    graph = csr_from_rows(n, RowRule(spec));
  }
  graph.symmetric = !spec.directed;
  graph.name = spec.text();
  return graph;
}

}  // namespace shoal
