// The subcommand `jacobi3d` of a baseline.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "algo/jacobi3d/jacobi3d.hpp"
#include "command.hpp"
#include "core/memory.hpp"
#include "shared_commands.hpp"
#include "shoal/core/text.hpp"
#include "statistics.hpp"
#include "step_table.hpp"

namespace shoal::baselines {
namespace {

class GridCommands : public SharedCommands {
  struct Trial {
    double seconds = 0;
    StepTable steps;
  };

 public:
  GridCommands(const Kind& kind, Processes& processes, CLI::App& app) : SharedCommands(kind, processes) {
    app_ = app.add_subcommand("jacobi3d", "Jacobi iteration on a grid in three dimensions, one part for each rank");
    const auto whole = [this](const char* name, auto& value, const char* text) {
      return app_->add_option(name, value, text)->check(whole_number<std::decay_t<decltype(value)>>)->type_name("N");
    };
    whole("X", size_.x, "cells along X")->required();
    whole("Y", size_.y, "cells along Y")->required();
    whole("Z", size_.z, "cells along Z")->required();
    whole("--iterations", iterations_, "of each trial, timed")->capture_default_str();
    whole("--warmup", warmup_, "iterations before these")->capture_default_str();
    whole("--trials", trials_, "runs, each from the start")->capture_default_str();
    app_->add_flag("--overlap", wanted_.overlap, "exchange faces while the cells inside are updated");
    if (kind_.on_gpus) app_->add_flag("--staged", wanted_.staged, "faces go through the memory of the host");
    add_shared_options(*app_, "compare the last trial's grid with the serial reference, bit by bit",
                       "the last trial's computation and communication, by rank; with --json all trials'");
  }

  bool asked() const override { return app_->parsed(); }

  void prepare() override {
    for (const std::int64_t cells : {size_.x, size_.y, size_.z}) {
      if (cells < 1 || cells > 100'000) throw UsageError("X, Y and Z are numbers from 1 to 100,000");
    }
    if (iterations_ < 1 || warmup_ < 0) throw UsageError("--iterations is at least 1, --warmup at least 0");
    check_numbers(trials_);
    wanted_.program = {size_, {1, 1, 1, 1, 1, 1}, 0};
    wanted_.timed = stats_;
    for (int r = 0; r < num_ranks(); ++r) parts_.emplace_back(size_, Ranks{r, num_ranks()});
    if (!kind_.on_gpus) check_memory();
    if (processes_.rank == 0) json_.open();
    engine_ = kind_.make_grid(processes_, per_process_, wanted_);
    if (verify_ && processes_.rank == 0) reference_.emplace(wanted_.program);
  }

  void run() override {
    for (int i = 0; i < trials_; ++i) {
      engine_->start();
      if (warmup_ > 0) engine_->iterate(warmup_);
      processes_.barrier();
      const double seconds = processes_.most(engine_->iterate(iterations_));
      done_.push_back({seconds, StepTable(processes_, per_process_, engine_->steps())});
      if (prints()) print(i);
    }
    if (verify_) verify();
  }

  int report() override {
    std::vector<double> seconds;
    for (const Trial& t : done_) seconds.push_back(t.seconds);
    const double median = cli::median(seconds);
    if (prints()) {
      std::printf("median %.4f ms/iteration, %.3f Gcells/s\n", median / iterations_ * 1e3, rate(median) / 1e9);
      if (verify_) std::puts(wrong_.empty() ? "all answers are right" : "NOT all answers are right");
    }
    if (stats_ && !json_.to_stdout()) done_.back().steps.print("run", "cells");
    if (json_.wanted()) write_json(median);
    if (wrong_.empty()) return cli::kRight;
    std::fprintf(stderr, "%s: wrong result: %s\n", kind_.name.c_str(), wrong_.c_str());
    return cli::kWrongResult;
  }

  void forget_engine() override { engine_.reset(); }

 private:
  /// @throws CapacityError  the states of this process's part do not fit in its share of the host's memory
  void check_memory() const {
    const std::int64_t cells = parts_[static_cast<std::size_t>(processes_.rank)].with_layer();
    const std::int64_t wanted = 2 * static_cast<std::int64_t>(sizeof(double)) * cells;
    const std::int64_t had = available_memory(processes_.on_host);
    if (wanted <= had) return;
    throw CapacityError("two states of a rank's part of the grid take " + bytes_text(wanted) + " of memory, " +
                        bytes_text(had) + " are available; use a smaller grid, or ranks on more hosts");
  }
  /// Cells per second.
  double rate(double seconds) const {
    return seconds > 0 ? static_cast<double>(size_.volume()) * static_cast<double>(iterations_) / seconds : 0;
  }

  void print(int i) const {
    if (i == 0) {
      std::printf("%s x %s x %s cells, %s%s%s\n", grouped(size_.x).c_str(), grouped(size_.y).c_str(),
                  grouped(size_.z).c_str(), counted(num_ranks(), "rank", "ranks").c_str(),
                  wanted_.overlap ? ", overlapped" : "", wanted_.staged ? ", by way of the host" : "");
    }
    const Trial& t = done_.back();
    std::printf("trial %d: %lld iterations in %.3f ms, %.4f ms each, %.3f Gcells/s", i + 1,
                static_cast<long long>(iterations_), t.seconds * 1e3, t.seconds / iterations_ * 1e3,
                rate(t.seconds) / 1e9);
    if (wanted_.timed) {
      std::printf(" (computation %.3f ms, communication %.3f)", t.steps.compute_seconds() * 1e3,
                  t.steps.communicate_seconds() * 1e3);
    }
    std::puts("");
    std::fflush(stdout);
  }

  /// Compares the cells of all processes with the reference, on process 0.
  void verify() {
    std::vector<std::int64_t> counts(processes_.size);
    for (int r = 0; r < num_ranks(); ++r) counts[r / per_process_] += parts_[r].n.volume();
    const std::vector<double> by_rank = processes_.gather(engine_->cells(), counts);
    if (processes_.rank != 0) return;
    reference_->iterate(warmup_ + iterations_);
    std::vector<double> plane(static_cast<std::size_t>(size_.y * size_.z));
    for (std::int64_t x = 0; x < size_.x && wrong_.empty(); ++x) {
      const double* from = by_rank.data();
      for (const Part& part : parts_) {
        for (std::int64_t y = 0; y < part.n.y && x >= part.first.x && x < part.first.x + part.n.x; ++y) {
          std::copy_n(from + ((x - part.first.x) * part.n.y + y) * part.n.z, part.n.z,
                      &plane[(part.first.y + y) * size_.z + part.first.z]);
        }
        from += part.n.volume();
      }
      wrong_ = reference_->find_wrong(x, plane.data());
    }
  }

  void write_json(double median) {
    cli::Json json = begin_json("jacobi3d");
    json["size"] = {size_.x, size_.y, size_.z};
    json["options"].update(
        {{"iterations", iterations_}, {"warmup", warmup_}, {"trials", trials_}, {"overlap", wanted_.overlap}});
    if (kind_.on_gpus) json["options"]["staged"] = wanted_.staged;
    for (const Trial& t : done_) {
      cli::Json trial = {{"iterations", iterations_}, {"seconds", t.seconds}, {"cells_per_second", rate(t.seconds)}};
      trial["verified"] = verify_ && &t == &done_.back() ? cli::Json(wrong_.empty()) : cli::Json(nullptr);
      if (stats_) t.steps.add_to(trial, "cells", false);
      json["trials"].push_back(std::move(trial));
    }
    json["median_seconds"] = median;
    json["median_cells_per_second"] = rate(median);
    json_.write(json);
  }

  CLI::App* app_ = nullptr;
  Size3 size_;
  std::int64_t iterations_ = 100, warmup_ = 10;
  int trials_ = 1;
  GridWanted wanted_{};
  std::vector<Part> parts_;
  std::unique_ptr<GridEngine> engine_;
  std::optional<Jacobi3dReference<double>> reference_;
  std::vector<Trial> done_;
  std::string wrong_;
};

}  // namespace

std::unique_ptr<Commands> grid_commands(const Kind& kind, Processes& processes, CLI::App& app) {
  return std::make_unique<GridCommands>(kind, processes, app);
}

}  // namespace shoal::baselines
