// What three text formats have in common: one arc per line, parsed by all threads.
#pragma once
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "data/formats.hpp"
#include "data/text.hpp"

namespace shoal::io {

/// Which weights are allowed. Whole numbers beyond 32 bits are stored as float64, up to 2^53; larger ones are refused.
enum class WeightRule { none, integer, real, any };

/// Which vertex numbers are allowed.
struct VertexNumbers {
  vertex_t base = 0;                                     ///< number of the first vertex: 0 or 1
  std::int64_t count = -1;                               ///< declared number of vertices; -1: any number below 2^31 - 1
  const char* cure = "correct it or the declared size";  ///< for the error about a number beyond those declared
};

/// How an arc is written.
struct ArcRules {
  const char* comments = "";  ///< a line that begins with one of these characters is a comment
  char prefix = 0;            ///< every arc's line begins with this letter (DIMACS); 0: with a number
  bool commas = false;        ///< fields are separated by a comma as well as by blanks
  int columns = 2;            ///< fields on each line
  const char* columns_cure = "every line must have the same columns";
  int source_column = 0, target_column = 1, weight_column = 2;  ///< other columns are skipped
  bool attributes = false;  ///< the weight is written {'weight': 3}, or {} if there is none (NetworkX)
  WeightRule weight = WeightRule::none;
  bool reals_only = false;  ///< weights are float64 even if all of them are integers
  VertexNumbers vertices;
  bool lower_triangle = false;                                           ///< every arc must have source >= target
  std::int64_t arcs = -1;                                                ///< declared number of lines; -1: any number
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  ///< most bytes that arcs and graph may take
};

/// Places in the text of weights that deserve a remark.
struct WeightSpots {
  const char* wide = nullptr;      ///< the first whole weight that does not fit 32 bits
  const char* negative = nullptr;  ///< the first negative weight
  std::int64_t negative_arc = 0;   ///< the arc that has it
  bool fractions = false;          ///< some weight is not a whole number, or all weights are treated as real
};

/// Arcs in the order of the file.
struct ArcList {
  std::vector<vertex_t> sources, targets;
  WeightKind weight_kind = WeightKind::none;
  std::vector<std::int32_t> int_weights;
  std::vector<double> real_weights;
  WeightSpots spots;      ///< for a piece of a text
  WeightRemarks remarks;  ///< for a whole list
  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// Parses everything from `begin` to the end of the text.
/// @throws UsageError     for the first line that is wrong, or if the number of lines is not rules.arcs
/// @throws CapacityError  as soon as the arcs exceed rules.memory_bytes
ArcList read_arc_lines(const Text& text, const char* begin, const ArcRules& rules, const Progress& progress);

/// Parses part `part` of `parts` of what read_arc_lines() reads, and passes it to `take(arcs, piece)` piece by piece, on several
/// threads. The number `piece` grows with the place in the text. Checks neither rules.arcs nor rules.memory_bytes.
/// @param done  called with the place of a piece in the text when the piece will not be read any more
/// @throws UsageError  for the first line that is wrong
void for_arc_pieces(const Text& text, const char* begin, const ArcRules& rules, int part, int parts,
                    const std::function<void(ArcList&& arcs, std::int64_t piece)>& take,
                    const std::function<void(const char* begin, const char* end)>& done = {});

/// The first line on which vertex `v` occurs, in a text that read_arc_lines has read; the end of the text if there is none.
const char* line_of_vertex(const Text& text, const char* begin, const ArcRules& rules, vertex_t v);

/// A weight. `real` always holds it; `whole` holds it, too, if it is a whole number that fits 32 bits.
struct WeightValue {
  bool is_int32 = false, is_whole = false;
  std::int32_t whole = 0;
  double real = 0;
};
/// Reads a weight, up to `end` or a separator. @return the place after it. @throws ParseError
const char* read_weight(const char* p, const char* end, bool commas, WeightRule rule, WeightValue& value);

/// Reads what networkx.write_edgelist writes after the ends of an edge, up to `end`: {'weight': 3}, or {} if `rule` is none.
const char* read_attributes(const char* p, const char* end, WeightRule rule, WeightValue& value);

/// Reads a vertex number, and converts it to one that begins at 0. @return the place after it. @throws ParseError
const char* read_vertex(const char* p, const char* end, bool commas, const VertexNumbers& numbers, vertex_t& vertex);

/// True if a field of a line ends at p.
inline bool ends_field(const char* p, const char* end, bool commas) {
  return p == end || is_blank(*p) || (commas && *p == ',');
}

/// Converts int32 weights to float64.
void to_real(ArcList& arcs);

/// Appends the weight of the last arc to a list. All int32 weights become float64 at the first value that needs it.
/// @param at  its place in the text
void append_weight(ArcList& arcs, const WeightValue& value, const char* at, bool reals_only);

/// The remarks on the weights in all pieces of a text.
WeightRemarks remarks_of(const Text& text, const std::vector<ArcList>& pieces);

/// Concatenates the lists of consecutive pieces of a file.
ArcList join(std::vector<ArcList>& pieces);

/// The most bytes that reading a graph takes at a time, including the list of its arcs.
std::int64_t peak_bytes(std::int64_t vertices, std::int64_t arcs, WeightKind kind, bool undirected);

/// Builds the graph from a list of arcs.
/// @param place  returns the start of the error message for a graph that is too large, `file:line: vertex 9`; called only then
/// @post   symmetric is set if `undirected`, or if the graph is found to be so; parallel arcs are merged if the options say so
/// @throws CapacityError
Csr build(const Source& source, std::int64_t vertices, ArcList&& arcs, bool undirected,
          const std::function<std::string()>& place = {});

/// Cuts [begin, end) after newlines into pieces of about `bytes` bytes. Returns the start of each piece, then `end`.
std::vector<const char*> cut_at_lines(const char* begin, const char* end, std::size_t bytes);

}  // namespace shoal::io
