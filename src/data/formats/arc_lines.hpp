// The part that three text formats share: one arc per line, parsed by all threads.
#pragma once
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "data/formats.hpp"
#include "data/text.hpp"

namespace shoal::io {

/// What a weight may be. Whole numbers beyond 32 bits are kept as float64, up to 2^53; beyond that they are refused.
enum class WeightRule { none, integer, real, any };

/// Which numbers a vertex may have.
struct VertexNumbers {
  vertex_t base = 0;                                     ///< number of the first vertex: 0 or 1
  std::int64_t count = -1;                               ///< vertices declared; -1: anything below 2^31 - 1
  const char* cure = "correct it or the declared size";  ///< of a number beyond those declared
};

/// How one arc is written.
struct ArcRules {
  const char* comments = "";  ///< a line that begins with one of these says nothing
  char prefix = 0;            ///< every arc's line begins with this letter (DIMACS); 0: with a number
  bool commas = false;        ///< fields are separated by a comma as well as by blanks
  int columns = 2;            ///< fields on each line
  const char* columns_cure = "every line must have the same columns";
  int source_column = 0, target_column = 1, weight_column = 2;  ///< other columns are passed over
  bool attributes = false;  ///< the weight is written {'weight': 3}, or {} if there is none (NetworkX)
  WeightRule weight = WeightRule::none;
  bool reals_only = false;  ///< weights are float64 even if all of them are integers
  VertexNumbers vertices;
  bool lower_triangle = false;                                           ///< source >= target
  std::int64_t arcs = -1;                                                ///< lines declared; -1: any number
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();  ///< most that arcs and graph may take
};

/// Weights worth a remark, as they are met in the text.
struct WeightSpots {
  const char* wide = nullptr;      ///< the first whole one that does not fit 32 bits
  const char* negative = nullptr;  ///< the first below zero
  std::int64_t negative_arc = 0;   ///< its arc
  bool fractions = false;          ///< some weight is no whole number, or none is taken as one
};

/// Arcs in the order of the file.
struct ArcList {
  std::vector<vertex_t> sources, targets;
  WeightKind weight_kind = WeightKind::none;
  std::vector<std::int32_t> int_weights;
  std::vector<double> real_weights;
  WeightSpots spots;      ///< of a piece of a text
  WeightRemarks remarks;  ///< of a whole list
  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// Parses everything from `begin` to the end of the text.
/// @throws UsageError     for the first line that is wrong, or when the number of lines is not rules.arcs
/// @throws CapacityError  as soon as the arcs exceed rules.memory_bytes
ArcList read_arc_lines(const Text& text, const char* begin, const ArcRules& rules, const Progress& progress);

/// Parses part `part` of `parts` of what read_arc_lines() reads, and gives it to `take(arcs, piece)` piece by piece, on several
/// threads; `piece` is a number that grows with the place in the text. Checks neither rules.arcs nor rules.memory_bytes.
/// @param done  told where a piece lay that is not looked at any more
/// @throws UsageError  for the first line that is wrong
void for_arc_pieces(const Text& text, const char* begin, const ArcRules& rules, int part, int parts,
                    const std::function<void(ArcList&& arcs, std::int64_t piece)>& take,
                    const std::function<void(const char* begin, const char* end)>& done = {});

/// The first line on which vertex `v` occurs, in a text that read_arc_lines has read; the text's end if none.
const char* line_of_vertex(const Text& text, const char* begin, const ArcRules& rules, vertex_t v);

/// One number of a weight, up to `end` or a separator. What fits 32 bits in `whole`, everything in `real`.
struct WeightValue {
  bool is_int32 = false, is_whole = false;
  std::int32_t whole = 0;
  double real = 0;
};
const char* read_weight(const char* p, const char* end, bool commas, WeightRule rule, WeightValue& value);

/// What networkx.write_edgelist writes behind the ends of an edge: {'weight': 3}, or {} where `rule` is none. Up to `end`.
const char* read_attributes(const char* p, const char* end, WeightRule rule, WeightValue& value);

/// A vertex number, shifted to begin at 0. @throws ParseError
const char* read_vertex(const char* p, const char* end, bool commas, const VertexNumbers& numbers, vertex_t& vertex);

/// True where a field of a line ends.
inline bool ends_field(const char* p, const char* end, bool commas) {
  return p == end || is_blank(*p) || (commas && *p == ',');
}

/// Makes int32 weights float64.
void to_real(ArcList& arcs);

/// Adds the weight of the last arc to a list (int32 becomes float64 at the first value that needs it).
/// @param at  where it stands in the text
void append_weight(ArcList& arcs, const WeightValue& value, const char* at, bool reals_only);

/// What the pieces of a text found in the weights.
WeightRemarks remarks_of(const Text& text, const std::vector<ArcList>& pieces);

/// Concatenates lists of consecutive pieces of a file.
ArcList join(std::vector<ArcList>& pieces);

/// Bytes that reading a graph takes at its peak, the list of its arcs included.
std::int64_t peak_bytes(std::int64_t vertices, std::int64_t arcs, WeightKind kind, bool undirected);

/// The graph of a list of arcs.
/// @param place  what a graph that is too large is blamed on, `file:line: vertex 9`; called only then
/// @post   symmetric is set where asked for or found; parallel arcs are merged if the options say so
/// @throws CapacityError
Csr build(const Source& source, std::int64_t vertices, ArcList&& arcs, bool undirected,
          const std::function<std::string()>& place = {});

/// Cuts [begin, end) behind newlines into pieces of about `bytes`: the start of each piece, then `end`.
std::vector<const char*> cut_at_lines(const char* begin, const char* end, std::size_t bytes);

}  // namespace shoal::io
