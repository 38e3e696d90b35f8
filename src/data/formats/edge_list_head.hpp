// What stands before the arcs of an edge list: comments that say something, names of columns; and how its lines are built.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "arc_lines.hpp"

namespace shoal::io {

/// What begins the line that files of ours have where their last vertices have no arcs.
inline constexpr std::string_view kOwnMark = "# shoal vertices=";

/// A number of vertices that a comment says.
struct StatedVertices {
  std::int64_t count;
  const char* at;  ///< the comment
  bool exact;      ///< a larger number in an arc is an error; otherwise it decides
};

struct EdgeListHead {
  ArcRules rules;
  const char* body = nullptr;  ///< the arcs begin here
  bool arcs = false;           ///< there is at least one line of them
  bool undirected = false;     ///< the file says that each line stands for both directions
  std::optional<StatedVertices> vertices;
};

/// @throws ParseError
EdgeListHead read_edge_list_head(const Text& text, Format flavour);

/// The same, with what was asked for. @throws UsageError  also where nothing says how many vertices there are
EdgeListHead begin_edge_list(const Text& text, const ReadOptions& options, Format flavour);

/// What the number of vertices follows from.
struct ArcFacts {
  std::int64_t count = 0;
  std::int64_t first_source = -1, first_target = -1;  ///< of the first arc
  std::int64_t largest_behind = -1;                   ///< the largest vertex of the others
  std::int64_t largest() const { return std::max({first_source, first_target, largest_behind}); }
};
ArcFacts facts_of(const ArcList& arcs);

/// How many vertices there are, and what is to be said of it.
struct VertexCount {
  std::int64_t count;
  std::string remark;
};
/// @throws UsageError  the head says that there are fewer than occur
VertexCount count_vertices(const Text& text, const EdgeListHead& head, const ArcFacts& arcs);

}  // namespace shoal::io
