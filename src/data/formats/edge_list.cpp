// Edge lists: SNAP and GAPBS text, NetworkX, KONECT, TSV, CSV. Every line has the same columns. The vertices are 0..largest, or as
// many as the file or the options state.
#include <algorithm>

#include "arc_lines.hpp"
#include "data/output.hpp"
#include "edge_list_head.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"

namespace shoal::io {
namespace {

/// The largest vertex number in arcs `first` and later, or -1.
std::int64_t largest_vertex(const ArcList& arcs, std::int64_t first) {
  std::int64_t largest = -1;
  for (const auto* ends : {&arcs.sources, &arcs.targets})
    for (auto v = ends->begin() + first; v < ends->end(); ++v) largest = std::max<std::int64_t>(largest, *v);
  return largest;
}

/// True if the first arc may really be a line VERTICES EDGES, which some programs write: its second number is the number of
/// lines after it, and no arc has a vertex beyond its first number. There must also be more edges than vertices, because a path
/// can look the same otherwise.
bool begins_like_a_header(const ArcFacts& arcs) {
  return arcs.count >= 3 && arcs.first_target == arcs.count - 1 && arcs.first_target > arcs.first_source &&
         arcs.largest_behind <= arcs.first_source;
}

}  // namespace

ArcFacts facts_of(const ArcList& arcs) {
  ArcFacts facts;
  facts.count = arcs.size();
  if (facts.count == 0) return facts;
  facts.first_source = arcs.sources[0], facts.first_target = arcs.targets[0];
  facts.largest_behind = largest_vertex(arcs, 1);
  return facts;
}

VertexCount count_vertices(const Text& text, const EdgeListHead& head, const ArcFacts& arcs) {
  if (head.rules.vertices.count >= 0) return {head.rules.vertices.count, ""};
  const std::int64_t largest = arcs.largest();
  if (!head.vertices) {
    if (!begins_like_a_header(arcs)) return {largest + 1, ""};
    const std::string n = std::to_string(arcs.first_source), m = std::to_string(arcs.first_target);
    return {largest + 1,
            "line " + std::to_string(text.line(head.body)) + " (" + n + " " + m +
                ") is taken as an arc, but looks like 'VERTICES EDGES': if it is, put # before it and give "
                "--vertices " +
                n};
  }
  const auto& [stated, at, exact] = *head.vertices;
  if (exact && stated <= largest)
    text.raise(at, "declares " + std::to_string(stated) + " vertices, but vertex " + std::to_string(largest) +
                       " occurs; correct or remove this line");
  if (exact || stated == largest + 1) return {stated, ""};
  const std::string written = std::to_string(largest + head.rules.vertices.base),
                    line = "line " + std::to_string(text.line(at)) + " says";
  if (stated <= largest)
    return {largest + 1,
            grouped(largest + 1) + " vertices, because vertex " + written + " occurs; " + line + " " + grouped(stated)};
  return {stated, counted(stated, "vertex", "vertices") + ", as " + line +
                      (largest < 0 ? "" : "; the largest in an arc is " + written)};
}

EdgeListHead begin_edge_list(const Text& text, const ReadOptions& options, Format flavour) {
  EdgeListHead head;
  try {
    head = read_edge_list_head(text, flavour);
  } catch (const ParseError& error) {
    text.raise(error);
  }
  if (options.num_vertices) {
    head.rules.vertices.count = *options.num_vertices;
    head.rules.vertices.cure = "correct it, or raise --vertices";
  } else if (!head.arcs && !head.vertices) {
    text.raise(
        text.end(),
        "the edge list holds no edges, and nothing says how many vertices it has; give the number with --vertices");
  }
  return head;
}

Csr read_edge_list(const Source& source, Format flavour) {
  const Text text{source.view(), source.name};
  EdgeListHead head = begin_edge_list(text, source.options, flavour);
  ArcRules& rules = head.rules;
  rules.memory_bytes = source.memory_bytes;
  ArcList arcs = read_arc_lines(text, head.body, rules, Progress(source.options.progress, 0.5, 0.9));
  const ArcFacts facts = facts_of(arcs);
  const std::int64_t largest = facts.largest();
  VertexCount vertices = count_vertices(text, head, facts);
  const bool undirected = source.options.undirected || head.undirected;
  Csr graph = build(source, vertices.count, std::move(arcs), undirected, [&]() -> std::string {
    if (source.options.num_vertices) return source.name + ": --vertices:";
    if (largest + 1 < vertices.count) return text.place(head.vertices->at);
    return text.place(line_of_vertex(text, head.body, rules, static_cast<vertex_t>(largest))) + " vertex " +
           std::to_string(largest + rules.vertices.base) + ":";
  });
  graph.vertices_remark = std::move(vertices.remark);
  if (graph.weight_kind == WeightKind::none) graph.weight_remarks.missing = head.missing();
  return graph;
}

void write_edge_list(const Csr& graph, const std::string& file, Format flavour, Compression compression) {
  const std::int64_t n = graph.num_vertices();
  const bool names = flavour == Format::csv || flavour == Format::tsv;
  const bool says_weights = names || flavour == Format::weighted_edge_list;
  if (graph.num_arcs() == 0 && graph.weight_kind != WeightKind::none &&
      (!says_weights || graph.weight_kind == WeightKind::float64))
    throw UsageError(file + ": without arcs this format cannot say that the graph has " +
                     (says_weights ? "real " : "") + "weights; write .mtx, .npz or .shoal");
  if (flavour == Format::weighted_edge_list && graph.weight_kind == WeightKind::none)
    throw UsageError(
        file +
        ": the graph has no weights, which a .wel file needs; write .el, or make some with --weights hash255 or unit");
  TextFile out(file, compression);
  std::int64_t largest = -1;
  for (const vertex_t v : graph.targets) largest = std::max<std::int64_t>(largest, v);
  // Without this line, vertices after the last one that has an arc would be lost.
  const bool last_is_source = n > 0 && graph.degree(static_cast<vertex_t>(n - 1)) > 0;
  if (!last_is_source && (largest + 1 < n || n == 0)) out.text(kOwnMark).number(n).text("\n");
  const char separator = flavour == Format::csv ? ',' : flavour == Format::tsv ? '\t' : ' ';
  if (names) {
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
