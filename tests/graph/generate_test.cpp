#include "shoal/graph/generate.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graph/make.hpp"
#include "shoal/core/error.hpp"
#include "shoal/graph/csr_build.hpp"
#include "shoal/graph/edge_functions.hpp"

namespace shoal {
namespace {

using Arcs = std::set<std::pair<vertex_t, vertex_t>>;

using test::make;

/// The arcs of a graph. Also checks its form: offsets, targets in range, rows ascending without duplicates or loops.
Arcs arcs_of(const Csr& graph) {
  Arcs arcs;
  const std::int64_t n = graph.num_vertices();
  EXPECT_EQ(graph.offsets[0], 0);
  EXPECT_EQ(graph.offsets[n], graph.targets.size());
  for (std::int64_t v = 0; v < n; ++v) {
    EXPECT_LE(graph.offsets[v], graph.offsets[v + 1]);
    std::int64_t before = -1;
    for (const vertex_t w : graph.neighbors(static_cast<vertex_t>(v))) {
      EXPECT_LT(w, n);
      EXPECT_GT(std::int64_t{w}, before) << "row " << v;
      EXPECT_NE(w, v);
      before = w;
      arcs.emplace(static_cast<vertex_t>(v), w);
    }
  }
  return arcs;
}

/// FNV-1a over offsets and targets.
std::uint64_t fingerprint(const Csr& graph) {
  std::uint64_t hash = 0xCBF29CE484222325ull;
  const auto add = [&](std::uint64_t x) { hash = (hash ^ x) * 0x100000001B3ull; };
  for (const arc_t offset : graph.offsets) add(static_cast<std::uint64_t>(offset));
  for (const vertex_t target : graph.targets) add(target);
  return hash;
}

template <class Rule>
void check_rows_of_edges(const std::string& argument) {
  const GeneratorSpec spec = parse_generator(argument);
  const Rule edge_of(spec);
  Arcs wanted;
  for (std::int64_t i = 0; i < spec.num_vertices() * spec.degree; ++i) {
    const Edge edge = edge_of(i);
    ASSERT_LT(edge.u, spec.num_vertices());
    ASSERT_LT(edge.v, spec.num_vertices());
    if (edge.u == edge.v) continue;
    wanted.emplace(edge.u, edge.v);
    if (!spec.directed) wanted.emplace(edge.v, edge.u);
  }
  const Csr graph = generate(spec);
  EXPECT_EQ(arcs_of(graph), wanted) << argument;
  EXPECT_EQ(graph.symmetric, !spec.directed);
  EXPECT_EQ(graph.name, spec.text());
}

TEST(Generate, EdgesBecomeRowsAsASetDoes) {
  for (const char* options : {"", ",directed", ",seed=5,degree=3", ",seed=18446744073709551615,degree=40"}) {
    for (int scale = 0; scale <= 9; ++scale) {
      const std::string rest = ":" + std::to_string(scale) + options;
      check_rows_of_edges<EdgeRule>("kron" + rest);
      check_rows_of_edges<EdgeRule>("uniform" + rest);
      check_rows_of_edges<CommunityRule>("community" + rest);
      check_rows_of_edges<CommunityRule>("community" + rest + ",skew=1,mixing=1,shuffled");
    }
  }
}

// Uses many buckets and chunks, unlike the small graphs above.
TEST(Generate, LargeGraphHasTheArcsOfItsEdges) {
  const GeneratorSpec spec = parse_generator("kron:15");
  const EdgeRule edge_of(spec);
  const Csr graph = generate(spec);
  const auto has = [&](vertex_t u, vertex_t v) {
    const auto row = graph.neighbors(u);
    return std::binary_search(row.begin(), row.end(), v);
  };
  std::vector<std::uint64_t> wanted;
  for (std::int64_t i = 0; i < spec.num_vertices() * spec.degree; ++i) {
    const Edge edge = edge_of(i);
    if (edge.u == edge.v) continue;
    ASSERT_TRUE(has(edge.u, edge.v) && has(edge.v, edge.u)) << "edge " << i;
    wanted.push_back(std::uint64_t{edge.u} << 32 | edge.v);
    wanted.push_back(std::uint64_t{edge.v} << 32 | edge.u);
  }
  std::sort(wanted.begin(), wanted.end());
  EXPECT_EQ(std::unique(wanted.begin(), wanted.end()) - wanted.begin(), graph.num_arcs());
}

TEST(Generate, RowKinds) {
  EXPECT_EQ(arcs_of(make("chain:1")), Arcs{});
  EXPECT_EQ(arcs_of(make("chain:4")), (Arcs{{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 3}, {3, 2}}));
  EXPECT_EQ(arcs_of(make("star:1")), Arcs{});
  EXPECT_EQ(arcs_of(make("star:4")), (Arcs{{0, 1}, {0, 2}, {0, 3}, {1, 0}, {2, 0}, {3, 0}}));
  EXPECT_EQ(arcs_of(make("complete:1")), Arcs{});
  EXPECT_EQ(arcs_of(make("complete:3")), (Arcs{{0, 1}, {0, 2}, {1, 0}, {1, 2}, {2, 0}, {2, 1}}));
  EXPECT_EQ(make("complete:50").num_arcs(), 50 * 49);
  EXPECT_EQ(make("road:1").num_arcs(), 0);
}

TEST(Generate, RoadIsAGridWithAShareOfItsEdgesDeleted) {
  constexpr std::int64_t kSide = 200, kEdges = 2 * kSide * (kSide - 1);
  for (const double deleted : {0.0, 0.1, 0.5, 0.999}) {
    const Csr road = make("road:200,deleted=" + std::to_string(deleted));
    const Arcs arcs = arcs_of(road);
    for (const auto& [u, v] : arcs) {
      EXPECT_TRUE(arcs.count({v, u}));
      const vertex_t low = std::min(u, v), high = std::max(u, v);
      EXPECT_TRUE(high - low == kSide || (high - low == 1 && high % kSide != 0)) << u << " " << v;
    }
    // Five standard deviations of a binomial distribution: a right generator fails for one in a million seeds, and the seed is
    // fixed.
    const double wanted = kEdges * (1 - deleted), deviation = std::sqrt(kEdges * deleted * (1 - deleted));
    EXPECT_NEAR(static_cast<double>(road.num_arcs()) / 2, wanted, 5 * deviation + 1e-9) << deleted;
  }
}

TEST(Generate, KroneckerSharesArePowersOfItsFour) {
  // With two levels, the shares of the 16 cells of the matrix are products of A, B, C, D; the permutation only moves cells.
  constexpr std::int64_t kDraws = 400000;
  const double share[4] = {.57, .19, .19, .05};
  std::vector<double> wanted, counted(16, 0);
  for (const double a : share) {
    for (const double b : share) wanted.push_back(a * b);
  }
  const EdgeRule edge_of(parse_generator("kron:2,seed=3"));
  for (std::int64_t i = 0; i < kDraws; ++i) {
    const Edge edge = edge_of(i);
    counted[4 * edge.u + edge.v] += 1.0 / kDraws;
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(counted.begin(), counted.end());
  for (int cell = 0; cell < 16; ++cell) EXPECT_NEAR(counted[cell], wanted[cell], .003) << cell;
}

using Community = CommunityRule::Community;

/// The communities in order. Also checks that they are consecutive ranges, and that all members agree.
std::vector<Community> communities_of(const GeneratorSpec& spec) {
  const CommunityRule rule(spec);
  std::vector<Community> all;
  for (std::int64_t v = 0; v < spec.num_vertices();) {
    const Community community = rule.community_of(static_cast<vertex_t>(v));
    EXPECT_EQ(community.first, v);
    EXPECT_GT(community.count, 0u);
    if (community.first != v || community.count == 0) return all;
    for (vertex_t k = 0; k < community.count; ++k) {
      const Community same = rule.community_of(community.first + k);
      EXPECT_TRUE(same.first == community.first && same.count == community.count) << community.first + k;
    }
    v += community.count;
    EXPECT_LE(v, spec.num_vertices());
    all.push_back(community);
  }
  return all;
}

TEST(Generate, CommunitiesAreRangesOfManySizes) {
  // Communities have at least 16 vertices per edge of a vertex, and at most a 32nd of all vertices or, if that is more, less
  // than 64 per edge of a vertex.
  for (const char* text : {"community:0", "community:5,degree=1", "community:9,degree=3", "community:12,degree=300"}) {
    const GeneratorSpec spec = parse_generator(text);
    for (const Community& community : communities_of(spec)) {
      EXPECT_GE(community.count, std::min(spec.num_vertices(), 16 * spec.degree)) << text;
      EXPECT_LT(community.count, std::max(spec.num_vertices() / 32 + 1, 64 * spec.degree)) << text;
    }
  }
  // Sizes s from 16 to 4096 have a density of s^-1.5, and vertices a density of s^-.5. So a quarter of the vertices are in
  // communities of up to a 16th of the largest size.
  double vertices = 0, in_small = 0, communities = 0;
  for (int seed = 1; seed <= 30; ++seed) {
    for (const Community& community :
         communities_of(parse_generator("community:17,degree=1,seed=" + std::to_string(seed)))) {
      EXPECT_GE(community.count, 16u);
      EXPECT_LE(community.count, 4096u);
      vertices += community.count;
      if (community.count <= 256) in_small += community.count;
      ++communities;
    }
  }
  EXPECT_NEAR(in_small / vertices, .25, .05);
  EXPECT_GT(communities / 30, 200);
}

TEST(Generate, DegreesInACommunityFollowThePowerLaw) {
  constexpr int kDraws = 400000, kSize = 512;
  for (const int skew : {1, 2, 3, 8}) {
    const CommunityRule rule(parse_generator("community:9,mixing=0,skew=" + std::to_string(skew)));
    ASSERT_EQ(rule.community_of(0).count, vertex_t{kSize});
    for (const bool target : {false, true}) {
      std::vector<double> share(kSize, 0);
      for (int i = 0; i < kDraws; ++i) share[target ? rule(i).v : rule(i).u] += 1.0 / kDraws;
      std::sort(share.rbegin(), share.rend());
      double sum = 0;
      for (int rank = 0; rank < kSize; ++rank) {
        sum += share[rank];
        // If all shares are equal (skew 1), sorting the drawn shares, each of which is known to 4 %, shifts the sums.
        const double wanted = std::pow((rank + 1.0) / kSize, 1.0 / skew);
        EXPECT_NEAR(sum, wanted, skew == 1 ? .02 : .006) << "skew " << skew << ", rank " << rank;
      }
    }
  }
}

TEST(Generate, MixingEdgesLeaveTheirCommunity) {
  constexpr int kDraws = 200000;
  for (const double mixing : {0.0, .05, .5, 1.0}) {
    const GeneratorSpec spec = parse_generator("community:14,degree=2,mixing=" + std::to_string(mixing));
    const CommunityRule rule(spec);
    double again = 0;  // the probability that a community drawn again is the same
    for (const Community& community : communities_of(spec)) {
      again += std::pow(community.count / static_cast<double>(spec.num_vertices()), 2);
    }
    EXPECT_LT(again, .1);
    const double wanted = mixing * (1 - again);
    double leave = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Edge edge = rule(i);
      leave += rule.community_of(edge.u).first != rule.community_of(edge.v).first;
    }
    const double deviation = std::sqrt(wanted * (1 - wanted) / kDraws);
    EXPECT_NEAR(leave / kDraws, wanted, 5 * deviation + 1e-9) << mixing;
  }
}

TEST(Generate, ShufflingNumbersTheSameGraphAnew) {
  const CommunityRule plain(parse_generator("community:10,degree=3,seed=4"));
  const CommunityRule shuffled(parse_generator("community:10,degree=3,seed=4,shuffled"));
  const Permutation permute(mix64(8), 10);
  int moved = 0;
  for (std::int64_t i = 0; i < 3072; ++i) {
    EXPECT_EQ(shuffled(i).u, permute(plain(i).u));
    EXPECT_EQ(shuffled(i).v, permute(plain(i).v));
    moved += shuffled(i).u != plain(i).u;
  }
  EXPECT_GT(moved, 3000);
}

TEST(Generate, PermutationIsABijectionOfEverySize) {
  for (int bits = 0; bits <= 16; ++bits) {
    for (std::uint64_t key = 0; key < 4; ++key) {
      const Permutation permute(key, bits);
      std::vector<bool> hit(std::size_t{1} << bits, false);
      for (vertex_t v = 0; v < hit.size(); ++v) {
        const vertex_t to = permute(v);
        ASSERT_LT(to, hit.size());
        ASSERT_FALSE(hit[to]) << bits << " bits, " << v;
        hit[to] = true;
      }
    }
  }
}

TEST(Generate, SeedsDiffer) {
  for (const char* kind : {"kron:8", "uniform:8", "community:8", "road:20"}) {
    EXPECT_NE(fingerprint(make(kind)), fingerprint(make(std::string(kind) + ",seed=2"))) << kind;
    EXPECT_EQ(fingerprint(make(kind)), fingerprint(make(std::string(kind) + ",seed=1"))) << kind;
  }
}

// Computed by tests/graph/generate_oracle.py, which implements the comments of edge_functions.hpp with unbounded integers.
TEST(Generate, SameBitsAsTheOracle) {
  EXPECT_EQ(fingerprint(make("kron:7")), 0x5CBCCBBAB62919CDull);
  EXPECT_EQ(fingerprint(make("kron:8,seed=99,degree=5,directed")), 0x3319472E67F73D4ull);
  EXPECT_EQ(fingerprint(make("uniform:7,seed=12345678901234567890")), 0x7B7D224D278948B1ull);
  EXPECT_EQ(fingerprint(make("community:14,degree=1")), 0x64D8E525F9573A9Full);
  EXPECT_EQ(fingerprint(make("community:11,seed=77,degree=2,directed,mixing=.75,skew=5,shuffled")),
            0x9A4B482E4BCC7381ull);
  EXPECT_EQ(fingerprint(make("road:30,deleted=0.25")), 0x9C9E00B58EAEB76Dull);
}

TEST(Generate, RowsFromEdgesOfAnySize) {
  struct Arc {
    vertex_t u, v;
  };
  for (const std::int64_t n : {1, 2, 3, 127, 128, 129, 5000}) {
    const auto edge_of = [n](std::int64_t i) {
      return Arc{static_cast<vertex_t>(mix64(i) % n), static_cast<vertex_t>(mix64(i) / 1024 % n)};
    };
    for (const std::int64_t edges : {0, 1, 2, 1000, 40000}) {
      Arcs wanted;
      for (std::int64_t i = 0; i < edges; ++i) {
        const Arc arc = edge_of(i);
        if (arc.u != arc.v) wanted.emplace(arc.u, arc.v);
      }
      EXPECT_EQ(arcs_of(csr_from_edges(n, edges, false, edge_of)), wanted) << n << " " << edges;
    }
  }
}

TEST(ParseGenerator, CanonicalText) {
  const std::pair<const char*, const char*> cases[] = {
      {"kron:20", "kron:20"},
      {"kron:20,seed=1,degree=16,directed=0", "kron:20"},
      {"kron:3,directed,seed=7", "kron:3,seed=7,directed=1"},
      {"uniform:0,degree=65536", "uniform:0,degree=65536"},
      {"community:20,mixing=.2,skew=3,shuffled=0", "community:20"},
      {"community:9,shuffled,skew=1,mixing=-0,directed,degree=2,seed=3",
       "community:9,seed=3,degree=2,directed=1,mixing=0,skew=1,shuffled=1"},
      {"road:4096,deleted=.1", "road:4096"},
      {"road:46340,deleted=2.5e-1,seed=0", "road:46340,seed=0,deleted=0.25"},
      {"road:5,deleted=-0", "road:5,deleted=0"},
      {"chain:2147483647", "chain:2147483647"},
      {"star:9,seed=2", "star:9,seed=2"},
  };
  for (const auto& [argument, text] : cases) {
    EXPECT_EQ(parse_generator(argument).text(), text) << argument;
    EXPECT_EQ(parse_generator(text).text(), text) << argument;
  }
  EXPECT_EQ(parse_generator("kron:30").num_vertices(), std::int64_t{1} << 30);
  EXPECT_EQ(parse_generator("road:46340").num_vertices(), 46340ll * 46340);
  EXPECT_EQ(parse_generator("uniform:5,degree=3,directed=1").max_arcs(), 96);
  EXPECT_EQ(parse_generator("community:5,degree=3").max_arcs(), 192);
  EXPECT_EQ(parse_generator("community:30").num_vertices(), std::int64_t{1} << 30);
}

TEST(ParseGenerator, WhatIsAGenerator) {
  for (const char* yes : {"kron:20", "road:", "complete:x,y"}) EXPECT_TRUE(is_generator(yes)) << yes;
  for (const char* no : {"kron", "./kron:20", "krons:20", "graph.mtx", "C:\\graph.mtx", "", ":", ":5"}) {
    EXPECT_FALSE(is_generator(no)) << no;
  }
}

TEST(ParseGenerator, EveryMistakeIsNamed) {
  const std::string scale = "the scale S of 2^S vertices, a whole number in [0, 30]; write for instance 'kron:20'";
  const std::pair<std::string, std::string> cases[] = {
      {"krn:3", "unknown generator 'krn'; known are kron, road, uniform, community, chain, star, complete"},
      {"", "unknown generator ''; known are kron, road, uniform, community, chain, star, complete"},
      {"kron", "the number after the colon is missing; it is " + scale},
      {"kron:", "the number after the colon is missing; it is " + scale},
      {"kron:,seed=1", "the number after the colon is missing; it is " + scale},
      {"kron:x", "'x' is not " + scale},
      {"kron:31", "'31' is not " + scale},
      {"kron:-1", "'-1' is not " + scale},
      {"kron:2.5", "'2.5' is not " + scale},
      {"kron: 2", "' 2' is not " + scale},
      {"kron:99999999999999999999", "'99999999999999999999' is not " + scale},
      {"road:46341",
       "'46341' is not the side N of an N x N grid, a whole number in [1, 46340]; write for instance 'road:20'"},
      {"chain:0",
       "'0' is not the number of vertices, a whole number in [1, 2147483647]; write for instance 'chain:20'"},
      {"kron:5,", "an option is empty; write NAME:NUMBER,key=value with keys seed, degree, directed"},
      {"kron:5,,seed=1", "an option is empty; write NAME:NUMBER,key=value with keys seed, degree, directed"},
      {"kron:5,sed=3", "unknown key 'sed'; kron knows seed, degree, directed"},
      {"kron:5,=3", "unknown key ''; kron knows seed, degree, directed"},
      {"kron:5,deleted=.1", "unknown key 'deleted'; kron knows seed, degree, directed"},
      {"road:5,degree=3", "unknown key 'degree'; road knows seed, deleted"},
      {"road:5,directed", "unknown key 'directed'; road knows seed, deleted"},
      {"kron:5,mixing=.1", "unknown key 'mixing'; kron knows seed, degree, directed"},
      {"uniform:5,shuffled", "unknown key 'shuffled'; uniform knows seed, degree, directed"},
      {"community:5,deleted=0",
       "unknown key 'deleted'; community knows seed, degree, directed, mixing, skew, shuffled"},
      {"community:5,mixing",
       "'mixing' is not key=value; community knows the keys seed, degree, directed, mixing, skew, shuffled"},
      {"community:5,mixing=1.01", "mixing is '1.01'; it must be a share in [0, 1], such as 0.2"},
      {"community:5,mixing=-.1", "mixing is '-.1'; it must be a share in [0, 1], such as 0.2"},
      {"community:5,mixing=nan", "mixing is 'nan'; it must be a share in [0, 1], such as 0.2"},
      {"community:5,skew=0", "skew is '0'; it must be a whole number in [1, 8]"},
      {"community:5,skew=9", "skew is '9'; it must be a whole number in [1, 8]"},
      {"community:5,skew=2.5", "skew is '2.5'; it must be a whole number in [1, 8]"},
      {"community:5,shuffled=2", "shuffled is '2'; it must be 0 or 1"},
      {"star:5,deleted=0", "unknown key 'deleted'; star knows seed"},
      {"kron:5,seed", "'seed' is not key=value; kron knows the keys seed, degree, directed"},
      {"kron:5,seed=1,seed=1", "key 'seed' is given twice"},
      {"kron:5,directed,directed=0", "key 'directed' is given twice"},
      {"kron:5,seed=", "seed is ''; it must be a whole number in [0, 2^64)"},
      {"kron:5,seed=-1", "seed is '-1'; it must be a whole number in [0, 2^64)"},
      {"kron:5,seed=18446744073709551616", "seed is '18446744073709551616'; it must be a whole number in [0, 2^64)"},
      {"kron:5,seed=1x", "seed is '1x'; it must be a whole number in [0, 2^64)"},
      {"kron:5,degree=0", "degree is '0'; it must be a whole number in [1, 65536]"},
      {"kron:5,degree=65537", "degree is '65537'; it must be a whole number in [1, 65536]"},
      {"kron:5,directed=yes", "directed is 'yes'; it must be 0 or 1"},
      {"road:5,deleted=1", "deleted is '1'; it must be a share in [0, 1), such as 0.1"},
      {"road:5,deleted=-.1", "deleted is '-.1'; it must be a share in [0, 1), such as 0.1"},
      {"road:5,deleted=nan", "deleted is 'nan'; it must be a share in [0, 1), such as 0.1"},
      {"road:5,deleted=10%", "deleted is '10%'; it must be a share in [0, 1), such as 0.1"},
  };
  for (const auto& [argument, message] : cases) {
    try {
      parse_generator(argument);
      ADD_FAILURE() << argument << " was taken";
    } catch (const UsageError& error) {
      EXPECT_EQ(error.what(), "generator '" + argument + "': " + message);
    }
  }
}

TEST(Generate, RefusesWhatDoesNotFitBeforeAllocating) {
  for (const char* argument : {"complete:2147483647", "kron:30,degree=65536", "community:30,degree=65536"}) {
    try {
      make(argument);
      ADD_FAILURE() << argument << " was generated";
    } catch (const CapacityError& error) {
      const std::string line = error.what();
      EXPECT_NE(line.find(argument), std::string::npos) << line;
      EXPECT_NE(line.find("MB of host memory wanted"), std::string::npos) << line;
    }
  }
  GeneratorSpec by_hand;
  by_hand.size = 40;
  EXPECT_THROW(generate(by_hand), UsageError);
  for (const auto& [mixing, skew] : {std::pair{1.5, 3}, std::pair{.2, 0}, std::pair{.2, 9}}) {
    by_hand = parse_generator("community:5");
    by_hand.mixing = mixing;
    by_hand.skew = skew;
    EXPECT_THROW(generate(by_hand), UsageError);
  }
}

}  // namespace
}  // namespace shoal
