// shoal tune: finds the fastest options for a graph, says how far `auto` is from them, and stores them in a profile.
#include <cstdio>
#include <iostream>
#include <memory>

#include "command.hpp"
#include "json_output.hpp"
#include "profile.hpp"
#include "progress.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/core/version.hpp"
#include "shoal/program/run_flags.hpp"
#include "tune_search.hpp"

namespace shoal::cli {
namespace {

const char* const kTuneFooter = R"(examples:
  shoal tune kron:20 --algorithm bfs                    try options for a minute, and store the best in your profile
  shoal bfs kron:20 --profile auto                      use the stored options
  shoal tune roads.gr.gz --algorithm bfs --device gpu --budget 300
  shoal tune road:1024 --pes 2 --kernel persistent      every run has the options that are given here
  shoal tune kron:18 --profile none --json=tuned.json   write every measurement, and store nothing

One answer of each combination of options is checked; exit status 1 means that one was wrong. At the end, auto and the best
combination run in turns: "auto is N % above the best" is the median of auto's time over the best one's, turn by turn. Differences
of a few per cent say little on a busy machine. A run that takes 16 times as long as the fastest so far (and over a second) is
ended, and its combination given up.)";

class TuneCommand {
 public:
  void add_to(CLI::App& app) {
    app_ = &app;
    graph_.add_to(app);
    const char* what = "What is tuned";
    std::string names;
    for (const AlgorithmInfo* info : algorithms()) names += (names.empty() ? "" : ", ") + std::string(info->name);
    app.add_option("--algorithm", algorithm_, "the algorithm to tune: " + names)
        ->group(what)
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--option", more_,
                   "an option of the algorithm for every run, such as --option strategy=async; may be repeated")
        ->group(what)
        ->type_name("NAME=VALUE");
    app.add_option("--budget", limits_.budget_seconds, "time to spend, approximately")
        ->group(what)
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("--trials", limits_.trials,
                   "runs of auto, and of the best options, in the final comparison (more if they are short)")
        ->group(what)
        ->type_name("N")
        ->capture_default_str()
        ->check(whole_number<int>);
    const char* out = "Output";
    app.add_option("--profile", profile_,
                   "where to store the best options: auto (in the user's profile), none, or FILE")
        ->group(out)
        ->type_name("WHICH")
        ->capture_default_str()
        ->check(not_empty);
    json_.add_to(app, "all measurements", out);
    app.add_flag("--quiet", quiet_, "print only the last lines, and no progress")->group(out);
    flags_.add_to(app);
    app.footer(kTuneFooter);
  }

  int run() {
    const AlgorithmInfo& info = find_algorithm(algorithm_);
    if (!(limits_.budget_seconds > 0 && limits_.budget_seconds <= 1e6)) {
      throw UsageError("--budget " + exact(limits_.budget_seconds) + " is out of range: above 0, to 1e6 seconds");
    }
    if (limits_.trials < 1 || limits_.trials > 1000) {
      throw UsageError("--trials " + std::to_string(limits_.trials) + " is out of range: 1 to 1,000");
    }
    const Way fixed = read_fixed();
    Options options;
    flags_.read(options);
    limits_.seed = options.seed;
    configure(info, to_flags(fixed));  // refuses options that no run accepts, before the graph is read
    const std::string profile = profile_ == "auto" ? profile_path() : profile_;
    refuse_same_files({{"--profile", profile == "none" ? "" : profile}, json_.file(), graph_.cache()},
                      {graph_.file(), {"--partition", options.partition_file}});
    json_.open();
    if (profile_ != "none") check_profile_place(profile, /*make_folder=*/profile_ == "auto");
    GraphInput graph(graph_, quiet_);
    TuneMeasure measure(info, graph, fixed, options);

    const bool silent = quiet_ || json_.to_stdout();
    if (!silent)
      std::cout << info.name << " of " << printable(graph.name()) << ", for " << graph.features() << "\n" << std::flush;
    Step step("tuning", quiet_);
    TuneSearch search(info, measure, fixed, limits_, [&](double used, const Measured& m) {
      step.done(std::min(used, 1.0));
      if (!silent) print(m);
    });
    search.run();
    return finish(info, graph, search, measure.machine(), profile);
  }

 private:
  /// The options of runs that the command line gives. Every run has them.
  Way read_fixed() const {
    CLI::App probe;
    RunFlags names;
    names.add_to(probe);
    Way fixed;
    for (const CLI::Option* option : probe.get_options()) {
      const std::string flag = option->get_name();
      if (flag == "--help" || app_->count(flag) == 0) continue;
      fixed[flag] = app_->get_option(flag)->results().back();
    }
    for (const std::string& text : more_) {
      const std::size_t equal = text.find('=');
      if (equal == 0 || equal == std::string::npos) {
        throw UsageError("--option '" + text + "' does not have the form NAME=VALUE, such as strategy=async");
      }
      fixed["--" + text.substr(0, equal)] = text.substr(equal + 1);
    }
    return fixed;
  }

  static void print(const Measured& m) {
    if (m.failed.empty()) {
      std::printf("  %12.3f ms  %2d x  %s\n", m.seconds * 1e3, m.trials, to_text(m.way).c_str());
    } else {
      std::printf("  %12s     %5s  %s: %s\n", m.wrong ? "WRONG" : "-", "", to_text(m.way).c_str(), m.failed.c_str());
    }
    std::fflush(stdout);
  }

  int finish(const AlgorithmInfo& info, const GraphInput& graph, const TuneSearch& search, const TuneMachine& machine,
             const std::string& profile) {
    int wrong = 0;
    for (const Measured& m : search.all()) {
      if (!m.wrong) continue;
      ++wrong;
      std::fprintf(stderr, "shoal: wrong result: %s: %s\n", to_text(m.way).c_str(), m.failed.c_str());
    }
    const ProfileEntry entry = {{machine.described, info.name, graph.features()},
                                to_flags(search.best()),
                                search.best_seconds(),
                                search.auto_seconds(),
                                kVersion};
    if (!json_.to_stdout()) {
      if (search.left_out() > 0) {
        std::printf("%lld combinations of options were left out because the budget was spent; raise --budget\n",
                    static_cast<long long>(search.left_out()));
      }
      std::printf("best: %s: %.3f ms; auto: %.3f ms; auto is %.1f %% above the best (%d turns)\n",
                  to_text(search.best()).c_str(), search.best_seconds() * 1e3, search.auto_seconds() * 1e3,
                  search.gap() * 100, search.turns());
    }
    if (json_.wanted()) write_json(graph, search, entry, machine.json);
    if (wrong > 0) return kWrongResult;
    if (profile != "none") {
      store_in_profile(profile, entry);
      if (!json_.to_stdout())
        std::printf("stored in %s; use it with --profile %s\n", printable(profile).c_str(),
                    printable(profile_).c_str());
    }
    return kRight;
  }

  void write_json(const GraphInput& graph, const TuneSearch& search, const ProfileEntry& entry, Json json) {
    json["command"] = "tune";
    json["algorithm"] = entry.key.algorithm;
    json["graph"] = {{"name", graph.name()}, {"features", entry.key.graph}};
    json["ways"] = Json::array();
    for (const Measured& m : search.all()) {
      Json way = {{"flags", to_flags(m.way)}, {"trials", m.trials}, {"seconds", nullptr}};
      if (m.trials > 0 && !m.wrong) way["seconds"] = m.seconds;
      if (!m.failed.empty()) way[m.wrong ? "wrong" : "failed"] = m.failed;
      json["ways"].push_back(std::move(way));
    }
    json["left_out"] = search.left_out();
    json["auto_chose"] = Json::object();
    for (const Decision& decision : search.auto_chose()) json["auto_chose"][decision.option] = to_text(decision);
    json["best"] = entry.flags;
    json["best_seconds"] = entry.seconds;
    json["auto_seconds"] = entry.auto_seconds;
    json["turns"] = search.turns();
    json["auto_above_best"] = search.gap();
    json_.write(json);
  }

  CLI::App* app_ = nullptr;
  GraphArgument graph_;
  RunFlags flags_;
  std::string algorithm_ = "bfs", profile_ = "auto";
  JsonOutput json_;
  std::vector<std::string> more_;
  TuneLimits limits_;
  bool quiet_ = false;
};

}  // namespace

Run add_tune(CLI::App& shoal) {
  CLI::App* app = shoal.add_subcommand("tune", "find the fastest options for a graph, and store them in a profile");
  auto command = std::make_shared<TuneCommand>();
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
