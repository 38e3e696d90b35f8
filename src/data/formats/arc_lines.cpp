#include "arc_lines.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <utility>

#include "data/parallel.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

/// True if the line is neither blank nor a comment.
bool has_data(const Line& line, const char* comments, const char*& first) {
  first = skip_blanks(line.begin, line.end);
  return first < line.end && (*first == '\0' || std::strchr(comments, *first) == nullptr);
}

std::string columns_text(int count) { return std::to_string(count) + (count == 1 ? " column" : " columns"); }

/// Skips the separator after field `column` (0-based).
const char* next_field(const char* p, const char* line_end, const ArcRules& rules, int column) {
  const auto [commas, columns] = std::pair{rules.commas, rules.columns};
  p = skip_blanks(p, line_end);
  bool comma = false;
  if (commas && p < line_end && *p == ',') {
    comma = true;
    p = skip_blanks(p + 1, line_end);
  }
  const bool last = column + 1 == columns;
  if (last && (p < line_end || comma))
    throw ParseError{p, "expected " + columns_text(columns) + ", found " +
                            (p < line_end ? "more from " + quoted(p, line_end, commas) : "a comma behind the last") +
                            "; " + rules.columns_cure};
  if (!last && p == line_end)
    throw ParseError{line_end, "expected " + columns_text(columns) + ", found " + std::to_string(column + 1) +
                                   "; complete the line"};
  return p;
}

const char* field_end(const char* p, const char* line_end, bool commas) {
  while (!ends_field(p, line_end, commas)) ++p;
  return p;
}

/// The place after a field with any content. Blanks and commas between double quotes belong to the field.
const char* skip_field(const char* p, const char* line_end, bool commas) {
  if (p < line_end && *p == '"') {
    const char* close = std::find(p + 1, line_end, '"');
    if (close < line_end) p = close + 1;
  }
  return field_end(p, line_end, commas);
}

void parse_line(const char* p, const char* line_end, const ArcRules& rules, ArcList& out) {
  if (rules.prefix != 0) {
    if (*p != rules.prefix || p + 1 == line_end || !is_blank(p[1]))
      throw ParseError{p, std::string("expected a line '") + rules.prefix + " SOURCE TARGET WEIGHT', found " +
                              quoted(p, line_end) + "; remove or correct the line"};
    p = skip_blanks(p + 1, line_end);
  }
  vertex_t source = 0, target = 0;
  WeightValue weight;
  const char *source_at = p, *weight_at = p;
  for (int column = 0; column < rules.columns; ++column) {
    if (column == rules.source_column) {
      source_at = p;
      p = read_vertex(p, line_end, rules.commas, rules.vertices, source);
    } else if (column == rules.target_column) {
      p = read_vertex(p, line_end, rules.commas, rules.vertices, target);
    } else if (column != rules.weight_column) {
      p = skip_field(p, line_end, rules.commas);
    } else {
      weight_at = p;
      p = rules.attributes ? read_attributes(p, line_end, rules.weight, weight)
                           : read_weight(p, line_end, rules.commas, rules.weight, weight);
    }
    p = next_field(p, line_end, rules, column);
  }
  if (rules.lower_triangle && source < target)
    throw ParseError{source_at, "entry (" + std::to_string(source + rules.vertices.base) + ", " +
                                    std::to_string(target + rules.vertices.base) +
                                    ") lies above the diagonal of a symmetric matrix; store row >= column only, or "
                                    "declare the matrix general"};
  out.sources.push_back(source);
  out.targets.push_back(target);
  if (rules.weight != WeightRule::none) append_weight(out, weight, weight_at, rules.reals_only);
}

ArcList parse_piece(const char* begin, const char* end, const ArcRules& rules) {
  ArcList out;
  const std::size_t guess = static_cast<std::size_t>(end - begin) / 10;
  out.sources.reserve(guess);
  out.targets.reserve(guess);
  for (Line line = line_at(begin, end); line.begin < end; line = line_at(line.next, end)) {
    const char* first = nullptr;
    if (has_data(line, rules.comments, first)) parse_line(first, line.end, rules, out);
  }
  return out;
}

/// The k-th line with data (0-based) at or after `begin`.
const char* data_line(const char* begin, const char* end, const ArcRules& rules, std::int64_t k) {
  for (Line line = line_at(begin, end); line.begin < end; line = line_at(line.next, end)) {
    const char* first = nullptr;
    if (has_data(line, rules.comments, first) && k-- == 0) return line.begin;
  }
  return end;
}

template <class T>
void gather(std::vector<ArcList>& pieces, const std::vector<std::size_t>& starts, std::vector<T> ArcList::*member,
            std::vector<T>& out) {
  out.resize(starts.back());
  parallel_tasks(static_cast<std::int64_t>(pieces.size()), [&](std::int64_t i) {
    std::vector<T>& from = pieces[i].*member;
    if (!from.empty()) std::memcpy(out.data() + starts[i], from.data(), from.size() * sizeof(T));
    from = {};
  });
}

bool is_real_number(std::string_view field) {
  double value = 0;
  const auto [rest, status] = std::from_chars(field.data(), field.data() + field.size(), value);
  return status == std::errc() && rest == field.data() + field.size() && std::isfinite(value);
}

/// The cure for a field that should be a vertex number and is not.
const char* cure_of(std::string_view field, bool commas) {
  if (field.find('\r') != std::string_view::npos) return "let the lines end in \\n (tr '\\r' '\\n')";
  if (field.starts_with('<') || field.starts_with('{') || field.starts_with('['))
    return "is this XML, a web page or JSON? Only lines of numbers are read";
  if (field.find_first_of(",;|:") != std::string_view::npos)
    return commas ? "separate the columns by blanks, tabs or commas" : "separate the columns by blanks or tabs";
  if (field.starts_with('"') || field.starts_with('\'')) return "take the quotes away";
  if (is_real_number(field)) return "vertex numbers are whole: write it without a point or an exponent";
  return "vertex numbers are written in digits";
}

}  // namespace

const char* read_vertex(const char* p, const char* end, bool commas, const VertexNumbers& numbers, vertex_t& vertex) {
  const auto [base, count, cure] = numbers;
  if (p == end) throw ParseError{p, "the line ends where a vertex number is expected; is the file complete?"};
  if (*p == '-' && p + 1 < end && is_digit(p[1]))
    throw ParseError{p, "vertex number " + quoted(p, end, commas) + " is negative; vertices are numbered from " +
                            std::to_string(base)};
  std::uint64_t value = 0;
  const auto [rest, status] = std::from_chars(p, end, value);
  if (!is_digit(*p) || !ends_field(rest, end, commas))
    throw ParseError{p, "expected a vertex number, found " + quoted(p, end, commas) + "; " +
                            cure_of({p, field_end(p, end, commas)}, commas)};
  if (count == 0)
    throw ParseError{p, "vertex number " + quoted(p, end, commas) + " occurs, but there are no vertices; " + cure};
  if (count > 0 && status == std::errc() && value < base)
    throw ParseError{p, "vertex number '0' is outside 1.." + std::to_string(count) +
                            "; in this format the first vertex is number 1"};
  if (count > 0) {
    if (status != std::errc() || value - base >= static_cast<std::uint64_t>(count))
      throw ParseError{p, "vertex number " + quoted(p, end, commas) + " is outside " + std::to_string(base) + ".." +
                              std::to_string(count - 1 + base) + "; " + cure};
  } else if (status != std::errc() || value >= static_cast<std::uint64_t>(kMaxVertices)) {
    throw ParseError{p, "vertex number " + quoted(p, end, commas) + " is too large; the largest is " +
                            std::to_string(kMaxVertices - 1) + " (renumber the vertices)"};
  }
  if (value < base)
    throw ParseError{p,
                     "vertex number '0' occurs, but this file's header says that vertices are numbered from 1; "
                     "correct the number, or remove the header"};
  vertex = static_cast<vertex_t>(value - base);
  return rest;
}

ArcList join(std::vector<ArcList>& pieces) {
  ArcList out;
  std::vector<std::size_t> starts{0};
  for (const ArcList& piece : pieces) {
    starts.push_back(starts.back() + piece.sources.size());
    if (piece.weight_kind > out.weight_kind) out.weight_kind = piece.weight_kind;  // none < int32 < float64
  }
  if (out.weight_kind == WeightKind::float64) {
    for (ArcList& piece : pieces)
      if (piece.weight_kind == WeightKind::int32) to_real(piece);
    gather(pieces, starts, &ArcList::real_weights, out.real_weights);
  } else if (out.weight_kind == WeightKind::int32) {
    gather(pieces, starts, &ArcList::int_weights, out.int_weights);
  }
  gather(pieces, starts, &ArcList::sources, out.sources);
  gather(pieces, starts, &ArcList::targets, out.targets);
  return out;
}

std::vector<const char*> cut_at_lines(const char* begin, const char* end, std::size_t bytes) {
  std::vector<const char*> cuts{begin};
  while (static_cast<std::size_t>(end - cuts.back()) > bytes) {
    const char* cut = line_at(cuts.back() + bytes, end).next;
    if (cut == end) break;
    cuts.push_back(cut);
  }
  cuts.push_back(end);
  return cuts;
}

ArcList read_arc_lines(const Text& text, const char* begin, const ArcRules& rules, const Progress& progress) {
  const auto cuts = cut_at_lines(begin, text.end(), kPieceBytes);
  const auto count = static_cast<std::int64_t>(cuts.size()) - 1;
  std::vector<ArcList> pieces(count);
  std::atomic<std::int64_t> done{0}, held{0};
  const auto caller = std::this_thread::get_id();
  try {
    parallel_tasks(count, [&](std::int64_t i) {
      pieces[i] = parse_piece(cuts[i], cuts[i + 1], rules);
      const std::int64_t bytes = peak_bytes(0, pieces[i].size(), pieces[i].weight_kind, false);
      if ((held += bytes) > rules.memory_bytes)
        throw CapacityError(text.name + ": its arcs alone take more than the " +
                            std::to_string(rules.memory_bytes >> 20) +
                            " MB of memory that are available; use a machine with more memory");
      const std::int64_t finished = ++done;
      if (std::this_thread::get_id() == caller) progress.at(static_cast<double>(finished) / static_cast<double>(count));
    });
  } catch (const ParseError& error) {
    text.raise(error);
  }
  std::int64_t total = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t here = pieces[i].size();
    if (rules.arcs >= 0 && total + here > rules.arcs)
      text.raise(data_line(cuts[i], cuts[i + 1], rules, rules.arcs - total),
                 "more lines than the " + std::to_string(rules.arcs) + " that the header declares; correct the header");
    total += here;
  }
  if (rules.arcs >= 0 && total < rules.arcs)
    text.raise(text.end(), "the file ends after " + std::to_string(total) + " of the " + std::to_string(rules.arcs) +
                               " lines that the header declares; is it complete?");
  WeightRemarks remarks = remarks_of(text, pieces);
  ArcList arcs = join(pieces);
  arcs.remarks = std::move(remarks);
  if (arcs.size() == 0 && rules.weight != WeightRule::none)
    arcs.weight_kind = rules.reals_only ? WeightKind::float64 : WeightKind::int32;
  return arcs;
}

void for_arc_pieces(const Text& text, const char* begin, const ArcRules& rules, int part, int parts,
                    const std::function<void(ArcList&& arcs, std::int64_t piece)>& take,
                    const std::function<void(const char* begin, const char* end)>& done) {
  const auto cuts = cut_at_lines(begin, text.end(), kPieceBytes);
  const auto all = static_cast<std::int64_t>(cuts.size()) - 1;
  const std::int64_t first = all * part / parts, last = all * (part + 1) / parts;
  try {
    parallel_tasks(last - first, [&](std::int64_t i) {
      take(parse_piece(cuts[first + i], cuts[first + i + 1], rules), first + i);
      if (done) done(cuts[first + i], cuts[first + i + 1]);
    });
  } catch (const ParseError& error) {
    text.raise(error);
  }
}

const char* line_of_vertex(const Text& text, const char* begin, const ArcRules& rules, vertex_t v) {
  for (Line line = line_at(begin, text.end()); line.begin < text.end(); line = line_at(line.next, text.end())) {
    const char* first = nullptr;
    ArcList arc;
    if (has_data(line, rules.comments, first)) parse_line(first, line.end, rules, arc);
    if (arc.size() == 1 && (arc.sources[0] == v || arc.targets[0] == v)) return line.begin;
  }
  return text.end();
}

std::int64_t peak_bytes(std::int64_t vertices, std::int64_t arcs, WeightKind kind, bool undirected) {
  const std::int64_t weight = kind == WeightKind::none ? 0 : kind == WeightKind::int32 ? 4 : 8;
  const std::int64_t listed = arcs * (8 + weight), placed = arcs * (4 + weight) * (undirected ? 2 : 1);
  const std::int64_t offsets = (vertices + 1) * static_cast<std::int64_t>(sizeof(arc_t));
  // First, the pieces of the list are joined into a second list. Then the list and the graph exist together. Then the graph
  // exists with a second array of offsets, which the search for reverse arcs needs.
  return offsets + std::max({2 * listed, placed + listed, placed + offsets});
}

namespace {

/// False if some arc lacks its reverse. Checked only if there are few arcs compared with vertices, so that this is quick.
bool may_be_symmetric(const ArcList& arcs, std::int64_t vertices) {
  if (arcs.size() > vertices / 8) return true;
  std::vector<std::uint64_t> there, back;
  for (std::int64_t i = 0; i < arcs.size(); ++i) {
    there.push_back(std::uint64_t{arcs.sources[i]} << 32 | arcs.targets[i]);
    back.push_back(std::uint64_t{arcs.targets[i]} << 32 | arcs.sources[i]);
  }
  std::sort(there.begin(), there.end());
  std::sort(back.begin(), back.end());
  return there == back;
}

}  // namespace

Csr build(const Source& source, std::int64_t vertices, ArcList&& arcs, bool undirected,
          const std::function<std::string()>& place) {
  const GraphSize size{vertices, arcs.size() * (undirected ? 2 : 1), arcs.weight_kind,
                       undirected || may_be_symmetric(arcs, vertices)};
  source.require_room(size, peak_bytes(vertices, arcs.size(), arcs.weight_kind, undirected), place);
  WeightRemarks remarks = std::move(arcs.remarks);
  const WeightKind kind = arcs.weight_kind;
  Csr graph = csr_from_arcs(vertices, std::move(arcs.sources), std::move(arcs.targets), std::move(arcs.int_weights),
                            std::move(arcs.real_weights), undirected, source.options.dedup);
  graph.weight_kind = kind;  // also if there are no arcs
  graph.weight_remarks = std::move(remarks);
  if (!graph.symmetric) graph.symmetric = is_symmetric(graph);
  return graph;
}

}  // namespace shoal::io
