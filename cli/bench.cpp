// shoal bench: runs an experiment of a paper on this machine, and shows the paper's numbers beside those of shoal.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "bench_run.hpp"
#include "command.hpp"
#include "json_output.hpp"
#include "plot.hpp"
#include "progress.hpp"
#include "run_program.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/program/run_flags.hpp"

namespace shoal::cli {
namespace {

const char* const kBenchFooter = R"(examples:
  shoal bench --list                           list the experiments and the papers that they are from
  shoal bench atos-table2 --quick              small graphs of the same kinds, on the GPUs or the CPU of this machine
  shoal bench atos-fig5 --quick                all parts of the figure, one after the other
  shoal bench atos-table2 --device gpu --pes 1,2,4 --json=table2.json --markdown table2.md --plot table2.png
  shoal bench groute-table4 --graphs road_usa --trials 5
  shoal bench atos-table4 --quick --graphs twitter50,twitter50-local    a Kronecker graph, and one with communities
  shoal bench bfs-fig41 --graphs scale18,scale21 --ranks 1,2       compared with the programs of baselines/ that were built
  shoal bench charm-fig7b --pes 1,2 --shrink 4                     grids of a fourth of the paper's size, along each side

Generated graphs stand in for the papers' graphs; the table names them. Times are medians over random sources. Every answer is
checked; exit status 1 means that one was wrong. The papers' numbers come from other machines: compare trends, not milliseconds.)";

constexpr const char* kQueueProgram = "gpu_queue";

/// The folder of the `shoal` executable, with a slash at its end; empty: it is not known.
std::string own_folder() {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::string() : self.parent_path().string() + "/";
}

class BenchCommand {
 public:
  void add_to(CLI::App& app) {
    const char* what = "What is run";
    app.add_option("experiment", name_, "the experiment; --list shows all")->type_name("NAME");
    app.add_flag("--list", list_, "list the experiments, and run nothing")->group(what);
    app.add_flag("--quick", options_.quick, "small graphs and grids, and fewer trials")->group(what);
    app.add_option(
           "--graphs", options_.graphs,
           "run only these graphs, by the paper's names: road_usa,osm_eur; NAME-local is a graph with communities")
        ->delimiter(',')
        ->group(what)
        ->type_name("NAMES");
    trials_flag_ =
        app.add_option("--trials", trials_,
                       "runs of each configuration (default: 10, with --quick 3; bfs-*: 8, charm-*: 3, with --quick 2)")
            ->group(what)
            ->type_name("N")
            ->check(whole_number<int>);
    app.add_option("--limit", options_.limit_seconds,
                   "end a run that takes longer, and show it as too slow; a configuration that has used as much time "
                   "gets no further trials")
        ->group(what)
        ->type_name("SECONDS")
        ->capture_default_str();
    app.add_option("--budget", options_.budget_seconds,
                   "start no further configuration after this time (default: no limit)")
        ->group(what)
        ->type_name("SECONDS");
    app.add_option("--device", options_.device, "auto (GPUs if there are any), cpu or gpu")
        ->group(what)
        ->type_name("KIND");
    app.add_option("--pes", options_.pes,
                   "run on each of these numbers of PEs (default: on GPUs 1 to 4, if there are as many; on the CPU "
                   "1,2, for bfs-* as --ranks)")
        ->delimiter(',')
        ->group(what)
        ->type_name("N,N")
        ->check(whole_number<int>);
    app.add_option("--pes-per-gpu", options_.pes_per_gpu,
                   "how many PEs may share a GPU if there are fewer GPUs than PEs, 1 to 4: counts of items are still "
                   "valid; times are not those of as many GPUs, and are marked with *")
        ->group(what)
        ->type_name("N")
        ->check(whole_number<int>)
        ->capture_default_str();
    ranks_flag_ = app.add_option("--ranks", ranks_,
                                 "bfs-*: run the MPI baseline on each of these numbers of ranks (default: 1,2,4)")
                      ->delimiter(',')
                      ->group(what)
                      ->type_name("N,N");
    shrink_flag_ = app.add_option("--shrink", shrink_,
                                  "charm-*: divide each side of the paper's grids by this (default: 1 on GPUs, 8 on "
                                  "CPUs; with --quick 64)")
                       ->group(what)
                       ->type_name("N")
                       ->check(whole_number<int>);
    app.add_option("--seed", options_.seed, "seed for choosing random sources (default: 1)")
        ->group(what)
        ->type_name("N")
        ->check(whole_number<std::uint64_t>);
    const char* out = "Output";
    json_.add_to(app, "every run", out);
    app.add_option("--markdown", markdown_, "write the table as Markdown; - is standard output")
        ->group(out)
        ->type_name("FILE")
        ->check(not_empty);
    app.add_option("--plot", plot_,
                   "draw curves over the number of PEs (.png, .svg or .pdf); needs python3 with matplotlib")
        ->group(out)
        ->type_name("FILE.png")
        ->check(not_empty);
    app.add_flag("--quiet", quiet_, "print no table and no progress")->group(out);
    app.footer(kBenchFooter);
  }

  int run() {
    if (list_) return list();
    if (name_.empty()) throw UsageError("no experiment given; `shoal bench --list` shows them");
    if (name_ == kQueueExperiment) return run_queues();
    const std::vector<const Experiment*> parts = find_experiments(name_);
    if (parts.size() > 1 && (json_.wanted() || !markdown_.empty() || !plot_.empty())) {
      throw UsageError(
          "experiment '" + name_ +
          "' has several parts, and --json, --markdown and --plot write only one; name one part, such as " +
          parts.front()->name);
    }
    const bool scripted = parts.empty();
    if (!scripted && ranks_flag_->count() + shrink_flag_->count() > 0) {
      throw UsageError("--ranks and --shrink are for bfs-* and charm-*; leave them out for " + name_);
    }
    // The script takes 0 for the default, and checks everything else.
    if (shrink_ == 0) throw UsageError("--shrink: use numbers from 1 to 1,000");
    if (std::find(ranks_.begin(), ranks_.end(), 0) != ranks_.end()) {
      throw UsageError("--ranks: use numbers from 1 to 1,000");
    }
    options_.trials = trials_flag_->count() > 0 ? trials_ : options_.quick ? 3 : 10;
    if (options_.trials < 1 || options_.trials > 1000) {
      throw UsageError("--trials " + std::to_string(options_.trials) + " is out of range: 1 to 1,000");
    }
    if (!(options_.limit_seconds > 0 && options_.limit_seconds <= 1e6)) {
      throw UsageError("--limit " + exact(options_.limit_seconds) + " is out of range: above 0, to 1e6 seconds");
    }
    if (!(options_.budget_seconds > 0 && options_.budget_seconds <= 1e6)) {
      throw UsageError("--budget " + exact(options_.budget_seconds) + " is out of range: above 0, to 1e6 seconds");
    }
    for (const int pes : options_.pes) {
      if (pes < 1 || pes > kMaxPes) throw UsageError("--pes " + std::to_string(pes) + " is out of range: 1 to 64");
    }
    if (options_.pes_per_gpu < 1 || options_.pes_per_gpu > kMaxPesPerGpu) {
      throw UsageError("--pes-per-gpu " + std::to_string(options_.pes_per_gpu) + " is out of range: 1 to " +
                       std::to_string(kMaxPesPerGpu));
    }
    if (scripted) return run_script();
    refuse_same_files({{"--markdown", markdown_}, json_.file(), {"--plot", plot_}}, {});
    data_to_stdout_ = json_.to_stdout() || (!markdown_.empty() && is_standard_output(markdown_));
    std::optional<OutputFile> markdown_file;
    json_.open();
    if (!markdown_.empty()) markdown_file.emplace(markdown_);
    if (!plot_.empty()) {
      check_plot(plot_, "or write --json=FILE, and draw it elsewhere with scripts/plot_bench.py");
    }
    int worst = kRight;
    for (const Experiment* part : parts) worst = std::max(worst, run_one(*part, markdown_file));
    return worst;
  }

 private:
  int run_one(const Experiment& experiment, std::optional<OutputFile>& markdown_file) {
    std::optional<Step> step;
    Json json;
    int left_out = 0;
    const std::vector<BenchRun> runs =
        run_experiment(experiment, options_, json, left_out, [&](const std::string& what, double done) {
          step.reset();
          step.emplace(what, quiet_);
          step->done(done);
        });
    step.reset();
    json["left_out"] = left_out;
    return finish(experiment, runs, std::move(json), markdown_file);
  }

  static int list() {
    const auto line = [](const std::string& name, const std::string& title, const std::string& source) {
      std::printf("%-24s %s\n%-24s %s\n", name.c_str(), title.c_str(), "", source.c_str());
    };
    for (const Experiment& experiment : experiments()) line(experiment.name, experiment.title, experiment.source);
    for (const ScriptedExperiment& experiment : scripted_experiments()) {
      line(experiment.name, experiment.title, experiment.source);
    }
    line(kQueueExperiment,
         "Push alone, pop alone, and push with pop on the queues of one GPU (by the program gpu_queue)",
         "Chen et al., Atos, Fig. 1");
    return kRight;
  }

  int run_queues() const {
    const std::string program = own_folder() + kQueueProgram;
    if (!std::filesystem::exists(program)) {
      throw UsageError(std::string(kQueueExperiment) + " is measured by the program " + kQueueProgram +
                       ", which is not in the folder of shoal; build the target " + kQueueProgram + " (it needs CUDA)");
    }
    if (!markdown_.empty() || !plot_.empty() || json_.to_stdout()) {
      throw UsageError(std::string(kQueueExperiment) +
                       " prints its own table; leave out --markdown, --plot and --json without a file "
                       "(bench/queue/plot_gpu_queue.py draws --json=FILE)");
    }
    std::vector<std::string> words = {program};
    if (options_.quick) words.insert(words.end(), {"--threads", "1024,65536", "--trials", "1"});
    if (trials_flag_->count() > 0) words.insert(words.end(), {"--trials", std::to_string(trials_)});
    if (json_.wanted()) words.insert(words.end(), {"--json", json_.place()});
    const std::optional<int> status = run_program(words);
    if (!status) throw Error(program + " could not be started, or was ended by a signal");
    return *status;
  }

  int run_script() const {
    if (!markdown_.empty() || !plot_.empty() || options_.pes_per_gpu != 1) {
      throw UsageError(name_ + " prints its own table; leave out --markdown, --plot and --pes-per-gpu");
    }
    const std::string script = std::string(SHOAL_SCRIPTS) + "/../bench/paper_figures.py";
    if (!std::filesystem::exists(script)) {
      throw UsageError(name_ + " is measured by " + script +
                       ", which does not exist; it is part of the source tree that shoal was built from");
    }
    const auto& all = scripted_experiments();
    const auto what = std::find_if(all.begin(), all.end(), [&](const auto& e) { return e.name == name_; });
    std::vector<std::string> words = {"python3",    script,     name_,        "--title",  what->title,    "--source",
                                      what->source, "--folder", own_folder(), "--device", options_.device};
    const auto add = [&](const char* flag, const auto& values) {
      if (values.empty()) return;
      words.push_back(flag);
      for (const auto& value : values) {
        std::ostringstream text;
        text << value;
        words.push_back(text.str());
      }
    };
    add("--pes", options_.pes);
    add("--graphs", options_.graphs);
    add("--limit", std::vector<double>{options_.limit_seconds});
    add("--budget", std::vector<double>{options_.budget_seconds});
    add("--seed", std::vector<std::uint64_t>{options_.seed});
    if (trials_flag_->count() > 0) add("--trials", std::vector<int>{options_.trials});
    if (ranks_flag_->count() > 0) add("--ranks", ranks_);
    if (shrink_flag_->count() > 0) add("--shrink", std::vector<int>{shrink_});
    if (json_.wanted()) add("--json", std::vector<std::string>{json_.place()});
    if (options_.quick) words.push_back("--quick");
    if (quiet_) words.push_back("--quiet");
    const std::optional<int> status = run_program(words);
    if (!status)
      throw Error("python3 " + script + " could not be started, or was ended by a signal; it needs Python 3.9");
    return *status;
  }

  /// @param json  the machine and "left_out"; the rest is added
  int finish(const Experiment& experiment, const std::vector<BenchRun>& runs, Json json,
             std::optional<OutputFile>& markdown_file) {
    if (!quiet_ && !data_to_stdout_) {
      std::cout << experiment.title << "\n"
                << experiment.source << "; " << experiment.machine << ".\n"
                << experiment.note << "\nThe paper finds: " << experiment.sees << ".\n\n"
                << text_table(experiment, runs);
      const int left_out = json["left_out"];
      if (left_out > 0) std::cout << left_out << " runs were left out because the budget was spent; raise --budget\n";
      std::cout << std::flush;
    }
    json["command"] = "bench";
    json.update(to_json(experiment, options_, runs));
    json_.write(json);
    if (markdown_file) {
      markdown_file->write(markdown_table(experiment, runs));
      markdown_file->commit();
    }
    int wrong = 0;
    for (const BenchRun& run : runs) {
      if (run.wrong.empty()) continue;
      ++wrong;
      std::fprintf(stderr, "shoal: wrong result: %s, %s, %d PEs: %s\n", run.graph.c_str(), run.way.c_str(), run.pes,
                   run.wrong.c_str());
    }
    if (!plot_.empty()) draw_plot("plot_bench.py", json_text(json), plot_, {}, "FILE.json (of --json=FILE.json)");
    return wrong > 0 ? kWrongResult : kRight;
  }

  BenchOptions options_;
  std::string name_, markdown_, plot_;
  JsonOutput json_;
  int trials_ = 0;
  bool list_ = false, quiet_ = false, data_to_stdout_ = false;
  std::vector<int> ranks_;
  int shrink_ = 1;
  CLI::Option *trials_flag_ = nullptr, *ranks_flag_ = nullptr, *shrink_flag_ = nullptr;
};

}  // namespace

Run add_bench(CLI::App& shoal) {
  CLI::App* app =
      shoal.add_subcommand("bench", "run an experiment of a paper, and show the paper's numbers beside those of shoal");
  auto command = std::make_shared<BenchCommand>();
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
