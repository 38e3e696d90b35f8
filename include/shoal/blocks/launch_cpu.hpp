// Runs blocks on CPU threads. Each thread of a PE is a worker of this PE.
#pragma once
#include <cstdint>
#include <exception>
#include <functional>
#include <stop_token>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/completions.hpp"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/given.hpp"
#include "shoal/core/fn.hpp"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/state_log.hpp"

namespace shoal::blocks::cpu {

/// What a worker does besides its tiles: it carries to other processes, and counts tiles for registered calls
/// (blocks/completions.hpp).
struct Besides {
  Wires* wires;  ///< null: there are no other processes
  std::uint32_t* looks;
  CompletionCounts* counts;
  const std::vector<std::int64_t>& blocks;  ///< [slots] the blocks of the worker's PE
  SHOAL_HOST_FN void while_it_waits() const {
    if (wires != nullptr) wires->wait(*looks);
  }
  SHOAL_HOST_FN void after_a_tile(std::uint32_t slot, step_t steps) const {
    if (wires != nullptr) wires->carry();
    if (counts->any()) counts->done(blocks[slot], steps);
  }
};

/// The form `threads`.
template <class B>
class Launcher {
 public:
  explicit Launcher(BlockArray<B>& array, const LaunchOptions& options = {})
      : array_(array),
        given_(array,
               [&array](std::size_t bytes) { return array.machine().allocate_host(bytes, "values that blocks give"); }),
        patience_seconds_(options.stall_timeout_seconds) {
    Decisions decisions;
    decide_launch(options, sizes(array), decisions);  // only to refuse options that are for GPUs
  }

  static BlockSizes sizes(const BlockArray<B>& array) { return {false, array.machine().all_pes()}; }
  static int workers(const Machine& machine) { return machine.threads_per_pe(); }

  /// Writes state 0 with all threads of each PE, so that they are the first to touch its memory. Every process.
  void start() {
    array_.rewind();
    for_all_tiles(
        [](const PeView<B>&, const Slot<B>& slot, std::uint64_t tile) { slot.block.start(CpuThread{}, tile); });
  }

  /// Between runs, before step s: calls hear() with a message for every tile of every block. Every process, the same.
  template <class Message>
  void tell(step_t s, const Message& message) {
    tell_some(s, -1, message);
  }
  /// The same for the tiles of block b alone. @throws UsageError  there is no block b
  template <class Message>
  void tell(step_t s, std::int64_t b, const Message& message) {
    tell_some(s, array_.shape().number_of(array_.shape().place_of(b)), message);
  }

  /// Registers a call for the next run that reaches `steps` steps. It is made once, when all blocks that are here have taken
  /// these steps, or block b has, while the run goes on (blocks/completions.hpp).
  void when_done(step_t steps, std::function<void()> call) { completions_.add(-1, steps, std::move(call)); }
  void when_done(std::int64_t b, step_t steps, std::function<void()> call) {
    completions_.add(array_.shape().number_of(array_.shape().place_of(b)), steps, std::move(call));
  }

  /// All blocks take the steps of a range. Every process.
  /// @return seconds; of several processes, those of the slowest
  /// @throws Interrupted, or what a member of a block threw; with several processes the error of the first that has one, or as
  ///   World::exchange()
  double run(const StepRange& range) {
    array_.prepare_run();
    given_.begin(range.n_given());
    run_ = range;
    counts_.begin(completions_.take(range), [this](std::int64_t only) {
      std::uint64_t tiles = 0;
      for (std::int64_t b = 0; b < array_.size(); ++b) {
        if (array_.here(b) && (only < 0 || b == only)) tiles += static_cast<std::uint64_t>(array_[b].tiles());
      }
      return tiles;
    });
    const auto blocks = array_.by_slot();
    Wires* const wires = array_.wires();
    const auto end_as = [&](RunState why) {
      for (const PeView<B>& pe : array_.views()) {
        std::uint32_t running = 0;
        pe.words->state.compare_swap(running, static_cast<std::uint32_t>(why));
      }
    };
    if (wires != nullptr)
      wires->begin_run(range, {[this] { return taken(); }, [this] { return state(); }, end_as}, patience_seconds_);
    const Machine& machine = array_.machine();
    Trace* const trace = tracing();
    logs_.resize(trace == nullptr ? 0 : static_cast<std::size_t>(machine.team().size()));
    TickTimes times;
    for (TileLog& log : logs_) log.clear(trace_ticks());
    const auto log_of = [&](pe_t p, int thread) {
      return trace == nullptr ? nullptr : &logs_[static_cast<std::size_t>(p * machine.threads_per_pe() + thread)];
    };
    std::exception_ptr error;
    const std::int64_t begin = trace_now();
    try {
      const std::stop_callback when_called_off(interrupt_token(), [&] { end_as(RunState::interrupted); });
      machine.team().run([&](pe_t p, int thread) {
        try {
          const TracedTo traced{log_of(p, thread)};
          if (wires == nullptr && !counts_.any()) {
            take_steps(CpuThread{}, given_.view(p), range, traced);
          } else {
            std::uint32_t looks = 0;
            take_steps(CpuThread{}, given_.view(p), range, traced, Besides{wires, &looks, &counts_, blocks[p]});
          }
        } catch (...) {
          end_as(RunState::task_failed);
          throw;
        }
      });
      if (state() == 0) counts_.end();
    } catch (...) {
      if (wires == nullptr) throw;
      error = std::current_exception();
    }
    const std::int64_t end = trace_now();
    times.end();
    RunOfAll all{static_cast<double>(end - begin) / 1e9, range.measure ? array_.change() : 0};
    if (wires != nullptr) {
      all = wires->end_run(error, all);
    } else {
      throw_if_interrupted();
    }
    change_ = all.change;
    gave_ = given_.of_all(range);
    if (trace != nullptr) draw_tiles(*trace, logs_, times, array_.by_slot(), array_.channels());
    return all.seconds;
  }

  /// After a run up to state s, which need not have measured: the largest change that step s - 1 made, by comparing both states.
  /// Every process.
  double measure(step_t s) {
    for_all_tiles([s](const PeView<B>& pe, const Slot<B>& slot, std::uint64_t tile) {
      measure_tile(CpuThread{}, *pe.words, slot.block, s - 1, tile);
    });
    return change_ = array_.change_of_all();
  }
  /// After a run that measured: the largest change of its last step, over the blocks of all processes.
  double change() const { return change_; }
  /// After start() or a run up to state s: the reduction of what all blocks give of state s. Every process. @return [kGives]
  std::vector<double> reduce(step_t s) {
    given_.begin(1);
    for_all_tiles([&](const PeView<B>& pe, const Slot<B>& slot, std::uint64_t tile) {
      double* const at = given_.view(static_cast<pe_t>(&pe - array_.views().data())).given;
      give_tile(CpuThread{}, slot.block, s, tile, at + (slot.first_tile + tile) * kGiven<B>);
    });
    return given_.of_all(0);
  }
  /// In a run with give_every, when all blocks of this process have reached a state: the reduction of what they gave of it.
  std::vector<double> gave(step_t state) const { return given_.here(run_.number(state)); }
  /// After a run with give_every: for each reduced state, the reduction over the blocks of all processes.
  const std::vector<Given>& given() const { return gave_; }
  int waits() const { return 0; }
  /// Call it after blocks were moved.
  void placed() {}

 private:
  /// Calls f(view, slot, number of the tile in its block) for all tiles, by all threads.
  template <class F>
  void for_all_tiles(const F& f) {
    array_.prepare_run();
    array_.machine().team().run([&](pe_t p, int) {
      const PeView<B>& pe = array_.views()[p];
      for (std::uint64_t tile; (tile = pe.words->next.fetch_add(1)) < pe.tiles;) {
        const Slot<B>& slot = pe.slots[slot_of(pe, tile)];
        f(pe, slot, tile - slot.first_tile);
      }
    });
  }
  /// @param only  the block; -1: all
  template <class Message>
  void tell_some(step_t s, std::int64_t only, const Message& message) {
    for_all_tiles([&](const PeView<B>& pe, const Slot<B>& slot, std::uint64_t tile) {
      const bool its = only < 0 || (array_.here(only) && &pe == &array_.views()[array_.home(only)] &&
                                    &slot == pe.slots + array_.number(only));
      if (its) slot.block.hear(CpuThread{}, s, tile, message);
    });
  }
  /// Tiles that were taken in this run, on all PEs of this process.
  std::uint64_t taken() const {
    std::uint64_t tiles = 0;
    for (const PeView<B>& pe : array_.views()) tiles += pe.words->next.load();
    return tiles;
  }
  /// The RunState of the first PE on which the run has ended; 0: on none.
  std::uint32_t state() const {
    std::uint32_t ended = 0;
    for (const PeView<B>& pe : array_.views()) ended = ended != 0 ? ended : pe.words->state.load();
    return ended;
  }

  BlockArray<B>& array_;
  GivenByTiles<B> given_;
  std::vector<Given> gave_;  ///< of the last run
  StepRange run_{0, 0, false};
  Completions completions_;
  CompletionCounts counts_;
  double patience_seconds_, change_ = 0;
  std::vector<TileLog> logs_;  ///< [workers] of a run that is traced
};

}  // namespace shoal::blocks::cpu
