// METIS graphs: a header 'VERTICES EDGES [FMT [NCON]]', then one line per vertex with its neighbours, numbered from 1.
// The graph is undirected: each edge is in both rows. A loop is once in its row, and counts as one edge.
#include <algorithm>

#include "arc_lines.hpp"
#include "data/output.hpp"
#include "data/parallel.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 20;

struct Header {
  std::int64_t vertices = 0, edges = 0, vertex_numbers = 0;  ///< vertex_numbers: size and weights before the neighbours
  bool edge_weights = false;
};

Header read_header(const Line& line) {
  const Words words(line);
  if (words.count < 2 || words.count > 4)
    throw ParseError{line.begin, "expected 'VERTICES EDGES [FMT [NCON]]', found " + std::to_string(words.count) +
                                     " words; is this a METIS graph?"};
  Header header;
  read_count(words.word[0].data(), line.end, "the number of vertices", header.vertices);
  read_count(words.word[1].data(), line.end, "the number of edges", header.edges);
  if (header.vertices > kMaxVertices)
    throw ParseError{line.begin, std::to_string(header.vertices) + " vertices are too many; the most are " +
                                     std::to_string(kMaxVertices)};
  const std::string_view fmt = words.count > 2 ? words.word[2] : "0";
  if (fmt.size() > 3 || fmt.find_first_not_of("01") != std::string_view::npos)
    throw ParseError{fmt.data(), "FMT is " + quoted(fmt) +
                                     "; it must be up to three digits 0 or 1 (vertex sizes, "
                                     "vertex weights, edge weights)"};
  auto digit = [&](std::size_t from_right) {
    return fmt.size() > from_right && fmt[fmt.size() - 1 - from_right] == '1';
  };
  header.edge_weights = digit(0);
  std::int64_t constraints = digit(1) ? 1 : 0;
  if (words.count > 3) {
    read_count(words.word[3].data(), line.end, "NCON", constraints);
    if (!digit(1) && constraints > 0)
      throw ParseError{words.word[3].data(),
                       "NCON is given, but FMT says that vertices have no weights; use FMT 010 or 011"};
    if (digit(1) && (constraints < 1 || constraints > 64))
      throw ParseError{words.word[3].data(), "NCON is " + quoted(words.word[3]) + "; it must be in 1..64"};
  }
  header.vertex_numbers = constraints + (digit(2) ? 1 : 0);
  return header;
}

bool is_row(const Line& line) { return line.begin == line.end || *line.begin != '%'; }

void parse_row(const Line& line, vertex_t vertex, const Header& header, ArcList& out) {
  const char* p = skip_blanks(line.begin, line.end);
  for (std::int64_t i = 0; i < header.vertex_numbers; ++i) {
    std::int64_t unused = 0;
    p = skip_blanks(read_count(p, line.end, "a vertex size or weight", unused), line.end);
  }
  while (p < line.end) {
    vertex_t target = 0;
    p = read_vertex(p, line.end, false, {1, header.vertices}, target);
    out.sources.push_back(vertex);
    out.targets.push_back(target);
    if (header.edge_weights) {
      p = skip_blanks(p, line.end);
      const char* at = p;
      WeightValue weight;
      p = read_weight(p, line.end, false, WeightRule::integer, weight);
      if (weight.real < 0)
        throw ParseError{at,
                         "edge weight " + quoted(at, line.end) + " is negative; METIS graphs have no negative weights"};
      append_weight(out, weight, at, false);
    }
    p = skip_blanks(p, line.end);
  }
}

/// The place where the row of a vertex (0-based) begins.
const char* row_begin(const char* body, const char* end, std::int64_t vertex) {
  Line line = line_at(body, end);
  for (; line.begin < end; line = line_at(line.next, end))
    if (is_row(line) && vertex-- == 0) break;
  return line.begin;
}

ArcList read_rows(const Text& text, const char* body, const Header& header, const Progress& progress) {
  const auto cuts = cut_at_lines(body, text.end(), kPieceBytes);
  const auto count = static_cast<std::int64_t>(cuts.size()) - 1;
  std::vector<std::int64_t> first(count + 1, 0);
  parallel_tasks(count, [&](std::int64_t i) {
    for (Line line = line_at(cuts[i], cuts[i + 1]); line.begin < cuts[i + 1]; line = line_at(line.next, cuts[i + 1]))
      first[i + 1] += is_row(line);
  });
  for (std::int64_t i = 0; i < count; ++i) first[i + 1] += first[i];
  if (first[count] < header.vertices)
    text.raise(text.end(), "the file ends after the rows of " + std::to_string(first[count]) + " of " +
                               std::to_string(header.vertices) + " vertices; is it complete?");
  progress.at(0.3);
  std::vector<ArcList> pieces(count);
  parallel_tasks(count, [&](std::int64_t i) {
    std::int64_t vertex = first[i];
    for (Line line = line_at(cuts[i], cuts[i + 1]); line.begin < cuts[i + 1]; line = line_at(line.next, cuts[i + 1])) {
      if (!is_row(line)) continue;
      if (vertex < header.vertices) {
        parse_row(line, static_cast<vertex_t>(vertex++), header, pieces[i]);
      } else if (skip_blanks(line.begin, line.end) < line.end) {
        throw ParseError{line.begin, "a row follows the last of " + std::to_string(header.vertices) +
                                         " vertices; correct the header or remove the row"};
      }
    }
  });
  WeightRemarks remarks = remarks_of(text, pieces);
  ArcList arcs = join(pieces);
  arcs.remarks = std::move(remarks);
  return arcs;
}

}  // namespace

Csr read_metis(const Source& source) {
  const Text text{source.view(), source.name};
  try {
    Line line = line_at(text.begin(), text.end());
    while (line.begin < text.end() && !is_row(line)) line = line_at(line.next, text.end());
    if (line.begin == text.end())
      throw ParseError{text.end(), "the file ends before the line 'VERTICES EDGES [FMT [NCON]]'; is it complete?"};
    const Header header = read_header(line);
    const char* body = line.next;
    const std::int64_t bytes = text.end() - body;
    // A row takes at least one byte. An edge takes two entries of two bytes each, or one entry if it is a loop.
    if (header.vertices > bytes + 1 || header.edges > (bytes + 1) / 2)
      throw ParseError{line.begin, "declares " + std::to_string(header.vertices) + " vertices and " +
                                       std::to_string(header.edges) + " edges, but only " + std::to_string(bytes) +
                                       " bytes follow; is the file complete?"};
    const WeightKind kind = header.edge_weights ? WeightKind::int32 : WeightKind::none;
    source.require_room({header.vertices, 2 * header.edges, kind},
                        peak_bytes(header.vertices, 2 * header.edges, kind, false),
                        [&] { return text.place(line.begin); });
    ArcList arcs = read_rows(text, body, header, Progress(source.options.progress, 0.5, 0.9));
    std::int64_t loops = 0;
    for (std::int64_t i = 0; i < arcs.size(); ++i) loops += arcs.sources[i] == arcs.targets[i];
    const std::int64_t entries = arcs.size();
    WeightRemarks remarks = std::move(arcs.remarks);
    Csr graph = csr_from_arcs(header.vertices, std::move(arcs.sources), std::move(arcs.targets),
                              std::move(arcs.int_weights), std::move(arcs.real_weights));
    const Lonely lonely = find_lonely_arc(graph);
    if (lonely.found)
      throw ParseError{row_begin(body, text.end(), lonely.source),
                       "vertex " + std::to_string(lonely.source + 1) + " lists " + std::to_string(lonely.target + 1) +
                           ", but vertex " + std::to_string(lonely.target + 1) + " does not list " +
                           std::to_string(lonely.source + 1) + (header.edge_weights ? " with the same weight" : "") +
                           "; list every edge in both rows"};
    if ((entries - loops) / 2 + loops != header.edges)
      throw ParseError{line.begin, "declares " + std::to_string(header.edges) + " edges, but the rows hold " +
                                       std::to_string((entries - loops) / 2 + loops) + "; correct the header"};
    if (header.edge_weights && entries == 0) graph.weight_kind = WeightKind::int32;
    graph.weight_remarks = std::move(remarks);
    graph.symmetric = true;
    if (source.options.dedup) merge_parallel_arcs(graph);
    return graph;
  } catch (const ParseError& error) {
    text.raise(error);
  }
}

void write_metis(const Csr& graph, const std::string& file, Compression compression) {
  const Lonely lonely = find_lonely_arc(graph);
  if (lonely.found)
    throw UsageError(file + ": a METIS graph is undirected, but arc " + std::to_string(lonely.source) + " -> " +
                     std::to_string(lonely.target) + " has no reverse; write .mtx or .el");
  const auto negative = [](auto w) { return w < 0; };
  if ((graph.weight_kind == WeightKind::float64 && !has_whole_weights(graph)) ||
      std::any_of(graph.int_weights.begin(), graph.int_weights.end(), negative) ||
      std::any_of(graph.real_weights.begin(), graph.real_weights.end(), negative))
    throw UsageError(file + ": the weights of a METIS graph are whole numbers of at least 0; write .mtx or .wel");
  const std::int64_t n = graph.num_vertices();
  std::int64_t loops = 0;
  for (std::int64_t u = 0; u < n; ++u)
    for (const vertex_t v : graph.neighbors(static_cast<vertex_t>(u))) loops += v == u;
  TextFile out(file, compression);
  out.number(n).byte(' ').number((graph.num_arcs() - loops) / 2 + loops);
  out.text(graph.weight_kind == WeightKind::none ? "\n" : " 001\n");
  for (std::int64_t u = 0; u < n; ++u) {
    for (arc_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      if (a > graph.offsets[u]) out.byte(' ');
      out.number(static_cast<std::int64_t>(graph.targets[a]) + 1);
      if (graph.weight_kind != WeightKind::none) out.byte(' ').weight(graph, a);
    }
    out.byte('\n');
  }
  out.commit();
}

}  // namespace shoal::io
