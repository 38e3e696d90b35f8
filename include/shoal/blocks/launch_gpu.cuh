// Runs blocks on GPUs, in the forms `resident` and `kernels`.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "shoal/blocks/array.hpp"
#include "shoal/blocks/completions.hpp"
#include "shoal/blocks/completions_gpu.cuh"
#include "shoal/blocks/events.cuh"
#include "shoal/blocks/forms.hpp"
#include "shoal/blocks/given.hpp"
#include "shoal/blocks/graph.cuh"
#include "shoal/blocks/halo_copies.cuh"
#include "shoal/blocks/kernels_gpu.cuh"
#include "shoal/blocks/trace_gpu.cuh"
#include "shoal/blocks/units.hpp"
#include "shoal/blocks/watch_gpu.cuh"
#include "shoal/core/interrupt.hpp"
#include "shoal/core/state_log.hpp"
#include "shoal/device/cuda_check.cuh"
#include "shoal/device/pinned_memory.cuh"

namespace shoal::blocks::gpu {

/// The host's part of a run: it launches, and waits once. The work of a PE is ordered by its stream in work_. In the form
/// `kernels` the work of all PEs is ordered by the stream of PE 0. With several processes, each launches its own blocks; kernels
/// of different processes wait for each other by counters in memory that both reach (WireEnd, StepWords).
template <class B>
class Launcher {
 public:
  explicit Launcher(BlockArray<B>& array, const LaunchOptions& options = {})
      : array_(array),
        options_(options),
        given_(array, [](std::size_t bytes) { return pinned_memory(bytes, "values that blocks give"); }),
        measured_(pinned_memory(static_cast<std::size_t>(array.machine().n_pes()) * sizeof(std::uint64_t),
                                "measurements of a run")),
        trace_(array.machine().devices(), work_),
        watch_(
            array.machine(), array.wires(), [&array](pe_t p) { return array.views()[p].words; }, options_, work_,
            streams_) {
    Decisions decisions;
    options_ = decide_launch(options, sizes(array), decisions);  // what the caller has left open
    if (options_.halos != Halos::direct) array_.send_by_copies();
    std::fill_n(measured(), array.machine().n_pes(), 0);
    for (const int device : array.machine().devices()) {
      work_.emplace_back(device);
      reached_.emplace_back(device);
      DeviceGuard guard(device);  // loads all kernels before the first resident one is launched
      cudaFuncAttributes attributes;
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, start_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, resident_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, part_kernel<B>));
      SHOAL_CUDA(cudaFuncGetAttributes(&attributes, change_kernel<B>));
      if constexpr (Gives<B>) SHOAL_CUDA(cudaFuncGetAttributes(&attributes, give_kernel<B>));
    }
    placed();
  }

  /// Call it after blocks were moved. In the form `kernels`, makes streams, events, copies and the graph anew.
  void placed() {
    if (options_.form != BlockForm::kernels) return;
    streams_.clear();
    packed_.clear();
    handed_.clear();
    units_ = Units(array_, options_);
    for (const Unit& unit : units_) {
      const int device = array_.machine().devices()[unit.pe];
      streams_.emplace_back(device);
      for (int parity = 0; parity < 2; ++parity) packed_.emplace_back(device);
    }
    for (const Unit& unit : units_) {
      if (!options_.urgent_packs) continue;
      const int device = array_.machine().devices()[unit.pe];
      streams_.emplace_back(device, Urgency::urgent);
      for (int i = 0; i < 2; ++i) handed_.emplace_back(device);
    }
    copies_.reset();
    if (options_.halos != Halos::direct) copies_ = std::make_unique<HaloCopies>(array_, units_, options_.halos);
    graph_ = Graph();
    if (started_) make_graph();
  }

  /// Every process; all get the same result.
  static BlockSizes sizes(const BlockArray<B>& array) {
    std::uint64_t tiles = 0;
    for (const PeView<B>& pe : array.views()) tiles = std::max(tiles, pe.tiles);
    auto some = static_cast<std::uint64_t>(workers(array.machine()));
    if (array.wires() != nullptr) {  // so that all processes choose the same
      const std::uint64_t mine[] = {tiles, some};
      for (const auto& bytes : array.wires()->exchange(std::as_bytes(std::span(mine)))) {
        std::uint64_t its[2] = {tiles, some};
        std::memcpy(its, bytes.data(), std::min(sizeof its, bytes.size()));
        tiles = std::max(tiles, its[0]);
        some = std::min(some, its[1]);
      }
    }
    return {true, array.machine().all_pes(), tiles, some};
  }
  /// The number of workers of a PE: as many as the GPU holds at the same time, divided by the number of its PEs.
  static int workers(const Machine& machine) {
    const int device = machine.devices()[0];
    DeviceGuard guard(device);
    int multiprocessors = 0, fit = 0;
    SHOAL_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SHOAL_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, resident_kernel<B>, kThreads, 0));
    return std::max(1, multiprocessors * fit / machine.pes_per_gpu());
  }

  /// Writes state 0. Every process.
  void start() {
    array_.rewind();
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      start_kernel<<<workers, kThreads, 0, stream>>>(pe);
    });
    started_ = true;
    make_graph();
  }

  /// Between runs, before step s: calls hear() with a message for every tile of every block. Every process, the same.
  template <class Message>
  void tell(step_t s, const Message& message) {
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, 0, pe.tiles, s, message);
    });
  }
  /// The same for the tiles of block b alone. @throws UsageError  there is no block b
  template <class Message>
  void tell(step_t s, std::int64_t b, const Message& message) {
    array_.shape().number_of(array_.shape().place_of(b));
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      if (!array_.here(b) || &pe != &array_.views()[array_.home(b)]) return;
      const Slot<B>& slot = array_.slots()[array_.home(b)][array_.number(b)];
      hear_kernel<<<workers, kThreads, 0, stream>>>(pe, slot.first_tile, slot.first_tile + slot.tiles, s, message);
    });
  }

  /// Registers a call for the next run that reaches `steps` steps. It is made once, when all blocks that are here have taken
  /// these steps, or block b has, while the run goes on (blocks/completions.hpp). In the form `resident` a kernel ends after
  /// these steps, and another kernel takes the rest.
  void when_done(step_t steps, std::function<void()> call) { completions_.add(-1, steps, std::move(call)); }
  void when_done(std::int64_t b, step_t steps, std::function<void()> call) {
    completions_.add(array_.shape().number_of(array_.shape().place_of(b)), steps, std::move(call));
  }

  /// All blocks take the steps of a range. Every process.
  /// @return seconds, from the first launch until all work is done; of several processes, those of the slowest
  /// @throws DeviceError  the CUDA runtime failed, or the run made no progress; Interrupted; with several processes the error of
  ///   the first that has one, or as World::exchange()
  double run(const StepRange& range) {
    trace_.begin();
    given_.begin(range.n_given());
    run_ = range;
    wanted_ = completions_.take(range);
    watch_.begin(range);
    std::exception_ptr error;
    double seconds = 0;
    const std::int64_t begin = trace_now();
    try {
      launch(range);
      watch_.wait(trace_);
      seconds = static_cast<double>(trace_now() - begin) / 1e9;
      if (watch_.ended() == RunState::running) {
        polling_.finish();
      } else {
        polling_.drop();
      }
    } catch (const std::exception& thrown) {
      watch_.abandon(thrown.what());
      polling_.drop();
      trace_.drop();
      if (array_.wires() == nullptr) throw;
      error = std::current_exception();
    }
    RunOfAll all{seconds, 0};
    if (!error && watch_.ended() == RunState::running) error = watch_.ended_on_gpu(units_);
    if (array_.wires() == nullptr) {
      throw_if_interrupted();
      if (error) std::rethrow_exception(error);
      all.change = measured_here();
    } else {
      all = watch_.end_with_others(error, {all.seconds, measured_here()});
    }
    change_ = all.change;
    gave_ = given_.of_all(range);
    if (trace_) trace_.draw(array_, units_);
    return all.seconds;
  }

  /// After a run up to state s, which need not have measured: the largest change that step s - 1 made, by comparing both states.
  /// Every process.
  double measure(step_t s) {
    array_.prepare_run();
    for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
      change_kernel<<<workers, kThreads, 0, stream>>>(pe, s - 1);
    });
    return change_ = array_.change_of_all();
  }
  /// After a run that measured: the largest change of its last step, over the blocks of all processes.
  double change() const { return change_; }
  /// After start() or a run up to state s: the reduction of what all blocks give of state s. Every process. @return [kGives]
  std::vector<double> reduce(step_t s) {
    given_.begin(1);
    if constexpr (Gives<B>) {
      for_all_tiles([&](const PeView<B>& pe, unsigned workers, cudaStream_t stream) {
        const auto p = static_cast<pe_t>(&pe - array_.views().data());
        give_kernel<<<workers, kThreads, 0, stream>>>(given_.view(p), s);
      });
    }
    return given_.of_all(0);
  }
  /// In a run with give_every, when all blocks of this process have reached a state: the reduction of what they gave of it.
  std::vector<double> gave(step_t state) const { return given_.here(run_.number(state)); }
  /// After a run with give_every: for each reduced state, the reduction over the blocks of all processes.
  const std::vector<Given>& given() const { return gave_; }
  /// How often the host waited for GPUs in the last run. (Polls of kernels that run for long are not counted.)
  int waits() const { return watch_.waits(); }

 private:
  /// Calls launch(view, workers, stream) for each PE that has tiles, and waits for all of them.
  template <class Launch>
  void for_all_tiles(const Launch& launch) {
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) {
      const PeView<B>& pe = array_.views()[p];
      if (pe.tiles == 0) continue;
      DeviceGuard guard(array_.machine().devices()[p]);
      launch(pe, static_cast<unsigned>(std::min<std::uint64_t>(pe.tiles, 1u << 16)), work_[p]);
      SHOAL_CUDA(cudaGetLastError());
    }
    for (pe_t p = 0; p < array_.machine().n_pes(); ++p) SHOAL_CUDA(cudaStreamSynchronize(work_[p]));
  }

  /// Launches all work of a run.
  void launch(const StepRange& range) {
    const Machine& machine = array_.machine();
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemsetAsync(array_.views()[p].words, 0, sizeof(PeWords), work_[p]));
    }
    if (options_.form == BlockForm::kernels) {
      gather();
      launch_all(range);
      spread();
    } else {
      launch_resident(range);
    }
    for (pe_t p = 0; p < machine.n_pes() && range.measure; ++p) {
      DeviceGuard guard(machine.devices()[p]);
      SHOAL_CUDA(cudaMemcpyAsync(measured() + p, &array_.views()[p].words->changed, sizeof(*measured()),
                                 cudaMemcpyDeviceToHost, work_[p]));
    }
  }
  /// The largest change that the PEs of this process have measured; 0 if the run does not measure.
  double measured_here() const {
    return run_.measure ? change_of(*std::max_element(measured(), measured() + array_.machine().n_pes())) : 0;
  }

  void make_graph() {
    if (options_.form != BlockForm::kernels || options_.graph <= 0 || graph_) return;
    const auto steps = static_cast<step_t>(options_.graph);
    DeviceGuard guard(array_.machine().devices()[0]);
    run_ = {0, 4 + steps, false};
    capturing_ = true;
    graph_.capture(work_[0], [&] { launch_steps({2, 2 + steps, false}); });  // valid for all steps but the first
    capturing_ = false;
  }

  bool keep_pace(step_t steps, pe_t p, cudaStream_t stream) {
    return capturing_ || watch_.keep_pace(steps, units_, p, stream);
  }
  std::uint64_t* measured() const { return static_cast<std::uint64_t*>(measured_.get()); }

  /// Launches one kernel per PE, or several one after another if calls are registered for steps within the range.
  void launch_resident(const StepRange& range) {
    for (step_t s = range.first; s < range.end || s == range.first;) {
      const step_t end = std::min(next_wanted(s), range.end);
      launch_resident(range, s, end);
      tell_in_work(s, end);
      if (end == s || (end < range.end && !keep_pace(1, 0, work_[0]))) break;
      s = end;
    }
  }
  void launch_resident(const StepRange& range, step_t first, step_t end) {
    const Machine& machine = array_.machine();
    const auto most = static_cast<std::uint64_t>(workers(machine));
    StepRange part = range;
    part.first = first;
    part.end = end;
    part.measure = range.measure && end == range.end;
    for (pe_t p = 0; p < machine.n_pes(); ++p) {
      PeView<B> pe = given_.view(p);
      if (pe.tiles == 0) continue;
      if (pe.given != nullptr)
        pe.given = given_at(p, StepRange{range.first, first, false, false, range.give_every}.n_given());
      DeviceGuard guard(machine.devices()[p]);
      if (first > range.first) SHOAL_CUDA(cudaMemsetAsync(&pe.words->next, 0, sizeof(pe.words->next), work_[p]));
      void* arguments[] = {&pe, &part};
      trace_.mark(p, "");
      SHOAL_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(resident_kernel<B>),
                                             dim3(static_cast<unsigned>(std::min(most, pe.tiles))), dim3(kThreads),
                                             arguments, 0, work_[p]));
      trace_.mark(p, "steps " + std::to_string(first) + " to " + std::to_string(end - 1) + ", resident");
    }
  }

  /// gather(): later work in PE 0's stream waits for the work now in the streams of the other PEs. spread(): the other way round.
  void gather() {
    for (pe_t p = 1; p < array_.machine().n_pes(); ++p) {
      SHOAL_CUDA(cudaEventRecord(reached_[p], work_[p]));
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], reached_[p], 0));
    }
  }
  void spread() {
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (pe_t p = 1; p < array_.machine().n_pes(); ++p) SHOAL_CUDA(cudaStreamWaitEvent(work_[p], reached_[0], 0));
  }

  /// Launches the steps of a run, as graphs where possible. The first and the last step, and steps that do not fill a graph, are
  /// launched kernel by kernel.
  void launch_all(const StepRange& range) {
    const auto steps = static_cast<step_t>(options_.graph);
    step_t s = range.first;
    if (graph_ && range.give_every == 0) {  // kernels in a graph do not know the number of their state
      // The first and the last step of a run are not in graphs: before and after a run the values that cross sides are in the
      // buffers, while kernels in a graph may hand them over.
      const step_t begin = (s + 2) / 2 * 2, end = range.end - 1;
      if (begin + steps <= end) {
        launch_steps({s, begin, false});
        trace_.mark(0, "");
        for (s = begin; s + steps <= end; s += steps) {
          throw_if_interrupted();
          if (next_wanted(s) < s + steps) {  // a call is due within the graph
            launch_steps({s, s + steps, false});
            continue;
          }
          graph_.launch(work_[0]);
          tell_in_work(s, s + steps);
          if (!keep_pace(steps, 0, work_[0])) return;
          trace_.mark(0, "graph of steps " + std::to_string(s) + " to " + std::to_string(s + steps - 1));
        }
      }
    }
    launch_steps({s, range.end, range.measure});
  }
  /// Launches steps kernel by kernel. Step s of a unit comes after its own step s - 1 by its stream, and after step s - 1 of the
  /// units in Unit::after by events. All of it comes after the earlier work in PE 0's stream, and before the later work.
  void launch_steps(const StepRange& range) {
    if (range.first == range.end) return;
    trace_.mark_steps(range.first);
    SHOAL_CUDA(cudaEventRecord(reached_[0], work_[0]));
    for (const Stream& stream : streams_) SHOAL_CUDA(cudaStreamWaitEvent(stream, reached_[0], 0));
    for (step_t s = range.first; s < range.end; ++s) {
      throw_if_interrupted();
      for (std::int64_t b = 0; b < units_.size(); ++b) {
        DeviceGuard guard(array_.machine().devices()[units_[b].pe]);
        if (s > range.first) {  // all steps before the range have ended
          for (const std::int64_t other : units_[b].after) {
            SHOAL_CUDA(cudaStreamWaitEvent(packs_in(b), packed(other, s), 0));
          }
          if (copies_) copies_->await(b, s, packs_in(b));
        }
        launch_step(b, s, range.measure && s + 1 == range.end);
        trace_.add_step(b, s + 1, units_[b].pe);
        SHOAL_CUDA(cudaEventRecord(packed(b, s + 1), packs_in(b)));
        if (copies_) copies_->send(b, s + 1, packed(b, s + 1));
      }
      if (!capturing_) tell_in_streams(s + 1);
      if (units_.size() > 0 && !keep_pace(1, units_[0].pe, streams_[0])) return;
    }
    for (std::int64_t b = 0; b < units_.size(); ++b) {
      SHOAL_CUDA(cudaStreamWaitEvent(work_[0], packed(b, range.end), 0));
    }
    if (copies_) copies_->await_all(range.end, work_[0]);
  }
  /// The event that completes when a unit has packed for step s. In a traced run each unit and step has a timed event of its own.
  cudaEvent_t packed(std::int64_t b, step_t s) const {
    const cudaEvent_t timed = trace_.step(b, s);
    return timed != nullptr ? timed : packed_[static_cast<std::size_t>(2 * b) + (s & 1)];
  }
  /// Launches the kernels of step s of unit u.
  void launch_step(std::int64_t u, step_t s, bool measure) {
    const Unit& unit = units_[u];
    if (unit.blocks == 0) return;
    const auto& slots = array_.slots()[unit.pe];
    const std::uint32_t n = slots[unit.first].n_sides, all = ~0u;
    const auto patience_ns = static_cast<std::uint64_t>(watch_.patience_seconds() * 1e9);
    double* const gives = run_.gives(s + 1) && !capturing_ ? given_at(unit.pe, run_.number(s + 1)) : nullptr;
    const cudaStream_t updates_in = streams_[u];
    const auto launch = [&](Part part) {
      if (part.update) part.given = gives;
      const cudaStream_t stream = part.update ? updates_in : packs_in(u);
      constexpr std::uint32_t kMost = 65535;  // of a CUDA grid's second dimension
      for (std::uint32_t at = 0; at < unit.blocks; at += kMost) {
        const dim3 workers(static_cast<unsigned>(unit.tiles), std::min(kMost, unit.blocks - at));
        part_kernel<<<workers, kThreads, 0, stream>>>(array_.views()[unit.pe], unit.first + at, s, part, patience_ns);
        SHOAL_CUDA(cudaGetLastError());
      }
    };
    if (options_.fusion == Fusion::c || units_.together()) {
      return launch({0, all, true, measure, 0, all, s > run_.first, s + 1 < run_.end});
    }
    const auto joined = [&](std::uint32_t i) { return array_.joined(unit.block, i); };
    const bool packs = options_.fusion != Fusion::none, unpacks = options_.fusion == Fusion::b;
    for (std::uint32_t i = 0; i < n && !unpacks && s > 0; ++i) {
      if (joined(i)) launch({i, i + 1, false, false, 0, 0, false, false});
    }
    if (unpacks && s > 0) launch({0, n, false, false, 0, 0, false, false});
    follow(u, 0, packs_in(u), updates_in);
    launch({0, 0, true, measure, 0, 0, false, false});
    follow(u, 1, updates_in, packs_in(u));
    for (std::uint32_t i = 0; i < n && !packs; ++i) {
      if (joined(i)) launch({0, 0, false, false, i, i + 1, false, false});
    }
    if (packs) launch({0, 0, false, false, 0, n, false, false});
  }

  /// The stream of a unit's packs and unpacks.
  cudaStream_t packs_in(std::int64_t u) const {
    return streams_[static_cast<std::size_t>(options_.urgent_packs ? units_.size() + u : u)];
  }
  /// If packs have streams of their own: later work in `then` waits for the work now in `first`; both are streams of unit u.
  void follow(std::int64_t u, int which, cudaStream_t first, cudaStream_t then) {
    if (!options_.urgent_packs) return;
    const Event& event = handed_[static_cast<std::size_t>(2 * u + which)];
    SHOAL_CUDA(cudaEventRecord(event, first));
    SHOAL_CUDA(cudaStreamWaitEvent(then, event, 0));
  }

  /// The smallest number of steps above s for which a call is registered; the largest step_t if there is none.
  step_t next_wanted(step_t s) const {
    const auto next =
        std::find_if(wanted_.begin(), wanted_.end(), [s](const Completion& one) { return one.steps > s; });
    return next == wanted_.end() ? ~step_t{0} : next->steps;
  }
  /// The steps from `begin` to `end` - 1 have been launched in work_: makes the calls for begin + 1 to `end` steps wait for them.
  void tell_in_work(step_t begin, step_t end) {
    std::vector<CompletionThread::Place> places;
    if (options_.form == BlockForm::kernels) {
      places.push_back({array_.machine().devices()[0], work_[0]});
    } else {
      for (pe_t p = 0; p < array_.machine().n_pes(); ++p) places.push_back({array_.machine().devices()[p], work_[p]});
    }
    for (Completion& one : wanted_) {
      if (one.steps > begin && one.steps <= end) polling_.add(places, std::move(one.call));
    }
  }
  /// `steps` steps have been launched in the streams of units: makes the calls for so many steps wait for them.
  void tell_in_streams(step_t steps) {
    for (Completion& one : wanted_) {
      if (one.steps != steps) continue;
      std::vector<CompletionThread::Place> places;
      for (std::int64_t u = 0; u < units_.size(); ++u) {
        const Unit& unit = units_[u];
        const bool its = one.block < 0 || (array_.here(one.block) && unit.pe == array_.home(one.block) &&
                                           (units_.together() || unit.block == one.block));
        if (its) places.push_back({array_.machine().devices()[unit.pe], packs_in(u)});
      }
      polling_.add(places, std::move(one.call));
    }
  }

  /// Where the tiles of a PE store what they give. @param number  index of the state among those that are reduced
  double* given_at(pe_t p, step_t number) const {
    const PeView<B> pe = given_.view(p);
    return pe.given == nullptr ? nullptr : pe.given + number * pe.tiles * kGiven<B>;
  }

  BlockArray<B>& array_;
  LaunchOptions options_;
  GivenByTiles<B> given_;
  std::vector<Given> gave_;         ///< of the last run
  std::shared_ptr<void> measured_;  ///< [n_pes] bits of the largest change
  std::vector<Stream> work_;        ///< [n_pes]
  std::vector<Event> reached_;      ///< [n_pes] for gather() and spread()
  // For the form `kernels`:
  Units units_;
  std::vector<Stream> streams_;         ///< [units], or [2 x units] with urgent_packs
  std::vector<Event> packed_;           ///< [2 x units] a unit has packed for an even or odd step
  std::vector<Event> handed_;           ///< [2 x units] for follow(), with urgent_packs
  std::unique_ptr<HaloCopies> copies_;  ///< null: Halos::direct
  Graph graph_;
  RunTrace trace_;
  RunWatch watch_;
  StepRange run_{0, 0, false};
  bool started_ = false, capturing_ = false;
  double change_ = 0;
  Completions completions_;
  std::vector<Completion> wanted_;  ///< the registered calls of the present run
  CompletionThread polling_;
};

}  // namespace shoal::blocks::gpu
