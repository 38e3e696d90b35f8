// shoal_mpi: level-synchronous breadth-first search and PageRank on CPU ranks, with MPI alone between them. A baseline to
// stand beside `shoal bfs` and `shoal pagerank`, whose graphs, sources, checks and JSON it shares.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>

#include "algo/bfs/check.hpp"
#include "algo/pagerank/engines.hpp"
#include "algo/pagerank/reference.hpp"
#include "bfs.hpp"
#include "command.hpp"
#include "graph_argument.hpp"
#include "json_output.hpp"
#include "pagerank.hpp"
#include "shoal/data/io.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"
#include "sources.hpp"
#include "statistics.hpp"
#include "wrong_flags.hpp"

namespace shoal::mpi {
namespace {

const char* const kFooter = R"(examples:
  mpirun -n 4 shoal_mpi bfs kron:18 --trials 8 --verify
  mpirun -n 2 shoal_mpi bfs road:512 --source 0 --stats
  mpirun -n 4 shoal_mpi pagerank web.mtx --tolerance 1e-8 --json=result.json

Vertex v belongs to rank v mod ranks. Each rank reads or generates the whole graph at the start, keeps the rows of its own
vertices, and works on those; with --verify rank 0 keeps the whole graph. One thread computes on each rank.
Times are of the slowest rank, without loading. Communication is what passes within MPI, waiting for others included.)";

struct Trial {
  vertex_t source = 0;
  double seconds = 0, arcs = 0;
  cli::Json facts;
  std::string cells, wrong;
  std::vector<Step> steps;  // all of rank 0, then of rank 1, ...
};

class Program {
 public:
  explicit Program(const Ranks& ranks) : ranks_(ranks) {}

  void add_to(CLI::App& app) {
    app.require_subcommand(1);
    app.footer(kFooter);
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
      command->add_flag("--verify", verify_, "check every answer on rank 0; exit status 1 if one is wrong");
      command->add_flag("--stats", stats_, "time of each level or sweep of the last run, by rank");
      command->add_flag("--quiet", quiet_, "no table");
      json_.add_to(*command, "options, machine, trials and times", "");
      command->footer(kFooter);
    }
  }

  /// What each rank does by itself. Throws Error.
  void prepare() {
    for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
      const char* said = std::getenv(variable);
      if (said != nullptr && std::atoi(said) != ranks_.size) {
        throw UsageError("MPI has " + counted(ranks_.size, "rank", "ranks") + ", but " + variable + " says " + said +
                         "; use the mpirun of the MPI that this program was built with");
      }
    }
    const std::string& name = graph_argument_.text();
    if (name == "-" || std::filesystem::is_fifo(name)) {
      throw UsageError("'" + name + "' can be read once, but every rank reads the graph; give a file");
    }
    const auto choice = cli::SourceChoice::parse(source_);
    if (trials_ && (*trials_ < 1 || *trials_ > 1'000'000)) throw UsageError("--trials is a number from 1 to 1,000,000");
    const bool random = choice.kind == cli::SourceChoice::Kind::random;
    if (!trials_) trials_ = random ? std::max(1, static_cast<int>(choice.number)) : 1;
    rules_.wide = true;
    check_pagerank_rules(rules_.alpha, rules_.tolerance);
    cli::refuse_same_files({json_.file(), graph_argument_.cache()}, {graph_argument_.file()});
    if (ranks_.rank == 0) json_.open();
    // The whole graph and a rank's rows, on every rank of this machine.
    graph_ = graph_argument_.load(quiet_ || ranks_.rank != 0,
                                  [this](const GraphSize& size) { return 2 * csr_bytes(size) * ranks_.on_host; });
    num_vertices_ = graph_.num_vertices();
    num_arcs_ = graph_.num_arcs();
    symmetric_ = graph_.symmetric;
    name_ = graph_.name;
    if (bfs_->parsed()) {
      sources_ = cli::choose_sources(choice, *trials_, seed_, num_vertices_, num_arcs_,
                                     [this](vertex_t v) { return graph_.degree(v); });
    }
  }

  /// What all ranks do together; an error of one ends all. Drops the graph where it is not needed any more.
  void run() {
    std::optional<Search> search;
    std::optional<Ranking> ranking;
    if (bfs_->parsed()) search.emplace(graph_, ranks_, send_once_);
    if (pagerank_->parsed()) ranking.emplace(graph_, ranks_, rules_);
    if (!verify_ || ranks_.rank != 0) graph_ = Csr();
    for (int i = 0; i < *trials_; ++i) {
      Trial t;
      MPI_Barrier(MPI_COMM_WORLD);
      Clock clock;
      if (search) search->run(t.source = sources_[static_cast<std::size_t>(i) % sources_.size()]);
      if (ranking) ranking->run();
      t.seconds = over_all(clock.lap(), MPI_MAX, MPI_DOUBLE);
      gather_steps(search ? search->steps() : ranking->steps(), t);
      search ? finish(*search, t) : finish(*ranking, t);
      done_.push_back(std::move(t));
      if (prints()) print(i);
    }
  }

  /// What rank 0 does in the end. Throws Error. @return the exit status
  int report() {
    std::vector<double> seconds, rates;
    int status = cli::kRight;
    for (const Trial& t : done_) {
      seconds.push_back(t.seconds);
      rates.push_back(rate(t));
      if (t.wrong.empty()) continue;
      status = cli::kWrongResult;
      std::fprintf(stderr, "shoal_mpi: wrong result: trial %td: %s\n", &t - done_.data() + 1, t.wrong.c_str());
    }
    if (prints()) {
      std::printf("median %.3f ms, %.3f Garcs/s\n", cli::median(seconds) * 1e3, cli::median(rates) / 1e9);
      if (verify_) std::puts(status == cli::kRight ? "all answers are right" : "NOT all answers are right");
    }
    if (stats_ && !json_.to_stdout()) print_steps(done_.back());
    if (json_.wanted()) write_json(cli::median(seconds), cli::median(rates));
    std::cout.flush();
    if (std::fflush(stdout) != 0 || !std::cout) throw UsageError("standard output cannot be written");
    return status;
  }

 private:
  bool prints() const { return ranks_.rank == 0 && !quiet_ && !json_.to_stdout(); }
  static double rate(const Trial& t) { return t.seconds > 0 ? t.arcs / t.seconds : 0; }

  void gather_steps(const std::vector<Step>& own, Trial& t) {
    const int bytes = static_cast<int>(own.size() * sizeof(Step));
    t.steps.resize(ranks_.rank == 0 ? own.size() * static_cast<std::size_t>(ranks_.size) : 0);
    MPI_Gather(own.data(), bytes, MPI_BYTE, t.steps.data(), bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  }

  void finish(const Search& search, Trial& t) {
    BfsResult result;
    result.reached = search.reached();
    result.reached_arcs = search.reached_arcs();
    result.depth = static_cast<std::int32_t>(search.steps().size()) - 1;
    t.arcs = static_cast<double>(result.reached_arcs);
    t.facts = {{"depth", result.depth}, {"reached", result.reached}, {"reached_arcs", result.reached_arcs}};
    t.cells = "source " + std::to_string(t.source) + ", depth " + std::to_string(result.depth) + ", reached " +
              grouped(result.reached);
    if (!verify_) return;
    result.levels = gather(search.levels, num_vertices_, ranks_);
    if (ranks_.rank == 0) t.wrong = BfsCheck(graph_).find_wrong(t.source, result);
  }

  void finish(const Ranking& ranking, Trial& t) {
    t.arcs = static_cast<double>(num_arcs_) * static_cast<double>(ranking.steps().size());
    t.facts = {{"sweeps", ranking.steps().size()}, {"error_bound", ranking.error_bound}};
    t.cells = std::to_string(ranking.steps().size()) + " sweeps, error below " + rough(ranking.error_bound);
    if (!verify_) return;
    const HostArray<double> all = gather(ranking.ranks, num_vertices_, ranks_);
    if (ranks_.rank != 0) return;
    if (!symmetric_ && !reverse_) reverse_ = transpose(graph_);
    t.wrong = verify_pagerank(graph_, symmetric_ ? graph_ : *reverse_, all.span(), rules_.alpha, rules_.tolerance);
  }

  std::size_t steps_of(const Trial& t) const { return t.steps.size() / static_cast<std::size_t>(ranks_.size); }
  const Step& step(const Trial& t, std::size_t i, int rank) const {
    return t.steps[steps_of(t) * static_cast<std::size_t>(rank) + i];
  }
  /// Of one rank, over all its steps.
  Step sum(const Trial& t, int rank) const {
    Step all;
    for (std::size_t i = 0; i < steps_of(t); ++i) {
      const Step& s = step(t, i, rank);
      all = {all.vertices + s.vertices, all.sent + s.sent, all.compute_seconds + s.compute_seconds,
             all.communicate_seconds + s.communicate_seconds};
    }
    return all;
  }

  void print(int i) const {
    const Trial& t = done_.back();
    if (i == 0) {
      std::printf("%s (%s, %s), %s\n", printable(name_).c_str(), counted(num_vertices_, "vertex", "vertices").c_str(),
                  counted(num_arcs_, "arc", "arcs").c_str(), counted(ranks_.size, "rank", "ranks").c_str());
    }
    double compute = 0, communicate = 0;  // means: they add up to the time, save what lies outside of steps
    for (int r = 0; r < ranks_.size; ++r) {
      compute += sum(t, r).compute_seconds / ranks_.size;
      communicate += sum(t, r).communicate_seconds / ranks_.size;
    }
    std::printf("trial %d: %s: %.3f ms (computation %.3f, communication %.3f), %.3f Garcs/s%s\n", i + 1,
                t.cells.c_str(), t.seconds * 1e3, compute * 1e3, communicate * 1e3, rate(t) / 1e9,
                !verify_          ? ""
                : t.wrong.empty() ? ", right"
                                  : ", WRONG");
    std::fflush(stdout);
  }

  void print_steps(const Trial& t) const {
    std::printf("%6s %5s %11s %11s %12s %12s\n", bfs_->parsed() ? "level" : "sweep", "rank", "vertices", "words sent",
                "compute ms", "communic. ms");
    for (std::size_t i = 0; i < steps_of(t); ++i) {
      for (int r = 0; r < ranks_.size; ++r) {
        const Step& s = step(t, i, r);
        std::printf("%6zu %5d %11s %11s %12.4f %12.4f\n", i, r, grouped(s.vertices).c_str(), grouped(s.sent).c_str(),
                    s.compute_seconds * 1e3, s.communicate_seconds * 1e3);
      }
    }
  }

  void write_json(double median_seconds, double median_rate) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length = 0;
    MPI_Get_library_version(library, &length);
    cli::Json json = cli::Json::parse(machine_to_json());
    json["program"] = "shoal_mpi";
    json["command"] = bfs_->parsed() ? "bfs" : "pagerank";
    json["mpi"] = std::string(library, static_cast<std::size_t>(length));
    json["ranks"] = ranks_.size;
    json["ranks_on_this_machine"] = ranks_.on_host;
    json["graph"] = {
        {"name", name_}, {"num_vertices", num_vertices_}, {"num_arcs", num_arcs_}, {"symmetric", symmetric_}};
    json["options"] = {{"trials", *trials_}, {"verify", verify_}};
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
      trial["steps"] = steps_of(t);
      for (int r = 0; r < ranks_.size; ++r) {
        const Step all = sum(t, r);
        trial["by_rank"].push_back({{"vertices", all.vertices},
                                    {"words_sent", all.sent},
                                    {"compute_seconds", all.compute_seconds},
                                    {"communicate_seconds", all.communicate_seconds}});
      }
      json["trials"].push_back(std::move(trial));
    }
    json["median_seconds"] = median_seconds;
    json["median_arcs_per_second"] = median_rate;
    json_.write(json);
  }

  Ranks ranks_;
  CLI::App *bfs_ = nullptr, *pagerank_ = nullptr;
  cli::GraphArgument graph_argument_;
  std::string source_ = "random", name_;
  std::uint64_t seed_ = 1;
  PageRankRules rules_;
  std::optional<int> trials_;
  bool send_once_ = false, verify_ = false, stats_ = false, quiet_ = false, symmetric_ = false;
  cli::JsonOutput json_;
  Csr graph_;
  std::int64_t num_vertices_ = 0;
  arc_t num_arcs_ = 0;
  std::optional<Csr> reverse_;
  std::vector<vertex_t> sources_;
  std::vector<Trial> done_;
};

/// Runs `work`. @return what to end with; `line` says what went wrong
int attempt(const std::function<int()>& work, std::string& line) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    line = "this machine has not enough memory; use a smaller graph";
    return cli::kCapacity;
  } catch (const std::exception& error) {
    line = error.what();
    if (dynamic_cast<const UsageError*>(&error) != nullptr) return cli::kUsage;
    if (dynamic_cast<const CapacityError*>(&error) != nullptr) return cli::kCapacity;
    return dynamic_cast<const Error*>(&error) != nullptr ? cli::kTransportOrDevice : cli::kInternal;
  }
}

void complain(const std::string& line) { std::fprintf(stderr, "shoal_mpi: error: %s\n", printable(line).c_str()); }

/// The first rank's status that is not 0 becomes that of all, and rank 0 says its line.
int agree(int status, std::string line, const Ranks& ranks) {
  const int first = over_all(status != 0 ? ranks.rank : ranks.size, MPI_MIN, MPI_INT);
  if (first == ranks.size) return 0;
  int words[] = {status, static_cast<int>(line.size())};
  MPI_Bcast(words, 2, MPI_INT, first, MPI_COMM_WORLD);
  line.resize(static_cast<std::size_t>(words[1]));
  MPI_Bcast(line.data(), words[1], MPI_CHAR, first, MPI_COMM_WORLD);
  if (ranks.rank == 0 && !line.empty()) complain(line);
  return words[0];
}

int run_all(int argc, char** argv, const Ranks& ranks) {
  CLI::App app("Breadth-first search and PageRank on CPU ranks with MPI, to stand beside shoal's.", "shoal_mpi");
  Program program(ranks);
  program.add_to(app);
  std::string line;
  bool helped = false;
  int status = attempt(
      [&] {
        try {
          app.parse(argc, argv);
        } catch (const CLI::Success& help) {
          helped = true;
          return ranks.rank == 0 ? app.exit(help) : 0;
        } catch (const CLI::ParseError& error) {
          throw UsageError(cli::explain_flags(app, error));
        }
        program.prepare();
        return 0;
      },
      line);
  status = agree(status, line, ranks);
  if (status != 0 || helped) return status;
  line.clear();
  status = attempt([&] { return program.run(), 0; }, line);
  if (status != 0) {  // the others wait for this rank
    complain(line);
    MPI_Abort(MPI_COMM_WORLD, status);
  }
  if (ranks.rank == 0) status = attempt([&] { return program.report(); }, line);
  return agree(status, line, ranks);
}

}  // namespace
}  // namespace shoal::mpi

int main(int argc, char** argv) {
  shoal::cli::command_begins({argv + (argc > 0), argv + argc});
  std::signal(SIGPIPE, SIG_IGN);
  MPI_Init(&argc, &argv);
  shoal::io::remove_pending_files_on_signals();
  shoal::mpi::Ranks ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  MPI_Comm host;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &ranks.on_host);
  MPI_Comm_free(&host);
  const int status = shoal::mpi::run_all(argc, argv, ranks);
  MPI_Finalize();
  return status;
}
