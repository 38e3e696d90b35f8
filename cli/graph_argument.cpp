#include "graph_argument.hpp"

#include <CLI/CLI.hpp>

#include "algo/host_memory.hpp"
#include "progress.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal::cli {

void GraphArgument::add_to(CLI::App& app) {
  app.add_option("graph", text_,
                 "a file (.mtx .gr .graph .el .edges .edgelist .wel .txt .tsv .csv, each also .gz .zst; .sg .wsg .npz "
                 ".shoal), - for standard input (with --format), or a generator: kron:S uniform:S community:S (2^S "
                 "vertices) road:N chain:N star:N complete:N, with options ,seed= ,degree= ,directed ,deleted= "
                 ",mixing= ,skew= ,shuffled (`shoal generate --help` explains them)")
      ->required()
      ->check(not_empty)
      ->type_name("GRAPH");
  const char* group = "Reading a file";
  app.add_flag("--undirected", undirected_, "edge lists: read each line as two arcs, one in each direction")
      ->group(group);
  app.add_flag("--dedup", dedup_, "merge parallel arcs into one with their smallest weight")->group(group);
  app.add_option("--vertices", vertices_, "edge lists: the vertices are 0 to N - 1, even if some have no arcs")
      ->group(group)
      ->check(whole_number<std::int64_t>)
      ->type_name("N");
  app.add_flag("--cache", cache_, "write GRAPH.shoal beside the file, and read that next time, which is faster")
      ->group(group);
  app.add_option("--format", format_, "read the file as if its name had this ending: el, mtx.gz, ...")
      ->group(group)
      ->type_name("ENDING");
}

NamedFile GraphArgument::file() const { return {"the graph", is_generator(text_) ? "" : text_}; }
NamedFile GraphArgument::cache() const { return {"--cache", cache_ ? text_ + ".shoal" : ""}; }

std::optional<GeneratorSpec> GraphArgument::generator() const {
  if (!is_generator(text_)) return std::nullopt;
  const char* flag = undirected_        ? "--undirected"
                     : dedup_           ? "--dedup"
                     : vertices_        ? "--vertices"
                     : cache_           ? "--cache"
                     : !format_.empty() ? "--format"
                                        : nullptr;
  if (flag != nullptr)
    throw UsageError(std::string(flag) + " is for files; '" + text_ + "' is a generator (./" + text_ +
                     " would be a file of that name)");
  return parse_generator(text_);
}

Csr GraphArgument::load(bool quiet, const std::function<std::int64_t(const GraphSize&)>& needs) const {
  if (const auto spec = generator()) {
    require_host_memory(text_, size_of(*spec), needs ? needs(size_of(*spec)) : 0);
    const Step step("generating " + text_, quiet);
    return generate(*spec);
  }
  Step step("reading " + text_, quiet);
  ReadOptions options = reading();
  options.needs = needs;
  options.progress = step.callback();
  return read_graph(text_, options);
}

ReadOptions GraphArgument::reading() const {
  ReadOptions options;
  options.undirected = undirected_;
  options.dedup = dedup_;
  options.num_vertices = vertices_;
  options.use_cache = cache_;
  options.format = format_;
  return options;
}

std::unique_ptr<SharedGraph> GraphArgument::share(bool quiet, const Together& together) const {
  if (is_generator(text_) || !can_share(text_, reading())) return nullptr;
  const Step step("opening " + text_, quiet);
  return open_shared(text_, reading(), together);
}

std::string describe(const std::string& name, std::int64_t num_vertices, arc_t num_arcs) {
  return printable(name) + " (" + counted(num_vertices, "vertex", "vertices") + ", " +
         counted(num_arcs, "arc", "arcs") + ")";
}

}  // namespace shoal::cli
