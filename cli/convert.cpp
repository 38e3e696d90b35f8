// shoal convert and shoal generate: write a graph in another format, or a generated graph.
#include <iostream>
#include <memory>

#include "command.hpp"
#include "data/formats.hpp"
#include "graph_argument.hpp"
#include "progress.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "shoal/graph/weights.hpp"

namespace shoal::cli {
namespace {

struct Flags {
  GraphArgument graph;
  std::string spec, output, weights;
  bool transpose = false, quiet = false;
};

void write_output(const Csr& graph, const Flags& flags, const std::string& from) {
  Csr weighted;
  if (!flags.weights.empty()) weighted = with_weights(graph, parse_weights(flags.weights));
  {
    const Step step("writing " + flags.output, flags.quiet);
    write_graph(flags.weights.empty() ? graph : weighted, flags.output);
  }
  if (flags.quiet || is_standard_output(flags.output)) return;
  std::cout << describe(from, graph.num_vertices(), graph.num_arcs()) << " -> " << printable(flags.output) << "\n";
  if (!graph.vertices_remark.empty()) std::cout << "  note: " << graph.vertices_remark << "\n";
}

/// A graph may be converted in place. But if the flags ask for no change, it is a slip, and the file would only lose its comments.
void refuse_to_convert_for_nothing(const Flags& flags) {
  const std::string input = flags.graph.file().name;
  if (input.empty() || !io::is_same_file(flags.output, input)) return;
  if (flags.graph.changes_file() || flags.transpose || !flags.weights.empty()) return;
  const std::string what = flags.output == input ? input + " is the input and the output"
                                                 : flags.output + " and " + input + " are the same file";
  throw UsageError(
      what + ", and no option asks for a change; give the output another name, or say what is to change in place " +
      "(--undirected, --dedup, --vertices, --format, --transpose or --weights)");
}

int convert(const Flags& flags) {
  io::kind_to_write(flags.output);  // before the long part
  refuse_to_convert_for_nothing(flags);
  // The output may have the name of the input, since the new file gets this name only after the input has been read.
  refuse_same_files({{"the output", flags.output}, flags.graph.cache()}, {});
  // Besides the graph itself, memory is needed for its reverse, for new weights, and for a count per vertex while it is written.
  const auto needs = [&](const GraphSize& size) {
    return csr_bytes(size) * (flags.transpose ? 2 : 1) + 4 * size.arcs * !flags.weights.empty() + 8 * size.vertices;
  };
  Csr graph = flags.graph.load(flags.quiet, needs);
  if (flags.transpose) {
    const Step step("reversing " + flags.graph.text(), flags.quiet);
    graph = transpose(graph);
  }
  write_output(graph, flags, flags.graph.text());
  return kRight;
}

int generate_file(const Flags& flags) {
  if (!is_generator(flags.spec)) {
    throw UsageError(
        "'" + flags.spec +
        "' is not a generator; legal: kron:S road:N uniform:S community:S chain:N star:N complete:N, for example "
        "kron:18,seed=7");
  }
  const GeneratorSpec spec = parse_generator(flags.spec);
  io::kind_to_write(flags.output);
  Csr graph;
  {
    const Step step("generating " + flags.spec, flags.quiet);
    graph = generate(spec);
  }
  write_output(graph, flags, spec.text());
  return kRight;
}

const char* const kWeights = "give every arc a weight: hash255 (1 to 255, a hash of its two ends) or unit (1)";
const char* const kOutput =
    "file to write; its ending names the format: .sg .wsg .shoal .npz, or .el .wel .csv .tsv .mtx .gr .graph (these "
    "also .gz .zst)";

}  // namespace

Run add_convert(CLI::App& shoal) {
  CLI::App* app = shoal.add_subcommand("convert", "write a graph in another format");
  auto flags = std::make_shared<Flags>();
  flags->graph.add_to(*app);
  app->add_option("output", flags->output, kOutput)->required()->check(not_empty)->type_name("FILE");
  app->add_flag("--transpose", flags->transpose, "reverse every arc");
  app->add_option("--weights", flags->weights, kWeights)->type_name("SOURCE");
  app->add_flag("--quiet", flags->quiet, "print nothing");
  app->footer(R"(examples:
  shoal convert web.mtx web.sg                 Matrix Market to the binary format of the GAP benchmark suite
  shoal convert soc.txt.gz soc.shoal --undirected --dedup
  shoal convert web.mtx web.mtx --dedup        in place: the file is replaced when all of the new one is written
  shoal convert cites.tsv cited.mtx --transpose)");
  return [flags] { return convert(*flags); };
}

Run add_generate(CLI::App& shoal) {
  CLI::App* app = shoal.add_subcommand(
      "generate", "write a generated graph to a file; the same seed gives the same graph on every machine");
  auto flags = std::make_shared<Flags>();
  app->add_option("generator", flags->spec,
                  "kron:S or uniform:S (2^S vertices; options ,degree=16 ,directed), community:S (the same, with "
                  "communities and skewed degrees; ,mixing=.2 is the share of edges that leave their community; also "
                  ",skew=3 ,shuffled), road:N (N x N grid; ,deleted=.1 is the share of edges that are left out), "
                  "chain:N, star:N, complete:N; each with ,seed=1")
      ->required()
      ->type_name("GENERATOR");
  app->add_option("output", flags->output, kOutput)->required()->check(not_empty)->type_name("FILE");
  app->add_option("--weights", flags->weights, kWeights)->type_name("SOURCE");
  app->add_flag("--quiet", flags->quiet, "print nothing");
  app->footer(R"(examples:
  shoal generate kron:18 k18.sg                Graph500 Kronecker, 2^18 vertices
  shoal generate road:1000,deleted=0.2,seed=3 roads.gr --weights hash255
  shoal generate uniform:16,degree=8 u16.mtx
  shoal generate community:18,mixing=0.1 c18.sg    degrees and community sizes follow power laws
  shoal generate road:2048 r2048.wsg --weights hash255)");
  return [flags] { return generate_file(*flags); };
}

}  // namespace shoal::cli
