// The head of an edge list: comments that give information, and the names of columns. Also how the lines of arcs are built.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "arc_lines.hpp"

namespace shoal::io {

/// The start of the line that write_graph() puts first if the last vertices have no arcs.
inline constexpr std::string_view kOwnMark = "# shoal vertices=";

/// A number of vertices that a comment states.
struct StatedVertices {
  std::int64_t count;
  const char* at;  ///< the place of the comment
  bool exact;      ///< true: a vertex number in an arc that needs more is an error; false: that vertex number decides
};

struct EdgeListHead {
  ArcRules rules;
  const char* body = nullptr;  ///< the arcs begin here
  bool arcs = false;           ///< there is at least one line with an arc
  bool undirected = false;     ///< the file states that each line stands for both directions
  std::optional<StatedVertices> vertices;
  /// For WeightRemarks::missing.
  const char* missing() const { return arcs && rules.columns == 2 ? kNoColumn : ""; }
};

/// @throws ParseError
EdgeListHead read_edge_list_head(const Text& text, Format flavour);

/// The same, but also applies the options. @throws UsageError  also if there are no arcs and nothing gives the number of vertices
EdgeListHead begin_edge_list(const Text& text, const ReadOptions& options, Format flavour);

/// What count_vertices() needs to know of the arcs.
struct ArcFacts {
  std::int64_t count = 0;
  std::int64_t first_source = -1, first_target = -1;  ///< of the first arc
  std::int64_t largest_behind = -1;                   ///< the largest vertex number in the other arcs
  std::int64_t largest() const { return std::max({first_source, first_target, largest_behind}); }
};
ArcFacts facts_of(const ArcList& arcs);

/// The number of vertices, and a remark on it, or none.
struct VertexCount {
  std::int64_t count;
  std::string remark;
};
/// @throws UsageError  the head declares fewer vertices than occur
VertexCount count_vertices(const Text& text, const EdgeListHead& head, const ArcFacts& arcs);

}  // namespace shoal::io
