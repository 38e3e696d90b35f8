// What stands before the arcs of an edge list: comments that say something, names of columns; and how its lines are built.
#pragma once
#include <cstdint>
#include <optional>

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

}  // namespace shoal::io
