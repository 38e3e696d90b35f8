#include "check.hpp"

#include <algorithm>

#include "reference.hpp"
#include "shoal/data/io.hpp"

namespace shoal {
namespace {

/// Checks the counts that are printed and written beside the levels.
std::string find_wrong_counts(const Csr& graph, const BfsResult& result) {
  std::int64_t reached = 0, reached_arcs = 0;
  std::int32_t depth = 0;
  for (std::int64_t v = 0; v < graph.num_vertices(); ++v) {
    if (result.levels[v] < 0) continue;
    ++reached;
    reached_arcs += graph.degree(static_cast<vertex_t>(v));
    depth = std::max(depth, result.levels[v]);
  }
  const auto differ = [](const char* what, std::int64_t said, std::int64_t counted) {
    return std::string(what) + " is given as " + std::to_string(said) + ", but the levels say " +
           std::to_string(counted);
  };
  if (reached != result.reached) return differ("the number of reached vertices", result.reached, reached);
  if (reached_arcs != result.reached_arcs) return differ("the number of their arcs", result.reached_arcs, reached_arcs);
  if (depth != result.depth) return differ("the depth", result.depth, depth);
  return "";
}

}  // namespace

std::string BfsCheck::find_wrong(vertex_t source, const BfsResult& result) {
  if (!graph_.symmetric && !reverse_) reverse_ = transpose(graph_);
  const Csr& in = graph_.symmetric ? graph_ : *reverse_;
  std::string wrong = verify_levels(in, result.levels.span(), source);
  if (wrong.empty()) wrong = find_wrong_counts(graph_, result);
  if (wrong.empty() && !result.parents.empty()) {
    wrong = verify_parents(in, result.levels.span(), result.parents.span(), source, /*smallest=*/true);
  }
  return wrong;
}

}  // namespace shoal
