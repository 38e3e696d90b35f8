#include "edge_list_head.hpp"

#include <algorithm>
#include <array>

namespace shoal::io {
namespace {

constexpr const char* kComments = "#%";
constexpr std::string_view kMatrixMarket = "%%MatrixMarket";
constexpr std::size_t kMostFields = 100;  // no more are counted, because a large file may be one single line

// Comments

/// The whole word as a non-negative number; nothing if it is not one.
std::optional<std::int64_t> whole_number(std::string_view word) {
  std::int64_t value = 0;
  const auto [rest, status] = std::from_chars(word.data(), word.data() + word.size(), value);
  const bool whole = !word.empty() && is_digit(word[0]) && rest == word.data() + word.size();
  return whole && status == std::errc() ? std::optional(value) : std::nullopt;
}

/// The number after `label` in a comment, in the same word or in the next one.
std::optional<std::int64_t> number_behind(std::string_view label, const Words& words) {
  const int kept = std::min(words.count, Words::kMost);
  for (int i = 0; i < kept; ++i) {
    std::string_view word = words.word[i];
    if (i == 0) word.remove_prefix(1);  // the character that begins a comment
    if (!same_word(word.substr(0, label.size()), label)) continue;
    word.remove_prefix(label.size());
    return whole_number(word.empty() && i + 1 < kept ? words.word[i + 1] : word);
  }
  return std::nullopt;
}

ParseError too_many(const char* at) {
  return {at, "more vertices than " + std::to_string(kMaxVertices) + "; split the graph"};
}

StatedVertices stated(std::int64_t count, const Line& line, bool exact) {
  if (count > kMaxVertices) throw too_many(line.begin);
  return {count, line.begin, exact};
}

/// `# shoal vertices=9`
StatedVertices read_own_mark(const Line& line) {
  std::int64_t n = 0;
  const char* stop = read_count(line.begin + kOwnMark.size(), line.end, "the number of vertices", n);
  if (skip_blanks(stop, line.end) != line.end)
    throw ParseError{
        stop, "expected nothing behind the number of vertices, found " + quoted(stop + 1, line.end) + "; remove it"};
  return stated(n, line, true);
}

/// True for the first line of a KONECT file, such as `% sym unweighted`.
bool is_konect(const Words& words) {
  static constexpr std::array<std::string_view, 9> kWeights{"unweighted", "positive",      "posweighted",
                                                            "signed",     "multisigned",   "weighted",
                                                            "dynamic",    "multiweighted", "multiposweighted"};
  return words.count == 3 && words.word[0] == "%" &&
         (words.word[1] == "sym" || words.word[1] == "asym" || words.word[1] == "bip") &&
         std::find(kWeights.begin(), kWeights.end(), words.word[2]) != kWeights.end();
}

/// Reads the information that comments before the arcs give.
class Comments {
 public:
  explicit Comments(EdgeListHead& head) : head_(head) {}

  void read(const Line& line) {
    const std::string_view text(line.begin, static_cast<std::size_t>(line.end - line.begin));
    const Words words(line);
    if (first_ && text.starts_with(kOwnMark)) {
      head_.vertices = read_own_mark(line);
    } else if (first_ && is_konect(words)) {
      read_konect(words);
    } else if (!head_.vertices) {
      read_sizes(words, line);
    }
    first_ = false;
  }
  bool konect() const { return konect_; }

 private:
  void read_konect(const Words& words) {
    if (words.word[1] == "bip")
      throw ParseError{
          words.word[0].data(),
          "a bipartite network numbers the two ends of its edges separately; add the largest number of the first "
          "column to the second, and remove this line"};
    konect_ = true;
    head_.undirected = words.word[1] == "sym";
    head_.rules.vertices.base = 1;
    if (words.word[2] == "unweighted") head_.rules.weight_column = -1;  // if times follow, this column is all ones
  }

  /// `# Nodes: 9 Edges: 20` (SNAP), `# n=9 m=20`, or in a KONECT file `% 20 9 9`
  void read_sizes(const Words& words, const Line& line) {
    static constexpr std::array<std::array<std::string_view, 2>, 3> kLabels{
        {{"nodes:", "edges:"}, {"vertices:", "edges:"}, {"n=", "m="}}};
    for (const auto& [vertices, edges] : kLabels) {
      const auto n = number_behind(vertices, words);
      if (n && number_behind(edges, words)) head_.vertices = stated(*n, line, false);
    }
    if (!konect_ || words.count != 4 || words.word[0] != "%") return;
    const auto rows = whole_number(words.word[2]), columns = whole_number(words.word[3]);
    if (whole_number(words.word[1]) && rows && columns) head_.vertices = stated(std::max(*rows, *columns), line, false);
  }

  EdgeListHead& head_;
  bool first_ = true, konect_ = false;
};

// Columns

/// The fields of a line, separated by blanks and commas. For the line of names, and to count columns.
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
  if (field.starts_with('"') || field.starts_with('\'')) field.remove_prefix(1);
  if (field.empty()) return false;
  const char c = field[0];
  return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
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

/// Sets the columns by their names. If no name is known, the order stays source, target, weight.
void apply_names(const std::vector<std::string_view>& fields, bool index, const char* at, ArcRules& rules) {
  int source = -1, target = -1, weight = -1, known = index ? 1 : 0;
  for (int i = known; i < static_cast<int>(fields.size()); ++i) {
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
  if (source < 0 || target < 0 || known != static_cast<int>(fields.size())) {
    if (index)
      throw ParseError{
          at,
          "the first column has no name, as if it were pandas' index, and the others are not source, target "
          "and optionally weight; leave the index out (to_csv with index=False), or rename the columns"};
    throw ParseError{at, "the column names are not source, target and optionally weight; rename or remove columns"};
  }
  rules.source_column = source;
  rules.target_column = target;
  rules.weight_column = weight;
}

/// If this is the line of names of a .csv or .tsv file, reads it and returns true. pandas and R leave the name of their index
/// empty.
bool read_names(const Line& line, Format flavour, ArcRules& rules) {
  if (flavour != Format::csv && flavour != Format::tsv) return false;
  auto fields = fields_of(line.begin, line.end);
  if (flavour == Format::tsv && *line.begin == '\t') fields.emplace(fields.begin());
  const bool index = fields.size() > 1 && unquoted(fields[0]).empty();
  if (!looks_like_name(fields[index ? 1 : 0])) return false;
  const std::size_t names = fields.size() - (index ? 1 : 0);
  if (names < 2 || names > 3)
    throw ParseError{line.begin, "expected 2 or 3 column names, found " + std::to_string(names) +
                                     "; keep source, target and optionally weight"};
  rules.columns = static_cast<int>(fields.size());
  apply_names(fields, index, line.begin, rules);
  if (rules.weight_column >= 0 && rules.weight_column < rules.columns) rules.weight = WeightRule::any;
  return true;
}

/// Sets the number of columns by the first line with an arc.
void count_columns(const Line& line, bool konect, ArcRules& rules) {
  const char* first = skip_blanks(line.begin, line.end);
  const auto fields = fields_of(first, line.end);
  if (looks_like_name(fields[0]))
    throw ParseError{first, "expected a vertex number, found " + quoted(fields[0]) +
                                "; vertices are numbers from 0 (names of columns are read in .csv and .tsv files)"};
  // An error about a field that is not a number is more useful than one about the number of fields, so this comes first.
  vertex_t vertex = 0;
  read_vertex(first, line.end, true, rules.vertices, vertex);
  rules.columns = static_cast<int>(fields.size());
  if (fields.size() > 2 && fields[2].starts_with('{')) {
    rules.columns = 3;
    rules.attributes = true;
    rules.weight = fields[2] == "{}" ? WeightRule::none : WeightRule::any;
    return;
  }
  const int most = konect ? 4 : 3;  // the fourth column of a KONECT file is the time
  if (rules.columns < 2 || rules.columns > most)
    throw ParseError{first, "expected 2 or 3 columns, found " + std::to_string(fields.size()) +
                                (fields.size() < kMostFields ? "" : " or more") +
                                "; keep source, target and optionally weight (cut -f1,2)"};
  if (rules.weight_column >= 0 && rules.columns > 2) rules.weight = WeightRule::any;
}

}  // namespace

EdgeListHead read_edge_list_head(const Text& text, Format flavour) {
  // The size line of such a file would be read as an edge.
  if (same_word(text.bytes.substr(0, kMatrixMarket.size()), kMatrixMarket))
    throw ParseError{text.begin(), "begins as a Matrix Market file; let the name end in .mtx, or add --format mtx"};
  EdgeListHead head;
  head.rules.comments = kComments;
  head.rules.commas = true;
  Comments comments(head);
  Line line = line_at(text.begin(), text.end());
  const auto next_data = [&] {
    for (; line.begin < text.end(); line = line_at(line.next, text.end())) {
      const char* first = skip_blanks(line.begin, line.end);
      if (first == line.end) continue;
      if (*first != '#' && *first != '%') return true;
      comments.read(line);
    }
    return false;
  };
  head.arcs = next_data();
  const bool names = head.arcs && read_names(line, flavour, head.rules);
  if (names) {
    line = line_at(line.next, text.end());
    head.arcs = next_data();
  }
  head.body = line.begin;
  if (head.arcs && !names) count_columns(line, comments.konect(), head.rules);

  if (flavour == Format::weighted_edge_list && head.rules.weight == WeightRule::none) {
    if (head.arcs)
      throw ParseError{
          line.begin,
          "a .wel file has three columns, found 2; if it has no weights, let the name end in .el, or add --format el"};
    head.rules.weight = WeightRule::any;
  }
  return head;
}

}  // namespace shoal::io
