// Matrix Market: coordinate matrices whose entry (i, j) is the arc i -> j; vertices are numbered from 1 in the file.
#include "arc_lines.hpp"
#include "data/output.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

struct Header {
  WeightRule weight = WeightRule::none;
  bool symmetric = false;
};

ParseError refused(std::string_view word, const std::string& cure) {
  return {word.data(), quoted(word) + " matrices are not graphs that shoal reads; " + cure};
}

Header read_banner(const Line& line) {
  const Words words(line);
  if (words.count > 0 && is_digit(words.word[0][0]))
    throw ParseError{
        line.begin,
        "the first line must begin with '%%MatrixMarket', found " + quoted(words.word[0]) +
            "; if this is a list of edges, let its name end in .el, or add --format el; otherwise add the lines "
            "'%%MatrixMarket matrix coordinate pattern general' and 'ROWS COLUMNS ENTRIES'"};
  if (words.count == 0 || !same_word(words.word[0], "%%MatrixMarket"))
    throw ParseError{line.begin, "the first line must begin with '%%MatrixMarket', found " +
                                     quoted(line.begin, line.end) + "; is this a Matrix Market file?"};
  if (words.count != 5)
    throw ParseError{line.begin, "expected '%%MatrixMarket matrix coordinate FIELD SYMMETRY', found " +
                                     std::to_string(words.count) + " words; complete the line"};
  if (!same_word(words.word[1], "matrix")) throw refused(words.word[1], "write 'matrix'");
  if (!same_word(words.word[2], "coordinate")) throw refused(words.word[2], "store the matrix as 'coordinate'");
  Header header;
  if (same_word(words.word[3], "integer")) {
    header.weight = WeightRule::integer;
  } else if (same_word(words.word[3], "real")) {
    header.weight = WeightRule::real;
  } else if (!same_word(words.word[3], "pattern")) {
    throw refused(words.word[3], "the field must be pattern, integer or real");
  }
  header.symmetric = same_word(words.word[4], "symmetric");
  if (!header.symmetric && !same_word(words.word[4], "general"))
    throw refused(words.word[4], "the symmetry must be general or symmetric");
  return header;
}

}  // namespace

Csr read_matrix_market(const Source& source) {
  const Text text{source.view(), source.name};
  try {
    Line line = line_at(text.begin(), text.end());
    const Header header = read_banner(line);
    const char* first = nullptr;
    do {
      line = line_at(line.next, text.end());
      first = skip_blanks(line.begin, line.end);
    } while (line.begin < text.end() && (first == line.end || *first == '%'));
    if (line.begin == text.end())
      throw ParseError{text.end(), "the file ends before the line 'ROWS COLUMNS ENTRIES'; is it complete?"};
    std::int64_t rows = 0, columns = 0, entries = 0;
    const char* p = read_count(first, line.end, "the number of rows", rows);
    p = read_count(skip_blanks(p, line.end), line.end, "the number of columns", columns);
    p = skip_blanks(read_count(skip_blanks(p, line.end), line.end, "the number of entries", entries), line.end);
    if (p != line.end)
      throw ParseError{p, "expected nothing behind the number of entries, found " + quoted(p, line.end) +
                              "; a size line is 'ROWS COLUMNS ENTRIES'"};
    if (rows != columns)
      throw ParseError{first, "the matrix has " + std::to_string(rows) + " rows but " + std::to_string(columns) +
                                  " columns; the matrix of a graph is square"};
    if (rows > kMaxVertices)
      throw ParseError{first,
                       std::to_string(rows) + " vertices are too many; the most are " + std::to_string(kMaxVertices)};
    const std::int64_t body = text.end() - line.next;
    const std::int64_t shortest = header.weight == WeightRule::none ? 4 : 6;  // "1 1\n", "1 1 1\n"
    if (entries > (body + 1) / shortest)
      throw ParseError{first, "declares " + std::to_string(entries) + " entries, but only " + std::to_string(body) +
                                  " bytes follow; is the file complete?"};
    const auto place = [&] { return text.place(first); };
    const WeightKind kind = header.weight == WeightRule::none      ? WeightKind::none
                            : header.weight == WeightRule::integer ? WeightKind::int32
                                                                   : WeightKind::float64;
    source.require_room({rows, entries, kind}, peak_bytes(rows, entries, kind, header.symmetric), place);
    ArcRules rules;
    rules.comments = "%";
    rules.columns = header.weight == WeightRule::none ? 2 : 3;
    rules.weight = header.weight;
    if (header.weight == WeightRule::none)
      rules.columns_cure = "a pattern matrix has no weights: declare the field integer or real";
    rules.reals_only = header.weight == WeightRule::real;
    rules.vertices = {1, rows};
    rules.lower_triangle = header.symmetric;
    rules.arcs = entries;
    rules.memory_bytes = source.memory_bytes;
    ArcList arcs = read_arc_lines(text, line.next, rules, Progress(source.options.progress, 0.5, 0.9));
    return build(source, rows, std::move(arcs), header.symmetric, place);
  } catch (const ParseError& error) {
    text.raise(error);
  }
}

void write_matrix_market(const Csr& graph, const std::string& file, Compression compression) {
  const std::int64_t n = graph.num_vertices();
  // A symmetric matrix is stored as its lower triangle. The flag is verified first, because a wrong flag would lose arcs.
  const bool symmetric = graph.symmetric && is_symmetric(graph);
  std::int64_t entries = 0;
  for (std::int64_t u = 0; u < n; ++u)
    for (const vertex_t v : graph.neighbors(static_cast<vertex_t>(u))) entries += !symmetric || v <= u;
  TextFile out(file, compression);
  out.text("%%MatrixMarket matrix coordinate ");
  out.text(graph.weight_kind == WeightKind::none ? "pattern" : has_whole_weights(graph) ? "integer" : "real");
  out.text(symmetric ? " symmetric\n" : " general\n");
  out.number(n).byte(' ').number(n).byte(' ').number(entries).byte('\n');
  for (std::int64_t u = 0; u < n; ++u) {
    for (arc_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      if (symmetric && graph.targets[a] > u) continue;
      out.number(u + 1).byte(' ').number(static_cast<std::int64_t>(graph.targets[a]) + 1);
      if (graph.weight_kind != WeightKind::none) out.byte(' ').weight(graph, a);
      out.byte('\n');
    }
  }
  out.commit();
}

}  // namespace shoal::io
