// shoal bfs: breadth-first search from one or many sources.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.hpp"
#include "graph_argument.hpp"
#include "output.hpp"
#include "progress.hpp"
#include "shoal/algo/bfs_run.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/runtime/devices.hpp"
#include "shoal/runtime/run_flags.hpp"
#include "sources.hpp"
#include "verify.hpp"

namespace shoal::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* const kFooter = R"(examples:
  shoal bfs kron:20                            one search from a random source, on all GPUs or else all CPU threads
  shoal bfs kron:20 --trials 16 --verify       16 random sources; exit status 1 if any answer is wrong
  shoal bfs road:2048 --source 0 --strategy async --device cpu --pes 2
  shoal bfs web.mtx --source max-degree --output levels.npy
                                               levels as a NumPy array: int32, -1 where there is no path
  shoal bfs soc.el.gz --undirected --parents --output tree.txt
                                               one line per vertex: level and parent
  shoal bfs kron:22 --device gpu --pes 2 --worker block:256 --kernel persistent --stats
  shoal bfs kron:22 --trials 64 --json=result.json

Times are of the search alone: the graph is placed before, answers are fetched and checked afterwards. Arcs per second
count the out-arcs of reached vertices; GTEPS (symmetric graphs only) is half of that, as Graph500 counts: each undirected
edge once.)";

constexpr arc_t kMostArcsOnHost = arc_t{1} << 27;

/// One search, as it is printed and written.
struct Trial {
  vertex_t source;
  std::int32_t depth;
  std::int64_t reached, reached_arcs;
  Report report;
  std::optional<std::string> wrong;  // nothing: not checked; empty: right
};

double arcs_per_second(const Trial& trial) {
  return trial.report.seconds > 0 ? static_cast<double>(trial.reached_arcs) / trial.report.seconds : 0;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return n % 2 == 1 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

class BfsCommand {
 public:
  void add_to(CLI::App& app) {
    graph_.add_to(app);
    const char* what = "What is searched";
    app.add_option("--source", source_, "N, random, random:K (vertices with out-arcs, by --seed) or max-degree")
        ->group(what);
    app.add_option("--trials", trials_, "searches; source after source (default: one per source)")
        ->group(what)
        ->type_name("N");
    app.add_option("--strategy", strategy_, "auto, async (by worklist) or levels (level by level)")
        ->group(what)
        ->type_name("KIND");
    app.add_flag("--parents", parents_, "also a tree: of each vertex the smallest valid parent")->group(what);
    app.add_flag("--verify", verify_, "check every answer by its properties; exit status 1 if one is wrong")
        ->group(what);
    const char* out = "What comes out";
    app.add_option("--output", output_, "levels (and parents) of the one source: .npy, or text with a line per vertex")
        ->group(out)
        ->type_name("FILE");
    app.add_flag("--json{-}", json_, "options, machine, trials and reports as JSON, to --json=FILE or standard output")
        ->group(out);
    app.add_flag("--stats", stats_, "what the last search did: items, traffic, phases, options chosen")->group(out);
    app.add_flag("--quiet", quiet_, "no table and no progress")->group(out);
    flags_.add_to(app);
    app.footer(kFooter);
  }

  int run() {
    flags_.read(options_);
    options_.strategy = parse_strategy(strategy_);
    options_.parents = parents_;
    choice_ = SourceChoice::parse(source_);
    if (trials_ < 0 || trials_ > 1'000'000) throw UsageError("--trials is a number from 1 to 1,000,000");
    if (trials_ == 0) trials_ = std::max<int>(1, static_cast<int>(choice_.number * is_random()));
    if (!output_.empty() && is_random() && (choice_.number > 1 || (choice_.number == 0 && trials_ > 1))) {
      throw UsageError("--output holds the answer for one source, but several were asked for; add --source N");
    }
    open_outputs();
    place();
    search();
    return finish();
  }

 private:
  bool is_random() const { return choice_.kind == SourceChoice::Kind::random; }
  bool quiet() const { return quiet_ || json_ == "-"; }

  /// Places that cannot be written are found before the long part.
  void open_outputs() {
    if (!output_.empty()) output_file_.emplace(output_);
    if (!json_.empty() && json_ != "-") json_file_.emplace(json_);
  }

  void place() {
    const auto begin = std::chrono::steady_clock::now();
    if (const auto spec = graph_.generator()) {
      const Step step("generating and placing " + graph_.text(), quiet_);
      runner_ = std::make_unique<BfsRunner>(*spec, options_);
      name_ = spec->text();
      symmetric_ = !spec->directed;
    } else {
      file_graph_ = graph_.load(quiet_);
      name_ = graph_.text();
      symmetric_ = file_graph_->symmetric;
      const auto read = std::chrono::steady_clock::now();
      phases_.emplace_back("read", std::chrono::duration<double>(read - begin).count());
      const Step step("placing " + graph_.text(), quiet_);
      runner_ = std::make_unique<BfsRunner>(*file_graph_, options_);
      phases_.emplace_back("place", std::chrono::duration<double>(std::chrono::steady_clock::now() - read).count());
      return;
    }
    phases_.emplace_back("generate and place",
                         std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  void search() {
    const auto degree = [this](vertex_t v) { return runner_->degree(v); };
    const std::vector<vertex_t> sources =
        choose_sources(choice_, trials_, options_.seed, runner_->num_vertices(), runner_->num_arcs(), degree);
    if (!quiet()) std::cout << describe(name_, runner_->num_vertices(), runner_->num_arcs()) << "\n" << std::flush;
    std::optional<Verifier> verifier;
    double verify_seconds = 0;
    for (int i = 0; i < trials_; ++i) {
      const vertex_t source = sources[static_cast<std::size_t>(i) % sources.size()];
      Step step("searching, trial " + std::to_string(i + 1) + " of " + std::to_string(trials_), quiet_);
      Report report = runner_->search(source);
      BfsResult result = runner_->result();
      Trial trial{source, result.depth, result.reached, result.reached_arcs, std::move(report), std::nullopt};
      if (verify_) {
        const auto begin = std::chrono::steady_clock::now();
        if (checked_in_place(trial.report)) {
          trial.wrong = runner_->verify();
        } else {
          if (!verifier) verifier.emplace(file_graph_ ? *file_graph_ : runner_->graph());
          trial.wrong = verifier->find_wrong(source, result);
        }
        verify_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      trials_done_.push_back(std::move(trial));
      if (!quiet()) print_trial(i);
      if (i + 1 == trials_ && output_file_) write_output(result);
    }
    if (verify_) phases_.emplace_back("verify", verify_seconds);
  }

  /// Large graphs on GPUs are checked where they are, arc by arc, with the same functions as on the host: reading them on
  /// the host takes longer than everything else. A tree is always checked on the host.
  bool checked_in_place(const Report& report) const {
    const auto on_gpu = [](const auto& choice) {
      return choice.first == "device" && choice.second.rfind("gpu", 0) == 0;
    };
    return !parents_ && runner_->num_arcs() > kMostArcsOnHost &&
           std::any_of(report.chosen.begin(), report.chosen.end(), on_gpu);
  }

  void print_trial(int i) {
    const Trial& t = trials_done_[static_cast<std::size_t>(i)];
    if (i == 0) {
      for (const auto& [option, why] : t.report.chosen) std::cout << "  " << option << ": " << why << "\n";
      std::printf("%6s %11s %7s %14s %12s %10s%s\n", "trial", "source", "depth", "reached", "time ms", "Garcs/s",
                  verify_ ? "  verified" : "");
    }
    std::cout << std::flush;
    std::printf("%6d %11u %7d %14s %12.3f %10.3f%s\n", i + 1, t.source, t.depth, grouped(t.reached).c_str(),
                t.report.seconds * 1e3, arcs_per_second(t) / 1e9,
                !t.wrong           ? ""
                : t.wrong->empty() ? "  right"
                                   : "  WRONG");
    std::fflush(stdout);
  }

  void write_output(const BfsResult& result) {
    std::vector<const std::int32_t*> rows = {result.levels.data()};
    if (parents_) rows.push_back(result.parents.data());
    write_rows(*output_file_, rows, result.levels.size());
  }

  /// Nothing that is wrong gets an output's name: files are renamed only when every answer that was checked is right.
  int finish() {
    int wrong = 0;
    for (std::size_t i = 0; i < trials_done_.size(); ++i) {
      const Trial& t = trials_done_[i];
      if (!t.wrong || t.wrong->empty()) continue;
      ++wrong;
      std::fprintf(stderr, "shoal: wrong result: trial %zu from source %u: %s\n", i + 1, t.source, t.wrong->c_str());
    }
    std::vector<double> seconds, rates;
    for (const Trial& t : trials_done_) {
      seconds.push_back(t.report.seconds);
      rates.push_back(arcs_per_second(t));
    }
    if (!quiet()) {
      std::printf("%6s %47.3f %10.3f", "median", median(seconds) * 1e3, median(rates) / 1e9);
      if (symmetric_) std::printf("   (%.3f GTEPS)", median(rates) / 2e9);
      std::printf("\n");
      if (verify_) std::printf("%s\n", wrong > 0 ? "NOT all answers are right" : "all answers are right");
    }
    if (stats_) std::printf("last search:\n%s", to_text(trials_done_.back().report).c_str());
    std::fflush(stdout);
    if (!json_.empty()) write_json(median(seconds), median(rates));
    if (wrong > 0) return kWrongResult;
    if (output_file_) output_file_->commit();
    return kRight;
  }

  void write_json(double median_seconds, double median_rate) {
    Json json = Json::parse(machine_to_json());
    json["command"] = "bfs";
    json["graph"] = {{"name", name_},
                     {"num_vertices", runner_->num_vertices()},
                     {"num_arcs", runner_->num_arcs()},
                     {"symmetric", symmetric_}};
    json["options"] = Json::parse(to_json(options_));
    json["options"]["strategy"] = strategy_;
    json["options"]["source"] = source_;
    json["options"]["trials"] = trials_;
    json["options"]["parents"] = parents_;
    json["options"]["verify"] = verify_;
    for (const auto& [phase, seconds] : phases_) json["phase_seconds"][phase] = seconds;
    json["trials"] = Json::array();
    for (const Trial& t : trials_done_) {
      Json trial = {{"source", t.source},          {"depth", t.depth},
                    {"reached", t.reached},        {"reached_arcs", t.reached_arcs},
                    {"seconds", t.report.seconds}, {"arcs_per_second", arcs_per_second(t)},
                    {"verified", nullptr},         {"report", Json::parse(to_json(t.report))}};
      if (t.wrong) trial["verified"] = t.wrong->empty();
      if (t.wrong && !t.wrong->empty()) trial["wrong"] = *t.wrong;
      json["trials"].push_back(std::move(trial));
    }
    json["median_seconds"] = median_seconds;
    json["median_arcs_per_second"] = median_rate;
    const std::string text = json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (!json_file_) {
      std::cout << text;
      return;
    }
    json_file_->write(text);
    json_file_->commit();
  }

  GraphArgument graph_;
  RunFlags flags_;
  std::string source_ = "random", strategy_ = "auto", output_, json_;
  int trials_ = 0;
  bool parents_ = false, verify_ = false, stats_ = false, quiet_ = false;

  BfsOptions options_;
  SourceChoice choice_;
  std::optional<OutputFile> output_file_, json_file_;
  std::string name_;
  bool symmetric_ = false;
  std::optional<Csr> file_graph_;
  std::unique_ptr<BfsRunner> runner_;
  std::vector<std::pair<std::string, double>> phases_;
  std::vector<Trial> trials_done_;
};

}  // namespace

Run add_bfs(CLI::App& shoal) {
  CLI::App* app = shoal.add_subcommand("bfs", "breadth-first search: the fewest hops from a source to every vertex");
  auto command = std::make_shared<BfsCommand>();
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
