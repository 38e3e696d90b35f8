// The door to PageRank for programs that do not write tasks: place a graph once, rank its vertices, also for several
// personalisations. What the ranks are, and how their error is bounded, stands in pagerank_reference.hpp.
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
  pull,   ///< every vertex sums what its in-neighbours give, in accelerated sweeps over all of them
};
const char* name(PageRankStrategy);
/// The inverse of name(); `auto` is legal too. @throws UsageError naming the text and the legal values
PageRankStrategy parse_pagerank_strategy(const std::string& text);

/// In what contributions (rank over out-degree) are kept, which is what the arcs read. Ranks are float64 always.
enum class PageRankPrecision { automatic, float32, float64 };
const char* name(PageRankPrecision);
PageRankPrecision parse_pagerank_precision(const std::string& text);

/// How likely a jump lands on a vertex, before all of them are divided by their sum.
struct PersonalWeight {
  vertex_t vertex = 0;    ///< an input number
  double weight = 1;      ///< at least 0, finite
  std::int64_t line = 0;  ///< of options.personalization_file, for messages; 0: not from a file
};

/// Reads `vertex weight` lines, zero-based; a missing weight is 1, weights of one vertex add up; '#' and '%' begin
/// comments. @param num_vertices  of the graph: so many weights at most
/// @throws UsageError naming file, line and cure
std::vector<PersonalWeight> read_personalization(const std::string& file, std::int64_t num_vertices = kMaxVertices);

struct PageRankOptions : Options {
  PageRankStrategy strategy = PageRankStrategy::automatic;
  double alpha = 0.85;      ///< [0, 0.9999]: a walk follows an arc with this probability, and jumps otherwise
  double tolerance = 1e-6;  ///< [1e-11, 1]: largest sum over vertices of |rank - exact rank|, guaranteed
  PageRankPrecision precision = PageRankPrecision::automatic;
  std::vector<PersonalWeight> personalization;  ///< empty: as the file says
  std::string personalization_file;  ///< read when the graph is placed; empty: jumps land anywhere, uniformly
};

struct PageRankResult {
  HostArray<double> ranks;  ///< [n] in the input's numbers; they sum to 1
  double error_bound = 0;   ///< the sum of |rank - exact rank| is at most this
  std::int64_t sweeps = 0;  ///< over all vertices; 0 for async, which has none
  Report report;
};

/// A graph placed on PEs, ready to be ranked. Arc weights are not looked at; parallel arcs count as often as they occur. An answer
/// is right when its error is within the tolerance.
class PageRankRunner : public Runner<PageRankOptions, PageRankResult> {
 public:
  using Runner::Runner;
  /// Ranks all vertices, from scratch.
  Report rank();
  /// The same with another personalisation than the options'. @throws UsageError: a vertex that is not in the graph (names
  /// it), a weight below 0 or not finite, or weights that sum to 0
  Report rank(const std::vector<PersonalWeight>& personalization);

  /// The options', or what their file says. Empty: uniform.
  const std::vector<PersonalWeight>& personalization() const;
};

}  // namespace shoal
