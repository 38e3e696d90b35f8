// shoal info: prints what a graph contains.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <vector>

#include "command.hpp"
#include "graph_argument.hpp"
#include "json_output.hpp"
#include "progress.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"

namespace shoal::cli {
namespace {

struct Facts {
  arc_t max_degree = 0;
  vertex_t max_vertex = 0;
  std::int64_t without_arcs = 0;  // vertices with no out-arc
  std::int64_t loops = 0;
  std::int64_t parallel = 0;  // arcs that repeat an arc of the same two ends
  bool symmetric = false;
  std::vector<std::int64_t> histogram;  // [i]: vertices with 2^(i-1) <= degree < 2^i; [0]: degree 0
  std::int64_t bytes = 0;
};

Facts look_at(const Csr& graph) {
  Facts facts;
  std::vector<vertex_t> row;
  for (std::int64_t i = 0; i < graph.num_vertices(); ++i) {
    const vertex_t v = static_cast<vertex_t>(i);
    const arc_t degree = graph.degree(v);
    if (degree > facts.max_degree) {
      facts.max_degree = degree;
      facts.max_vertex = v;
    }
    facts.without_arcs += degree == 0;
    std::size_t bin = 0;
    for (arc_t d = degree; d > 0; d >>= 1) ++bin;
    if (bin >= facts.histogram.size()) facts.histogram.resize(bin + 1);
    ++facts.histogram[bin];
    row.assign(graph.neighbors(v).begin(), graph.neighbors(v).end());
    if (!std::is_sorted(row.begin(), row.end())) std::sort(row.begin(), row.end());
    for (std::size_t k = 0; k < row.size(); ++k) {
      facts.loops += row[k] == v;
      facts.parallel += k > 0 && row[k] == row[k - 1];
    }
  }
  facts.symmetric = graph.symmetric || is_symmetric(graph);
  facts.bytes = graph.offsets.size() * 8 + graph.targets.size() * 4 + graph.int_weights.size() * 4 +
                graph.real_weights.size() * 8;
  return facts;
}

const char* weights_text(const Csr& graph) {
  return graph.weight_kind == WeightKind::int32     ? "int32"
         : graph.weight_kind == WeightKind::float64 ? "float64"
                                                    : "none";
}

void print_json(const std::string& name, const Csr& graph, const Facts& facts) {
  Json json = {{"name", name},
               {"num_vertices", graph.num_vertices()},
               {"num_arcs", graph.num_arcs()},
               {"symmetric", facts.symmetric},
               {"weights", weights_text(graph)},
               {"max_degree", facts.max_degree},
               {"max_degree_vertex", facts.max_vertex},
               {"without_arcs", facts.without_arcs},
               {"loops", facts.loops},
               {"parallel_arcs", facts.parallel},
               {"degree_histogram", facts.histogram},
               {"memory_bytes", facts.bytes}};
  if (!graph.vertices_remark.empty()) json["vertices_remark"] = graph.vertices_remark;
  if (!graph.weight_remarks.wide.empty()) json["weights_remark"] = graph.weight_remarks.wide;
  std::cout << json_text(json);
}

void print_text(const std::string& name, const Csr& graph, const Facts& facts) {
  const double n = static_cast<double>(std::max<std::int64_t>(1, graph.num_vertices()));
  const auto line = [](const char* label, const std::string& value) {
    std::printf("%-14s %s\n", label, value.c_str());
  };
  line("graph", printable(name));
  line("vertices", grouped(graph.num_vertices()));
  if (!graph.vertices_remark.empty()) line("", graph.vertices_remark);
  line("arcs", grouped(graph.num_arcs()) + (facts.symmetric ? " (symmetric: each has its reverse)" : " (directed)"));
  line("out-degree", "mean " + fixed(static_cast<double>(graph.num_arcs()) / n, 2) + ", largest " +
                         grouped(facts.max_degree) + " (vertex " + std::to_string(facts.max_vertex) + ")");
  line("no out-arcs", counted(facts.without_arcs, "vertex", "vertices"));
  line("loops", grouped(facts.loops));
  line("parallel arcs", grouped(facts.parallel) + (facts.parallel > 0 ? " (--dedup merges them)" : ""));
  const std::string& wide = graph.weight_remarks.wide;
  line("weights", weights_text(graph) + (wide.empty() ? wide : ": " + wide));
  line("memory", bytes_text(facts.bytes));
  std::printf("\n%-14s %14s\n", "out-degree", "vertices");
  for (std::size_t i = 0; i < facts.histogram.size(); ++i) {
    const std::int64_t low = i == 0 ? 0 : std::int64_t{1} << (i - 1);
    const std::int64_t high = i == 0 ? 0 : (std::int64_t{1} << i) - 1;
    const std::string range = low == high ? grouped(low) : grouped(low) + "-" + grouped(high);
    std::printf("%-14s %14s\n", range.c_str(), grouped(facts.histogram[i]).c_str());
  }
}

}  // namespace

Run add_info(CLI::App& shoal) {
  struct Flags {
    GraphArgument graph;
    bool json = false, quiet = false;
  };
  CLI::App* app = shoal.add_subcommand("info", "what a graph contains: vertices, arcs, degrees, symmetry, weights");
  auto flags = std::make_shared<Flags>();
  flags->graph.add_to(*app);
  app->add_flag("--json", flags->json, "print JSON");
  app->add_flag("--quiet", flags->quiet, "print no progress");
  app->footer(R"(examples:
  shoal info web.mtx
  shoal info kron:16
  shoal info soc.txt.gz --undirected --json)");
  return [flags] {
    // Besides the graph itself, the check for symmetry needs the beginning of a row for each vertex.
    const auto needs = [](const GraphSize& size) { return csr_bytes(size) + 8 * size.vertices; };
    const Csr graph = flags->graph.load(flags->quiet, needs);
    Facts facts;
    {
      const Step step("counting " + flags->graph.text(), flags->quiet);
      facts = look_at(graph);
    }
    if (flags->json) {
      print_json(flags->graph.text(), graph, facts);
    } else {
      print_text(flags->graph.text(), graph, facts);
    }
    return kRight;
  };
}

}  // namespace shoal::cli
