// The edges of generated graphs. Each edge, or each row, is a pure function of the seed and its number. The functions use
// integer arithmetic only, so CPU threads and GPU threads of any machine compute the same bits.
#pragma once
#include <cstdint>

#include "shoal/core/fn.hpp"
#include "shoal/core/types.hpp"
#include "shoal/graph/generate.hpp"

namespace shoal {

/// A bijection of 64-bit words in which a change of any input bit changes about half of the output bits (the finaliser of
/// splitmix64; Steele, Lea, Flood 2014, constants of Stafford's variant 13).
SHOAL_FN constexpr std::uint64_t mix64(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

/// A stateless, counter-based generator: draw(number) is random number `number` of item `i` under `key`.
struct Draws {
  std::uint64_t base;

  SHOAL_FN constexpr Draws(std::uint64_t key, std::uint64_t i) : base(mix64(key ^ mix64(i + kGolden))) {}
  SHOAL_FN constexpr std::uint64_t operator()(std::uint64_t number) const {
    return mix64(base + (number + 1) * kGolden);
  }

  static constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ull;
};

/// A seeded bijection of [0, 2^bits). Each round adds, multiplies by an odd number, and does a xor-shift; each of these steps
/// is a bijection.
class Permutation {
 public:
  /// @param bits in [0, 31]
  Permutation(std::uint64_t key, int bits) : mask_((1u << bits) - 1), shift_(bits > 2 ? (bits + 1) / 2 : 1) {
    for (int r = 0; r < kRounds; ++r) {
      const std::uint64_t x = Draws(key, static_cast<std::uint64_t>(bits))(static_cast<std::uint64_t>(r));
      add_[r] = static_cast<vertex_t>(x);
      multiply_[r] = static_cast<vertex_t>(x >> 32) | 1;
    }
  }
  SHOAL_FN vertex_t operator()(vertex_t x) const {
    for (int r = 0; r < kRounds; ++r) {
      x = ((x + add_[r]) * multiply_[r]) & mask_;
      x ^= x >> shift_;
    }
    return x;
  }

 private:
  static constexpr int kRounds = 4;
  vertex_t mask_;
  int shift_;
  vertex_t add_[kRounds], multiply_[kRounds];
};

struct Edge {
  vertex_t u, v;
};

/// Computes edge number i of a kron or uniform graph, before loops and duplicates are removed. Trivially copyable, for
/// kernels.
class EdgeRule {
 public:
  /// @param spec  of kind kron or uniform, as parse_generator made it
  explicit EdgeRule(const GeneratorSpec& spec)
      : kronecker_(spec.kind == GraphKind::kron),
        scale_(static_cast<int>(spec.size)),
        key_(mix64(spec.seed * 2 + 1)),
        permute_(mix64(spec.seed * 2), scale_) {}

  SHOAL_FN Edge operator()(std::int64_t i) const {
    const Draws draw(key_, static_cast<std::uint64_t>(i));
    const vertex_t mask = (1u << scale_) - 1;
    if (!kronecker_) {
      const std::uint64_t x = draw(0);
      return {static_cast<vertex_t>(x >> 32) & mask, static_cast<vertex_t>(x) & mask};
    }
    // As in Graph500, each level of the adjacency matrix picks one of four quadrants. One 64-bit draw serves two levels.
    vertex_t u = 0, v = 0;
    std::uint64_t x = 0;
    for (int level = 0; level < scale_; ++level) {
      x = level % 2 == 0 ? draw(static_cast<std::uint64_t>(level / 2)) : x >> 32;
      const vertex_t r = static_cast<vertex_t>(x);
      u = 2 * u + (r >= kAB);
      v = 2 * v + ((r >= kA && r < kAB) || r >= kABC);
    }
    return {permute_(u), permute_(v)};
  }

 private:
  // Probabilities in units of 2^-32, rounded: A = .57, A + B = .76, A + B + C = .95.
  static constexpr vertex_t kA = 2448131359u, kAB = 3264175145u, kABC = 4080218931u;
  bool kronecker_;
  int scale_;
  std::uint64_t key_;
  Permutation permute_;
};

/// Computes edge number i of a community graph, before loops and duplicates are removed. Trivially copyable, for kernels.
///
/// The model is that of the LFR benchmark (Lancichinetti, Fortunato, Radicchi: Benchmark graphs for testing community
/// detection algorithms, 2008): degrees and community sizes follow power laws, and every vertex has the same expected share,
/// `mixing`, of its edges outside its community. Three things differ. Edges are drawn one by one from expected degrees (Chung
/// and Lu 2002, within communities: Karrer and Newman 2011), whereas the benchmark wires a sequence of exact degrees. Mixing
/// edges may end in their own community. Community sizes result from cutting, so that the community of a vertex is found
/// without a table.
///
/// - Communities: the range of all vertices is cut in two, at a point drawn between a quarter and three quarters, and so are
///   its parts in turn. A part of more than a 32nd of all vertices is always cut. A part of fewer than 64 * degree vertices
///   never is, so a community has 16 * degree vertices or more. Any other part stays whole with probability 1 - 2^-1/2. The
///   density of sizes s is then about s^-1.5.
/// - An end of an edge: a community is drawn in proportion to its number of vertices, then the vertex of rank count * x^skew
///   in it, with x uniform in [0, 1). The expected degree of rank r falls as r^(1 / skew - 1). Consecutive ranks are scattered
///   over the community.
class CommunityRule {
 public:
  /// @param spec  of kind community, as parse_generator made it
  explicit CommunityRule(const GeneratorSpec& spec)
      : last_(static_cast<vertex_t>(spec.num_vertices() - 1)),
        uncut_(static_cast<vertex_t>(64 * spec.degree)),
        largest_(static_cast<vertex_t>(spec.num_vertices() / 32)),
        skew_(static_cast<int>(spec.skew)),
        shuffled_(spec.shuffled),
        key_(mix64(spec.seed * 2 + 1)),
        cuts_(mix64(key_ ^ kCuts)),
        // In units of 2^-53 the share is an exact double.
        mixing_(static_cast<std::uint64_t>(spec.mixing * 9007199254740992.0)),
        permute_(mix64(spec.seed * 2), static_cast<int>(spec.size)) {}

  /// A range of consecutive vertices, before vertices are shuffled.
  struct Community {
    vertex_t first, count;
  };

  /// The community of vertex v, before vertices are shuffled.
  SHOAL_FN Community community_of(vertex_t v) const {
    Community part = {0, last_ + 1};
    std::uint64_t x = cuts_;
    while (part.count >= uncut_ && (part.count > largest_ || static_cast<vertex_t>(x >> 32) >= kStays)) {
      const std::uint64_t share = (1u << 30) + (static_cast<vertex_t>(x) >> 1);  // of 2^32
      const vertex_t left = static_cast<vertex_t>(part.count * share >> 32);
      const bool right = v - part.first >= left;
      part = right ? Community{part.first + left, part.count - left} : Community{part.first, left};
      x = mix64(x + (right ? 2 : 1) * Draws::kGolden);
    }
    return part;
  }

  SHOAL_FN Edge operator()(std::int64_t i) const {
    const Draws draw(key_, static_cast<std::uint64_t>(i));
    const std::uint64_t where = draw(0), ranks = draw(1);
    const Community from = community_of(static_cast<vertex_t>(where >> 32) & last_);
    const Community to = draw(2) >> 11 < mixing_ ? community_of(static_cast<vertex_t>(where) & last_) : from;
    return {vertex(from, static_cast<vertex_t>(ranks >> 32)), vertex(to, static_cast<vertex_t>(ranks))};
  }

 private:
  SHOAL_FN vertex_t vertex(Community community, vertex_t x) const {
    std::uint64_t power = x;  // of 2^32
    for (int k = 1; k < skew_; ++k) power = power * x >> 32;
    const std::uint64_t rank = power * community.count >> 32;
    const vertex_t v = community.first + static_cast<vertex_t>(rank * kPrime % community.count);
    return shuffled_ ? permute_(v) : v;
  }

  static constexpr std::uint64_t kPrime = 2654435761;  // above every count: rank * kPrime mod count is a bijection
  static constexpr std::uint64_t kCuts = 0x63757473;   // "cuts"
  static constexpr vertex_t kStays = 1257966796;       // (1 - 2^-1/2) * 2^32, rounded
  vertex_t last_, uncut_, largest_;
  int skew_;
  bool shuffled_;
  std::uint64_t key_, cuts_, mixing_;
  Permutation permute_;
};

/// Computes row v of a road, chain, star or complete graph: its neighbours in ascending order. These graphs are symmetric.
/// Trivially copyable, for kernels.
class RowRule {
 public:
  /// @param spec  of kind road, chain, star or complete, as parse_generator made it
  explicit RowRule(const GeneratorSpec& spec)
      : kind_(spec.kind),
        n_(static_cast<vertex_t>(spec.num_vertices())),
        side_(spec.kind == GraphKind::road ? static_cast<vertex_t>(spec.size) : 1),
        key_(mix64(spec.seed * 2 + 1)),
        // In units of 2^-53 the share is an exact double.
        threshold_(static_cast<std::uint64_t>(spec.deleted * 9007199254740992.0) << 11) {}

  SHOAL_FN arc_t degree(vertex_t v) const {
    switch (kind_) {
      case GraphKind::road: {
        const unsigned sides = road_sides(v);
        return (sides & 1) + (sides >> 1 & 1) + (sides >> 2 & 1) + (sides >> 3 & 1);
      }
      case GraphKind::chain:
        return (v > 0) + (v + 1 < n_);
      case GraphKind::star:
        return v == 0 ? n_ - 1 : 1;
      default:
        return n_ - 1;
    }
  }
  /// @param k in [0, degree(v))
  SHOAL_FN vertex_t neighbor(vertex_t v, arc_t k) const {
    switch (kind_) {
      case GraphKind::road: {
        unsigned sides = road_sides(v);
        for (; k > 0; --k) sides &= sides - 1;
        return sides & 1 ? v - side_ : sides & 2 ? v - 1 : sides & 4 ? v + 1 : v + side_;
      }
      case GraphKind::chain:
        return v == 0 || k == 1 ? v + 1 : v - 1;
      case GraphKind::star:
        return v == 0 ? static_cast<vertex_t>(k + 1) : 0;
      default:
        return static_cast<vertex_t>(k + (k >= v));
    }
  }

 private:
  /// Which of the edges up (1), left (2), right (4) and down (8) vertex v has.
  SHOAL_FN unsigned road_sides(vertex_t v) const {
    const vertex_t row = v / side_, column = v % side_;
    unsigned sides = 0;
    if (row > 0 && kept(v - side_, 1)) sides |= 1;
    if (column > 0 && kept(v - 1, 0)) sides |= 2;
    if (column + 1 < side_ && kept(v, 0)) sides |= 4;
    if (row + 1 < side_ && kept(v, 1)) sides |= 8;
    return sides;
  }
  /// True if the edge from v to the right (0) or down (1) was not deleted.
  SHOAL_FN bool kept(vertex_t v, unsigned down) const {
    return Draws(key_, 2 * static_cast<std::uint64_t>(v) + down)(0) >= threshold_;
  }

  GraphKind kind_;
  vertex_t n_, side_;
  std::uint64_t key_, threshold_;
};

}  // namespace shoal
