// shoal jacobi3d: Jacobi iteration on a grid in blocks.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "algo/engine.hpp"
#include "algo/jacobi3d/jacobi3d.hpp"
#include "command.hpp"
#include "grid_boundary.hpp"
#include "grid_checkpoints.hpp"
#include "grid_output.hpp"
#include "json_output.hpp"
#include "program/trace_output.hpp"
#include "progress.hpp"
#include "shoal/core/error.hpp"
#include "shoal/core/text.hpp"
#include "shoal/program/grid_flags.hpp"
#include "shoal/program/run_flags.hpp"
#include "shoal/world/devices.hpp"
#include "shoal/world/processes.hpp"
#include "statistics.hpp"

namespace shoal::cli {
namespace {

/// One run, as it is printed.
struct GridTrial {
  std::int64_t iterations = 0;
  double seconds = 0, change = 0;
  std::int64_t moved = 0;                             // blocks that --balance moved
  std::vector<std::pair<std::int64_t, double>> laps;  // by --laps: iterations, and seconds since the trial began
  int runs = 0, waits = 0;           // parts that the trial was run in; how often the host waited for GPUs in them
  std::optional<std::string> wrong;  // nothing: not checked; empty: right
};

class JacobiCommand {
 public:
  void add_to(CLI::App& app) {
    app_ = &app;
    flags_.add_to(app);
    const char* what = "What is computed";
    app.add_option("--iterations", iterations_,
                   "iterations to run (default: 100); with --tolerance, the most (default: 1,000,000)")
        ->group(what)
        ->check(whole_number<std::int64_t>)
        ->type_name("N");
    app.add_option("--tolerance", tolerance_, "stop after an iteration in which no cell changes by more than this")
        ->group(what)
        ->type_name("X");
    app.add_option("--check", check_, "for --tolerance: check the changes every N iterations")
        ->group(what)
        ->needs("--tolerance")
        ->check(whole_number<std::int64_t>)
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--dtype", dtype_, "type of the cells: float64 or float32")
        ->group(what)
        ->type_name("TYPE")
        ->capture_default_str();
    app.add_option(
           "--boundary", boundary_,
           "value of the cells outside the grid: a number, also for single faces (x0, x1, y0, y1, z0, z1): 0,x1=1,z0=2")
        ->group(what)
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--interior", interior_, "initial value of every cell")
        ->group(what)
        ->type_name("X")
        ->capture_default_str();
    app.add_option("--trials", trials_, "number of runs, each from the initial values")
        ->group(what)
        ->check(whole_number<int>)
        ->type_name("N")
        ->capture_default_str();
    app.add_option("--laps", laps_,
                   "report the time of every N iterations, without stopping the run for it (0: do not)")
        ->group(what)
        ->check(whole_number<std::int64_t>)
        ->type_name("N")
        ->capture_default_str();
    app.add_flag("--verify", verify_,
                 "compare the last run's grid bit by bit with a serial reference; exit status 1 if they differ")
        ->group(what);
    const char* time = "Checkpoints and load balance";
    checkpoints_.add_to(app, time);
    app.add_option(
           "--balance", balance_,
           "every N iterations, compare how long blocks take, and move some to other PEs of the process (0: never)")
        ->group(time)
        ->check(whole_number<std::int64_t>)
        ->type_name("N")
        ->capture_default_str();
    const char* out = "Output";
    out_.add_to(app, out);
    json_.add_to(app, "options, machine and trials", out);
    trace_.add_to(
        app,
        "steps of blocks, messages between them, and what workers do; on GPUs kernels (with --graph 0 each of them)",
        out);
    app.add_flag("--copy", copy_,
                 "also measure a plain memory copy, by the same threads or GPUs, in all processes at the same time")
        ->group(out);
    app.add_flag("--quiet", quiet_, "print no table and no progress")->group(out);
    app.footer(
        R"(An iteration sets each cell to the mean of itself and its six neighbours.
GB/s count 2 values per cell and iteration: one read, one written.

examples:
  shoal jacobi3d 192 192 192 --iterations 100 --odf 8 --output grid.npy
  shoal jacobi3d 100 80 60 --tolerance 1e-6 --boundary 0,x1=1 --slice z=30 --output middle.npy --plot middle.png
  shoal jacobi3d 512 512 512 --trials 5 --copy
  shoal jacobi3d 96 96 96 --iterations 10 --odf 8 --pes 2 --trace run.json
  shoal jacobi3d 64 64 64 --iterations 1000 --laps 100
  shoal jacobi3d 64 64 64 --iterations 60 --checkpoint grid.ckpt --checkpoint-every 25
  shoal run -n 2 -- jacobi3d 96 96 96 --odf 4 --verify
  shoal jacobi3d 61 47 89 --pes 4 --blocks 3x2x5 --mapping round-robin --verify)");
  }

  int run() {
    begin_together();
    read_options();
    join_processes(where_, started_as());
    refuse_gpus_apart(where_);
    if (!is_speaker()) be_silent();
    open_files();
    const int status = dtype_ == "float64" ? run_as<double>("f8") : run_as<float>("f4");
    leave_together();
    return status;
  }

 private:
  static bool alone() { return joined_world() == nullptr || joined_world()->n_processes() == 1; }
  /// For all processes but process 0, which prints, checks and writes the results of all.
  void be_silent() {
    speaks_ = false;
    quiet_ = true;
    json_.drop();
    trace_.drop();
    out_.be_silent();
    checkpoints_.be_silent();
  }
  bool quiet() const { return quiet_ || json_.to_stdout() || trace_.to_stdout(); }
  bool to_tolerance() const { return tolerance_ >= 0; }

  void read_options() {
    if (app_->count("--tolerance") > 0 && !(tolerance_ >= 0 && std::isfinite(tolerance_))) {
      throw UsageError("--tolerance " + exact(tolerance_) + " is out of range: a finite number, 0 or more");
    }
    if (app_->count("--iterations") == 0) iterations_ = to_tolerance() ? 1'000'000 : 100;
    if (iterations_ < 0)
      throw UsageError("--iterations " + std::to_string(iterations_) + " is negative; use 0 or more");
    if (check_ < 1) throw UsageError("--check " + std::to_string(check_) + " is out of range: 1 or more");
    if (trials_ < 1 || trials_ > 1'000'000) {
      throw UsageError("--trials " + std::to_string(trials_) + " is out of range: 1 to 1,000,000");
    }
    if (dtype_ != "float64" && dtype_ != "float32") {
      throw UsageError("dtype '" + dtype_ + "' is not known; legal: float64, float32");
    }
    if (!std::isfinite(interior_)) throw UsageError("--interior " + exact(interior_) + " is not a finite number");
    read_boundary(boundary_, face_);
    check_sums("--interior", interior_, dtype_);
    for (const double face : face_) check_sums("--boundary", face, dtype_);
    where_ = flags_.machine();
    choose_engine(where_);
    options_ = flags_.grid();
    check_grid(flags_.size(), options_, 1);
    checkpoints_.read(trials_);
    for (const auto& [flag, value] : {std::pair("--balance", balance_), {"--laps", laps_}}) {
      if (value < 0) throw UsageError(std::string(flag) + " " + std::to_string(value) + " is negative; use 0 or more");
    }
    options_.launch.weigh = balance_ > 0;
    out_.read(flags_.size());
  }

  /// Opens all outputs, so that a place that cannot be written is found before the long part.
  void open_files() {
    if (balance_ > 0 && !alone()) {
      throw UsageError(
          "--balance moves blocks only within one process; leave it out, or start one process with several PEs "
          "(--pes)");
    }
    checkpoints_.open(what(), iterations_, options_.blocks);
    std::vector<NamedFile> written = out_.files();
    written.insert(written.end(), {json_.file(), trace_.file()});
    refuse_same_files(written, {checkpoints_.read_from()});
    written.push_back(checkpoints_.written());
    refuse_same_files(written, {{"--mapping", flags_.mapping_file()}});
    out_.open();
    json_.open();
    trace_.open();
  }

  /// Everything that the values of cells depend on, except the number of iterations.
  std::string what() const {
    const Size3 n = flags_.size();
    std::string text = "jacobi3d " + dtype_ + " " + std::to_string(n.x) + " " + std::to_string(n.y) + " " +
                       std::to_string(n.z) + " boundary";
    for (const double face : face_) text += " " + exact(face);
    return text + " interior " + exact(interior_);
  }

  template <class T>
  int run_as(const char* npy_type) {
    const Machine machine(where_);
    Jacobi3d<T> program{flags_.size(), {}, static_cast<T>(interior_)};
    for (int i = 0; i < 6; ++i) program.face[i] = static_cast<T>(face_[i]);
    options_.odf = decide_odf(flags_.size(), options_, machine.all_pes(), machine.on_gpu(), odf_chosen_);
    const auto grid = make_jacobi3d<T>(machine, options_, program);
    decide(machine, *grid);
    if (!quiet()) print_head();
    for (int i = 0; i < trials_; ++i) {
      const Step step("iterating, trial " + std::to_string(i + 1) + " of " + std::to_string(trials_), quiet());
      const TraceOutput::Part part("trial " + std::to_string(i + 1));
      checkpoints_.begin(*grid);
      done_.push_back(iterate(*grid));
      if (verify_ && i + 1 == trials_) done_.back().wrong = find_wrong(machine, program, *grid, grid->steps());
      if (!quiet()) print_trial(i, sizeof(T));
    }
    if (copy_) {
      const std::int64_t bytes = flags_.size().volume() * static_cast<std::int64_t>(sizeof(T)) / machine.all_pes();
      of_processes(machine, 0);  // a barrier, so that all begin at about the same time
      const double rate = copy_rate(machine, std::clamp<std::int64_t>(bytes, 256 << 20, 1 << 30));  // exceeds caches
      for (const double its : of_processes(machine, rate)) copied_ += its;
    }
    if (const std::string left_out = trace_.write(); !left_out.empty() && !quiet()) {
      std::printf("%s\n", left_out.c_str());
    }
    finish(sizeof(T));
    const auto& wrong = done_.back().wrong;
    if (wrong && !wrong->empty()) {
      if (!speaks_) return kWrongResult;
      std::fprintf(stderr, "shoal: wrong result: %s\n", wrong->c_str());
      return kWrongResult;
    }
    out_.write(*grid, npy_type);
    return kRight;
  }

  template <class T>
  GridTrial iterate(GridSteps<T>& grid) {
    GridTrial trial;
    std::mutex told;
    const auto started = std::chrono::steady_clock::now();
    const auto lap = [&](std::int64_t iterations) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      const std::lock_guard lock(told);
      trial.laps.push_back({iterations, seconds});
    };
    for (bool more = grid.steps() < iterations_; more;) {
      const std::int64_t begin = grid.steps();
      std::int64_t end = iterations_;  // of this part: when the next check, checkpoint or balancing is due
      for (const std::int64_t every : {to_tolerance() ? check_ : 0, checkpoints_.every(), balance_}) {
        if (every > 0) end = std::min(end, begin - begin % every + every);
      }
      for (std::int64_t i = laps_ > 0 ? begin - begin % laps_ + laps_ : end + 1; i <= end; i += laps_) {
        grid.when_done(i, [&lap, i] { lap(i); });
      }
      trial.seconds += grid.run(end - begin, to_tolerance());
      trial.iterations += end - begin;
      trial.waits += grid.waits();
      ++trial.runs;
      trial.change = to_tolerance() ? grid.change() : 0;
      more = end < iterations_ && !(to_tolerance() && end % check_ == 0 && trial.change <= tolerance_);
      if (more && balance_ > 0 && end % balance_ == 0) trial.moved += grid.balance();
      if (more && checkpoints_.every() > 0 && end % checkpoints_.every() == 0) checkpoints_.store(grid);
    }
    std::sort(trial.laps.begin(), trial.laps.end());  // the calls may have come in another order
    if (!to_tolerance() && trial.iterations > 0) trial.change = grid.measure();
    checkpoints_.store(grid);
    return trial;
  }

  template <class T>
  std::string find_wrong(const Machine& machine, const Jacobi3d<T>& program, const GridSteps<T>& grid,
                         std::int64_t iterations) {
    const Size3 n = grid.size();
    std::optional<Jacobi3dReference<T>> reference;
    if (speaks_) reference.emplace(program).iterate(iterations);
    std::vector<T> plane(static_cast<std::size_t>(n.y * n.z));
    std::string wrong;
    for (std::int64_t x = 0; x < n.x; ++x) {  // also after a wrong plane: other processes read with this one
      grid.read(x, 0, n.y, plane.data());
      if (reference && wrong.empty()) wrong = reference->find_wrong(x, plane.data());
    }
    return first_of_processes(machine, wrong);
  }

  template <class T>
  void decide(const Machine& machine, const GridSteps<T>& grid) {
    chosen_ = machine.chosen();
    chosen_.insert(chosen_.end(), odf_chosen_.begin(), odf_chosen_.end());
    const Size3 cut = grid.cut();
    const std::int64_t wanted = options_.odf * machine.all_pes();
    std::string why = checkpoints_.restarted_after() ? "as in the checkpoint"
                      : options_.blocks.x > 0        ? "asked for"
                                                     : "least surface";
    const bool in_parts = options_.mapping.kind == MappingKind::block || options_.mapping.kind == MappingKind::parts;
    if (why == "least surface" && machine.on_gpu() && in_parts) {
      why = std::string(machine.all_pes() > 1 ? "a part for each GPU; " : "") + "cuts across x are cheap on one GPU";
    }
    if (options_.blocks.x == 0 && cut.volume() < wanted) {
      why += "; no three factors of " + std::to_string(wanted) + " fit the grid";
    }
    cut_ = std::to_string(cut.x) + " x " + std::to_string(cut.y) + " x " + std::to_string(cut.z);
    chosen_.push_back({"blocks", cut_, why});
    chosen_.push_back({"mapping", name(options_.mapping), ""});
    chosen_.insert(chosen_.end(), grid.chosen().begin(), grid.chosen().end());
    if (balance_ > 0 && machine.all_pes() == 1) {
      chosen_.push_back({"not used", "--balance", "one PE has no other to move blocks to"});
    }
    for (const char* const flag : {"--fusion", "--graph"}) {
      if (app_->count(flag) > 0 && !machine.on_gpu()) {
        chosen_.push_back({"not used", flag, "only for form kernels, which is for GPUs"});
      }
    }
  }

  double cell_rate(const GridTrial& t) const {
    return t.seconds > 0 ? static_cast<double>(flags_.size().volume() * t.iterations) / t.seconds : 0;
  }
  double byte_rate(const GridTrial& t, std::size_t value_bytes) const {
    return 2 * static_cast<double>(value_bytes) * cell_rate(t);
  }
  double median_of(double (JacobiCommand::*rate)(const GridTrial&) const) const {
    std::vector<double> all;
    for (const GridTrial& t : done_) all.push_back((this->*rate)(t));
    return median(all);
  }

  void print_head() {
    const Size3 n = flags_.size();
    std::cout << n.x << " x " << n.y << " x " << n.z << " cells of " << dtype_ << "\n";
    for (const Decision& decision : chosen_) std::cout << "  " << decision.option << ": " << to_text(decision) << "\n";
    std::cout << std::flush;
    std::printf("%6s %12s %12s %12s %12s %10s %10s%s\n", "trial", "iterations", "last change", "time ms",
                "ms/iteration", "Gcells/s", "GB/s", verify_ ? "  verified" : "");
  }
  void print_trial(int i, std::size_t value_bytes) {
    const GridTrial& t = done_.back();
    std::printf("%6d %12lld %12.3g %12.3f %12.4f %10.3f %10.2f%s\n", i + 1, static_cast<long long>(t.iterations),
                t.change, t.seconds * 1e3, t.iterations > 0 ? t.seconds * 1e3 / static_cast<double>(t.iterations) : 0,
                cell_rate(t) / 1e9, byte_rate(t, value_bytes) / 1e9,
                !t.wrong           ? ""
                : t.wrong->empty() ? "  right"
                                   : "  WRONG");
    double least = 0, most = 0, before = 0;
    for (const auto& [iterations, seconds] : t.laps) {
      least = before == 0 ? seconds : std::min(least, seconds - before);
      most = std::max(most, seconds - before);
      before = seconds;
    }
    if (!t.laps.empty()) {
      std::printf("%6s %lld, of %lld iterations each: %.3f to %.3f ms\n", "laps", static_cast<long long>(t.laps.size()),
                  static_cast<long long>(laps_), least * 1e3, most * 1e3);
    }
    std::fflush(stdout);
  }

  void finish(std::size_t value_bytes) {
    const double cells = median_of(&JacobiCommand::cell_rate), bytes = 2 * static_cast<double>(value_bytes) * cells;
    if (!quiet()) {
      std::printf("%6s %62.3f %10.2f\n", "median", cells / 1e9, bytes / 1e9);
      if (copy_) {
        double best = 0;
        for (const GridTrial& t : done_) best = std::max(best, byte_rate(t, value_bytes));
        std::printf("%6s %73.2f at best; the best run reaches %.0f %% of it\n", "copy", copied_ / 1e9,
                    100 * best / copied_);
      }
      if (const auto before = checkpoints_.restarted_after()) {
        std::printf("continued a checkpoint of %s iterations\n", grouped(*before).c_str());
      }
      if (balance_ > 0) std::printf("%s blocks were moved to other PEs\n", grouped(done_.back().moved).c_str());
      if (to_tolerance() && done_.back().change > tolerance_) {
        std::printf("the tolerance was not reached within %s iterations\n", grouped(iterations_).c_str());
      }
      std::fflush(stdout);
    }
    if (!json_.wanted()) return;
    Json json = Json::parse(machine_to_json());
    json["command"] = "jacobi3d";
    json["size"] = {flags_.size().x, flags_.size().y, flags_.size().z};
    json["options"] = {{"iterations", iterations_}, {"check", check_},       {"dtype", dtype_},
                       {"boundary", boundary_},     {"interior", interior_}, {"trials", trials_},
                       {"verify", verify_},         {"odf", options_.odf},   {"mapping", name(options_.mapping)}};
    if (to_tolerance()) json["options"]["tolerance"] = tolerance_;
    if (const auto before = checkpoints_.restarted_after()) json["restarted_after"] = *before;
    for (const Decision& d : chosen_) json["chosen"][d.option] = {{"value", d.value}, {"why", d.reason}};
    json["trials"] = Json::array();
    for (const GridTrial& t : done_) {
      Json trial = {{"iterations", t.iterations},
                    {"last_change", t.change},
                    {"seconds", t.seconds},
                    {"cells_per_second", cell_rate(t)},
                    {"runs", t.runs},
                    {"host_waits", t.waits},
                    {"verified", nullptr}};
      if (balance_ > 0) trial["blocks_moved"] = t.moved;
      for (const auto& [after, seconds] : t.laps)
        trial["laps"].push_back({{"iterations", after}, {"seconds", seconds}});
      if (to_tolerance()) trial["within_tolerance"] = t.change <= tolerance_;
      if (t.wrong) trial["verified"] = t.wrong->empty();
      if (t.wrong && !t.wrong->empty()) trial["wrong"] = *t.wrong;
      json["trials"].push_back(std::move(trial));
    }
    json["median_cells_per_second"] = cells;
    json["median_bytes_per_second"] = bytes;
    if (copy_) json["copy_bytes_per_second"] = copied_;
    json_.write(json);
  }

  CLI::App* app_ = nullptr;
  GridFlags flags_;
  std::int64_t iterations_ = 100, check_ = 100, balance_ = 0, laps_ = 0;
  double tolerance_ = -1, interior_ = 0, face_[6] = {};
  std::string dtype_ = "float64", boundary_ = "1", cut_;
  int trials_ = 1;
  bool verify_ = false, copy_ = false, quiet_ = false;
  GridCheckpoints checkpoints_;
  GridOutput out_;
  JsonOutput json_;
  TraceOutput trace_;

  bool speaks_ = true;  ///< this process prints and writes the results

  Options where_;
  GridOptions options_;
  Decisions chosen_, odf_chosen_;
  std::vector<GridTrial> done_;
  double copied_ = 0;
};

}  // namespace

Run add_jacobi3d(CLI::App& shoal) {
  CLI::App* app =
      shoal.add_subcommand("jacobi3d", "Jacobi iteration on a three-dimensional grid that is cut into blocks");
  auto command = std::make_shared<JacobiCommand>();
  command->add_to(*app);
  return [command] { return command->run(); };
}

}  // namespace shoal::cli
