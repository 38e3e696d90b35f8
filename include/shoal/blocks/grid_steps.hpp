// A grid that takes steps, with the same interface on CPU threads and on GPUs.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "shoal/blocks/grid.hpp"

namespace shoal {

/// With several processes, all make the same calls of the functions that are not const, and of save() and read(), and get the
/// same results.
/// @tparam V  type of a cell's value
template <class V>
class GridSteps {
 public:
  virtual ~GridSteps() = default;
  virtual Size3 size() const = 0;
  virtual Size3 cut() const = 0;  ///< blocks along each dimension
  /// Writes state 0. Call it before the first run, or to begin again.
  virtual void start() = 0;
  /// Takes `n` more steps.
  /// @param measure  measure the largest change of the last step, which costs as much as another step
  /// @return seconds
  /// @throws DeviceError, CapacityError, Interrupted; afterwards start() is needed
  virtual double run(std::int64_t n, bool measure = false) = 0;
  /// Registers a call for the next run that reaches `steps` steps. It is made once, on a thread of the library, while the run
  /// goes on (blocks/completions.hpp).
  virtual void when_done(std::int64_t steps, std::function<void()> call) = 0;
  /// After a run that measured: the largest change of a cell in its last step.
  virtual double change() const = 0;
  /// The same, measured after a run that did not measure, outside of the run's time. Every process must call it.
  virtual double measure() = 0;
  /// What was chosen for form, fusion and graph, with the reasons.
  virtual const Decisions& chosen() const = 0;
  /// Number of steps that the grid has taken.
  virtual std::int64_t steps() const = 0;
  /// Writes the state for load(). A grid that is cut into the same blocks can load it, on any number of PEs.
  virtual void save(const BytesOut& out) const = 0;
  /// Restores what save() wrote; call it in place of start(). @param steps  steps() at the time of save()
  /// @throws UsageError  the data are of another grid
  virtual void load(std::int64_t steps, const BytesIn& in) = 0;
  /// Moves blocks so that all PEs take equally long, judged by the measurements (LaunchOptions::weigh) since start(), load() or
  /// the last move.
  /// @return how many blocks were moved
  /// @throws UsageError  there are several processes
  virtual std::int64_t balance() = 0;
  /// How often the host waited for a GPU in the last run.
  virtual int waits() const = 0;
  /// Copies cells (x, [y0, y1), all z) to `out` [(y1 - y0) * size().z].
  virtual void read(std::int64_t x, std::int64_t y0, std::int64_t y1, V* out) const = 0;
  /// All cells, [x][y][z].
  virtual std::vector<V> read() const = 0;
};

/// Implements GridSteps by the Launcher of blocks/launch_cpu.hpp or blocks/launch_gpu.cuh.
template <class S, template <class> class Launcher>
class GridStepsBy final : public GridSteps<typename S::Value> {
 public:
  using V = typename S::Value;
  using Launch = Launcher<blocks::GridBlock<S>>;

  GridStepsBy(const Machine& machine, Size3 size, const GridOptions& options, const S& program)
      : weigh_(options.launch.weigh),
        grid_(machine, size, options, Launch::workers(machine), program),
        launch_(grid_.array(), decide_launch(options.launch, Launch::sizes(grid_.array()), chosen_)) {}

  Size3 size() const override { return grid_.size(); }
  Size3 cut() const override { return grid_.cut(); }
  void start() override {
    launch_.start();
    steps_ = 0;
  }
  double run(std::int64_t n, bool measure) override {
    const blocks::step_t first = steps_;
    steps_ += static_cast<blocks::step_t>(n);
    return launch_.run({first, steps_, measure, weigh_});
  }
  void when_done(std::int64_t steps, std::function<void()> call) override {
    launch_.when_done(static_cast<blocks::step_t>(steps), std::move(call));
  }
  double change() const override { return launch_.change(); }
  double measure() override { return steps_ > 0 ? launch_.measure(steps_) : 0; }
  const Decisions& chosen() const override { return chosen_; }
  std::int64_t steps() const override { return static_cast<std::int64_t>(steps_); }
  void save(const BytesOut& out) const override { grid_.array().save(steps_, out); }
  void load(std::int64_t steps, const BytesIn& in) override {
    start();
    steps_ = static_cast<blocks::step_t>(steps);
    grid_.array().load(steps_, in);
  }
  std::int64_t balance() override {
    const std::int64_t moved = grid_.balance(steps_);
    if (moved > 0) launch_.placed();
    return moved;
  }
  int waits() const override { return launch_.waits(); }
  void read(std::int64_t x, std::int64_t y0, std::int64_t y1, V* out) const override {
    grid_.read(steps_, x, y0, y1, out);
  }
  std::vector<V> read() const override { return grid_.read(steps_); }

 private:
  bool weigh_;
  Decisions chosen_;
  Grid<S> grid_;
  Launch launch_;
  blocks::step_t steps_ = 0;
};

}  // namespace shoal
