// Edge lists: SNAP and GAPBS text, TSV, CSV. Two or three columns, the same on every line; vertices are 0..largest.
#include <algorithm>
#include <array>
#include <optional>

#include "arc_lines.hpp"
#include "data/output.hpp"
#include "shoal/core/error.hpp"

namespace shoal::io {
namespace {

constexpr const char* kComments = "#%";
constexpr std::string_view kMatrixMarket = "%%MatrixMarket";
constexpr std::string_view kOwnMark =
    "# shoal vertices=";  // says how many vertices there are beyond the largest number

constexpr std::size_t kMostFields = 100;  // more are not counted: a line may be the whole of a large file

/// Fields of a line, cut at blanks and commas, for the line of names and for counting columns.
std::vector<std::string_view> fields_of(const char* p, const char* end) {
  std::vector<std::string_view> fields;
  p = skip_blanks(p, end);
  while (p < end && fields.size() < kMostFields) {
    const char* first = p;
    while (p < end && !is_blank(*p) && *p != ',') ++p;
    fields.emplace_back(first, static_cast<std::size_t>(p - first));
    p = skip_blanks(p, end);
    if (p < end && *p == ',') {
      p = skip_blanks(p + 1, end);
      if (p == end) fields.emplace_back(end, 0);
    }
  }
  return fields;
}

bool looks_like_name(std::string_view field) {
  if (field.empty()) return false;
  const char c = field[0];
  return c == '"' || c == '\'' || c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string_view unquoted(std::string_view field) {
  const bool wrapped = field.size() >= 2 && (field[0] == '"' || field[0] == '\'') && field.back() == field[0];
  return wrapped ? field.substr(1, field.size() - 2) : field;
}

template <std::size_t N>
bool one_of(std::string_view field, const std::array<std::string_view, N>& names) {
  return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return same_word(field, name); });
}

constexpr std::array<std::string_view, 9> kSourceNames{"source", "src",       "from",      "u",         "tail",
                                                       "start",  "from_node", "source_id", "fromnodeid"};
constexpr std::array<std::string_view, 10> kTargetNames{"target", "dst",     "dest",      "to",       "v",
                                                        "head",   "to_node", "target_id", "tonodeid", "destination"};
constexpr std::array<std::string_view, 7> kWeightNames{"weight", "w",     "cost",    "distance",
                                                       "length", "value", "capacity"};

/// Columns as the line of names orders them. Names that say nothing leave the order source, target, weight.
void apply_names(const std::vector<std::string_view>& fields, const char* at, ArcRules& rules) {
  int source = -1, target = -1, weight = -1, known = 0;
  for (int i = 0; i < static_cast<int>(fields.size()); ++i) {
    const std::string_view field = unquoted(fields[i]);
    int* role = one_of(field, kSourceNames)   ? &source
                : one_of(field, kTargetNames) ? &target
                : one_of(field, kWeightNames) ? &weight
                                              : nullptr;
    if (role == nullptr) continue;
    if (*role >= 0) throw ParseError{at, "two columns are named alike, " + quoted(field) + "; rename one of them"};
    *role = i;
    ++known;
  }
  if (known == 0) return;
  if (source < 0 || target < 0 || known != static_cast<int>(fields.size()))
    throw ParseError{at, "the column names are not source, target and optionally weight; rename or remove columns"};
  rules.source_column = source;
  rules.target_column = target;
  rules.weight_column = weight;
}

/// The number of vertices that a file of ours says, if its first line does.
std::optional<std::int64_t> declared_vertices(const Line& first) {
  const std::string_view line(first.begin, static_cast<std::size_t>(first.end - first.begin));
  if (!line.starts_with(kOwnMark)) return std::nullopt;
  std::int64_t n = 0;
  const char* stop = read_count(first.begin + kOwnMark.size(), first.end, "the number of vertices", n);
  if (skip_blanks(stop, first.end) != first.end)
    throw ParseError{
        stop, "expected nothing behind the number of vertices, found " + quoted(stop + 1, first.end) + "; remove it"};
  if (n > kMaxVertices)
    throw ParseError{first.begin, "more vertices than " + std::to_string(kMaxVertices) + "; split the graph"};
  return n;
}

}  // namespace

Csr read_edge_list(const Source& source, Format flavour) {
  Text text{source.view(), source.name};
  if (text.bytes.starts_with("\xef\xbb\xbf")) text.bytes.remove_prefix(3);  // byte order mark of a spreadsheet
  ArcRules rules;
  rules.comments = kComments;
  rules.commas = true;
  std::optional<std::int64_t> declared;
  const char* body = text.begin();
  try {
    Line line = line_at(body, text.end());
    // Its size line would pass for an edge.
    if (same_word(text.bytes.substr(0, kMatrixMarket.size()), kMatrixMarket))
      throw ParseError{body, "begins as a Matrix Market file; let the name end in .mtx"};
    declared = declared_vertices(line);
    const char* first = nullptr;
    auto skip_comments = [&] {
      for (; line.begin < text.end(); line = line_at(line.next, text.end())) {
        first = skip_blanks(line.begin, line.end);
        if (first < line.end && *first != '#' && *first != '%') return true;
      }
      return false;
    };
    bool data = skip_comments();
    bool names = false;
    if (data && (flavour == Format::csv || flavour == Format::tsv) && looks_like_name({first, 1})) {
      const auto fields = fields_of(first, line.end);
      if (fields.size() < 2 || fields.size() > 3)
        throw ParseError{first, "expected 2 or 3 column names, found " + std::to_string(fields.size()) +
                                    "; keep source, target and optionally weight"};
      rules.columns = static_cast<int>(fields.size());
      apply_names(fields, first, rules);
      names = true;
      body = line.next;
      line = line_at(line.next, text.end());
      data = skip_comments();
    }
    if (!data) text.raise(text.end(), "the edge list holds no edges; a graph without edges can be a .mtx file");
    if (!names) {
      body = line.begin;
      rules.columns = static_cast<int>(fields_of(first, line.end).size());
      if (rules.columns == 2 && flavour == Format::weighted_edge_list)
        throw ParseError{first, "a .wel file has three columns, found 2; name it .el if it has no weights"};
      // Whether the first line's fields are numbers at all is said before their count.
      vertex_t vertex = 0;
      read_vertex(first, line.end, true, 0, -1, vertex);
      if (rules.columns != 2 && rules.columns != 3)
        throw ParseError{first, "expected 2 or 3 columns, found " + std::to_string(rules.columns) +
                                    (rules.columns < static_cast<int>(kMostFields) ? "" : " or more") +
                                    "; keep source, target and optionally weight (cut -f1,2)"};
    }
  } catch (const ParseError& error) {
    text.raise(error);
  }
  if (rules.columns == 3) rules.weight = WeightRule::any;
  rules.memory_bytes = source.memory_bytes;
  ArcList arcs = read_arc_lines(text, body, rules, Progress(source.options.progress, 0.5, 0.9));
  std::int64_t n = 0;
  for (const auto* ends : {&arcs.sources, &arcs.targets})
    for (const vertex_t v : *ends) n = std::max(n, static_cast<std::int64_t>(v) + 1);
  if (declared && *declared < n)
    text.raise(text.begin(), "declares " + std::to_string(*declared) + " vertices, but vertex " +
                                 std::to_string(n - 1) + " occurs; correct or remove this line");
  return build(source, declared.value_or(n), std::move(arcs), source.options.undirected, [&] {
    if (declared) return text.place(text.begin());
    const auto largest = static_cast<vertex_t>(n - 1);
    return text.place(line_of_vertex(text, body, rules, largest)) + " vertex " + std::to_string(largest) + ":";
  });
}

void write_edge_list(const Csr& graph, const std::string& file, Format flavour, Compression compression) {
  const std::int64_t n = graph.num_vertices();
  if (graph.num_arcs() == 0)
    throw UsageError(file + ": an edge list cannot hold a graph without arcs; write .mtx, .graph or .shoal");
  if (flavour == Format::weighted_edge_list && graph.weight_kind == WeightKind::none)
    throw UsageError(file + ": the graph has no weights, which a .wel file needs; write .el");
  TextFile out(file, compression);
  vertex_t largest = 0;
  for (const vertex_t v : graph.targets) largest = std::max(largest, v);
  // Without this line, vertices behind the last one that has an arc would be lost.
  if (graph.degree(static_cast<vertex_t>(n - 1)) == 0 && largest + 1 < n) out.text(kOwnMark).number(n).text("\n");
  const char separator = flavour == Format::csv ? ',' : flavour == Format::tsv ? '\t' : ' ';
  if (flavour == Format::csv || flavour == Format::tsv) {
    out.text("source").byte(separator).text("target");
    if (graph.weight_kind != WeightKind::none) out.byte(separator).text("weight");
    out.byte('\n');
  }
  for (std::int64_t u = 0; u < n; ++u) {
    for (arc_t a = graph.offsets[u]; a < graph.offsets[u + 1]; ++a) {
      out.number(u).byte(separator).number(graph.targets[a]);
      if (graph.weight_kind != WeightKind::none) out.byte(separator).weight(graph, a);
      out.byte('\n');
    }
  }
  out.commit();
}

}  // namespace shoal::io
