// The part that three text formats share: one arc per line, parsed by all threads.
#pragma once
#include <vector>

#include "formats.hpp"
#include "text.hpp"

namespace shoal::io {

/// What a weight may be. Integers that do not fit 32 bits are kept as float64 when that is exact.
enum class WeightRule { none, integer, real, any };

/// How one arc is written.
struct ArcRules {
  const char* comments = "";  ///< a line that begins with one of these says nothing
  char prefix = 0;            ///< every arc's line begins with this letter (DIMACS); 0: with a number
  bool commas = false;        ///< fields are separated by a comma as well as by blanks
  int columns = 2;            ///< numbers on each line
  int source_column = 0, target_column = 1, weight_column = 2;
  WeightRule weight = WeightRule::none;
  bool reals_only = false;      ///< weights are float64 even if all of them are integers
  vertex_t base = 0;            ///< number of the first vertex: 0 or 1
  std::int64_t vertices = -1;   ///< vertex numbers declared; -1: anything below 2^31 - 1
  bool lower_triangle = false;  ///< source >= target
  std::int64_t arcs = -1;       ///< lines declared; -1: any number
};

/// Arcs in the order of the file.
struct ArcList {
  std::vector<vertex_t> sources, targets;
  WeightKind weight_kind = WeightKind::none;
  std::vector<std::int32_t> int_weights;
  std::vector<double> real_weights;
  std::int64_t size() const { return static_cast<std::int64_t>(sources.size()); }
};

/// Parses everything from `begin` to the end of the text.
/// @throws UsageError for the first line that is wrong, or when the number of lines is not rules.arcs
ArcList read_arc_lines(const Text& text, const char* begin, const ArcRules& rules, const Progress& progress);

/// One number of a weight, up to `end` or a separator. Exact integers in `whole`, everything else in `real`.
struct WeightValue {
  bool is_int32 = false;
  std::int32_t whole = 0;
  double real = 0;
};
const char* read_weight(const char* p, const char* end, bool commas, WeightRule rule, WeightValue& value);

/// A vertex number, shifted to begin at 0. @throws ParseError
const char* read_vertex(const char* p, const char* end, bool commas, vertex_t base, std::int64_t vertices,
                        vertex_t& vertex);

/// Adds a weight to a list whose kind so far is `kind` (int32 becomes float64 at the first value that needs it).
void append_weight(ArcList& arcs, const WeightValue& value, bool reals_only);

/// Concatenates lists of consecutive pieces of a file.
ArcList join(std::vector<ArcList>& pieces);

/// The graph of a list of arcs.
/// @post  symmetric is set where asked for or found; parallel arcs are merged if the options say so
Csr build(const Source& source, std::int64_t vertices, ArcList&& arcs, bool undirected);

/// Cuts [begin, end) behind newlines into pieces of about `bytes`: the start of each piece, then `end`.
std::vector<const char*> cut_at_lines(const char* begin, const char* end, std::size_t bytes);

}  // namespace shoal::io
