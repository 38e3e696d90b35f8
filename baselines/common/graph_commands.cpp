// The subcommands `bfs` and `pagerank` of a baseline.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "algo/bfs/check.hpp"
#include "algo/pagerank/engines.hpp"
#include "algo/pagerank/reference.hpp"
#include "command.hpp"
#include "graph_argument.hpp"
#include "shared_commands.hpp"
#include "shoal/core/text.hpp"
#include "shoal/data/io.hpp"
#include "sources.hpp"
#include "statistics.hpp"
#include "step_table.hpp"

namespace shoal::baselines {
namespace {

class GraphCommands : public SharedCommands {
  struct Trial {
    vertex_t source = 0;
    double seconds = 0, arcs = 0;
    cli::Json facts;
    std::string cells, wrong;
    std::optional<StepTable> steps;
  };

 public:
  GraphCommands(const Kind& kind, Processes& processes, CLI::App& app) : SharedCommands(kind, processes) {
    bfs_ = app.add_subcommand("bfs", "breadth-first search, level by level");
    bfs_->add_option("--source", source_, "N, random, random:K (vertices with out-arcs, by --seed) or max-degree");
    bfs_->add_option("--seed", seed_, "of random sources")->check(whole_number<std::uint64_t>);
    bfs_->add_flag("--send-once", send_once_, "a rank sends a vertex at most once in a search");
    pagerank_ = app.add_subcommand("pagerank", "PageRank, by sweeps over all vertices");
    pagerank_->add_option("--alpha", rules_.alpha, "probability that a walk follows an arc, 0 to 0.9999");
    pagerank_->add_option("--tolerance", rules_.tolerance, "largest sum of |rank - exact rank|, 1e-11 to 1");
    for (CLI::App* command : {bfs_, pagerank_}) {
      graph_argument_.add_to(*command);
      command->add_option("--trials", trials_, "runs (default: one, or one per source)")->check(whole_number<int>);
      add_shared_options(*command, "check every answer on rank 0; exit status 1 if one is wrong",
                         "time of each level or sweep of the last run, by rank; with --json of all");
    }
  }

  bool asked() const override { return bfs_->parsed() || pagerank_->parsed(); }

  void prepare() override {
    const std::string& name = graph_argument_.text();
    if (name == "-" || std::filesystem::is_fifo(name)) {
      throw UsageError("'" + name + "' can be read only once, but every rank reads the graph; give a file");
    }
    const auto choice = cli::SourceChoice::parse(source_);
    check_numbers(trials_.value_or(1));
    const bool random = choice.kind == cli::SourceChoice::Kind::random;
    if (!trials_) trials_ = random ? std::max(1, static_cast<int>(choice.number)) : 1;
    rules_.wide = true;
    check_pagerank_rules(rules_.alpha, rules_.tolerance);
    refuse_same_files({json_.file(), graph_argument_.cache()}, {graph_argument_.file()});
    if (processes_.rank == 0) json_.open();
    engine_ = kind_.make(processes_, per_process_);
    // Memory for the whole graph and for the ranks' rows, in every process of this machine.
    graph_ = graph_argument_.load(quiet_ || processes_.rank != 0,
                                  [this](const GraphSize& size) { return 2 * csr_bytes(size) * processes_.on_host; });
    num_vertices_ = graph_.num_vertices();
    num_arcs_ = graph_.num_arcs();
    symmetric_ = graph_.symmetric;
    name_ = graph_.name;
    if (bfs_->parsed()) {
      sources_ = cli::choose_sources(choice, *trials_, seed_, num_vertices_, num_arcs_,
                                     [this](vertex_t v) { return graph_.degree(v); });
    }
  }

  /// Runs all trials. Drops the graph when it is no longer needed.
  void run() override {
    const bool searches = bfs_->parsed();
    if (searches) engine_->place_search(graph_, send_once_);
    if (!searches) engine_->place_ranking(graph_, rules_);
    if (!verify_ || processes_.rank != 0) graph_ = Csr();
    for (int i = 0; i < *trials_; ++i) {
      Trial t;
      processes_.barrier();
      if (searches) t.source = sources_[static_cast<std::size_t>(i) % sources_.size()];
      t.seconds = processes_.most(searches ? engine_->search(t.source) : engine_->sweep());
      t.steps.emplace(processes_, per_process_, engine_->steps());
      searches ? finish_search(t) : finish_ranking(t);
      done_.push_back(std::move(t));
      if (prints()) print(i);
    }
  }

  int report() override {
    std::vector<double> seconds, rates;
    int status = cli::kRight;
    for (const Trial& t : done_) {
      seconds.push_back(t.seconds);
      rates.push_back(rate(t));
      if (t.wrong.empty()) continue;
      status = cli::kWrongResult;
      std::fprintf(stderr, "%s: wrong result: trial %td: %s\n", kind_.name.c_str(), &t - done_.data() + 1,
                   t.wrong.c_str());
    }
    if (prints()) {
      std::printf("median %.3f ms, %.3f Garcs/s\n", cli::median(seconds) * 1e3, cli::median(rates) / 1e9);
      if (verify_) std::puts(status == cli::kRight ? "all answers are right" : "NOT all answers are right");
    }
    if (stats_ && !json_.to_stdout()) done_.back().steps->print(bfs_->parsed() ? "level" : "sweep", "vertices");
    if (json_.wanted()) write_json(cli::median(seconds), cli::median(rates));
    return status;
  }

  void forget_engine() override { engine_.reset(); }

 private:
  static double rate(const Trial& t) { return t.seconds > 0 ? t.arcs / t.seconds : 0; }

  /// On process 0: the values of all vertices in the input's order. On other processes: nothing.
  template <class T>
  HostArray<T> gather(const std::vector<T>& own) {
    Ranks ranks{0, num_ranks()};
    std::vector<std::int64_t> begins(ranks.size), counts(processes_.size);
    for (int r = 0; r < ranks.size; ++r) {
      if (r > 0) begins[r] = begins[r - 1] + ranks.count(num_vertices_, r - 1);
      counts[r / per_process_] += ranks.count(num_vertices_, r);
    }
    const std::vector<T> by_rank = processes_.gather(own, counts);
    HostArray<T> all(processes_.rank == 0 ? num_vertices_ : 0);
    for (std::int64_t v = 0; v < all.size(); ++v) {
      const auto vertex = static_cast<vertex_t>(v);
      all[v] = by_rank[begins[ranks.owner(vertex)] + ranks.local(vertex)];
    }
    return all;
  }

  void finish_search(Trial& t) {
    const Reached own = engine_->reached();
    BfsResult result;
    result.reached = processes_.sum(own.vertices);
    result.reached_arcs = processes_.sum(own.arcs);
    result.depth = static_cast<std::int32_t>(t.steps->count()) - 1;
    t.arcs = static_cast<double>(result.reached_arcs);
    t.facts = {{"depth", result.depth}, {"reached", result.reached}, {"reached_arcs", result.reached_arcs}};
    t.cells = "source " + std::to_string(t.source) + ", depth " + std::to_string(result.depth) + ", reached " +
              grouped(result.reached);
    if (!verify_) return;
    result.levels = gather(engine_->levels());
    if (processes_.rank == 0) t.wrong = BfsCheck(graph_).find_wrong(t.source, result);
  }

  void finish_ranking(Trial& t) {
    const std::size_t sweeps = t.steps->count();
    const double error_bound = engine_->error_bound();
    t.arcs = static_cast<double>(num_arcs_) * static_cast<double>(sweeps);
    t.facts = {{"sweeps", sweeps}, {"error_bound", error_bound}};
    t.cells = std::to_string(sweeps) + " sweeps, error below " + rough(error_bound);
    if (!verify_) return;
    const HostArray<double> all = gather(engine_->ranks());
    if (processes_.rank != 0) return;
    if (!symmetric_ && !reverse_) reverse_ = transpose(graph_);
    t.wrong = verify_pagerank(graph_, symmetric_ ? graph_ : *reverse_, all.span(), rules_.alpha, rules_.tolerance);
  }

  void print(int i) const {
    const Trial& t = done_.back();
    if (i == 0) {
      std::printf("%s (%s, %s), %s\n", printable(name_).c_str(), counted(num_vertices_, "vertex", "vertices").c_str(),
                  counted(num_arcs_, "arc", "arcs").c_str(), counted(num_ranks(), "rank", "ranks").c_str());
    }
    std::printf("trial %d: %s: %.3f ms (computation %.3f, communication %.3f), %.3f Garcs/s%s\n", i + 1,
                t.cells.c_str(), t.seconds * 1e3, t.steps->compute_seconds() * 1e3,
                t.steps->communicate_seconds() * 1e3, rate(t) / 1e9,
                !verify_          ? ""
                : t.wrong.empty() ? ", right"
                                  : ", WRONG");
    std::fflush(stdout);
  }

  void write_json(double median_seconds, double median_rate) {
    cli::Json json = begin_json(bfs_->parsed() ? "bfs" : "pagerank");
    json["graph"] = {
        {"name", name_}, {"num_vertices", num_vertices_}, {"num_arcs", num_arcs_}, {"symmetric", symmetric_}};
    json["options"]["trials"] = *trials_;
    if (bfs_->parsed()) json["options"].update({{"source", source_}, {"seed", seed_}, {"send_once", send_once_}});
    if (pagerank_->parsed()) json["options"].update({{"alpha", rules_.alpha}, {"tolerance", rules_.tolerance}});
    for (const Trial& t : done_) {
      cli::Json trial = cli::Json::object();
      if (bfs_->parsed()) trial["source"] = t.source;
      trial.update(t.facts);
      trial["seconds"] = t.seconds;
      trial["arcs_per_second"] = rate(t);
      trial["verified"] = verify_ ? cli::Json(t.wrong.empty()) : cli::Json(nullptr);
      if (!t.wrong.empty()) trial["wrong"] = t.wrong;
      t.steps->add_to(trial, "vertices", stats_);
      json["trials"].push_back(std::move(trial));
    }
    json["median_seconds"] = median_seconds;
    json["median_arcs_per_second"] = median_rate;
    json_.write(json);
  }

  std::unique_ptr<Engine> engine_;
  CLI::App *bfs_ = nullptr, *pagerank_ = nullptr;
  cli::GraphArgument graph_argument_;
  std::string source_ = "random", name_;
  std::uint64_t seed_ = 1;
  PageRankRules rules_;
  std::optional<int> trials_;
  bool send_once_ = false, symmetric_ = false;
  Csr graph_;
  std::int64_t num_vertices_ = 0;
  arc_t num_arcs_ = 0;
  std::optional<Csr> reverse_;
  std::vector<vertex_t> sources_;
  std::vector<Trial> done_;
};

}  // namespace

std::unique_ptr<Commands> graph_commands(const Kind& kind, Processes& processes, CLI::App& app) {
  return std::make_unique<GraphCommands>(kind, processes, app);
}

}  // namespace shoal::baselines
