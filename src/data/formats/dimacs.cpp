// DIMACS shortest-path graphs: 'c' comments, one 'p sp VERTICES ARCS', then 'a SOURCE TARGET WEIGHT', numbered from 1.
#include "arc_lines.hpp"
#include "data/output.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {

Csr read_dimacs(const Source& source) {
  const Text text{source.view(), source.name};
  try {
    Line line = line_at(text.begin(), text.end());
    const char* first = nullptr;
    for (; line.begin < text.end(); line = line_at(line.next, text.end())) {
      first = skip_blanks(line.begin, line.end);
      if (first < line.end && *first != 'c') break;
    }
    if (line.begin >= text.end())
      throw ParseError{text.end(), "the file ends before the line 'p sp VERTICES ARCS'; is it complete?"};
    const Words words(line);
    if (words.word[0] == "a")
      throw ParseError{first,
                       "an arc comes before the line 'p sp VERTICES ARCS'; add that line (or, if vertices are "
                       "numbered from 0, drop the leading 'a' and name the file .wel)"};
    if (words.word[0] != "p")
      throw ParseError{first, "expected 'p sp VERTICES ARCS', found " + quoted(words.word[0]) +
                                  "; if this is an edge list, let its name end in .el or .wel, or add --format el"};
    if (words.count < 2 || words.word[1] != "sp")
      throw ParseError{first,
                       "expected 'p sp VERTICES ARCS'; other DIMACS problems (max, edge, aux ...) are not read: write "
                       "their edges as an edge list (.el)"};
    if (words.count != 4)
      throw ParseError{
          first, "expected 'p sp VERTICES ARCS', found " + std::to_string(words.count) + " words; correct the line"};
    std::int64_t n = 0, m = 0;
    read_count(words.word[2].data(), line.end, "the number of vertices", n);
    read_count(words.word[3].data(), line.end, "the number of arcs", m);
    if (n > kMaxVertices)
      throw ParseError{first,
                       std::to_string(n) + " vertices are too many; the most are " + std::to_string(kMaxVertices)};
    const std::int64_t body = text.end() - line.next;
    if (m > (body + 1) / 8)  // "a 1 1 1\n"
      throw ParseError{first, "declares " + std::to_string(m) + " arcs, but only " + std::to_string(body) +
                                  " bytes follow; is the file complete?"};
    const auto place = [&] { return text.place(first); };
    source.require_room({n, m, WeightKind::int32}, peak_bytes(n, m, WeightKind::int32, false), place);
    ArcRules rules;
    rules.comments = "c";
    rules.prefix = 'a';
    rules.columns = 3;
    rules.weight = WeightRule::integer;
    rules.vertices = {1, n};
    rules.arcs = m;
    rules.memory_bytes = source.memory_bytes;
    ArcList arcs = read_arc_lines(text, line.next, rules, Progress(source.options.progress, 0.5, 0.9));
    return build(source, n, std::move(arcs), false, place);
  } catch (const ParseError& error) {
    text.raise(error);
  }
}

void write_dimacs(const Csr& graph, const std::string& file, Compression compression) {
  if (!has_whole_weights(graph))
    throw UsageError(file + ": a DIMACS file needs integer weights, the graph has " +
                     (graph.weight_kind == WeightKind::none
                          ? "none; write .mtx or .el, or make some with --weights hash255 or unit"
                          : "real ones; write .mtx or .wel"));
  const std::int64_t n = graph.num_vertices();
  TextFile out(file, compression);
  out.text("p sp ").number(n).byte(' ').number(graph.num_arcs()).byte('\n');
  for (std::int64_t u = 0; u < n; ++u) {
    for (arc_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      out.text("a ").number(u + 1).byte(' ').number(static_cast<std::int64_t>(graph.targets[a]) + 1).byte(' ');
      out.weight(graph, a).byte('\n');
    }
  }
  out.commit();
}

}  // namespace shoal::io
