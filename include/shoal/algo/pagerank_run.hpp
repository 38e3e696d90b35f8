// PageRank for programs that do not write tasks: place a graph once, and rank its vertices, for one or several
// personalisations. src/algo/pagerank/reference.hpp defines the ranks and the bound on their error.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "shoal/algo/graph_runner.hpp"
#include "shoal/core/array.hpp"
#include "shoal/core/error.hpp"
#include "shoal/world/options.hpp"
#include "shoal/world/report.hpp"

namespace shoal {

enum class PageRankStrategy {
  automatic,
  async,  ///< the task of algo/pagerank.hpp, driven by the worklist: residuals are pushed along arcs
  pull,   ///< every vertex sums what its in-neighbours give, in accelerated sweeps over all vertices
};
const char* name(PageRankStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
PageRankStrategy parse_pagerank_strategy(const std::string& text);

/// The type in which contributions (rank over out-degree) are stored; these are the values that are read along arcs. Ranks are
/// always float64.
enum class PageRankPrecision { automatic, float32, float64 };
const char* name(PageRankPrecision);
PageRankPrecision parse_pagerank_precision(const std::string& text);

/// The weight of a vertex in the personalisation. The probability that a jump lands on it is this weight over the sum of all.
struct PersonalWeight {
  vertex_t vertex = 0;    ///< an input number
  double weight = 1;      ///< at least 0, finite
  std::int64_t line = 0;  ///< its line in options.personalization_file, for messages; 0: not from a file
};

/// Reads lines of the form `vertex weight`, with zero-based vertex numbers. A missing weight is 1; the weights of one vertex
/// add up; '#' and '%' begin comments.
/// @param num_vertices  of the graph; a file may not have more weights than this
/// @throws UsageError naming file, line and cure
std::vector<PersonalWeight> read_personalization(const std::string& file, std::int64_t num_vertices = kMaxVertices);

struct PageRankOptions : Options {
  PageRankStrategy strategy = PageRankStrategy::automatic;
  double alpha = 0.85;      ///< [0, 0.9999]: a walk follows an arc with this probability, and jumps otherwise
  double tolerance = 1e-6;  ///< [1e-11, 1]: largest sum over vertices of |rank - exact rank|, guaranteed
  PageRankPrecision precision = PageRankPrecision::automatic;
  std::vector<PersonalWeight> personalization;  ///< empty: personalization_file is used
  std::string personalization_file;  ///< read when the graph is placed; empty: jumps land on all vertices uniformly
};

struct PageRankResult {
  HostArray<double> ranks;  ///< [n] in the input's numbers; they sum to 1
  double error_bound = 0;   ///< the sum of |rank - exact rank| is at most this
  std::int64_t sweeps = 0;  ///< sweeps over all vertices; 0 for async, which has none
  Report report;
};

/// A graph that has been placed on PEs, ready to be ranked. Arc weights are ignored; parallel arcs count as often as they occur.
/// An answer is right if its error is within the tolerance.
class PageRankRunner : public Runner<PageRankOptions, PageRankResult> {
 public:
  using Runner::Runner;
  /// Ranks all vertices, from scratch.
  Report rank();
  /// The same with this personalisation in place of the options'. @throws UsageError: a vertex that is not in the graph (names
  /// it), a weight below 0 or not finite, or weights that sum to 0
  Report rank(const std::vector<PersonalWeight>& personalization);

  /// The personalisation of the options, or of their file. Empty: uniform.
  const std::vector<PersonalWeight>& personalization() const;
};

}  // namespace shoal
