// shoal NAME: what the commands of all algorithms share: trials, checks, table, files, JSON, exit status.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <variant>

#include "algo/algorithm.hpp"
#include "algorithm_flags.hpp"
#include "command.hpp"
#include "core/memory.hpp"
#include "graph_input.hpp"
#include "json_output.hpp"
#include "profile.hpp"
#include "program/trace_output.hpp"
#include "progress.hpp"
#include "provenance.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/placement/host_slice.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/processes.hpp"
#include "sources.hpp"
#include "statistics.hpp"
#include "wrong_flags.hpp"

namespace shoal::cli {
namespace {

const char* const kOutputForms =
    ". A NumPy array if FILE ends in .npy, else text, a line per vertex; -: text to standard output, without the table";

/// One run, as it is printed and written.
struct Trial {
  vertex_t source;
  Found found;
  Report report;
  std::optional<std::string> wrong;  // nothing: not checked; empty: right

  double arcs_per_second() const { return report.seconds > 0 ? found.arcs / report.seconds : 0; }
};

class RunCommand {
 public:
  explicit RunCommand(const AlgorithmInfo& info) : info_(info), algorithm_(info.make()) {}

  void add_to(CLI::App& app) {
    app_ = &app;
    graph_.add_to(app);
    const char* what = info_.from_source ? "What is searched" : "What is computed";
    if (info_.from_source) {
      app.add_option("--source", source_,
                     "vertex N, max-degree, random (the default: another for each trial) or random:K (K of them); "
                     "random ones have out-arcs, and depend on --seed")
          ->group(what)
          ->type_name("WHERE");
    }
    app.add_option("--trials", trials_,
                   info_.from_source ? "number of runs, which take the sources in turn (default: one per source)"
                                     : "number of runs (default: 1)")
        ->group(what)
        ->check(whole_number<int>)
        ->type_name("N");
    add_flags(app, what, *algorithm_);
    app.add_flag("--verify", verify_, "check every answer; exit status 1 if one is wrong")->group(what);
    const char* out = "Output";
    app.add_option("--output", output_, std::string(info_.output) + kOutputForms)
        ->group(out)
        ->type_name("FILE")
        ->check(not_empty);
    json_.add_to(app, "options, machine, trials and reports", out);
    trace_.add_to(
        app, "workers, queues, levels and sweeps on CPU threads, kernels and queues on GPUs (only of process 0)", out);
    app.add_flag("--stats", stats_,
                 "print what the last run did: items, traffic, phases, and the options that were chosen")
        ->group(out);
    app.add_flag("--quiet", quiet_, "print no table and no progress")->group(out);
    flags_.add_to(app);
    app.add_option("--profile", profile_,
                   "use options that `shoal tune` has stored: none (the default), auto (from the user's profile) or "
                   "FILE; other flags of this command line win")
        ->group("How it runs (what you leave out is chosen; the output says what, and why)")
        ->type_name("WHICH")
        ->check(not_empty);
    app.footer(info_.footer);
  }

  int run() {
    begin_together();
    read_options();
    join_processes(options_, started_as());
    if (!is_speaker()) be_silent();
    const int status = run_here();
    placed_.reset();  // before leave_together(), while the memory that it lies in exists
    leave_together();
    return status;
  }

 private:
  int run_here() {
    const auto world = joined_world();
    if (world && world->n_processes() > 1 && graph_.text() == "-") {
      throw UsageError("standard input goes to process 0 alone; give all processes a file, or a generator");
    }
    choice_ = SourceChoice::parse(source_);
    const bool trials_given = app_->count("--trials") > 0;
    if (trials_given && (trials_ < 1 || trials_ > 1'000'000)) {
      throw UsageError("--trials " + std::to_string(trials_) + " is out of range: 1 to 1,000,000");
    }
    if (!trials_given) trials_ = std::max<int>(1, static_cast<int>(choice_.number * is_random()));
    if (info_.from_source && !output_.empty() && is_random() &&
        (choice_.number > 1 || (choice_.number == 0 && trials_ > 1))) {
      const std::string asked = choice_.number > 1 ? "--source " + source_ + " is several"
                                                   : "--trials " + std::to_string(trials_) + " takes a random one each";
      throw UsageError("--output holds the answer for one source, but " + asked + "; add --source N");
    }
    open_outputs();
    place();
    run_trials();
    if (world && world->n_processes() > 1) measure_memory(*world);
    return finish();
  }

  /// Every process calls it: gathers the most memory that each process has had, and computes what was expected of one.
  void measure_memory(World& world) {
    const std::int64_t mine = most_memory();
    for (const auto& bytes : world.exchange({"memory"}, std::as_bytes(std::span(&mine, std::size_t{1})))) {
      std::memcpy(&most_memory_.emplace_back(), bytes.data(), sizeof mine);
    }
    GraphSize size = input_->size();
    if (input_->generated() || input_->shared()) size.arcs /= world.n_processes();
    expected_memory_ = std::max(algorithm_->host_bytes(size, input_->generated(), false), input_->reading_bytes());
    if (const auto spec = graph_.generator()) {
      expected_memory_ = std::max(expected_memory_, generate_share_bytes(*spec, world.n_processes()));
    }
  }

  /// For all processes but process 0, which prints, checks and writes the results of all.
  void be_silent() {
    quiet_ = true;
    stats_ = false;
    json_.drop();
    trace_.drop();
    speaks_ = false;
  }

  bool is_random() const { return choice_.kind == SourceChoice::Kind::random; }
  /// No table is printed if an answer, JSON or a trace goes to standard output.
  bool quiet() const { return quiet_ || data_to_stdout_; }

  void read_options() {
    flags_.read(options_);
    choose_engine(options_);
    algorithm_->read(options_);
  }

  /// Opens all outputs, so that a place that cannot be written is found before the long part.
  void open_outputs() {
    std::vector<NamedFile> read = own_files(*algorithm_);
    read.insert(read.end(), {graph_.file(), {"--partition", options_.partition_file}});
    if (profile_ != "none" && profile_ != "auto") read.push_back({"--profile", profile_});
    refuse_same_files({{"--output", output_}, json_.file(), trace_.file(), graph_.cache()}, read);
    data_to_stdout_ = json_.to_stdout() || trace_.to_stdout() || (!output_.empty() && is_standard_output(output_));
    if (!quiet()) {
      refuse_same_files({{"--output", output_}, json_.file(), trace_.file(), {"standard output", "-"}}, {});
    }
    refuse_other_form("--output", output_);
    if (!output_.empty() && speaks_) output_file_.emplace(output_);
    json_.open();
    trace_.open();
  }

  /// Takes the options that the profile has for this machine, algorithm and kind of graph, except those of the command line.
  void use_profile() {
    if (profile_ == "none") return;
    const std::string file = profile_ == "auto" ? profile_path() : profile_;
    const ProfileKey key = {describe(Machine(options_)), info_.name, input_->features()};
    const auto entry = find_in_profile(file, key, profile_ == "auto");
    if (!entry) {
      profile_says_ = "nothing in " + file + " for " + key.graph + " on " + key.machine;
      return;
    }
    CLI::App tuned;  // its flags write into the same variables as those of the command line
    flags_.add_to(tuned);
    add_flags(tuned, "", *algorithm_);
    std::vector<std::string> used;
    for (std::size_t i = 0; i + 1 < entry->flags.size(); i += 2) {
      if (app_->count(entry->flags[i]) > 0) continue;
      used.insert(used.end(), {entry->flags[i], entry->flags[i + 1]});
    }
    try {
      tuned.parse(std::vector<std::string>(used.rbegin(), used.rend()));
    } catch (const CLI::ParseError& error) {
      throw UsageError("profile " + file + ": " + explain_options(tuned, error) +
                       "; tune again, or use --profile none");
    }
    read_options();
    profile_says_ = file + ":";
    for (const std::string& word : used) profile_says_ += " " + word;
    if (used.empty()) profile_says_ += " no options (all were given, or auto was best)";
  }

  void place() {
    algorithm_->require_ring_memory();
    const auto needs = [this](const GraphSize& size) { return algorithm_->host_bytes(size, false, verify_); };
    const auto world = joined_world();
    if (world && world->n_processes() > 1 && profile_ == "none") {  // profiles depend on the largest row of the file
      const auto all_of = [world](std::span<const std::byte> mine) { return world->exchange({"a graph"}, mine); };
      input_.emplace(graph_, quiet_, needs, Together{world->process(), world->n_processes(), all_of});
    } else {
      input_.emplace(graph_, quiet_, needs);
    }
    use_profile();
    if (!input_->generated() && !input_->shared()) {
      const GraphSize size = input_->size();
      require_host_memory(input_->name(), size,
                          needs(size) - csr_bytes(size));  // includes the memory that only this command takes
    }
    const auto begin = std::chrono::steady_clock::now();
    if (!input_->generated()) phases_.emplace_back("read", input_->read_seconds());
    const std::string doing = input_->generated() ? "generate and place" : "place";
    const TraceOutput::Part part(doing);
    const Step step((input_->generated() ? "generating and placing " : "placing ") + graph_.text(), quiet_);
    placed_ = input_->place(*algorithm_);
    phases_.emplace_back(doing, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }

  void run_trials() {
    std::vector<vertex_t> sources = {0};
    if (info_.from_source) {
      sources = choose_sources(choice_, trials_, options_.seed, placed_->num_vertices(), placed_->num_arcs(),
                               [this](vertex_t v) { return placed_->degree(v); });
    }
    if (!quiet()) {
      std::cout << describe(input_->name(), placed_->num_vertices(), placed_->num_arcs()) << "\n" << std::flush;
      if (!input_->remark().empty()) std::cout << "  note: " << input_->remark() << "\n";
      if (!input_->symmetric() && *info_.takes_as_undirected != 0) {
        std::cout << "  note: " << info_.takes_as_undirected << "\n";
      }
      if (!profile_says_.empty()) std::cout << "  profile: " << printable(profile_says_) << "\n";
    }
    double verify_seconds = 0;
    for (int i = 0; i < trials_; ++i) {
      const vertex_t source = sources[static_cast<std::size_t>(i) % sources.size()];
      const Step step(std::string(info_.doing) + ", trial " + std::to_string(i + 1) + " of " + std::to_string(trials_),
                      quiet_);
      std::optional<TraceOutput::Part> part("trial " + std::to_string(i + 1));
      Report report = placed_->run({source, {}});
      part.reset();
      const bool to_host = verify_ || (!output_.empty() && i + 1 == trials_);  // the last answer is written
      Trial trial{source, to_host ? placed_->fetch() : placed_->count(), std::move(report), std::nullopt};
      if (verify_) {
        const auto begin = std::chrono::steady_clock::now();
        const TraceOutput::Part checks("verify");
        trial.wrong = find_wrong();
        verify_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
      }
      done_.push_back(std::move(trial));
      if (!quiet()) print_trial(i);
    }
    const auto right = [](const Trial& t) { return !t.wrong || t.wrong->empty(); };
    if (output_file_ && std::all_of(done_.begin(), done_.end(), right)) {
      write_rows(*output_file_, placed_->take_rows(), placed_->num_vertices());
    }
    if (verify_) phases_.emplace_back("verify", verify_seconds);
  }

  /// In several processes, each checks its own part of the answer. A tree is checked by process 0 alone.
  std::string find_wrong() {
    const auto world = joined_world();
    if (!world || world->n_processes() == 1) return placed_->find_wrong();
    std::string wrong = placed_->find_wrong_in_place();
    const auto given = [this](const char* name) {
      const CLI::Option* const option = app_->get_option_no_throw(name);
      return option != nullptr && option->count() > 0;
    };
    if (wrong.empty() && speaks_ && (given("--parents") || given("--predecessors"))) wrong = placed_->find_wrong();
    return wrong;
  }

  void print_trial(int i) {
    const Trial& t = done_[static_cast<std::size_t>(i)];
    if (i == 0) {
      if (!stats_) {  // the statistics contain these choices
        for (const Decision& decision : t.report.chosen) {
          std::cout << "  " << decision.option << ": " << to_text(decision) << "\n";
        }
      }
      std::printf("%6s", "trial");
      if (info_.from_source) std::printf(" %11s", "source");
      for (const Column& column : info_.columns) std::printf(" %*s", column.width, column.title);
      std::printf(" %12s %10s%s\n", "time ms", "Garcs/s", verify_ ? "  verified" : "");
    }
    std::cout << std::flush;
    std::printf("%6d", i + 1);
    if (info_.from_source) std::printf(" %11u", t.source);
    for (std::size_t c = 0; c < info_.columns.size(); ++c) {
      std::printf(" %*s", info_.columns[c].width, t.found.cells[c].c_str());
    }
    std::printf(" %12.3f %10.3f%s\n", t.report.seconds * 1e3, t.arcs_per_second() / 1e9,
                !t.wrong           ? ""
                : t.wrong->empty() ? "  right"
                                   : "  WRONG");
    std::fflush(stdout);
  }

  /// The file of --output gets its name only if every answer that was checked is right.
  int finish() {
    int wrong = 0;
    for (std::size_t i = 0; i < done_.size(); ++i) {
      const Trial& t = done_[i];
      if (!t.wrong || t.wrong->empty()) continue;
      ++wrong;
      if (!speaks_) continue;
      const std::string from = info_.from_source ? " from source " + std::to_string(t.source) : "";
      std::fprintf(stderr, "shoal: wrong result: trial %zu%s: %s\n", i + 1, from.c_str(), t.wrong->c_str());
    }
    std::vector<double> seconds, rates;
    for (const Trial& t : done_) {
      seconds.push_back(t.report.seconds);
      rates.push_back(t.arcs_per_second());
    }
    if (!quiet()) {
      int width = 12 + (info_.from_source ? 12 : 0);
      for (const Column& column : info_.columns) width += column.width + 1;
      std::printf("%6s %*.3f %10.3f", "median", width, median(seconds) * 1e3, median(rates) / 1e9);
      if (info_.counts_teps && input_->symmetric()) std::printf("   (%.3f GTEPS)", median(rates) / 2e9);
      std::printf("\n");
      if (verify_) std::printf("%s\n", wrong > 0 ? "NOT all answers are right" : "all answers are right");
    }
    if (stats_) {
      std::fprintf(data_to_stdout_ ? stderr : stdout, "last %s:\n%s", info_.noun, to_text(done_.back().report).c_str());
    }
    if (stats_ && !most_memory_.empty()) {
      std::fprintf(data_to_stdout_ ? stderr : stdout, "memory of a process: at most %s, expected %s\n",
                   bytes_text(*std::max_element(most_memory_.begin(), most_memory_.end())).c_str(),
                   bytes_text(expected_memory_).c_str());
    }
    std::fflush(stdout);
    if (const std::string left_out = trace_.write(); !left_out.empty() && !quiet()) {
      std::printf("%s\n", left_out.c_str());
    }
    if (json_.wanted()) write_json(median(seconds), median(rates));
    if (wrong > 0) return kWrongResult;
    if (output_file_) output_file_->commit();
    return kRight;
  }

  void write_json(double median_seconds, double median_rate) {
    Json json = Json::parse(machine_to_json());
    json["command"] = info_.name;
    json["graph"] = {{"name", input_->name()},
                     {"num_vertices", placed_->num_vertices()},
                     {"num_arcs", placed_->num_arcs()},
                     {"symmetric", input_->symmetric()}};
    if (!input_->remark().empty()) json["graph"]["vertices_remark"] = input_->remark();
    json["options"] = Json::parse(to_json(options_));
    json["options"].update(own_options(*algorithm_));
    if (info_.from_source) json["options"]["source"] = source_;
    json["options"]["trials"] = trials_;
    json["options"]["verify"] = verify_;
    json["options"]["profile"] = profile_;
    for (const auto& [phase, seconds] : phases_) json["phase_seconds"][phase] = seconds;
    if (!most_memory_.empty()) {
      json["memory_of_processes"] = {{"most_bytes", most_memory_}, {"expected_bytes", expected_memory_}};
    }
    json["trials"] = Json::array();
    for (const Trial& t : done_) {
      Json trial = Json::object();
      if (info_.from_source) trial["source"] = t.source;
      for (const Fact& fact : t.found.facts) {
        std::visit([&](auto value) { trial[fact.name] = value; }, fact.value);
      }
      trial["seconds"] = t.report.seconds;
      trial["arcs_per_second"] = t.arcs_per_second();
      trial["verified"] = nullptr;
      trial["report"] = Json::parse(to_json(t.report));
      if (t.wrong) trial["verified"] = t.wrong->empty();
      if (t.wrong && !t.wrong->empty()) trial["wrong"] = *t.wrong;
      json["trials"].push_back(std::move(trial));
    }
    json["median_seconds"] = median_seconds;
    json["median_arcs_per_second"] = median_rate;
    json_.write(json);
  }

  const AlgorithmInfo& info_;
  std::unique_ptr<Algorithm> algorithm_;
  CLI::App* app_ = nullptr;
  GraphArgument graph_;
  RunFlags flags_;
  std::string source_ = "random", output_, profile_ = "none";
  JsonOutput json_;
  TraceOutput trace_;
  int trials_ = 0;
  bool verify_ = false, stats_ = false, quiet_ = false, data_to_stdout_ = false;
  bool speaks_ = true;  ///< this process prints and writes the results

  Options options_;
  SourceChoice choice_;
  std::optional<OutputFile> output_file_;
  std::string profile_says_;
  std::optional<GraphInput> input_;
  std::unique_ptr<Placed> placed_;  // after input_, which it uses
  std::vector<std::pair<std::string, double>> phases_;
  std::vector<Trial> done_;
  std::vector<std::int64_t> most_memory_;  ///< of each of several processes
  std::int64_t expected_memory_ = 0;
};

}  // namespace

Run add_algorithm(CLI::App& shoal, const AlgorithmInfo& info) {
  CLI::App* app = shoal.add_subcommand(info.name, info.says);
  auto command = std::make_shared<RunCommand>(info);
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
